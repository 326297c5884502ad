// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the build scripts of this workspace share: where the C sources are, how
//! a world is compiled, how several worlds get into one program, which policies the interposer
//! has, and which tests can run here.

mod isolate;
pub mod mirror;
pub mod needs;
pub mod policies;

pub use isolate::{isolate, isolate_with};

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where the C sources are: the workspace's directory, two above the package that
/// is being built, or that package itself if it was published with them inside.
///
/// # Panics
/// Outside of a build script, and where neither has them.
pub fn root() -> PathBuf {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = [package.ancestors().nth(2), Some(&package)]
        .into_iter()
        .flatten()
        .find(|dir| dir.join("locks/catalogue.def").is_file());
    root.unwrap_or_else(|| {
        panic!(
            "{} is not two folders below the C sources and does not carry them: build from a checkout",
            package.display()
        )
    })
    .to_path_buf()
}

/// The C files directly in `dir`, in a stable order.
///
/// # Panics
/// If `dir` cannot be listed.
pub fn c_files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|err| {
        panic!(
            "cannot list {}: {err}; build from a checkout",
            dir.display()
        )
    });
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "c"))
        .collect();
    files.sort();
    files
}

/// The folders of `platform/` that make up the world `name`, in the order in which
/// headers are looked for. The user world has a host, here the library; programs of
/// the lab are that too.
pub fn platform(name: &str) -> Vec<PathBuf> {
    let platform = root().join("platform");
    let mut folders = vec![platform.join(name), platform.clone()];
    if name == "user" {
        folders.insert(0, platform.join("library"));
    }
    folders
}

/// The C files of the world `name`.
pub fn platform_files(name: &str) -> Vec<PathBuf> {
    platform(name).iter().flat_map(|dir| c_files(dir)).collect()
}

/// A compilation against the world `name`: its headers, those of the locks, and
/// the flags that the locks need. No files yet.
///
/// Objects go to a folder of `OUT_DIR` named after the world, because the name
/// of an object tells its source only: in one folder, the second world that
/// compiles a lock would overwrite the first. Who compiles one world twice, say
/// with different defines, sets `out_dir` once more.
///
/// # Panics
/// Outside of a build script.
pub fn world(name: &str) -> cc::Build {
    let root = root();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut build = cc::Build::new();
    build
        .includes(platform(name))
        .include(root.join("locks"))
        .out_dir(out.join(name))
        .std("gnu11")
        .opt_level(2)
        .flags(["-Wall", "-Wextra", "-fno-strict-aliasing"])
        // A table of functions with a wrong one in it would build, and be called wrongly.
        .flag("-Werror=incompatible-pointer-types");
    build
}

/// Writes Rust's side of C tables to `mirrors.rs` in `OUT_DIR`: of each
/// `(header, struct, name in Rust)`, with the header's path below the workspace, and
/// the flags of the catalogue.
///
/// # Panics
/// Outside of a build script, and where a header has no such struct.
pub fn mirrors(structs: &[(&str, &str, &str)]) {
    let read = |header: &str| {
        let path = root().join(header);
        fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
    };
    let mut text = mirror::flags(&read("locks/catalogue.h"), "LK_");
    for (header, name, rust) in structs {
        let one = mirror::mirror(&read(header), name, rust);
        text += &one.unwrap_or_else(|what| panic!("{header}: {what}"));
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("mirrors.rs"), text).expect("OUT_DIR can be written");
}

/// Has cargo run the build script again when one of `paths`, files or whole
/// directories below the workspace, changes.
///
/// # Panics
/// Outside of a build script.
pub fn watch<P: AsRef<Path>>(paths: &[P]) {
    let root = root();
    for path in paths {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
}
