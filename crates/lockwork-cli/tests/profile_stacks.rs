// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The stacks of waits that `lockwork profile` records.

mod common;

use common::{stderr, stdout, text, Room};
use serde_json::Value;

const WRAPPED: &str = include_str!("../../../tests/record/wrapped.c");
const BARE: &str = include_str!("../../../tests/record/bare.c");
const NO_TABLES: &[&str] = &[
    "-O1",
    "-pthread",
    "-fno-optimize-sibling-calls",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
];
/// What calls what in `bare.c`, down to the lock.
const CALLS: &str = "outermost;middle;middle;middle;middle;innermost;mutex bare_mutex ";

/// `tests/record/bare.c`, built with more flags.
fn bare(room: &Room, flags: &[&str]) -> String {
    room.compile("bare", BARE, &[NO_TABLES, flags].concat())
}

/// What the program prints, and the stacks of its waits, when it is recorded.
fn folded(room: &Room, options: &[&str], command: &[&str]) -> (String, String) {
    let file = text(&room.path("p.prof"));
    let all = [
        &["profile", "--quiet", "-o", &file],
        options,
        &["--"],
        command,
    ]
    .concat();
    let ran = room.run(&all);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let report = room.run(&["report", "--folded", &file]);
    assert!(report.status.success(), "{}", stderr(&report));
    (stdout(&ran), stdout(&report))
}

#[test]
fn frame_pointers_are_followed_where_there_are_no_unwind_tables() {
    let room = Room::new();
    let program = bare(&room, &["-fno-omit-frame-pointer"]);
    let (_, stacks) = folded(&room, &[], &[&program]);
    assert!(stacks.contains(CALLS), "{stacks}");
}

#[test]
fn what_is_no_frame_pointer_is_left_alone() {
    let room = Room::new();
    let program = bare(&room, &["-fno-omit-frame-pointer"]);
    let mut number = 0;
    loop {
        let (said, stacks) = folded(&room, &[], &[&program, &number.to_string()]);
        assert!(
            stacks.contains("lock_with;mutex bare_mutex "),
            "{number}: {stacks}"
        );
        number += 1;
        if said.trim().parse() == Ok(number) {
            return;
        }
    }
}

#[test]
fn a_program_with_neither_has_the_call_alone() {
    let room = Room::new();
    let program = bare(&room, &["-fomit-frame-pointer"]);
    let (_, stacks) = folded(&room, &[], &[&program]);
    assert!(
        stacks.starts_with("innermost;mutex bare_mutex "),
        "{stacks}"
    );
}

#[test]
fn without_stacks_there_is_the_call() {
    let room = Room::new();
    let program = bare(&room, &["-fno-omit-frame-pointer"]);
    let (_, stacks) = folded(&room, &["--stacks", "none"], &[&program]);
    assert!(
        stacks.starts_with("innermost;mutex bare_mutex "),
        "{stacks}"
    );
    let (_, stacks) = folded(&room, &["--stacks", "contended"], &[&program]);
    assert!(stacks.contains(CALLS), "{stacks}");
    let refused = room.run(&["profile", "--stacks", "some", "--", &program]);
    assert_eq!(refused.status.code(), Some(125), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("contended, all, none"),
        "{}",
        stderr(&refused)
    );
}

/// 3,000 acquisitions by one function and 1,000 by another, none of them contended.
const CALLED: &str = "#include <pthread.h>\n\
    pthread_mutex_t often = PTHREAD_MUTEX_INITIALIZER;\n\
    static volatile int n;\n\
    #define APART __attribute__((noinline)) static void\n\
    APART take(void) { pthread_mutex_lock(&often); n++; pthread_mutex_unlock(&often); n++; }\n\
    APART much(void) { take(); n++; }\n\
    APART little(void) { take(); n++; }\n\
    static void *none(void *arg) { return arg; }\n\
    int main(void) { pthread_t t;\n\
    if (pthread_create(&t, 0, none, 0) || pthread_join(t, 0)) return 1;\n\
    for (int i = 0; i < 1000; i++) { much(); little(); much(); much(); } return 0; }\n";

