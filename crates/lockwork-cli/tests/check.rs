// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork check`: the locks pass, and what is broken does not.

mod common;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread;
use std::time::Duration;

use common::{stderr, stdout, text, Room};
use serde_json::Value;

/// Expects success; what was printed.
fn passes(args: &[&str]) -> String {
    let output = check(args);
    let shown = stdout(&output);
    let message = stderr(&output);
    assert!(output.status.success(), "{args:?}: {shown}\n{message}");
    assert_eq!(message, "", "{args:?}");
    shown
}

fn check(args: &[&str]) -> Output {
    Room::new().run(&[&["check"], args].concat())
}

/// One preemption less than the clients' bounds, or the first executions of these where there
/// are more. `.ci/check` goes further.
#[test]
fn every_lock_passes() {
    let shown = passes(&["--shallow", "--at-most", "2000", "--fuzz", "100"]);
    assert!(shown.contains(" passed: "), "{shown}");
    for lock in ["tas_lock", "qspinlock_fair", "mutex", "slots"] {
        assert!(shown.lines().any(|line| line.starts_with(lock)), "{shown}");
    }
}

#[test]
fn lists_clients_and_mutants() {
    let shown = passes(&["--list"]);
    let row = shown.lines().find(|line| line.starts_with("tas_lock  "));
    assert!(row.is_some_and(|row| row.contains("exclusion")), "{shown}");
    assert!(
        shown.contains("acquisitions") && shown.contains("acq_rel"),
        "{shown}"
    );
    assert!(shown.contains("xchg_acquire is not atomic"), "{shown}");
    let deep = passes(&["--list", "--deep", "tas_lock"]);
    assert!(!deep.contains("qspinlock_fair"), "{deep}");
    assert_ne!(deep.lines().nth(1), row);
}

#[test]
fn refuses_what_there_is_not() {
    for (args, words) in [
        (&["--bound", "0x1"][..], "threads must be 1 to 5"),
        (&["--bound", "9x1"], "threads must be 1 to 5"),
        (&["--bound", "x"], "3x2@2"),
        (&["--bound", "2x2", "--deep"], "--deep"),
        (&["--json", "--list"], "--list"),
        (&["--jobs", "0"], "--jobs"),
        (&["no_such_lock"], "tas_lock"),
        (&["tas_lock", "--client", "no_such_client"], "pair"),
        (&["--tag", "tas.Z"], "tas.B"),
    ] {
        let output = check(args);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(words), "{args:?}: {message}");
        assert_eq!(stdout(&output), "", "{args:?}");
        if !message.starts_with("error: ") {
            assert!(message.starts_with("lockwork: "), "{args:?}: {message}");
            assert_eq!(message.lines().count(), 1, "{args:?}: {message}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_or_written_is_no_wrong_command_line() {
    for (args, words) in [
        (&["--pairs", "/no/such/tree"][..], "source tree"),
        (
            &["tas_lock", "--killers", "/no/such/dir/killers"],
            "cannot write /no/such/dir/killers",
        ),
    ] {
        let output = check(args);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(125), "{args:?}: {message}");
        assert!(message.contains(words), "{args:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{args:?}: {message}");
        assert_eq!(stdout(&output), "", "{args:?}");
    }
}

#[test]
fn every_ordering_has_its_partner() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for args in [&["--pairs", &text(&root)][..], &["--pairs"]] {
        let shown = passes(args);
        assert!(shown.contains("every one has its partner"), "{shown}");
    }
}

#[test]
fn an_ordering_without_a_partner_is_a_failure() {
    let room = tagged_tree();
    let source = "static void f(u32 *p)\n{\n\txchg(p, 1);\n}\n";
    std::fs::write(room.path("locks/x.c"), source).expect("source");
    let shown = fails_pairs(&room);
    assert!(shown.starts_with("x.c:3: "), "{shown}");
    assert!(shown.ends_with("1 problem\n"), "{shown}");
}

