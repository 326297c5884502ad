// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the C locks against the user world, whatever files there are.
use lockwork_build::{c_files, root, watch, world};

fn main() {
    let root = root();

    watch(&["locks", "platform/user", "include"]);
    world("user")
        .files(c_files(&root.join("locks")))
        .files(c_files(&root.join("platform/user")))
        .include(root.join("include"))
        .compile("lockwork_user");
    println!("cargo::rustc-link-lib=pthread");
}
