// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork profile` and `lockwork report`: what they say of programs whose locking is
//! known, and of everything that is no such program.

mod common;

use std::cell::RefCell;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{Room, Started};
use serde_json::Value;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/record");

/// Compiles a program of `tests/record`.
fn program(room: &Room, name: &str, flags: &[&str]) -> String {
    compile(
        room,
        &Path::new(SOURCES).join(format!("{name}.c")),
        name,
        flags,
    )
}

fn compile(room: &Room, source: &Path, name: &str, flags: &[&str]) -> String {
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let target = room.path(name);
    let output = Command::new(cc)
        .args(["-O1", "-g", "-pthread", "-Wall", "-Wextra", "-Werror"])
        .arg("-o")
        .arg(&target)
        .arg(source)
        .args(flags)
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "{}", stderr(&output));
    target.to_str().expect("UTF-8").to_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `lockwork profile -o FILE` with more arguments, in the room.
fn profile(room: &Room, args: &[&str]) -> Output {
    let file = room.path("p.prof");
    let mut all = vec!["profile", "-o", file.to_str().expect("UTF-8")];
    all.extend(args);
    room.run(&all)
}

/// The report in JSON: a process each.
fn json(room: &Room) -> Vec<Value> {
    let file = room.path("p.prof");
    let output = room.run(&["report", "--json", file.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn lock<'a>(process: &'a Value, name: &str) -> &'a Value {
    let locks = process["locks"].as_array().expect("locks");
    let found = locks.iter().find(|lock| lock["name"] == name);
    found.unwrap_or_else(|| panic!("no lock {name} in {locks:#?}"))
}

fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

/// Holds the profile against what the program measured.
fn compare_with_truth(process: &Value, told: &str) {
    for line in told.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, figure, value] = words[..] else {
            panic!("{line}")
        };
        if name == "child" {
            continue;
        }
        let counts = &lock(process, name)["counts"];
        let value: i64 = value.parse().expect("a number");
        let held = number(&counts["held_ns"]);
        let waited = number(&counts["waited_ns"]);
        // The program's clock and the counter's rate agree to much better than this.
        let clock = value / 100;
        match figure {
            "inside_ns" => assert!(held >= value - clock, "held {held}: {line}"),
            "outside_ns" => assert!(held + waited <= value + clock, "{held} {waited}: {line}"),
            "at_least_ns" => assert!(waited >= value - clock, "waited {waited}: {line}"),
            "at_most_ns" => assert!(waited <= value + clock, "waited {waited}: {line}"),
            exact => assert_eq!(number(&counts[exact]), value, "{line}: {counts:#}"),
        }
    }
}

