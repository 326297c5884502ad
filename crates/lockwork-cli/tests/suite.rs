// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork compare --suite`: several programs in one table. Nothing here depends on how
//! fast anything runs.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use common::{stderr, stdout, text, Room, Started};
use serde_json::Value;

/// No run is stopped for taking too long, however busy the machine is.
const PATIENT: &str = "--timeout-factor=1000000";

/// Writes a suite whose runs take as long as they want.
fn suite(room: &Room, content: &str) -> String {
    let path = room.path("suite.toml");
    let content = content.replace("[[program]]", "[[program]]\ntimeout = 86400");
    fs::write(&path, content).expect("write the suite");
    text(&path)
}

fn run(room: &Room, content: &str, more: &[&str]) -> (Output, Value) {
    let json = text(&room.path("out.json"));
    let suite = suite(room, content);
    let args = ["compare", "--suite", &suite, "--json", &json, PATIENT];
    let output = room.run(&[&args[..], more].concat());
    let json = fs::read_to_string(json).expect("JSON was written");
    (output, serde_json::from_str(&json).expect("JSON parses"))
}

/// Has the words of `row`, with any space between them?
fn has_row(shown: &str, row: &str) -> bool {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    shown.lines().any(|line| words(line).starts_with(row))
}

/// A program whose result depends on its lock and on its first argument.
fn rated(room: &Room) -> String {
    let body = "case \"$LOCKWORK_LOCK\" in\n\
                mutex) echo \"rate: $((1000 * $1))\";;\n\
                *) echo 'rate: 1000';;\nesac";
    room.script("rated", body)
}