#[test]
fn all_calls_have_their_stacks_if_that_is_asked_for() {
    let room = Room::new();
    let flags = ["-O1", "-g", "-pthread", "-fno-optimize-sibling-calls"];
    let program = room.compile("called", CALLED, &flags);
    let file = text(&room.path("p.prof"));
    let record = |stacks| {
        let args = ["profile", "-o", &file, "--stacks", stacks, "--", &program];
        let ran = room.run(&args);
        assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
        stderr(&ran)
    };
    let told = record("all");
    for part in [
        "mutex often: 4,000 acquisitions by 2 stacks",
        "75.0 % of them: take (called.c:5), by much (called.c:6), by main (",
        "25.0 % of them: take (called.c:5), by little (called.c:7), by main (",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("have no stack"), "{told}");
    let calls = room.run(&["report", "--calls", &file]);
    let lines = stdout(&calls);
    let of = |end: &str| lines.lines().filter(|line| line.ends_with(end)).count();
    assert_eq!(of("main;much;take;mutex often 3000"), 1, "{lines}");
    assert_eq!(of("main;little;take;mutex often 1000"), 1, "{lines}");

    let told = record("contended");
    assert!(!told.contains("of them: take"), "{told}");
    let refused = room.run(&["report", "--calls", &file]);
    assert_eq!(refused.status.code(), Some(125));
    assert!(
        stderr(&refused).contains("--stacks all"),
        "{}",
        stderr(&refused)
    );
}

/// A lock's part of a report.
fn part<'a>(report: &'a str, lock: &str) -> &'a str {
    let heading = format!(". mutex {lock}\n");
    let from = report.find(&heading).unwrap_or_else(|| panic!("{report}"));
    let rest = &report[from..];
    &rest[..rest.find("\n\n").unwrap_or(rest.len())]
}

#[test]
fn locks_taken_by_a_wrapper_are_taken_by_its_callers() {
    let room = Room::new();
    let flags = ["-O1", "-pthread", "-fno-optimize-sibling-calls"];
    let file = text(&room.path("p.prof"));
    for more in [["-fomit-frame-pointer"], ["-fno-omit-frame-pointer"]] {
        let program = room.compile("wrapped", WRAPPED, &[&flags[..], &more].concat());
        let ran = room.run(&["profile", "-o", &file, "--", &program]);
        assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
        let report = stderr(&ran);
        // Before it was known, all is take()'s.
        let of = part(&report, "by_function");
        assert!(of.contains("   second_wait"), "{report}");
        assert!(of.contains("while hold_long held it"), "{report}");
        assert!(!of.contains("second_wait, by"), "{report}");
        // A function that locks and unlocks is none, whoever calls it.
        let of = part(&report, "in_function");
        assert!(of.contains("   in_one waited"), "{report}");
        assert!(!of.contains("_call waited"), "{report}");
        // Nor is one that waits for a second lock while it holds the first.
        let json = stdout(&room.run(&["report", "--json", &file]));
        assert!(json.contains("in_two") && !json.contains("_pair"), "{json}");
    }
    // Without stacks nothing is known of it.
    let program = room.compile("wrapped", WRAPPED, &flags);
    let ran = room.run(&["profile", "--stacks", "none", "-o", &file, "--", &program]);
    let report = stderr(&ran);
    assert!(
        part(&report, "by_function").contains("   take waited"),
        "{report}"
    );
    assert!(!report.contains("second_wait"), "{report}");
}