#[test]
fn figures_are_those_of_the_program() {
    let room = Room::new();
    let truth = program(&room, "truth", &[]);
    for name in ["glibc", "mutex", "glibc_passthrough"] {
        let output = profile(&room, &["--lock", name, "--", &truth]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let processes = json(&room);
        assert_eq!(processes.len(), 2, "{name}: the program and its child");
        compare_with_truth(&processes[0], &stdout(&output));
        let child = &processes[1];
        assert_eq!(child["from_fork"], true);
        assert_eq!(child["parent"], processes[0]["pid"]);
        assert_eq!(lock(child, "counted_mutex")["counts"]["count"], 5);
        assert_eq!(child["locks"].as_array().expect("locks").len(), 1);
    }
}

/// A tenth more or less may be chance. The holds that were timed in step with the program made
/// it three times as many.
#[test]
fn long_holds_that_come_again_and_again_are_counted_as_often_as_they_come() {
    let room = Room::new();
    let periodic = program(&room, "periodic", &[]);
    let output = profile(&room, &["--", &periodic]);
    let long: f64 = stdout(&output).trim().parse().expect("a number");
    let process = &json(&room)[0];
    let counts = &lock(process, "periodic_mutex")["counts"];
    let buckets = counts["hold_histogram"].as_array().expect("buckets");
    let seen: i64 = buckets
        .iter()
        .filter(|bucket| number(&bucket["from_ns"]) >= 5_000)
        .map(|bucket| number(&bucket["count"]))
        .sum();
    let times = seen as f64 / long;
    assert!((0.67..1.5).contains(&times), "{seen} of {long}: {counts:#}");
}

/// Why threads waited for `truth`'s slow mutex. Its sections are long; on a busy machine its
/// holders may lose their CPU as well, and its waiters wake late. Then the report may say so.
fn why_slow(room: &Room) -> String {
    let slow = lock(&json(room)[0], "slow_mutex").clone();
    let counts = &slow["counts"];
    let mean = |sum: &str, n: &str| {
        counts[sum].as_f64().expect("a sum") / counts[n].as_f64().expect("a count").max(1.0)
    };
    let hold = mean("held_ns", "holds");
    let lost = mean("holds_involuntary_switches", "holds_watched") * 3e6 >= hold / 2.0;
    let late = mean("handover_ns", "handovers") > hold;
    if !lost && !late {
        assert_eq!(slow["why"]["rule"], "long-sections", "{slow:#}");
    }
    slow["why"]["sentence"]
        .as_str()
        .expect("a sentence")
        .to_owned()
}

#[test]
fn the_report_says_who_held_the_lock_and_why_it_is_slow() {
    let room = Room::new();
    let truth = program(&room, "truth", &[]);
    let output = profile(&room, &["--", &truth]);
    let report = stderr(&output);
    let why = why_slow(&room);
    for part in [
        "slow_mutex",
        &format!("why: {why}"),
        "wait_for_it (truth.c:",
        "while hold_slowly (truth.c:",
        "queue_cond",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let slow = &json(&room)[0]["locks"][0];
    assert_eq!(slow["name"], "slow_mutex");
    let file = room.path("p.prof");
    let folded = room.run(&["report", "--folded", file.to_str().expect("UTF-8")]);
    let folded = stdout(&folded);
    let line = folded
        .lines()
        .find(|line| line.contains("wait_once;wait_for_it;mutex slow_mutex"));
    let waited = line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
    assert!(waited.is_some_and(|us| us >= 90_000), "{folded}");
    speedscope_has_the_same(&room, &folded);
}

/// The stacks of `--speedscope` are those of `--folded`, and its weights are their times.
fn speedscope_has_the_same(room: &Room, folded: &str) {
    let (file, out) = (room.path("p.prof"), room.path("waits.json"));
    let [file, out] = [&file, &out].map(|path| path.to_str().expect("UTF-8"));
    let output = room.run(&["report", "--speedscope", out, file]);
    assert!(output.status.success(), "{}", stderr(&output));
    let read = fs::read_to_string(out).expect("the file");
    let scope: Value = serde_json::from_str(&read).expect("JSON");
    let frames = scope["shared"]["frames"].as_array().expect("frames");
    let mut lines = String::new();
    for profile in scope["profiles"].as_array().expect("profiles") {
        assert_eq!(profile["type"], "sampled");
        assert_eq!(profile["unit"], "nanoseconds");
        let samples = profile["samples"].as_array().expect("samples");
        let weights = profile["weights"].as_array().expect("weights");
        assert_eq!(samples.len(), weights.len());
        let sum: i64 = weights.iter().map(number).sum();
        assert_eq!(number(&profile["endValue"]), sum);
        for (sample, weight) in samples.iter().zip(weights) {
            let places = sample.as_array().expect("a stack");
            let name = |place: &Value| frames[number(place) as usize]["name"].as_str();
            let names: Vec<&str> = places.iter().filter_map(name).collect();
            let us = number(weight) / 1000;
            if us > 0 {
                lines += &format!("{} {us}\n", names.join(";"));
            }
        }
    }
    assert_eq!(lines, folded);
}

#[test]
fn a_program_without_lock_calls_says_so() {
    let room = Room::new();
    let output = profile(&room, &["--", "true"]);
    assert_eq!(output.status.code(), Some(0));
    let told = stderr(&output);
    assert!(
        told.contains("no lock call that an interposer sees"),
        "{told}"
    );
}

#[test]
fn a_stripped_program_has_modules_and_offsets() {
    let room = Room::new();
    let truth = program(&room, "truth", &["-s"]);
    let output = profile(&room, &["--", &truth]);
    assert!(stderr(&output).contains("truth+0x"), "{}", stderr(&output));
}

/// A function that is exported, and behind it one that has no name once it is stripped.
const HIDES: &str = "#include <pthread.h>\n\
    pthread_mutex_t seen_mutex = PTHREAD_MUTEX_INITIALIZER; volatile int calls;\n\
    void exported(void) { calls++; }\n\
    static void __attribute__((noinline)) hidden(void) { pthread_mutex_lock(&seen_mutex);\n\
    calls++; pthread_mutex_unlock(&seen_mutex); }\n\
    int main(void) { exported(); hidden(); return 0; }\n";

#[test]
fn a_name_ends_where_its_function_does() {
    let room = Room::new();
    let source = room.path("hides.c");
    fs::write(&source, HIDES).expect("a file");
    let flags = ["-s", "-rdynamic", "-fno-toplevel-reorder"];
    let hides = compile(&room, &source, "hides", &flags);
    let output = profile(&room, &["--", &hides]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let process = &json(&room)[0];
    let site = &lock(process, "seen_mutex")["sites"][0]["site"];
    assert!(
        site.as_str().is_some_and(|s| s.starts_with("hides+0x")),
        "{site}"
    );
}

#[test]
fn a_killed_program_loses_nothing() {
    let room = Room::new();
    let source = room.path("killed.c");
    fs::write(
        &source,
        "#include <pthread.h>\n#include <signal.h>\n#include <unistd.h>\n\
         pthread_mutex_t last_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
         int main(void) { for (int i = 0; i < 12345; i++) { pthread_mutex_lock(&last_mutex); \
         pthread_mutex_unlock(&last_mutex); } kill(getpid(), SIGKILL); return 0; }\n",
    )
    .expect("a file");
    let killed = compile(&room, &source, "killed", &[]);
    let output = profile(&room, &["--", &killed]);
    assert_eq!(output.status.code(), Some(128 + 9));
    let process = &json(&room)[0];
    assert_eq!(lock(process, "last_mutex")["counts"]["count"], 12345);
    assert_eq!(process["ended"], false);
    assert!(process["cpu_seconds"].is_null(), "{process:#?}");
}

/// 20,000 locks, each locked once; then, with an argument, one lock for ever.
const MANY: &str = "#include <pthread.h>\n#include <stdlib.h>\n\
    pthread_mutex_t last_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    int main(int argc, char **argv) {\n\
    pthread_mutex_t *all = calloc(20000, sizeof(*all)); (void)argv;\n\
    for (int i = 0; i < 20000; i++) pthread_mutex_lock(all + i);\n\
    while (argc > 1) { pthread_mutex_lock(&last_mutex); pthread_mutex_unlock(&last_mutex); }\n\
    return 0; }\n";

/// Records `program` into p.prof, which has little room.
fn profile_on_full_disk(room: &Room, program: &str) -> Output {
    let file = room.path("p.prof");
    let file = file.to_str().expect("UTF-8");
    room.run_on_full_disk(1000, &["profile", "-o", file, "--", program])
}

/// Those that are in some lock's figures.
fn acquisitions(process: &Value) -> i64 {
    let locks = process["locks"].as_array().expect("locks").iter();
    locks.map(|lock| number(&lock["counts"]["count"])).sum()
}

#[test]
fn a_disk_that_is_full_at_the_start_is_found_before_the_program_runs() {
    let room = Room::new();
    let script = room.script("program", "echo started");
    let file = room.path("p.prof");
    let name = file.to_str().expect("UTF-8");
    let output = room.run_on_full_disk(100, &["profile", "-o", name, "--", &script]);
    assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    let said = stderr(&output);
    assert!(said.contains("there is no room for it"), "{said}");
    assert!(!file.exists());
}

#[test]
fn a_program_that_is_not_recorded_is_thought_of() {
    let room = Room::new();
    let source = room.path("locks.c");
    fs::write(
        &source,
        "#include <pthread.h>\nint main(void) { static pthread_mutex_t m; \
         pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }\n",
    )
    .expect("a file");
    let locks = compile(&room, &source, "locks", &[]);
    let executed = stderr(&profile(&room, &["--", "env", "-i", &locks]));
    let itself = stderr(&profile(&room, &["--", "true"]));
    for said in [&executed, &itself] {
        assert!(said.contains("static or setuid"), "{said}");
        assert!(said.contains("env -i"), "{said}");
    }
    // It is known if the new program runs for as long as it takes to see it.
    let another = "executed another program";
    assert!(executed.contains(another), "{executed}");
    assert!(!itself.contains(another), "{itself}");
}

#[test]
fn a_full_disk_costs_records_and_nothing_else() {
    let room = Room::new();
    let source = room.path("many.c");
    fs::write(&source, MANY).expect("a file");
    let many = compile(&room, &source, "many", &[]);
    let output = profile_on_full_disk(&room, &many);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("had no room for more"),
        "{}",
        stderr(&output)
    );
    let process = &json(&room)[0];
    let seen = acquisitions(process);
    let dropped = number(&process["dropped"]);
    assert!(dropped > 0 && seen > 1000, "{seen} {dropped}");
    assert_eq!(seen + dropped, 20_000);
}

/// 20,000 locks, each locked once, then three threads that lock one of their own 1,000 times,
/// and try for one that is held.
const LATE: &str = "#include <pthread.h>\n#include <stdlib.h>\n\
    static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;\n\
    static void *late(void *own) {\n\
    for (int i = 0; i < 1000; i++) { pthread_mutex_lock(own); pthread_mutex_unlock(own); \
    if (!pthread_mutex_trylock(&held)) abort(); }\n\
    return NULL; }\n\
    int main(void) {\n\
    pthread_mutex_t *all = calloc(20000, sizeof(*all)); pthread_t thread[3];\n\
    pthread_mutex_lock(&held);\n\
    for (int i = 0; i < 20000; i++) pthread_mutex_lock(all + i);\n\
    for (int i = 0; i < 20000; i++) pthread_mutex_unlock(all + i);\n\
    for (int i = 0; i < 3; i++) pthread_create(thread + i, NULL, late, all + i);\n\
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);\n\
    return 0; }\n";

#[test]
fn a_full_disk_leaves_no_acquisition_uncounted() {
    let room = Room::new();
    let source = room.path("late.c");
    fs::write(&source, LATE).expect("a file");
    let late = compile(&room, &source, "late", &["-pthread"]);
    let output = profile_on_full_disk(&room, &late);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("among them all of 3 threads that began when the file was full"),
        "{said}"
    );
    let process = &json(&room)[0];
    let seen = acquisitions(process);
    let dropped = number(&process["dropped"]);
    assert!(dropped > 3000 && seen > 1000, "{seen} {dropped}");
    assert_eq!(seen + dropped, 1 + 20_000 + 3000);
    assert_eq!(number(&process["unrecorded_threads"]), 3);
    // The path of a call does not ask for room again: some at once may have.
    let asked = number(&process["refused"]);
    assert!((1..10).contains(&asked), "{asked}");
    let output = room
        .lockwork(&["predict", "--machine", "epyc-9654"])
        .arg(room.path("p.prof"))
        .output()
        .expect("lockwork starts");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("had no room for"), "{said}");
}

