// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The interposer's USDT probes, compiled as calls of a program's function: which of them
//! fire, and in which order.

mod common;

use std::process::Command;

use common::{stderr, Room};
use lockwork_build::{c_files, root};

/// The flags of `build.rs` that the interposer cannot do without, and few optimizations.
const FLAGS: &[&str] = &[
    "-shared",
    "-O1",
    "-g",
    "-std=gnu11",
    "-fPIC",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
    "-fno-strict-aliasing",
    "-Wl,--no-undefined",
];

const WORLD: [&str; 6] = [
    "platform/preload",
    "platform/user",
    "platform",
    "locks",
    "include",
    "preload",
];

fn cc() -> Command {
    Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()))
}

/// The interposer, built with the header of `tests/probes` in place of systemtap's.
fn interposer(room: &Room) -> String {
    let root = root();
    let mut sources = Vec::new();
    for dir in WORLD {
        sources.extend(c_files(&root.join(dir)));
    }
    sources.retain(|path| !path.ends_with("preload/passthrough.c"));
    let target = room.path("probed.so");
    let versions = root.join("preload/versions.map");
    let output = cc()
        .args(FLAGS)
        .arg("-I")
        .arg(root.join("tests/probes"))
        .args(WORLD.map(|dir| format!("-I{}", root.join(dir).display())))
        .arg(format!("-Wl,--version-script={}", versions.display()))
        .args(sources)
        .arg("-o")
        .arg(&target)
        .args(["-lpthread", "-ldl"])
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "{}", stderr(&output));
    target.to_str().expect("UTF-8").to_owned()
}

#[test]
fn probes_fire_in_the_order_of_glibcs() {
    let room = Room::new();
    let library = interposer(&room);
    let tests = root().join("tests");
    let program = room.path("order");
    let output = cc()
        .args(["-O1", "-g", "-pthread", "-rdynamic"])
        .args(["-Wall", "-Wextra", "-Werror"])
        .arg(format!("-I{}", tests.join("preload").display()))
        .arg(tests.join("probes/order.c"))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "{}", stderr(&output));
    for lock in ["mutex", "qspinlock_fair"] {
        let output = Command::new(&program)
            .env("LD_PRELOAD", &library)
            .env("LOCKWORK_LOCK", lock)
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{lock}: {}", stderr(&output));
    }
}
