// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the commands do where their result cannot be written: standard output is closed, or its
//! disk is full.

mod common;

use std::process::{Command, Output};

use common::{stderr, text, Room};

/// `lockwork` with `args`, where a shell has done `before` and changed its streams by `streams`.
fn run(room: &Room, before: &str, args: &[&str], streams: &str) -> Output {
    let script = format!("{before} \"$0\" \"$@\" {streams}");
    let lockwork = room.lockwork(args);
    let mut shell = Command::new("sh");
    for (variable, value) in lockwork.get_envs() {
        match value {
            Some(value) => shell.env(variable, value),
            None => shell.env_remove(variable),
        };
    }
    shell.args(["-c", &script]).arg(lockwork.get_program());
    shell.args(args);
    shell.output().expect("sh starts")
}

/// A profile, of a program that uses no lock.
fn recorded(room: &Room) -> String {
    let file = text(&room.path("p.prof"));
    let output = room.run(&["profile", "--quiet", "-o", &file, "--", "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
    file
}

/// Expects code 125 and one sentence that begins so.
fn refused(output: &Output, args: &[&str], begin: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(125), "{args:?}: {said}");
    assert!(said.starts_with(begin), "{args:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
}

#[test]
fn a_result_that_cannot_be_printed_is_an_error() {
    let room = Room::new();
    let file = recorded(&room);
    for args in [
        &["report", &file][..],
        &["report", "--json", &file],
        &["report", "--folded", &file],
        &["report", "--deadlock", &file],
        &["predict", "--machine", "epyc-9654", &file],
        &["locks"],
        &["preload-path"],
        &["torture", "--list"],
        &["check", "--list"],
        &["bench", "--list"],
        &["sim", "--list"],
        &["rivals", "--list"],
        &["answers", "--list"],
        &["reproduce", "--list"],
        &["machine", "list"],
        &["compare", "-n", "1", "--", "true"],
        &["--help"],
        &["report", "--help"],
        &["--version"],
    ] {
        for (streams, why) in [
            (">&-", "it is closed"),
            ("1</dev/null", "it is open for reading only"),
        ] {
            let output = run(&room, "", args, streams);
            let begin = format!("lockwork: cannot write to standard output: {why}\n");
            refused(&output, args, &begin);
        }
        let output = run(&room, "", args, ">/dev/null");
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    }
    for args in [&["report", &file][..], &["locks"], &["--version"]] {
        let output = run(&room, "", args, ">/dev/full");
        let begin = "lockwork: cannot write to standard output: No space left on device";
        refused(&output, args, begin);
    }
}

#[test]
fn a_program_has_no_standard_output_where_lockwork_has_none() {
    let room = Room::new();
    let script = "test -e /proc/self/fd/1 || echo it has none >&2";
    for command in ["run", "profile"] {
        let mut args = vec![command];
        let file = text(&room.path("p.prof"));
        if command == "profile" {
            args.extend(["--quiet", "-o", &file]);
        }
        args.extend(["--", "sh", "-c", script]);
        let output = run(&room, "", &args, ">&-");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("it has none"), "{command}");
    }
}