#[test]
fn an_interrupt_ends_the_program_and_is_followed_by_the_report() {
    let room = Room::new();
    let source = room.path("many.c");
    fs::write(&source, MANY).expect("a file");
    let many = compile(&room, &source, "many", &[]);
    let file = room.path("p.prof");
    let mut command = room.lockwork(&["profile", "-o", file.to_str().expect("UTF-8")]);
    command.args(["--", &many, "for-ever"]);
    command.process_group(0).stderr(Stdio::piped());
    let mut started = Started::new(&mut command);
    // It runs once its last lock is in the file, which can be read meanwhile.
    started.until(|| file.exists() && room_has(&room, "last_mutex"));
    started.signal(libc::SIGINT);
    let output = started.output();
    assert_eq!(output.status.code(), Some(130));
    assert!(
        stderr(&output).contains("nothing to win here"),
        "{}",
        stderr(&output)
    );
}

/// Two threads that take two locks in opposite orders, each once the other has its first.
const DEADLOCK: &str = "#include <pthread.h>\n\
    pthread_mutex_t a_mutex = PTHREAD_MUTEX_INITIALIZER, b_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static pthread_barrier_t both;\n\
    static void *other(void *arg) { pthread_mutex_lock(&b_mutex); pthread_barrier_wait(&both);\n\
    pthread_mutex_lock(&a_mutex); return arg; }\n\
    int main(void) { pthread_t t; pthread_barrier_init(&both, 0, 2);\n\
    pthread_mutex_lock(&a_mutex); pthread_create(&t, 0, other, 0); pthread_barrier_wait(&both);\n\
    pthread_mutex_lock(&b_mutex); return 0; }\n";

