// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the shims. glibc's is linked in. Those of other libraries become
//! shared objects in `OUT_DIR`, which the crate carries inside itself, so that
//! no program of ours is linked with what it is compared with. `shims.rs` there
//! lists them, or says why one is missing.

#[path = "build/library.rs"]
mod library;
#[path = "build/shim.rs"]
mod shim;
#[path = "build/version.rs"]
mod version;

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use library::LIBRARIES;
use lockwork_build::needs;

/// Names, with commas between, of libraries to do without.
const WITHOUT: &str = "LOCKWORK_PEERS_WITHOUT";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);

    println!("cargo::rerun-if-env-changed={WITHOUT}");
    println!("cargo::rerun-if-env-changed=CXX");
    let cpp = env::var("CXX").unwrap_or_else(|_| "c++".into());
    needs::declare("cpp", &needs::program(&cpp));
    lockwork_build::watch(&[
        "crates/lockwork-peers/build.rs",
        "crates/lockwork-peers/build",
        "crates/lockwork-peers/peers",
        "crates/lockwork-peers/Cargo.toml",
        "platform",
        "locks/catalogue.h",
        "locks/catalogue.def",
    ]);
    glibc();
    fs::write(out.join("shims.rs"), shims(&out)?)?;

    // For the tests, which must know what to expect.
    println!(
        "cargo::rustc-env={WITHOUT}={}",
        env::var(WITHOUT).unwrap_or_default()
    );
    let rust = version::rust().unwrap_or_default();
    let parking_lot = version::pinned(include_str!("Cargo.toml"), "parking_lot");
    println!("cargo::rustc-env=LOCKWORK_RUST_VERSION={rust}");
    println!(
        "cargo::rustc-env=LOCKWORK_PARKING_LOT_VERSION={}",
        parking_lot.ok_or("Cargo.toml does not pin parking_lot to one version")?
    );
    Ok(())
}

/// What is linked in: glibc's shim, and the check of the C++ shims' header.
fn glibc() {
    let peers = lockwork_build::root().join(shim::SOURCES);
    lockwork_build::world("user")
        .file(peers.join("glibc.c"))
        .file(peers.join("layout.c"))
        .include(&peers)
        .compile("lockwork_peers");
}

/// The text of `shims.rs`: the slice `SHIMS`.
fn shims(out: &Path) -> Result<String, Box<dyn Error>> {
    let without = without()?;
    let mut text = String::from("pub(crate) const SHIMS: &[Shim] = &[\n");
    for library in LIBRARIES {
        let object = out.join(format!("{}.so", library.name));
        let made = if without.contains(&library.name) {
            println!("cargo::rustc-check-cfg=cfg(has_{})", library.name);
            Err(format!(
                "lockwork was built with {WITHOUT} naming {}; build lockwork again without that",
                library.name
            ))
        } else {
            let made = shim::make(library, &shim::compiler(library.cpp), &object);
            needs::declare(library.name, &made);
            made
        };
        let object = match made {
            Ok(()) => format!("Ok(include_bytes!({object:?}))"),
            Err(reason) => format!("Err({reason:?})"),
        };
        let name = library.name;
        writeln!(text, "    Shim {{ library: {name:?}, object: {object} }},")?;
    }
    text.push_str("];\n");
    Ok(text)
}

/// The libraries that the environment says to leave out.
fn without() -> Result<Vec<&'static str>, String> {
    let value = env::var(WITHOUT).unwrap_or_default();
    let names = value.split(',').filter(|name| !name.is_empty());
    names
        .map(|name| {
            let found = LIBRARIES.iter().find(|library| library.name == name);
            found.map(|library| library.name).ok_or_else(|| {
                let known: Vec<_> = LIBRARIES.iter().map(|library| library.name).collect();
                format!("{WITHOUT} names '{name}'; it may name {}", known.join(", "))
            })
        })
        .collect()
}
