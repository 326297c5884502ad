// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the loops that hold our locks' inlined fast paths.
use lockwork_build::{c_files, root, watch, world};

fn main() {
    let loops = "crates/lockwork-bench/c";

    watch(&[loops, "locks", "platform"]);
    world("user")
        .files(c_files(&root().join(loops)))
        .compile("lockwork_bench_loops");
}
