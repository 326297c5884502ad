// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the C locks against the user world, whatever files there are.
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The C files of `dir`, in a stable order.
fn sources(dir: &Path) -> Vec<PathBuf> {
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

fn main() {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let (locks, world) = (root.join("locks"), root.join("platform/user"));

    for dir in [&locks, &world, &root.join("include")] {
        println!("cargo::rerun-if-changed={}", dir.display());
    }
    cc::Build::new()
        .files(sources(&locks))
        .files(sources(&world))
        .include(&world)
        .include(&locks)
        .include(root.join("include"))
        .std("gnu11")
        .opt_level(2)
        .flags(["-Wall", "-Wextra", "-fno-strict-aliasing"])
        .compile("lockwork_user");
    println!("cargo::rustc-link-lib=pthread");
}
