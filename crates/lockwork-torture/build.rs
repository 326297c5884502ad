// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the canaries: locks that are broken on purpose, one file each.
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let dir = root.join("tests/canaries");
    let entries = fs::read_dir(&dir).unwrap_or_else(|err| {
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

    println!("cargo::rerun-if-changed={}", dir.display());
    println!(
        "cargo::rerun-if-changed={}",
        root.join("platform/user/platform.h").display()
    );
    println!(
        "cargo::rerun-if-changed={}",
        root.join("locks/catalogue.h").display()
    );
    cc::Build::new()
        .files(files)
        .include(root.join("platform/user"))
        .include(root.join("locks"))
        .include(&dir)
        .std("gnu11")
        .opt_level(2)
        .flags(["-Wall", "-Wextra", "-fno-strict-aliasing"])
        .compile("lockwork_canaries");
}