#[test]
fn a_deadlock_is_shown_while_the_program_hangs() {
    let room = Room::new();
    let source = room.path("hangs.c");
    fs::write(&source, DEADLOCK).expect("a file");
    let hangs = compile(&room, &source, "hangs", &[]);
    let file = room.path("p.prof");
    let name = file.to_str().expect("UTF-8");
    let mut command = room.lockwork(&["profile", "-o", name, "--", &hangs]);
    command.process_group(0).stderr(Stdio::piped());
    let mut started = Started::new(&mut command);
    let reported = || stdout(&room.run(&["report", "--deadlock", name]));
    started.until(|| reported().contains("deadlock of 2 threads"));
    let shown = reported();
    for part in [
        "mutex a_mutex",
        "mutex b_mutex",
        "other (hangs.c:",
        "main (hangs.c:",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // Once the waits are long enough to be called so.
    started.until(|| stdout(&room.run(&["report", name])).contains("A deadlock of 2 threads:"));
    started.signal(libc::SIGTERM);
    let output = started.output();
    assert_eq!(output.status.code(), Some(128 + 15));
    let told = stderr(&output);
    assert!(told.contains("A deadlock of 2 threads:"), "{told}");
    assert!(!told.contains("nothing to win"), "{told}");
    let waiting = json(&room)[0]["waiting_now"].clone();
    assert!(waiting[0]["tid"].as_u64().is_some(), "{waiting}");
}

/// Runs `odd MODE`, which does not end, until `report --deadlock` says `until`; what it says then.
fn odd_until(mode: &str, until: &str) -> String {
    let room = Room::new();
    let odd = program(&room, "odd", &[]);
    let file = room.path("p.prof");
    let name = file.to_str().expect("UTF-8");
    let mut command = room.lockwork(&["profile", "--quiet", "-o", name, "--", &odd, mode]);
    command.process_group(0).stderr(Stdio::null());
    let mut started = Started::new(&mut command);
    let shown = RefCell::new(String::new());
    started.until(|| {
        shown.replace(stdout(&room.run(&["report", "--deadlock", name])));
        shown.borrow().contains(until)
    });
    started.signal(libc::SIGTERM);
    started.output();
    shown.into_inner()
}

/// A reader that was seen to hold the lock has left it, and waits for what the writer holds; another
/// one reads on. Or the other one waits, and the one that was seen does not.
#[test]
fn a_deadlock_is_of_those_who_hold_now() {
    let shown = odd_until("gone", "2 threads in a lock call");
    assert!(shown.contains("no deadlock"), "{shown}");
    let shown = odd_until("stays", "deadlock of 2 threads");
    assert!(shown.contains("second_reader (odd.c:"), "{shown}");
}

#[test]
fn one_thread_may_wait_for_itself_and_for_other_processes() {
    odd_until("self", "deadlock of 1 thread");
    let room = Room::new();
    let odd = program(&room, "odd", &[]);
    let output = profile(&room, &["--quiet", "--", &odd, "shared"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let contended = |process: &Value| number(&process["locks"][0]["counts"]["contended"]);
    let all = json(&room);
    assert_eq!(all.iter().map(contended).sum::<i64>(), 1, "{all:?}");
}

#[test]
fn threads_that_there_is_no_memory_for_are_counted() {
    let room = Room::new();
    let odd = program(&room, "odd", &[]);
    let output = profile(&room, &["--", &odd, "small"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(number(&json(&room)[0]["unrecorded_threads"]), 1);
    let told = stderr(&output);
    assert!(told.contains("Nobody knows which locks it used"), "{told}");
    assert!(told.contains("record 1 thread,"), "{told}");
}

/// Its mutex is held after that, and no unlock is of another thread's lock.
#[test]
fn a_condition_wait_may_be_refused_and_cancelled() {
    let room = Room::new();
    let odd = program(&room, "odd", &[]);
    let output = profile(&room, &["--quiet", "--", &odd, "waits"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let file = room.path("p.prof");
    let shown = stdout(&room.run(&["report", file.to_str().expect("UTF-8")]));
    assert!(shown.contains("condition variable"), "{shown}");
    assert!(!shown.contains("had not locked"), "{shown}");
}

#[test]
fn a_program_that_chooses_its_lock_is_recorded_all_the_same() {
    let room = Room::new();
    let nested = program(&room, "nested", &[]);
    let lockwork = env!("CARGO_BIN_EXE_lockwork");
    let output = profile(&room, &["--", lockwork, "run", "--lock", "mutex", &nested]);
    assert!(output.status.success(), "{}", stderr(&output));
    let processes = json(&room);
    let found = processes
        .iter()
        .find(|process| process["lock"] == "mutex")
        .unwrap_or_else(|| panic!("not recorded: {processes:#?}"));
    assert_eq!(lock(found, "outer_mutex")["counts"]["count"], 40_000);
}

#[test]
fn a_profile_says_which_locks_are_taken_inside_others() {
    let room = Room::new();
    let nested = program(&room, "nested", &[]);
    let output = profile(&room, &["--", &nested]);
    assert!(output.status.success(), "{}", stderr(&output));
    let processes = json(&room);
    let inner = lock(&processes[0], "inner_mutex");
    let inside = inner["inside"].as_array().expect("a list");
    assert_eq!(inside.len(), 1, "{inside:?}");
    assert_eq!(
        inside[0]["address"],
        lock(&processes[0], "outer_mutex")["address"]
    );
    // 20,000; the last acquisitions of a thread may have been counted before they were made.
    let count = number(&inside[0]["acquisitions"]);
    assert!((19_000..21_000).contains(&count), "{count}");
    assert_eq!(
        lock(&processes[0], "outer_mutex")["inside"],
        Value::from([0; 0])
    );
}

/// The time is counted, and the sleep is none of the outer lock's holder.
#[test]
fn a_wait_inside_a_section_is_known_as_one() {
    let room = Room::new();
    let inside = program(&room, "inside", &[]);
    let output = profile(&room, &["--", &inside]);
    assert!(output.status.success(), "{}", stderr(&output));
    let process = &json(&room)[0];
    let within = lock(process, "within_mutex");
    assert_eq!(within["counts"]["contended"], 5);
    let waited = &within["inside"][0]["waited_ns"];
    assert_eq!(waited, &within["counts"]["waited_ns"], "{within:#}");
    let around = lock(process, "around_mutex");
    assert_eq!(around["counts"]["holds_watched"], 0, "{around:#}");
    assert_eq!(within["inside"][0]["address"], around["address"]);
}

/// Three waits that time out, and one for a word that has changed already.
const FUTEX: &str = "#include <linux/futex.h>\n#include <sys/syscall.h>\n\
    #include <time.h>\n#include <unistd.h>\nint word;\n\
    int main(void) { struct timespec ms = { 0, 1000000 };\n\
    for (int i = 0; i < 3; i++) syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ms, 0, 0);\n\
    syscall(SYS_futex, &word, FUTEX_WAIT, 1, &ms, 0, 0);\n\
    return syscall(SYS_getpid) == getpid() ? 0 : 1; }\n";

#[test]
fn waits_of_other_locks_are_counted_apart() {
    let room = Room::new();
    let source = room.path("futex.c");
    fs::write(
        &source,
        FUTEX.replace("#include <linux", "#define _GNU_SOURCE\n#include <linux"),
    )
    .expect("a file");
    let futex = compile(&room, &source, "futex", &[]);
    let output = profile(&room, &["--", &futex]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("in 3 futex calls"),
        "{}",
        stderr(&output)
    );
    let process = &json(&room)[0];
    let word = lock(process, "word");
    assert_eq!(word["kind"], "futex");
    assert_eq!(word["counts"]["count"], 3);
    assert_eq!(word["counts"]["timeouts"], 3);
    assert!(number(&word["counts"]["waited_ns"]) >= 3_000_000 * 99 / 100);
}

#[test]
fn the_page_is_whole_and_needs_nothing_else() {
    let room = Room::new();
    let file = recorded(&room);
    let page = room.path("page.html");
    let output = room.run(&[
        "report",
        file.to_str().expect("UTF-8"),
        "--html",
        page.to_str().expect("UTF-8"),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = fs::read_to_string(&page).expect("the page");
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>\n"));
    let why = why_slow(&room);
    for part in ["slow_mutex", &why, "wait_for_it (truth.c:"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in [
        "Who waits and who holds, over time",
        "Which call waited for which",
        "<rect class=\"w\"",
        "<rect class=\"h\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("http") && !text.contains(" src="));
    assert_eq!(
        text.matches("<details").count(),
        text.matches("</details>").count()
    );
}

fn room_has(room: &Room, name: &str) -> bool {
    let file = room.path("p.prof");
    let output = room.run(&["report", "--json", file.to_str().expect("UTF-8")]);
    stdout(&output).contains(name)
}

#[test]
fn executed_programs_are_kept_apart() {
    let room = Room::new();
    let truth = program(&room, "truth", &[]);
    let script = format!("{truth}; {truth}; exit 0");
    let output = profile(&room, &["--", "sh", "-c", &script]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let used = json(&room);
    let slow = used.iter().filter(|process| {
        let locks = process["locks"].as_array().expect("locks");
        locks.iter().any(|lock| lock["name"] == "slow_mutex")
    });
    assert_eq!(slow.count(), 2);
    // A new run removes what an old one left.
    let again = profile(&room, &["--", "true"]);
    assert!(again.status.success());
    assert_eq!(json(&room).len(), 1);
}

#[test]
fn what_cannot_be_recorded_is_refused_before_it_runs() {
    let room = Room::new();
    let script = room.script("program", "echo started");
    let refused = |args: &[&str], part: &str| {
        let output = room.run(args);
        assert_eq!(output.status.code(), Some(125), "{args:?}");
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    };
    let missing = room.path("none/p.prof");
    refused(
        &[
            "profile",
            "-o",
            missing.to_str().expect("UTF-8"),
            "--",
            &script,
        ],
        "give another name by -o",
    );
    let precious = room.path("precious");
    fs::write(&precious, "not a profile").expect("a file");
    let name = precious.to_str().expect("UTF-8");
    refused(&["profile", "-o", name, "--", &script], "is no profile");
    assert_eq!(
        fs::read_to_string(&precious).expect("still there"),
        "not a profile"
    );
    let link = room.path("link");
    std::os::unix::fs::symlink("nowhere", &link).expect("a link");
    let name = link.to_str().expect("UTF-8");
    refused(&["profile", "-o", name, "--", &script], "link to nothing");
    // To open it would be to wait for one who writes.
    let fifo = room.path("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo starts").success());
    let name = fifo.to_str().expect("UTF-8");
    refused(
        &["profile", "-o", name, "--", &script],
        "is no regular file",
    );
    refused(&["report", name], "it is not a regular file");
    refused(
        &["profile", "--lock", "no_such_lock", "--", &script],
        "no lock 'no_such_lock'",
    );
    let output = profile(&room, &["--", "no-such-program"]);
    assert_eq!(output.status.code(), Some(127));
}

/// Programs of `tests/preload` whose promises a recorder could break.
#[test]
fn recorded_programs_keep_what_pthread_promises() {
    let room = Room::new();
    let folder = Path::new(SOURCES).join("../preload");
    let include = format!("-I{}", folder.display());
    for name in [
        "c11_threads",
        "cancel_points",
        "cond_basic",
        "cond_cancel",
        "fork_children",
        "mutex_kinds",
        "mutex_protocol",
        "mutex_robust",
        "rwlock_timed",
        "spin",
        "unlock_steps",
    ] {
        let source = folder.join(format!("{name}.c"));
        let program = compile(&room, &source, name, &[&include]);
        for lock in ["glibc", "mutex"] {
            let output = profile(&room, &["--quiet", "--lock", lock, "--", &program]);
            let code = output.status.code();
            assert_eq!(code, Some(0), "{name}, {lock}: {}", stderr(&output));
        }
    }
}

/// A library that hands each `dlsym()` on. The call is not its last: the linker must see it.
const HANDS_ON: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n\
    volatile int calls;\n\
    void *dlsym(void *restrict handle, const char *restrict name) {\n\
    void *(*next)(void *, const char *) = dlvsym(RTLD_NEXT, \"dlsym\", \"GLIBC_2.2.5\");\n\
    void *found = next(handle, name); calls++; return found; }\n";

/// What they look for behind them is their own then, which would call itself for ever.
#[test]
fn a_library_in_front_may_hand_look_ups_on() {
    let room = Room::new();
    let source = room.path("hands_on.c");
    fs::write(&source, HANDS_ON).expect("a file");
    let hands_on = compile(&room, &source, "hands_on.so", &["-shared", "-fPIC"]);
    let source = room.path("many.c");
    fs::write(&source, MANY).expect("a file");
    let many = compile(&room, &source, "many", &[]);
    let file = room.path("p.prof");
    for library in ["--recorder", "--passthrough"] {
        let path = stdout(&room.run(&["preload-path", library]));
        let preload = format!("LD_PRELOAD={hands_on}:{}", path.trim());
        let output = Command::new("timeout")
            .args(["--signal=KILL", "60", "env", &preload, &many])
            .env("LOCKWORK_RECORD", &file)
            .output()
            .expect("timeout starts");
        assert_eq!(output.status.code(), Some(0), "{library}: {output:?}");
    }
    assert!(file.exists());
}

#[test]
#[cfg_attr(not(has_usdt), ignore = "sys/sdt.h (systemtap-sdt-dev) is missing")]
fn the_interposer_has_the_probes_of_glibc() {
    let room = Room::new();
    let path = stdout(&room.run(&["preload-path"]));
    let notes = Command::new("readelf").args(["-n", path.trim()]).output();
    let notes = stdout(&notes.expect("readelf starts"));
    assert!(notes.contains("Provider: libpthread"), "{notes}");
    for name in [
        "mutex_entry",
        "mutex_acquired",
        "mutex_release",
        "rdlock_entry",
        "cond_wait",
    ] {
        assert!(
            notes.contains(&format!("Name: {name}\n")),
            "{name}: {notes}"
        );
    }
}

#[test]
fn the_time_to_take_a_mutex_back_is_known_of_a_policy() {
    let room = Room::new();
    let back = program(&room, "back", &[]);
    for policy in ["mutex", "qspinlock_fair"] {
        let output = profile(&room, &["--lock", policy, "--", &back]);
        assert!(output.status.success(), "{}", stderr(&output));
        let process = &json(&room)[0];
        let counts = &lock(process, "taken_back")["counts"];
        assert_eq!(counts["taken_back"], 2, "{policy}: {counts:#}");
        let sites = lock(process, "taken_back")["sites"].as_array();
        let mut sites = sites.expect("sites").iter();
        let back = sites.find(|site| site["use"] == "take back");
        let back = &back.expect("a site of those waits")["counts"];
        assert_eq!(back["count"], 0, "no acquisition: {policy}: {back:#}");
        assert_eq!(back["contended"], 2, "{policy}: {back:#}");
        assert_eq!(back["holds"], 2, "{policy}: {back:#}");
        // At least from the first one to the second, which nobody has seen wait by then.
        assert!(number(&back["handovers"]) >= 1, "{policy}: {back:#}");
        // Both of them since the broadcast, also if they have slept on.
        let waited = number(&counts["waited_ns"]);
        assert!(waited >= 198_000_000, "{policy}: {counts:#}");
        let told = stderr(&output);
        assert!(told.contains("waiter (back.c:"), "{policy}: {told}");
        assert!(!told.contains("is not seen"), "{policy}: {told}");
    }
}

#[test]
fn waits_of_later_count_as_much_as_the_first_ones() {
    let room = Room::new();
    let later = program(&room, "later", &[]);
    let output = profile(&room, &["--", &later]);
    assert!(output.status.success(), "{}", stderr(&output));
    let process = &json(&room)[0];
    let counts = &lock(process, "later")["counts"];
    let watched = number(&counts["waits_watched"]);
    assert!(watched * 3 < number(&counts["contended"]), "{counts:#}");
    // The other waiter's 600 waits meet nobody, as the first 200 of 800 do. So the mean of all is
    // 0.43, and that of the watched ones, each counted alike, 0.19.
    let queue = number(&counts["queue_sum"]) as f64 / watched as f64;
    assert!((0.3..0.6).contains(&queue), "{queue}: {counts:#}");
}

#[test]
fn a_caller_that_waits_seldom_and_long_is_in_the_flame_graph() {
    let room = Room::new();
    let seldom = program(&room, "seldom", &[]);
    let output = profile(&room, &["--", &seldom]);
    assert!(output.status.success(), "{}", stderr(&output));
    let file = room.path("p.prof");
    let folded = room.run(&["report", "--folded", file.to_str().expect("UTF-8")]);
    let folded = stdout(&folded);
    let line = folded.lines().find(|line| line.contains("seldom;"));
    let waited = line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
    // It waits for 250 ms. How long the other one does, the machine's load says.
    assert!(waited.is_some_and(|us| us >= 100_000), "{folded}");
}

#[test]
fn a_program_with_locks_of_its_own_is_told_what_is_not_seen() {
    let room = Room::new();
    let own = program(&room, "own_futex", &[]);
    let told = |mode: &str| {
        let output = profile(&room, &["--", &own, mode]);
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    let futex = told("futex");
    for part in [
        "nothing to win in the locks that are seen. But threads waited",
        "in futex calls that no interposer sees",
        "most of that at own_futex (own_futex.c:",
    ] {
        assert!(futex.contains(part), "{part}: {futex}");
    }
    let process = &json(&room)[0];
    assert!(number(&process["own_futex_ns"]) > 0, "{process:#}");
    let parked = told("parked");
    assert!(
        parked.contains("condition variables of their own, one for each thread"),
        "{parked}"
    );
    assert!(!parked.contains("nothing to win here"), "{parked}");
    assert_eq!(json(&room)[0]["own_futex_ns"], 0, "all is pthread's there");
}

/// Signals that tell a program to do something do not end `lockwork`.
#[test]
fn signals_are_passed_on_to_the_program() {
    let room = Room::new();
    let script = "trap 'exit 7' USR1; trap 'exit 8' USR2; : > \"$0\"; \
                  while :; do sleep 0.01; done";
    for (signal, code) in [(libc::SIGUSR1, 7), (libc::SIGUSR2, 8)] {
        let ready = room.path("ready");
        let mut command = room.lockwork(&["run", "--count", "--", "sh", "-c", script]);
        let mut started = Started::new(command.arg(&ready).stderr(Stdio::piped()));
        started.until(|| ready.exists());
        started.signal(signal);
        assert_eq!(started.output().status.code(), Some(code));
        fs::remove_file(ready).expect("removed");
    }
}

#[test]
fn a_handler_may_lock_what_is_new_while_a_call_looks_for_its_record() {
    let room = Room::new();
    let output = profile(&room, &["--", &program(&room, "handler", &[])]);
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The recorder tries before it lets a reader wait. That try respects the writer as the wait does.
#[test]
fn a_writer_is_not_passed_for_ever_because_readers_are_recorded() {
    let room = Room::new();
    let overlap = program(&room, "overlap", &[]);
    for lock in ["mutex", "mutex_numa"] {
        let output = room.run(&["run", "--count", "--lock", lock, "--", &overlap]);
        assert!(output.status.success(), "{lock}: {}", stderr(&output));
    }
}

/// A library's open() may lock a mutex whose holder waits for the recorder.
#[test]
fn the_recorder_makes_its_system_calls_itself() {
    let room = Room::new();
    let hooked = program(&room, "hooked", &["-shared", "-fPIC"]);
    let file = room.path("p.prof");
    let mut command = Command::new("timeout");
    command
        .args(["-s", "KILL", "120"])
        .arg(env!("CARGO_BIN_EXE_lockwork"));
    command.args(["profile", "-o"]).arg(&file).arg("--");
    command.arg(program(&room, "robust", &[]));
    command
        .env("LD_PRELOAD", hooked)
        .env("XDG_CACHE_HOME", room.path("cache"));
    let output = command.output().expect("started");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(file.exists());
}

#[test]
fn waits_for_semaphores_are_told() {
    let room = Room::new();
    let semaphore = program(&room, "semaphore", &[]);
    let output = profile(&room, &["--", &semaphore]);
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("something else than these locks, such as semaphores"),
        "{told}"
    );
    assert!(!told.contains("nothing to win here"), "{told}");
    // Two of three wait at any time. The first thread's wait for their ends does not count: it is half
    // as long. The one who takes the samples may miss some on a busy machine.
    let waits = number(&json(&room)[0]["other_futex_ns"]);
    let own = stdout(&output).trim().parse::<i64>().expect("nanoseconds");
    assert!(
        (own / 8..own + own / 4).contains(&waits),
        "{waits} of {own}"
    );
}

/// Of these the recorder does not see whether they wait.
#[test]
fn robust_mutexes_are_not_called_uncontended() {
    let room = Room::new();
    let robust = program(&room, "robust", &[]);
    let output = profile(&room, &["--", &robust, "a", "", ""]);
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("whether those were contended is not seen"),
        "{told}"
    );
    assert!(!told.contains("nothing to win here"), "{told}");
    // Empty words at the end are words.
    let command = json(&room)[0]["command"].clone();
    assert_eq!(command, serde_json::json!([robust, "a", "", ""]));
}

#[test]
fn own_locks_of_child_processes_are_seen() {
    let room = Room::new();
    let own = program(&room, "own_futex", &[]);
    for command in ["\"$0\" futex; true", "exec \"$0\" futex"] {
        let output = profile(&room, &["--", "sh", "-c", command, &own]);
        assert!(output.status.success(), "{}", stderr(&output));
        let processes = json(&room);
        let is_own = |process: &&Value| process["command"][0] == own.as_str();
        let child = processes.iter().find(is_own).expect("the child");
        assert!(number(&child["own_futex_ns"]) > 0, "{command}: {child:#}");
        let shell = processes.iter().find(|process| !is_own(process));
        let shell = shell.expect("the shell");
        assert_eq!(shell["own_futex_ns"], 0, "{command}: {shell:#}");
    }
}

#[test]
fn a_comparison_says_that_locks_were_never_contended() {
    let room = Room::new();
    let source = room.path("alone.c");
    let text = MANY.replace("argc > 1", "argc-- > 0");
    fs::write(&source, text).expect("a file");
    let alone = compile(&room, &source, "alone", &[]);
    let args = ["compare", "-n", "1", "--locks", "mutex", "--", &alone];
    let output = room.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(
        told.contains("Its locks were never contended (20,00"),
        "{told}"
    );
    let output = room.run(&["compare", "-n", "1", "--locks", "mutex", "--", "true"]);
    let told = stdout(&output);
    for part in ["no lock call", "No verdict on the locks"] {
        assert!(told.contains(part), "{told}");
    }
}

/// A file of the profile of a short program.
fn recorded(room: &Room) -> PathBuf {
    let truth = program(room, "truth", &[]);
    assert_eq!(
        profile(room, &["--quiet", "--", &truth]).status.code(),
        Some(3)
    );
    room.path("p.prof")
}

#[test]
fn files_that_are_no_profiles_or_damaged_are_said_to_be() {
    let room = Room::new();
    let file = recorded(&room);
    let name = file.to_str().expect("UTF-8");
    let whole = fs::read(&file).expect("the profile");

    // Behind what is used there is room for more.
    let used = u64::from_le_bytes(whole[16..24].try_into().expect("8 bytes"));
    fs::write(&file, &whole[..used as usize - 9000]).expect("cut short");
    let output = room.run(&["report", "--alone", name]);
    assert!(output.status.success());
    let shown = stdout(&output);
    assert!(shown.contains("is cut short"), "{shown}");
    assert!(!shown.contains("nothing to win"), "{shown}");

    fs::write(&file, &whole).expect("whole again");
    for option in ["--html", "--speedscope"] {
        let output = room.run(&["report", name, option, name]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(
            stderr(&output).contains("is read by this command"),
            "{option}"
        );
        assert_eq!(fs::read(&file).expect("it"), whole, "{option}");
    }

    // Overwritten here and there: no panic, no hang.
    for at in (0..whole.len()).step_by(whole.len() / 8) {
        let mut damaged = whole.clone();
        let end = (at + 16).min(damaged.len());
        damaged[at..end].fill(0xff);
        fs::write(&file, &damaged).expect("damaged");
        let output = room.run(&["report", "--alone", name]);
        let code = output.status.code();
        assert!(
            code == Some(0) || code == Some(125),
            "byte {at}: {}",
            stderr(&output)
        );
    }

    for (content, part) in [(&b"ELF"[..], "is not a profile"), (&[], "is not a profile")] {
        fs::write(&file, content).expect("foreign");
        let output = room.run(&["report", name]);
        assert_eq!(output.status.code(), Some(125));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    let mut newer = whole;
    newer[8] = 99;
    fs::write(&file, &newer).expect("newer");
    let output = room.run(&["report", name]);
    assert!(
        stderr(&output).contains("another version"),
        "{}",
        stderr(&output)
    );
    assert_eq!(output.status.code(), Some(125));
}

#[test]
fn locks_that_no_policy_replaces_are_told() {
    let room = Room::new();
    let kept = program(&room, "kept", &[]);
    for name in ["glibc", "mutex"] {
        let output = profile(&room, &["--lock", name, "--", &kept]);
        assert!(output.status.success(), "{}", stderr(&output));
        let process = &json(&room)[0];
        let shared = serde_json::json!(["process-shared"]);
        for (lock_name, reasons) in [
            ("inherits", serde_json::json!(["priority-inheritance"])),
            ("shared", shared.clone()),
            ("shared_rwlock", shared.clone()),
            ("shared_spinlock", shared.clone()),
            ("shared_condvar", shared),
            ("plain", serde_json::json!([])),
            ("plain_condvar", serde_json::json!([])),
        ] {
            let found = &lock(process, lock_name)["not_replaced"];
            assert_eq!(*found, reasons, "{name}: {lock_name}");
        }
        let told = stderr(&output);
        assert!(
            told.contains("other processes may use 3 locks and 1 condition variable of these"),
            "{told}"
        );
        assert_eq!(lock(process, "gate")["why"]["rule"], "gate", "{told}");
    }
    let file = room.path("p.prof");
    let output = room.run(&[
        "predict",
        file.to_str().expect("UTF-8"),
        "--machine",
        "vm-2cpu",
    ]);
    let told = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(told.contains("gate, for which"), "{told}");
    assert!(told.contains("was acquired 7 times in all"), "{told}");
}

#[test]
fn a_recorder_that_cannot_record_says_so() {
    let room = Room::new();
    let robust = program(&room, "robust", &[]);
    let path = |args: &[&str]| stdout(&room.run(args)).trim().to_owned();
    let recorder = path(&["preload-path", "--recorder"]);
    let policy = path(&["preload-path"]);
    let run = |preload: String, file: &Path| {
        Command::new(&robust)
            .env("LD_PRELOAD", preload)
            .env("LOCKWORK_RECORD", file)
            .env("LOCKWORK_LOCK", "mutex")
            .output()
            .expect("started")
    };
    let file = room.path("behind.prof");
    let output = run(format!("{policy}:{recorder}"), &file);
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("put it in front"), "{told}");
    assert!(!file.exists());
    let front = format!("{recorder}:{policy}");
    let told = stderr(&run(front.clone(), Path::new("behind.prof")));
    assert!(told.contains("no absolute path"), "{told}");
    let file = room.path("front.prof");
    let output = run(front, &file);
    assert!(output.status.success() && output.stderr.is_empty());
    assert!(file.exists());
}