/// The lock is taken below 1 to 100 functions by main, and below 101 by a thread that has to wait.
const DEEP: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdio.h>\n\
    #include <unistd.h>\npthread_mutex_t below = PTHREAD_MUTEX_INITIALIZER;\n\
    static volatile int n; static int tid;\n\
    #define APART __attribute__((noinline)) static void\n\
    APART take(void) { pthread_mutex_lock(&below); n++; pthread_mutex_unlock(&below); n++; }\n\
    APART deep(int more) { if (more) deep(more - 1); else take(); n++; }\n\
    static void *wait_deep(void *x) { __atomic_store_n(&tid, gettid(), __ATOMIC_RELEASE);\n\
    deep(100); return x; }\n\
    static int sleeps(void) { char name[64], state = 0; FILE *f;\n\
    int at = __atomic_load_n(&tid, __ATOMIC_ACQUIRE); if (!at) return 0;\n\
    snprintf(name, 64, \"/proc/self/task/%d/stat\", at); f = fopen(name, \"r\");\n\
    if (!f || fscanf(f, \"%*d %*s %c\", &state) != 1) return 0; fclose(f); return state == 'S'; }\n\
    int main(void) { pthread_t t; for (int i = 0; i < 100; i++) deep(i);\n\
    pthread_mutex_lock(&below); if (pthread_create(&t, 0, wait_deep, 0)) return 1;\n\
    while (!sleeps()) usleep(1000);\n\
    pthread_mutex_unlock(&below); return pthread_join(t, 0); }\n";
const CUT: &str = "[cut at 48 frames]";

#[test]
fn a_stack_that_is_cut_says_so() {
    let room = Room::new();
    let flags = ["-O1", "-pthread", "-fno-optimize-sibling-calls"];
    let program = room.compile("deep", DEEP, &flags);
    let file = text(&room.path("p.prof"));
    let args = ["profile", "-o", &file, "--stacks", "all", "--", &program];
    let ran = room.run(&args);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let told = stderr(&ran);
    assert!(
        told.contains(&format!("by deep, by deep, by deep, … {CUT}")),
        "{told}"
    );
    let json: Value =
        serde_json::from_str(&stdout(&room.run(&["report", "--json", &file]))).expect("JSON");
    let callers = json[0]["locks"][0]["callers"].as_array().expect("callers");
    let of = |cut: bool| -> Vec<(usize, u64)> {
        let such = callers.iter().filter(|caller| caller["cut"] == cut);
        let of = such.map(|caller| {
            let depth = caller["stack"].as_array().expect("a stack").len();
            (depth, caller["acquisitions"].as_u64().expect("a number"))
        });
        of.collect()
    };
    let (whole, cut) = (of(false), of(true));
    // One that ends just there is whole.
    assert_eq!(whole.iter().map(|one| one.0).max(), Some(48), "{whole:?}");
    assert!(cut.iter().all(|one| one.0 == 48), "{cut:?}");
    let sum = |all: &[(usize, u64)]| all.iter().map(|one| one.1).sum::<u64>();
    assert_eq!(sum(&whole) + sum(&cut), 102);
    assert!(sum(&cut) > 50, "{cut:?}");
    let begin = format!("{CUT};deep;deep;");
    let calls = stdout(&room.run(&["report", "--calls", &file]));
    let lines = calls.lines().filter(|line| line.contains(CUT));
    let lines: Vec<&str> = lines.collect();
    let outermost = format!("{CUT};");
    assert!(
        lines.iter().all(|line| line.starts_with(&outermost)),
        "{lines:?}"
    );
    let deepest = lines.iter().filter(|line| line.starts_with(&begin));
    assert_eq!(deepest.count(), 1, "{lines:?}");

    let (_, waits) = folded(&room, &[], &[&program]);
    assert!(waits.starts_with(&begin), "{waits}");
    assert!(waits.contains(";deep;take;mutex below "), "{waits}");
    for option in ["--html", "--speedscope"] {
        let out = text(&room.path("out"));
        let output = room.run(&["report", &file, option, &out]);
        assert!(output.status.success(), "{}", stderr(&output));
        let out = std::fs::read_to_string(&out).expect("it is written");
        assert!(out.contains(CUT), "{option}: {out}");
    }
    let report = stdout(&room.run(&["report", &file]));
    let called = format!("called by deep, by deep, … {CUT}");
    assert!(report.contains(&called), "{report}");
}
