// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork explain` as people use it: programs whose locking is known, the same words in each
//! world, and mistakes in the command line.

mod common;

use common::{stderr, stdout, Room};
use serde_json::Value;

/// Locks its mutex 1000 times, alone.
const ALONE: &str = r#"
#include <pthread.h>
int main(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	return 3;
}
"#;

/// A program that ends with 0, of which nothing can be recorded: no file has room for as much.
#[test]
fn an_explanation_of_nothing_fails() {
    let room = Room::new();
    // The libraries are unpacked before there is the limit.
    assert!(room.run(&["explain", "--", "true"]).status.success());
    let output = room.run_on_full_disk(100, &["explain", "--", "true"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("nothing is explained"), "{said}");
}

/// One thread holds the mutex until the other one sleeps for it.
const ASLEEP: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sched.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int waiter;
static void *wait_for_it(void *unused)
{
	__atomic_store_n(&waiter, gettid(), __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return unused;
}
static int sleeps(int tid)
{
	char path[64], text[512] = "";
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	FILE *file = fopen(path, "r");
	if (!file)
		return 0;
	size_t n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	char *end = strrchr(text, ')');
	return end && end[2] == 'S';
}
int main(void)
{
	pthread_t thread;
	pthread_mutex_lock(&m);
	pthread_create(&thread, NULL, wait_for_it, NULL);
	int tid;
	while (!(tid = __atomic_load_n(&waiter, __ATOMIC_SEQ_CST)) || !sleeps(tid))
		sched_yield();
	pthread_mutex_unlock(&m);
	pthread_join(thread, NULL);
	return 0;
}
"#;

/// What is said of a program, as JSON, and its exit code.
fn program(room: &Room, source: &str, options: &[&str]) -> (Value, Option<i32>) {
    let program = room.compile("program", source, &["-O1", "-pthread"]);
    let file = room.path("said.json");
    let file = file.to_str().expect("UTF-8");
    let args = [
        &["explain", "--json", "-o", file],
        options,
        &["--", &program],
    ]
    .concat();
    let output = room.run(&args);
    let text = std::fs::read_to_string(file).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let said = serde_json::from_str(&text).expect("JSON");
    (said, output.status.code())
}

fn figure(said: &Value, key: &str) -> f64 {
    let figure = said["figures"][key].as_f64();
    figure.unwrap_or_else(|| panic!("no {key} in {said}"))
}

#[test]
fn a_program_that_locks_alone_is_uncontended() {
    let room = Room::new();
    let (said, code) = program(&room, ALONE, &[]);
    assert_eq!(code, Some(3));
    assert_eq!(figure(&said, "acquisitions"), 1000.0);
    assert_eq!(figure(&said, "contended"), 0.0);
    assert_eq!(said["why"]["rule"], "uncontended");
    assert_eq!(said["lock"], "mutex");
    for unseen in ["locked_instructions", "lines_remote", "sleeps"] {
        assert!(said["figures"][unseen].is_null(), "{said}");
        assert!(said["not_seen"][unseen].is_string(), "{said}");
    }
}

#[test]
fn a_wait_that_sleeps_is_counted_and_so_is_its_wakeup() {
    let room = Room::new();
    let (said, code) = program(&room, ASLEEP, &["--set", "spin_budget=0"]);
    assert_eq!(code, Some(0));
    assert_eq!(figure(&said, "acquisitions"), 2.0);
    assert_eq!(figure(&said, "contended"), 0.5);
    // A sleeper that looks again after 32 ms has slept more than once.
    assert!(figure(&said, "sleeps") >= 0.5, "{said}");
    assert!(figure(&said, "wakeups") >= 0.5, "{said}");
    assert!(figure(&said, "voluntary_switches") >= 0.5, "{said}");
    assert!(said["not_seen"]["preempted_holders"].is_string());
}

#[test]
fn glibcs_locks_count_nothing_and_that_is_said() {
    let room = Room::new();
    let (said, _) = program(&room, ASLEEP, &["--lock", "glibc"]);
    assert_eq!(figure(&said, "acquisitions"), 2.0);
    assert!(said["figures"]["sleeps"].is_null());
    let why = said["not_seen"]["sleeps"].as_str().expect("a reason");
    assert!(why.starts_with("glibc's locks ran"), "{why}");
}

fn lines(room: &Room, words: &str) -> Vec<Value> {
    let output = room.run(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let line = |line: &str| serde_json::from_str(line).expect("JSON");
    stdout(&output).lines().map(line).collect()
}

#[test]
fn each_world_has_the_same_keys() {
    let room = Room::new();
    let sim = lines(
        &room,
        "explain --json sim --lock ticket_lock --threads 2 --seeds 1",
    );
    let bench = lines(
        &room,
        "explain --json bench --locks tas_lock,std.mutex --threads 2 --rounds 1 --time 2",
    );
    let torture = lines(
        &room,
        "explain torture tas_lock --threads 2 --seconds 1 --json",
    );
    let keys = |said: &Value| -> Vec<String> {
        let figures = said["figures"].as_object().expect("figures");
        figures.keys().cloned().collect()
    };
    for said in bench.iter().chain(&torture) {
        assert_eq!(keys(said), keys(&sim[0]));
        assert!(said["figures"]["locked_instructions"].is_null());
    }
    assert_eq!(sim[0]["not_seen"].as_object().expect("none").len(), 0);
    assert_eq!(bench.len(), 2);
    let ours = bench.iter().find(|said| said["lock"] == "tas_lock");
    assert_eq!(figure(ours.expect("ours"), "sleeps"), 0.0);
    let other = bench.iter().find(|said| said["lock"] == "std.mutex");
    assert!(other.expect("another")["not_seen"]["sleeps"].is_string());
    assert_eq!(figure(&torture[0], "sleeps"), 0.0);
}

#[test]
fn mistakes_are_one_sentence() {
    let room = Room::new();
    let cases = [
        (
            "explain",
            2,
            "name a world (sim, bench or torture), or a program",
        ),
        ("explain simulate", 2, "unexpected argument 'simulate'"),
        ("explain sim -- true", 2, "unexpected argument"),
        (
            "explain --lock mutex sim",
            2,
            "put a world's options behind its name",
        ),
        (
            "explain sim --lock no_such",
            2,
            "there is no lock named 'no_such'",
        ),
        ("explain sim --list", 2, "--list is for lockwork sim"),
        ("explain bench --locks no_such", 2, "no_such"),
        (
            "explain bench --preset sweep",
            2,
            "--preset is for lockwork bench",
        ),
        ("explain torture no_such", 2, "no_such"),
        (
            "explain torture mutex --property fork",
            2,
            "--property is for lockwork torture",
        ),
        (
            "explain --lock no_such -- true",
            125,
            "there is no lock 'no_such'",
        ),
        ("explain -- no-such-program", 127, "no-such-program"),
        (
            "explain -o /nowhere/x -- echo ran",
            125,
            "cannot write the explanation to /nowhere/x",
        ),
        (
            "explain -o /nowhere/x sim --threads 2 --seeds 1",
            125,
            "cannot write the explanation to /nowhere/x",
        ),
    ];
    for (words, code, part) in cases {
        let output = room.run(&words.split(' ').collect::<Vec<_>>());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{words}: {said}");
        assert!(said.contains(part), "{words}: {said}");
        assert_eq!(stdout(&output), "", "{words}");
    }
}
