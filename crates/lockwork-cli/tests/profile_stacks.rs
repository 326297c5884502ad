// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The stacks of waits that `lockwork profile` records.

mod common;

use common::{stderr, stdout, text, Room};

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
