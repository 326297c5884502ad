// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork predict` as people use it. What it takes from a profile is held against a program
//! whose locking is known; what it simulates, against what no simulation may exceed.

mod common;

use std::path::Path;

use common::{stderr, stdout, Room};
use serde_json::Value;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/record");

/// A profile of a program of `tests/record`, which ends with this status, and what that says of
/// itself.
fn profiled(room: &Room, name: &str, status: i32) -> (String, String) {
    let source = Path::new(SOURCES).join(format!("{name}.c"));
    let source = std::fs::read_to_string(source).expect("the source");
    // The copy in `room` finds the headers beside the source.
    let program = room.compile(name, &source, &["-O1", "-g", "-pthread", "-I", SOURCES]);
    let file = room.path(&format!("{name}.prof"));
    let file = file.to_str().expect("UTF-8").to_owned();
    let output = room.run(&["profile", "--quiet", "-o", &file, "--", &program]);
    assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
    (file, stdout(&output))
}

fn said(told: &str, figure: &str) -> f64 {
    let line = told.lines().find_map(|line| line.strip_prefix(figure));
    let number = line.and_then(|rest| rest.trim().parse().ok());
    number.unwrap_or_else(|| panic!("no {figure} in {told}"))
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

fn predict(room: &Room, args: &[&str]) -> String {
    let output = room.run(&[&["predict"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn what_is_simulated_is_what_the_program_did() {
    let room = Room::new();
    let (file, told) = profiled(&room, "truth", 3);
    let args = [
        &file,
        "--machine",
        "vm-2cpu",
        "--threads",
        "2,4",
        "--top",
        "1",
        "--json",
    ];
    let text = predict(&room, &args);
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["predicted"], true);
    let waited = number(&found["waited"]);
    assert!((number(&found["bound"]) - (1.0 / (1.0 - waited) - 1.0)).abs() < 1e-9);

    let lock = &found["locks"][0];
    assert_eq!(lock["name"], "slow_mutex");
    assert_eq!(lock["kind"], "mutex");
    assert_eq!(
        number(&lock["acquisitions"]),
        said(&told, "slow_mutex count")
    );
    // Half of its acquisitions are of one thread, and half of another.
    assert_eq!(lock["threads"], 2.0);
    let held = number(&lock["section"]["mean_ns"]) * number(&lock["acquisitions"]);
    assert!(
        held >= said(&told, "slow_mutex inside_ns") * 0.99,
        "{held}: {told}"
    );
    assert!(
        held <= said(&told, "slow_mutex outside_ns") * 1.01,
        "{held}: {told}"
    );

    let rows = found["predictions"][0]["rows"].as_array().expect("rows");
    // glibc, mutex and three that spin, with two numbers of threads each.
    assert_eq!(rows.len(), 10, "{text}");
    let most = 1e9 / number(&lock["section"]["mean_ns"]);
    for row in rows {
        let spins = row["policies"]
            .as_str()
            .expect("a name")
            .starts_with("qspin");
        if spins && row["threads"] == 4 {
            // Twice as many as CPUs.
            assert!(row["rate"].is_null(), "{row}");
            continue;
        }
        let rate = &row["rate"];
        let value = number(&rate["value"]);
        // Sections by chance may be shorter than they are on average, and many are not.
        assert!(value > 0.0 && value < 1.5 * most, "{row}: {most}");
        assert!(number(&rate["low"]) < value && value < number(&rate["high"]));
        assert_eq!(row["over_glibc"].is_null(), row["policies"] == "glibc");
    }
    assert_eq!(found["predictions"][0]["left_out"][0], "mutex_numa");
    let again = predict(&room, &[&args[..], &["--jobs", "1"]].concat());
    assert_eq!(text, again, "the same file, and another prediction");
}

#[test]
fn threads_that_take_a_mutex_back_in_condition_waits_use_it() {
    let room = Room::new();
    let (file, _) = profiled(&room, "herd", 0);
    let args = [
        &file,
        "--machine",
        "vm-2cpu",
        "--threads",
        "2",
        "--locks",
        "mutex",
    ];
    let text = predict(&room, &[&args[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&text).expect("JSON");
    // Eight that took it once and took it back 200 times, and one that took it 200 times.
    let threads = number(&found["threads"]);
    assert!((8.5..9.5).contains(&threads), "{text}");
    let told = predict(&room, &args);
    assert!(!told.contains("no two threads share a lock"), "{told}");
}

#[test]
fn the_workload_can_be_simulated_by_itself() {
    let room = Room::new();
    let (file, _) = profiled(&room, "truth", 3);
    let dir = room.path("workloads");
    let dir = dir.to_str().expect("UTF-8");
    let args = [
        &file,
        "--machine",
        "vm-2cpu",
        "--threads",
        "2",
        "--locks",
        "mutex",
    ];
    let text = predict(&room, &[&args[..], &["--workloads", dir]].concat());
    for part in [
        "Amdahl's law",
        "1. mutex slow_mutex",
        "What this depends on",
        "Locks are predicted one by one",
        "simulated so:",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let workload = format!("{dir}/truth-1.toml");
    let output = room.run(&[
        "sim",
        "--workload",
        &workload,
        "--machine",
        "vm-2cpu",
        "--seeds",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("slow_mutex, as profiled"));
}

#[test]
fn nested_locks_are_simulated_together() {
    let room = Room::new();
    let (file, _) = profiled(&room, "nested", 0);
    // Of 192 threads at least one would hold the lock most of the time, whatever the load was.
    let args = [
        &file,
        "--machine",
        "epyc-9654",
        "--threads",
        "2,192",
        "--locks",
        "glibc",
        "--seeds",
        "1",
        "--top",
        "2",
        "--json",
    ];
    let found: Value = serde_json::from_str(&predict(&room, &args)).expect("JSON");
    let locks = found["locks"].as_array().expect("locks");
    // Which of the two were waited for is a matter of luck.
    assert!(!locks.is_empty(), "{found:#}");
    for lock in locks {
        let is_inner = lock["name"] == "inner_mutex";
        let partner = &lock["partner"];
        assert_eq!(partner["is_outer"], is_inner, "{lock:#}");
        assert_eq!(partner["simulated"], true);
        let together = number(&partner["together"]);
        assert!((19_000.0..21_000.0).contains(&together), "{together}");
    }
    for case in found["predictions"].as_array().expect("cases") {
        let rate = number(&case["rows"][0]["rate"]["value"]);
        assert!(rate > 0.0, "{case:#}");
    }
}

#[test]
fn read_write_locks_are_compared_with_glibcs() {
    let room = Room::new();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/contend.c");
    let source = std::fs::read_to_string(source).expect("the source");
    let program = room.compile("contend", &source, &["-O2", "-pthread"]);
    let file = room.path("contend.prof");
    let file = file.to_str().expect("UTF-8");
    let args = ["profile", "--quiet", "-o", file, "--", &program];
    let output = room.run(&[&args[..], &["rwlock", "2", "300", "600", "75", "100"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // Of 64 threads at least one would hold the lock most of the time, whatever the load was.
    let args = [
        file,
        "--machine",
        "epyc-9654",
        "--threads",
        "2,64",
        "--locks",
        "mutex,qspinlock_fair",
        "--seeds",
        "1",
    ];
    let text = predict(&room, &[&args[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["locks"][0]["kind"], "rwlock", "{text}");
    let case = &found["predictions"][0];
    assert!(number(&case["profiled"]["simulated"]) > 0.0, "{text}");
    // The model is trusted less than that of a mutex.
    assert!(
        number(&case["error"]) > number(&found["simulator_error"]),
        "{text}"
    );
    let rows = case["rows"].as_array().expect("rows");
    assert_eq!(
        rows.len(),
        4,
        "glibc and two policies that do the same: {text}"
    );
    for row in rows {
        let is_glibc = row["policies"] == "glibc";
        let lock = if is_glibc { "glibc_rwlock" } else { "rwsem" };
        assert_eq!(row["simulated"], lock);
        assert!(number(&row["rate"]["value"]) > 0.0, "{row}");
        assert_eq!(row["over_glibc"].is_null(), is_glibc, "{row}");
    }
    let told = predict(&room, &args);
    assert!(!told.contains("compared with nothing"), "{told}");
    assert!(told.contains("of the default kind"), "{told}");
}

#[test]
fn a_program_that_does_not_wait_is_promised_nothing() {
    let room = Room::new();
    let file = room.path("true.prof");
    let file = file.to_str().expect("UTF-8");
    let profiled = room.run(&["profile", "--quiet", "-o", file, "--", "true"]);
    assert_eq!(profiled.status.code(), Some(0), "{}", stderr(&profiled));
    let text = predict(&room, &[file, "--machine", "epyc-9654"]);
    assert!(text.contains("Nothing to predict"), "{text}");
    let json = predict(&room, &[file, "--machine", "epyc-9654", "--json"]);
    let found: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(found["predicted"], false);
}

#[test]
fn mistakes_are_refused() {
    let room = Room::new();
    let file = room.path("no.prof");
    std::fs::write(&file, "no profile").expect("a file");
    let file = file.to_str().expect("UTF-8");
    for (code, args, word) in [
        (2, &[file][..], "--machine"),
        (2, &[file, "--machine", "no-such-machine"], "vm-2cpu"),
        (
            2,
            &[file, "--machine", "vm-2cpu", "--locks", "futex"],
            "qspinlock_fair",
        ),
        (
            2,
            &[file, "--machine", "vm-2cpu", "--threads", "0"],
            "--threads",
        ),
        (
            125,
            &[file, "--machine", "vm-2cpu"],
            "lockwork profile -o FILE",
        ),
        (125, &["/no/such", "--machine", "vm-2cpu"], "/no/such"),
    ] {
        let output = room.run(&[&["predict"], args].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
}