#[test]
fn one_table_has_all_programs_and_threads() {
    let room = Room::new();
    rated(&room);
    let content = "locks = ['mutex', 'qspinlock_fair']\nrounds = 3\nthreads = [2, 8]\n\
                   [[program]]\nname = 'rated'\ncommand = ['{dir}/rated', '{threads}']\n\
                   metric = 'rate: ([0-9]+)'\n\
                   [[program]]\nname = 'absent'\ncommand = ['no-such-program', '{threads}']\n\
                   package = 'no-such-package'\n\
                   [[program]]\nname = 'incomplete'\ncommand = ['true', '{threads}']\n\
                   needs = ['no-such-helper']\n";
    let (output, json) = run(&room, content, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown = stdout(&output);
    for row in [
        "Program Threads mutex qspinlock_fair Waits/s",
        "rated 2 2.00 (2.00 … 2.00) * 1.00 (1.00 … 1.00)",
        "rated 8 8.00 (8.00 … 8.00) * 1.00 (1.00 … 1.00)",
        "absent skipped skipped",
        "incomplete skipped skipped",
        "Geometric mean 4.00 (4.00 … 4.00) 1.00 (1.00 … 1.00)",
        "Worst 2.00 1.00",
        "mutex: better than glibc in 2 of 2 rows, worse in 0, no difference shown in 0",
        "qspinlock_fair: better than glibc in 0 of 2 rows, worse in 0, no difference shown in 2",
        "skipped: absent: there is no program 'no-such-program' in PATH; it is in the Debian \
         package no-such-package",
        "skipped: incomplete: there is no program 'no-such-helper' in PATH",
        "2 of 6 rows measured, 0 failed, 4 skipped with 2 programs that cannot run here.",
    ] {
        assert!(has_row(&shown, row), "{row}: {shown}");
    }
    assert!(shown.contains("adjusted for 4 comparisons"), "{shown}");
    assert_eq!(json["schema"], 1);
    assert_eq!(json["comparisons"], 4);
    assert_eq!(json["ended"]["how"], "completed");
    assert_eq!(json["skipped"][0]["package"], "no-such-package");
    assert_eq!(json["skipped"][0]["rows"], 2);
    assert_eq!(json["summary"][0]["better"], 2);
    assert_eq!(json["summary"][0]["worst"]["threads"], 2);
    let report = &json["rows"][1]["report"];
    assert_eq!(json["rows"][1]["threads"], 8);
    // Three rounds and a warm-up, of glibc and two locks.
    assert_eq!(report["samples"].as_array().map(Vec::len), Some(4 * 3));
    assert_eq!(report["summary"][1]["improve"], 7.0);
}

#[test]
fn a_row_that_is_worse_than_allowed_fails() {
    let room = Room::new();
    rated(&room);
    // The same numbers; in the second row less is better.
    let content = "locks = ['mutex']\nrounds = 3\nthreads = [2]\n\
                   [[program]]\nname = 'rated'\ncommand = ['{dir}/rated', '{threads}']\n\
                   metric = 'rate: ([0-9]+)'\n\
                   [[program]]\nname = 'fewer'\ncommand = ['{dir}/rated', '{threads}']\n\
                   metric = 'rate: ([0-9]+)'\nbetter = 'lower'\n";
    let (output, json) = run(&room, content, &["--fail-if-worse", "10"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let message = stderr(&output);
    let part = "worse than glibc by more than 10 %: mutex in fewer (2) (at least 50.0 %)";
    assert!(message.contains(part), "{message}");
    assert_eq!(json["ended"]["how"], "completed");
    let (output, _) = run(&room, content, &["--fail-if-worse", "50"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let suite = suite(&room, &content.replace("rounds = 3", "rounds = 2"));
    let refused = room.run(&["compare", "--suite", &suite, "--fail-if-worse", "50"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    let refused = room.run(&["compare", "--suite", &suite, "-n1", "--fail-if-worse", "50"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
}

/// A program that gains the same under any interposer.
#[test]
fn what_the_control_gains_too_is_counted() {
    let room = Room::new();
    let content = "locks = ['mutex', 'glibc_passthrough']\nrounds = 3\nthreads = [2]\n\
                   [[program]]\nname = 'any'\ncommand = ['{dir}/any', '{threads}']\n\
                   metric = 'rate: ([0-9]+)'\n";
    room.script(
        "any",
        "if [ -n \"$LD_PRELOAD\" ]; then echo rate: 200; else echo rate: 100; fi",
    );
    let (output, json) = run(&room, content, &[]);
    assert_eq!(json["summary"][0]["like_control"], 1);
    let shown = stdout(&output);
    let part = "In 1 of these rows the difference is not shown to be more than that of the control";
    assert!(shown.contains(part), "{shown}");
}

#[test]
fn a_failed_row_does_not_hide_one_that_is_worse() {
    let room = Room::new();
    rated(&room);
    let content = "locks = ['mutex']\nrounds = 3\nthreads = [2]\n\
                   [[program]]\nname = 'broken'\ncommand = ['sh', '-c', 'exit 3']\n\
                   [[program]]\nname = 'fewer'\ncommand = ['{dir}/rated', '{threads}']\n\
                   metric = 'rate: ([0-9]+)'\nbetter = 'lower'\n";
    let (output, _) = run(&room, content, &["--fail-if-worse", "10"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let message = stderr(&output);
    let both = "1 of 2 rows failed; the list above says how; worse than glibc by more than 10 %: \
                mutex in fewer (2) (at least 50.0 %)";
    assert!(message.contains(both), "{message}");
}

#[test]
fn the_command_line_replaces_what_the_file_says() {
    let room = Room::new();
    let content = "locks = ['qspinlock_fair']\nrounds = 9\nthreads = [3]\n\
                   [[program]]\nname = 'a'\ncommand = ['true', '{9/threads}']\n";
    let more = ["--lock", "mutex", "--rounds", "1", "--warmup", "0"];
    let (output, json) = run(&room, content, &more);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = &json["rows"][0]["report"];
    assert_eq!(report["command"], serde_json::json!(["true", "3"]));
    assert_eq!(report["samples"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["arms"][1]["arm"], "mutex");
}

/// Not even of many rows together.
#[test]
fn nothing_is_claimed_from_too_few_rounds() {
    let room = Room::new();
    rated(&room);
    let content = "locks = ['mutex']\nrounds = 2\nthreads = [2, 3, 4, 8]\n\
                   [[program]]\nname = 'rated'\ncommand = ['{dir}/rated', '{threads}']\n\
                   metric = 'rate: ([0-9]+)'\n";
    let (output, json) = run(&room, content, &[]);
    let shown = stdout(&output);
    assert!(json["summary"][0]["mean"].is_number());
    assert!(json["summary"][0]["interval"].is_null(), "{shown}");
    let too_few = "mutex: 2 rounds are too few to claim anything; 3 are the least";
    assert!(shown.contains(too_few), "{shown}");
    assert!(!shown.contains("no difference shown"), "{shown}");
}

#[test]
fn a_failure_is_shown_and_the_rest_goes_on() {
    let room = Room::new();
    let content = "rounds = 1\nwarmup = 0\nthreads = [1]\n\
                   [[program]]\nname = 'broken'\ncommand = ['sh', '-c', 'echo oops; exit 3']\n\
                   [[program]]\nname = 'unprepared'\ncommand = ['true']\n\
                   setup = ['sh', '-c', 'exit 4']\n\
                   [[program]]\nname = 'good'\ncommand = ['cat', '{tmp}/x']\n\
                   setup = ['sh', '-c', 'echo {threads} >{tmp}/x']\n";
    let (output, json) = run(&room, content, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("2 of 3 rows failed"));
    let shown = stdout(&output);
    for words in [
        "failed: broken (1): 'sh' failed under glibc in round 1: it ended with exit code 3",
        "| oops",
        "failed: unprepared (1): the setup of 'unprepared' failed: it ended with exit code 4",
        "1 of 3 rows measured, 2 failed, 0 skipped.",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(has_row(&shown, "broken 1 failed"), "{shown}");
    assert!(json["rows"][1]["report"].is_null());
    assert!(json["rows"][2]["failed"].is_null());
}

#[test]
fn nothing_to_measure_is_no_success() {
    let room = Room::new();
    let content = "threads = [1]\n[[program]]\nname = 'a'\ncommand = ['no-such-program']\n";
    let (output, json) = run(&room, content, &[]);
    assert_eq!(output.status.code(), Some(127));
    assert!(stdout(&output).contains("0 of 1 rows measured, 0 failed, 1 skipped"));
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(0));
}

#[test]
fn mistakes_are_one_sentence_with_their_line() {
    let room = Room::new();
    let witness = room.script("witness", "touch \"$0.ran\"");
    for (content, words) in [
        ("rounds = \n", "suite.toml:1: "),
        (
            "lock = ['mutex']\n",
            "suite.toml:1: there is no field `lock` here",
        ),
        (
            "\nlocks = ['nope']\n",
            "suite.toml:2: there is no lock 'nope'; use one of: glibc",
        ),
        ("rounds = 0\n", "suite.toml:1: rounds must be 1 or more"),
    ] {
        let program = format!("threads = [1]\n[[program]]\nname = 'a'\ncommand = ['{witness}']\n");
        let suite = suite(&room, &format!("{content}{program}"));
        let output = room.run(&["compare", "--suite", &suite]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{content}: {message}");
        assert!(message.contains(words), "{content}: {message}");
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    }
    assert!(!Path::new(&format!("{witness}.ran")).exists());
    let absent = room.run(&["compare", "--suite", "/no/such/suite"]);
    assert_eq!(absent.status.code(), Some(125));
    assert!(stderr(&absent).contains("cannot read the suite '/no/such/suite'"));
    let both = room.run(&["compare", "--suite", "x.toml", "--", "true"]);
    assert_eq!(both.status.code(), Some(2));
    let glibc = room.run(&[
        "compare",
        "--suite",
        &suite(
            &room,
            "threads = [1]\n[[program]]\nname = 'a'\ncommand = ['true']\n",
        ),
        "--locks",
        "glibc",
    ]);
    assert_eq!(glibc.status.code(), Some(2));
}

#[test]
fn ctrl_c_keeps_the_rows() {
    let room = Room::new();
    room.script(
        "long",
        "echo here >\"$0.tmp\"; mv \"$0.tmp\" \"$0.here\"; exec sleep 100000",
    );
    let content = "rounds = 3\nthreads = [1]\n\
                   [[program]]\nname = 'short'\ncommand = ['true']\n\
                   [[program]]\nname = 'long'\ncommand = ['{dir}/long']\n\
                   [[program]]\nname = 'late'\ncommand = ['true']\n";
    let suite = suite(&room, content);
    let json = text(&room.path("out.json"));
    let mut command = room.lockwork(&["compare", "--suite", &suite, "--json", &json, PATIENT]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut started = Started::new(&mut command);
    started.until(|| room.path("long.here").exists());
    started.signal(libc::SIGINT);
    let output = started.output();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let shown = stdout(&output);
    let end = "1 of 3 rows measured, 0 failed, 0 skipped; stopped by SIGINT in the row 2.";
    assert!(shown.contains(end), "{shown}");
    let json: Value = serde_json::from_str(&fs::read_to_string(json).expect("JSON")).expect("JSON");
    assert_eq!(json["ended"]["how"], "interrupted");
    let samples = json["rows"][0]["report"]["samples"].as_array();
    assert_eq!(samples.map(Vec::len), Some(4 * 2));
}
