// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork torture`, from its command line to its last word.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use common::{stderr, stdout, Room};
use serde_json::Value;

#[test]
fn ctrl_c_keeps_what_there_is() {
    let room = Room::new();
    let words = "torture --json --property exclusion --threads 2 --seconds 1";
    let mut command = room.lockwork(&words.split(' ').collect::<Vec<_>>());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("lockwork starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let first = lines.next().expect("a line").expect("text");
    // SAFETY: our child, which has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    let rest = lines.map(|line| line.expect("text"));
    let done = [first].into_iter().chain(rest).inspect(|line| {
        serde_json::from_str::<Value>(line).expect("whole objects");
    });
    let done = done.count();
    let said = format!("lockwork: interrupted after {done} of ");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    let message = stderr(&output);
    assert!(message.starts_with(&said), "{message}");
    let complete = match done {
        1 => "the report above is complete",
        _ => "the reports above are complete",
    };
    assert!(message.contains(complete), "{message}");
}

/// It listens for signals before it starts threads.
#[test]
fn ctrl_c_names_no_reports_if_there_are_none() {
    let room = Room::new();
    let words = "torture tas_lock --property exclusion --threads 2 --seconds 600";
    let mut command = room.lockwork(&words.split(' ').collect::<Vec<_>>());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("lockwork starts");
    let tasks = format!("/proc/{}/task", child.id());
    while fs::read_dir(&tasks).expect("its threads").count() < 3 {
        assert_eq!(child.try_wait().expect("its state"), None);
        thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: our child, which has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(stdout(&output), "");
    let message = stderr(&output);
    assert_eq!(message, "lockwork: interrupted after 0 of 1 lock\n");
}

/// A stress without time would find nothing, and every lock would pass.
#[test]
fn a_stress_without_time_is_refused() {
    let room = Room::new();
    for command in [&["torture"][..], &["explain", "torture"]] {
        let output = room.run(&[command, &["canary_switching", "--seconds", "0"]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("from 1 to 86400"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn what_switching_turns_itself_is_said() {
    let room = Room::new();
    let run = |words: &str| {
        let words = format!("torture tas_lock --threads 2 --seconds 1 {words}");
        let output = room.run(&words.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        (stdout(&output), stderr(&output))
    };
    let set = "--set give_way_us=5 --set clusters=cpu";
    let (report, said) = run(&format!("--property switching {set}"));
    let line = "lockwork: switching changes clusters itself; \
                --set applies to the other properties only\n";
    assert_eq!(said, line);
    assert!(report.contains("; the lock counted no events"), "{report}");
    assert_eq!(run(&format!("--property exclusion {set}")).1, "");
    assert_eq!(run("--property switching --set give_way_us=5").1, "");
}

#[test]
fn a_knob_that_the_lock_does_not_read_is_refused() {
    let room = Room::new();
    let output = room.run(&["torture", "tas_lock", "--set", "spin_budget=1"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    let part = "tas_lock does not read spin_budget: choose a lock that does (";
    assert!(message.contains(part), "{message}");
    assert!(!message.contains("qspinlock_fair"), "{message}");
}
