// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the canaries: locks that are broken on purpose, one file each.
use lockwork_build::{c_files, root, watch, world};

fn main() {
    let canaries = root().join("tests/canaries");

    watch(&["tests/canaries", "platform", "locks/catalogue.h"]);
    world("user")
        .files(c_files(&canaries))
        .include(&canaries)
        .compile("lockwork_canaries");
}
