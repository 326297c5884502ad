// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The USDT probes of the interposer and the recorder, compiled as calls of a program's function:
//! which of them fire, and in which order. And those that the built files have.

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use common::{stderr, stdout, text, Room};
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

/// A library of these sources, built with the header of `tests/probes` in place of systemtap's.
fn probed(room: &Room, name: &str, sources: &[PathBuf], more: &[String]) -> String {
    let root = root();
    let target = room.path(name);
    let output = cc()
        .args(FLAGS)
        .arg("-I")
        .arg(root.join("tests/probes"))
        .args(WORLD.map(|dir| format!("-I{}", root.join(dir).display())))
        .args(more)
        .args(sources)
        .arg("-o")
        .arg(&target)
        .args(["-lpthread", "-ldl"])
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "{}", stderr(&output));
    text(&target)
}

fn interposer(room: &Room) -> String {
    let mut sources = Vec::new();
    for dir in WORLD {
        sources.extend(c_files(&root().join(dir)));
    }
    sources.retain(|path| !path.ends_with("preload/passthrough.c"));
    let versions = root().join("preload/versions.map");
    let script = format!("-Wl,--version-script={}", versions.display());
    probed(room, "probed.so", &sources, &[script])
}

fn recorder(room: &Room) -> String {
    probed(room, "recorder.so", &c_files(&root().join("record")), &[])
}

/// The program that says which probes it wants.
fn order(room: &Room) -> String {
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
    text(&program)
}

#[test]
fn probes_fire_in_the_order_of_glibcs() {
    let room = Room::new();
    let library = interposer(&room);
    let program = order(&room);
    for lock in ["mutex", "qspinlock_fair"] {
        let output = Command::new(&program)
            .env("LD_PRELOAD", &library)
            .env("LOCKWORK_LOCK", lock)
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{lock}: {}", stderr(&output));
    }
}

/// Whatever is behind it. Where that has probes too, they are others: the policy's interposer is
/// built without any here.
#[test]
fn a_recorders_probes_fire_in_the_same_order_and_once() {
    let room = Room::new();
    let library = recorder(&room);
    let program = order(&room);
    let path = stdout(&room.run(&["preload-path"]));
    let file = room.path("p.prof");
    for (lock, behind) in [("glibc", ""), ("mutex", path.trim())] {
        let output = Command::new(&program)
            .env("LD_PRELOAD", format!("{library}:{behind}"))
            .env("LOCKWORK_RECORD", &file)
            .env("LOCKWORK_LOCK", lock)
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{lock}: {}", stderr(&output));
    }
    assert!(file.exists(), "nothing was recorded");
}

/// The names of the probes in a library, each with the number of its arguments.
fn notes(library: &str) -> BTreeMap<String, usize> {
    let notes = Command::new("readelf").args(["-n", library]).output();
    let notes = stdout(&notes.expect("readelf starts"));
    let mut found = BTreeMap::new();
    let mut name = String::new();
    for line in notes.lines().map(str::trim) {
        if let Some(provider) = line.strip_prefix("Provider: ") {
            assert_eq!(provider, "libpthread");
        } else if let Some(given) = line.strip_prefix("Name: ") {
            name = given.to_owned();
        } else if let Some(arguments) = line.strip_prefix("Arguments: ") {
            found.insert(name.clone(), arguments.matches('@').count());
        }
    }
    found
}

#[test]
#[cfg_attr(not(has_usdt), ignore = "sys/sdt.h (systemtap-sdt-dev) is missing")]
fn the_recorder_has_the_probes_of_the_interposer() {
    let room = Room::new();
    let of = |options: &[&str]| {
        let args = [&["preload-path"], options].concat();
        notes(stdout(&room.run(&args)).trim())
    };
    let interposers = of(&[]);
    assert_eq!(interposers.len(), 19, "{interposers:?}");
    assert_eq!(interposers["mutex_clocklock_entry"], 3);
    assert_eq!(of(&["--recorder"]), interposers);
}
