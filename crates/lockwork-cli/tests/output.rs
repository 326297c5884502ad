// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the commands do where their result cannot be written: standard output is closed, or the
//! disk is full.

mod common;

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::process::{Command, Output, Stdio};

use common::{set_mode, stderr, stdout, text, Room, Started};

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

/// The names of the files beside the profile.
fn names(room: &Room) -> Vec<String> {
    let entries = fs::read_dir(room.path("out")).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}

#[test]
fn a_page_that_has_no_room_leaves_no_part_of_itself() {
    let room = Room::new();
    let file = recorded(&room);
    fs::create_dir(room.path("out")).expect("a folder");
    let out = text(&room.path("out/page"));
    for option in ["--html", "--speedscope"] {
        let args = ["report", &file, option, &out];
        // No file may have more bytes than none, which stands for a full disk.
        let full = "trap '' XFSZ; ulimit -f 0; exec";
        let begin = format!("lockwork: cannot write to '{out}': File too large");
        refused(&run(&room, full, &args, ""), &args, &begin);
        assert_eq!(names(&room), [""; 0], "{option}");

        fs::write(&out, "an older page").expect("written");
        refused(&run(&room, full, &args, ""), &args, &begin);
        assert_eq!(fs::read_to_string(&out).expect("it"), "an older page");
        assert_eq!(names(&room), ["page"], "{option}");

        set_mode(&room.path("out/page"), 0o600);
        let output = room.run(&args);
        assert!(output.status.success(), "{}", stderr(&output));
        let written = fs::read_to_string(&out).expect("it");
        assert!(written.ends_with("}\n") || written.ends_with("</html>\n"));
        let mode = fs::metadata(&out).expect("it").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{option}");
        assert_eq!(names(&room), ["page"], "{option}");
        fs::remove_file(&out).expect("removed");

        let args = ["report", &file, option, "/dev/full"];
        let begin = "lockwork: cannot write to '/dev/full': No space left on device";
        refused(&room.run(&args), &args, begin);
        let args = ["report", &file, option, "/dev/stdout"];
        let piped = stdout(&room.run(&args));
        assert_eq!(piped.len(), written.len(), "{option}");
        let fifo = text(&room.path("fifo"));
        let script = "rm -f \"$0\"; mkfifo \"$0\" && cat \"$0\"";
        let mut reader = Command::new("sh");
        let reader = reader.args(["-c", script, &fifo]).stdout(Stdio::piped());
        let mut reader = Started::new(reader);
        reader.until(|| fs::metadata(&fifo).is_ok_and(|facts| facts.file_type().is_fifo()));
        let output = room.run(&["report", &file, option, &fifo]);
        assert!(output.status.success(), "{}", stderr(&output));
        let read = reader.output();
        assert_eq!(read.stdout.len(), written.len(), "{option}");
        fs::remove_file(&fifo).expect("removed");
    }
}