/// What has tags, or lists them.
const TAGGED: [&str; 6] = [
    "locks",
    "docs/locks",
    "platform/library",
    "platform/preload",
    "platform/user",
    "platform",
];

/// A copy of the files of `TAGGED`.
fn tagged_tree() -> Room {
    let room = Room::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in TAGGED {
        std::fs::create_dir_all(room.path(folder)).expect("directory");
        for entry in std::fs::read_dir(root.join(folder)).expect("a checkout") {
            let from = entry.expect("a file").path();
            if from.is_file() {
                let name = from.file_name().expect("a name");
                std::fs::copy(&from, room.path(folder).join(name)).expect("a copy");
            }
        }
    }
    room
}

/// `--pairs` finds something in the tree; what it says.
fn fails_pairs(room: &Room) -> String {
    let output = check(&["--pairs", &text(room.dir.path())]);
    let shown = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    shown
}

#[test]
fn a_stripped_tag_is_found() {
    for (file, from, to, said) in [
        ("platform/user/slots.h", "[slots.C] ", "", "has no tag"),
        ("platform/user/cluster.h", "[cluster.D] ", "", "has no tag"),
        ("platform/library/host.h", "[host.A] ", "", "has no tag"),
        (
            "platform/user/events.c",
            "1, __ATOMIC_RELAXED",
            "1, __ATOMIC_ACQUIRE",
            "__atomic_fetch_add(&sums[event]) in lkp_count_event has no tag",
        ),
        (
            "platform/user/thread.h",
            "return READ_ONCE(lkp_epoch)",
            "return smp_load_acquire(&lkp_epoch)",
            "smp_load_acquire(&lkp_epoch) in wait_epoch has no tag",
        ),
        (
            "platform/CONTRACT.md",
            "| forks.A |",
            "| forks A |",
            "forks.A has no row",
        ),
    ] {
        let room = tagged_tree();
        let path = room.path(file);
        let source = std::fs::read_to_string(&path).expect("source");
        assert!(source.contains(from), "{file} has no '{from}'");
        std::fs::write(&path, source.replace(from, to)).expect("source");
        let shown = fails_pairs(&room);
        assert!(shown.contains(said), "{file}: {shown}");
    }
}

#[test]
fn json_is_a_line_a_run() {
    let shown = passes(&["tas_lock", "--client", "pair", "--json", "--mutants"]);
    let objects: Vec<Value> = shown
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let run = &objects[0];
    assert_eq!(
        (&run["lock"], &run["client"]),
        (&"tas_lock".into(), &"pair".into())
    );
    assert_eq!(
        (&run["verdict"], &run["bound"]),
        (&"pass".into(), &"2x2".into())
    );
    assert!(run["executions"]
        .as_u64()
        .is_some_and(|number| number > 1000));
    let mutants: Vec<_> = objects
        .iter()
        .filter(|line| !line["mutant"].is_null())
        .collect();
    assert!(mutants.len() > 1);
    assert!(
        mutants.iter().all(|mutant| mutant["verdict"] == "killed"),
        "{shown}"
    );
}

#[test]
fn mutants_are_killed() {
    let shown = passes(&["tas_lock", "--mutants", "--fuzz", "0"]);
    assert!(shown.contains("smp_store_release → relaxed"), "{shown}");
    assert!(shown.contains("killed: data race, tas_lock/"), "{shown}");
    assert!(
        shown.contains(" 0 survive with a reason, 0 without, in "),
        "{shown}"
    );
}

#[test]
fn a_trace_shows_how_a_mutant_fails() {
    let shown = passes(&[
        "--tag", "tas.B", "--client", "pair", "--trace", "--fuzz", "0",
    ]);
    assert!(shown.contains("T0") && shown.contains("T1"), "{shown}");
    assert!(shown.contains("smp_store_release(&lock->"), "{shown}");
    assert!(shown.contains("data race, noticed by T"), "{shown}");
    assert!(!shown.contains("tas.A"), "{shown}");
}

