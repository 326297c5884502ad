// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Builds the C parts that the command line carries inside itself: the two
//! interposers, as shared objects in `OUT_DIR`, and the embedded workload.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use lockwork_build::{c_files, root, watch};

/// How both interposers are compiled and linked.
const FLAGS: &[&str] = &[
    "-shared",
    "-O2",
    "-g1",
    "-std=gnu11",
    "-fPIC",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
    "-fno-strict-aliasing",
    "-Wall",
    "-Wextra",
    "-DLW_PRELOAD=1",
    "-Wl,-z,relro,-z,now",
    "-Wl,--no-undefined",
];

/// What they link with; after the sources, as linkers want it.
const LIBS: &[&str] = &["-lpthread", "-ldl"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = root();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let workload = "crates/lockwork-cli/c";

    watch(&["preload", "locks", "platform/user", "include", workload]);

    let control = root.join("preload/passthrough.c");
    let mut sources = c_files(&root.join("preload"));
    sources.retain(|path| *path != control);
    if sources.is_empty() {
        return Err("preload/ holds no interposer sources".into());
    }
    sources.extend(c_files(&root.join("locks")));
    sources.extend(c_files(&root.join("platform/user")));

    shared_object(&root, &sources, &out.join("liblockwork-preload.so"))?;
    shared_object(&root, &[control], &out.join("liblockwork-passthrough.so"))?;

    cc::Build::new()
        .files(c_files(&root.join(workload)))
        .std("gnu11")
        .opt_level(2)
        .extra_warnings(true)
        .try_compile("lockwork_kvcache")?;
    println!("cargo:rustc-link-lib=pthread");
    println!("cargo:rustc-link-lib=m");
    Ok(())
}

/// Compiles and links `sources` into the shared object `target`.
fn shared_object(root: &Path, sources: &[PathBuf], target: &Path) -> Result<(), Box<dyn Error>> {
    let compiler = cc::Build::new()
        .cargo_metadata(false)
        .opt_level(2)
        .debug(false)
        .warnings(false)
        .try_get_compiler()?;
    let mut command = compiler.to_command();
    command.args(FLAGS);
    for dir in ["platform/user", "locks", "include", "preload"] {
        command.arg("-I").arg(root.join(dir));
    }
    command.args(sources).arg("-o").arg(target).args(LIBS);
    let status = command.status()?;
    if !status.success() {
        return Err(format!("the C compiler failed on {}", target.display()).into());
    }
    Ok(())
}
