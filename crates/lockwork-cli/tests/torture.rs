// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork torture`, from its command line to its last word.

mod common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::{stderr, Room};
use serde_json::Value;

#[test]
fn ctrl_c_keeps_what_there_is() {
    let room = Room::new();
    let words = "torture --json --check exclusion --threads 2 --seconds 1";
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
    let said = format!("lockwork: interrupted after {} of ", done.count());
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    let message = stderr(&output);
    assert!(message.starts_with(&said), "{message}");
    assert!(message.contains("all that is known"), "{message}");
}