#[test]
fn a_bound_with_too_many_executions_is_explored_less_far() {
    let shown = passes(&["tas_lock", "--at-most", "10", "--fuzz", "0", "--mutants"]);
    assert!(shown.contains("pass; 3x2@2 is too much"), "{shown}");
    assert!(
        shown.contains("with one preemption less than their bound"),
        "{shown}"
    );
    // The mutants meet the clients at their bounds all the same.
    assert!(
        shown.contains(" 0 survive with a reason, 0 without, in "),
        "{shown}"
    );
}

#[test]
fn what_takes_too_long_has_failed() {
    let args = [
        "tas_lock",
        "--client",
        "exclusion",
        "--bound",
        "4x3",
        "--fuzz",
        "0",
    ];
    let output = check(&[&args[..], &["--timeout", "1", "--mutants"]].concat());
    let shown = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("FAIL: time-out"), "{shown}");
    assert!(shown.contains("0 of 1 run passed"), "{shown}");
    assert!(shown.contains("No mutants"), "{shown}");
}

/// These variables are loom's and shuttle's own, and make them stop early.
#[test]
fn the_environment_cannot_weaken_a_check() {
    let executions = |variable: Option<&str>| {
        let room = Room::new();
        let args = ["check", "tas_lock", "--client", "pair", "--json"];
        let mut command = room.lockwork(&args);
        if let Some(variable) = variable {
            command.env(variable, "1");
        }
        let shown = stdout(&command.output().expect("lockwork starts"));
        let run: Value = serde_json::from_str(&shown).expect("JSON");
        run["executions"].as_u64().expect("a number")
    };
    let all = executions(None);
    for variable in [
        "LOOM_MAX_PERMUTATIONS",
        "LOOM_MAX_DURATION",
        "LOOM_MAX_PREEMPTIONS",
    ] {
        assert_eq!(executions(Some(variable)), all, "{variable}");
    }
}

/// A terminal's Ctrl-C is for the whole group; kill(1) may be for one process.
#[test]
fn ctrl_c_ends_the_workers_too() {
    for group in [false, true] {
        let room = Room::new();
        let args = [
            "check", "tas_lock", "--bound", "5x9", "--fuzz", "0", "--jobs", "1",
        ];
        let mut command = room.lockwork(&args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        let child = command.spawn().expect("lockwork starts");
        let worker = first_child(child.id());
        let id = child.id() as i32;
        // SAFETY: a signal to a child that is not waited for yet, or its group.
        unsafe { libc::kill(if group { -id } else { id }, libc::SIGINT) };
        let output = child.wait_with_output().expect("lockwork ends");
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(130), "{message}");
        assert!(message.contains("stopped by SIGINT"), "{message}");
        assert!(!stdout(&output).contains("FAIL"), "{}", stdout(&output));
        assert!(!Path::new(&format!("/proc/{worker}")).exists());
    }
}

/// Each line of the JSON is of a run that finished.
#[test]
fn ctrl_c_names_results_only_if_there_are_some() {
    let room = Room::new();
    let args = [
        "check",
        "tas_lock",
        "--client",
        "exclusion",
        "--bound",
        "5x9",
        "--fuzz",
        "0",
        "--json",
    ];
    let mut command = room.lockwork(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("lockwork starts");
    first_child(child.id());
    // SAFETY: a signal to a child that is not waited for yet.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let output = child.wait_with_output().expect("lockwork ends");
    let message = stderr(&output);
    let words = match stdout(&output).is_empty() {
        true => "no run had finished",
        false => "the results above",
    };
    assert!(message.contains(words), "{message}");
}

/// The first process that `parent` starts.
fn first_child(parent: u32) -> u32 {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let stat = format!("/proc/{parent}/stat");
    loop {
        let children = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(child) = children.split_whitespace().next() {
            return child.parse().expect("a number");
        }
        let state = std::fs::read_to_string(&stat).unwrap_or_default();
        assert!(!state.contains(") Z "), "it ended without a worker");
        thread::sleep(Duration::from_millis(10));
    }
}
