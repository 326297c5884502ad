// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;
use crate::machine::Distance;
use crate::outcome::{Counts, Doing, Event, Outcome, WaitSplit};
use crate::{Found, Lock, Setup};
use clap::Parser;
use hdrhistogram::Histogram;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: SimArgs,
}

fn args(words: &[&str]) -> SimArgs {
    let all = [&["sim"], words].concat();
    Command::try_parse_from(all).expect("arguments").args
}

fn known() -> Vec<Lock> {
    let plain = [
        "ticket_lock",
        "qspinlock_fair",
        "qspinlock_steal",
        "tas_lock",
    ];
    let lock = |(name, is_rw)| Lock {
        name,
        summary: "a lock",
        sleeps: false,
        is_rw,
    };
    let shared = ["rwlock", "qrwlock"].map(|name| (name, true));
    let plain = plain.into_iter().map(|name| (name, false));
    plain.chain(shared).map(lock).collect()
}

fn plan(words: &[&str]) -> Plan {
    Plan::of(&args(words), &known()).unwrap_or_else(|error| panic!("{error:#}"))
}

fn refused(words: &[&str]) -> String {
    let error = Plan::of(&args(words), &known()).expect_err("a mistake");
    format!("{error:#}")
}

/// A simulation in which each thread acquired so often in 1 ms.
fn outcome(by_thread: &[u64]) -> Outcome {
    let mut waits = Histogram::new(3).expect("a histogram");
    let total = by_thread.iter().sum();
    waits.record_n(2000, total).expect("recorded");
    let mut counts = Counts {
        loads: total * 3,
        stores: total,
        rmws: total * 2,
        link_bytes: vec![0, total * 64, total * 64, 0],
        wakeups: total / 2,
        useful_wakeups: total / 4,
        ..Counts::default()
    };
    counts.moved[Distance::Hop1 as usize] = total;
    counts.handovers[Distance::Cluster as usize] = total * 3 / 4;
    counts.handovers[Distance::Hop1 as usize] = total / 4;
    Outcome {
        ns: 1e6,
        by_thread: by_thread.to_vec(),
        reads: 0,
        waits,
        split: WaitSplit {
            queueing: total as f64 * 1500.0,
            transfer: total as f64 * 500.0,
            ..WaitSplit::default()
        },
        ns_in_lock: 25.0,
        ns_busy: 100.0,
        counts,
        finished_ns: None,
        operations: 1,
        seconds: 0.5,
        timeline: Vec::new(),
    }
}

/// As a simulator would: depends on the setup and on nothing else.
fn fake(setup: &Setup) -> Result<Found> {
    let each = 1000 * setup.lock.len() as u64 + setup.seed;
    let mut outcome = outcome(&vec![each; setup.threads]);
    outcome.finished_ns = setup.workload.loops.map(|n| n as f64 * 1e3);
    Ok(Ok(outcome))
}

fn stuck(setup: &Setup) -> Result<Found> {
    if setup.lock != "tas_lock" {
        return fake(setup);
    }
    Ok(Err(Stuck {
        what: "deadlock at 5 µs".to_owned(),
        threads: vec!["thread 0: CPU 0, waits at tas_lock.h:7".to_owned()],
    }))
}

fn done(plan: &Arc<Plan>, jobs: usize, simulate: Simulate) -> (Vec<Done>, End) {
    pool::run(plan, jobs, simulate, &mut |_| Ok(())).expect("simulated")
}

/// The cells of the row that begins with these words, and those of the header.
fn cells(text: &str, heading: &str, row: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut lines = text.lines().skip_while(|line| !line.contains(heading));
    let split = |line: &str| -> Vec<String> {
        let cells = line.split("  ").map(str::trim);
        cells
            .filter(|cell| !cell.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut header = split(lines.next().expect(heading));
    if heading.starts_with("Why") {
        header = split(lines.next().expect("a header"));
    }
    let found = lines.map(split).find(|cells| cells[..2] == *row);
    (header, found.expect("the row"))
}

fn cell(text: &str, heading: &str, row: &[&str], column: &str) -> String {
    let (header, cells) = cells(text, heading, row);
    let at = header.iter().position(|name| name == column);
    cells[at.unwrap_or_else(|| panic!("no {column} in {header:?}"))].clone()
}

#[test]
fn every_simulation_of_a_plan_is_made_once_and_in_order() {
    let plan = Arc::new(plan(&[
        "--lock",
        "tas_lock,rwlock,tas_lock",
        "--threads",
        "4,1,4",
        "--seeds",
        "2",
    ]));
    assert_eq!(plan.len(), 2 * 2 * 2);
    let (done, end) = done(&plan, 3, fake);
    assert!(matches!(end, End::Completed));
    let jobs: Vec<(usize, usize, u64)> = done
        .iter()
        .map(|done| (done.job.threads, done.job.lock, done.job.seed))
        .collect();
    let mut expected = Vec::new();
    for threads in [1, 4] {
        for lock in [0, 1] {
            expected.extend([(threads, lock, 1), (threads, lock, 2)]);
        }
    }
    assert_eq!(jobs, expected);
}

#[test]
fn the_tables_say_what_the_outcomes_say() {
    let plan = Arc::new(plan(&[
        "--workload",
        "aim7-disk-ext4",
        "--lock",
        "rwlock,ticket_lock",
        "--threads",
        "2,4",
    ]));
    let (done, _) = done(&plan, 1, fake);
    let text = report(&plan, &done);
    let first = |row: &[&str], column: &str| cell(&text, "Average", row, column);
    // 2 threads, each 6002 times in 1 ms on average of the seeds.
    assert_eq!(first(&["rwlock", "2"], "Average"), "12.00");
    assert_eq!(first(&["rwlock", "2"], "CV"), "0.0 %");
    let (header, ticket) = cells(&text, "Average", &["ticket_lock", "4"]);
    assert_eq!(header[..5], ["Lock", "Threads", "Average", "CV", "Improve"]);
    assert!(!header.contains(&"Time".to_owned()), "{header:?}");
    assert_eq!(ticket[4], "+83.3 %");
    assert_eq!(ticket[5..], ["2.000", "2.000", "2.000", "1.00", "25.0 %"]);
    let why = |heading: &str, column: &str| cell(&text, heading, &["ticket_lock", "4"], column);
    let memory = "Why: memory";
    assert_eq!(why(memory, "RMWs"), "2.000");
    assert_eq!(why(memory, "Loads"), "3.000");
    assert_eq!(why(memory, "Stores"), "1.000");
    assert_eq!(why(memory, "from hop1"), "1.000");
    assert_eq!(why(memory, "Link bytes"), "128.0");
    assert!(
        !text.contains("from smt") && !text.contains("mem "),
        "{text}"
    );
    assert_eq!(why("Why: where", "cluster"), "75.0 %");
    assert_eq!(why("Why: where", "hop1"), "25.0 %");
    let waits = "Why: what waits";
    assert_eq!(why(waits, "Queueing"), "1,500");
    assert_eq!(why(waits, "Transfer"), "500.0");
    assert_eq!(why(waits, "Asleep"), "0");
    assert_eq!(why(waits, "Wake-ups"), "0.5000");
    assert_eq!(why(waits, "Useful"), "50.0 %");
    assert!(
        text.starts_with("Simulated: aim7-disk-ext4 on westmere-ex-4s\n"),
        "{text}"
    );
}

#[test]
fn loops_have_a_time() {
    let plan = Arc::new(plan(&[
        "--lock",
        "tas_lock",
        "--threads",
        "1",
        "--loops",
        "3000",
    ]));
    let (done, _) = done(&plan, 1, fake);
    let text = report(&plan, &done);
    let (header, row) = cells(&text, "Average", &["tas_lock", "1"]);
    assert_eq!(header[5], "Time");
    // The first lock has no Improve.
    assert_eq!(row[4], "3.000");
}

#[test]
fn warnings_are_data() {
    let words = |words: &[&str], outcomes: &[&[u64]]| {
        let plan = plan(words);
        let all: Vec<Outcome> = outcomes.iter().map(|by| outcome(by)).collect();
        let rows = [Row::of("tas_lock", 2, all.iter().collect())];
        warnings::warnings(&plan, &rows).join("\n")
    };
    let one = ["--lock", "tas_lock", "--threads", "2", "--seeds", "1"];
    let text = words(&one, &[&[2000, 2100]]);
    assert!(text.contains("only one seed"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let text = words(&one, &[&[10, 0]]);
    assert!(text.contains("fewer than 1000 acquisitions"), "{text}");
    assert!(text.contains("tas_lock with 2 threads"), "{text}");
    assert!(text.contains("never got the lock"), "{text}");
    let two = ["--lock", "tas_lock", "--threads", "2", "--seeds", "2"];
    assert_eq!(words(&two, &[&[2000, 2100], &[2000, 2101]]), "");
    assert!(words(&two, &[&[2000, 2100], &[2000, 2100]]).contains("all seeds gave the same"));
    assert!(words(&two, &[&[2000, 2100]]).contains("fewer seeds than asked for"));
    let many = ["--lock", "tas_lock", "--threads", "2,50", "--seeds", "2"];
    let text = words(&many, &[&[2000, 2100], &[2000, 2101]]);
    assert!(text.contains("50 on 40"), "{text}");
    let free = [&many[..], &["--affinity", "off"]].concat();
    assert_eq!(words(&free, &[&[2000, 2100], &[2000, 2101]]), "");
    let shared = [&two[..], &["--read-ratio", "0.5"]].concat();
    let text = words(&shared, &[&[2000, 2100], &[2000, 2101]]);
    assert!(
        text.contains("without readers") && text.contains("tas_lock"),
        "{text}"
    );
}

#[test]
fn stuck_threads_end_it_and_are_shown() {
    let plan = Arc::new(plan(&[
        "--lock",
        "rwlock,tas_lock",
        "--threads",
        "2",
        "--seeds",
        "2",
    ]));
    let (done, end) = done(&plan, 1, stuck);
    assert_eq!(done.len(), 2);
    let End::Stuck(job, stuck) = end else {
        panic!("not stuck");
    };
    assert_eq!((job.lock, job.seed), (1, 1));
    let text = told(&plan, job, &stuck);
    assert!(
        text.contains("tas_lock, 2 threads, seed 1: deadlock at 5 µs\n"),
        "{text}"
    );
    assert!(
        text.ends_with("  thread 0: CPU 0, waits at tas_lock.h:7\n"),
        "{text}"
    );
    let object = json::stuck(&plan, job, &stuck);
    assert_eq!(object["stuck"], "deadlock at 5 µs");
}

#[test]
fn jain_knows_even_and_alone() {
    for (by_thread, jain) in [
        (&[5, 5, 5, 5][..], 1.0),
        (&[9, 0, 0, 0], 0.25),
        (&[0, 0], 1.0),
    ] {
        let outcome = outcome(by_thread);
        assert_eq!(Row::of("x", 4, vec![&outcome]).jain(), jain);
    }
}

#[test]
fn nothing_acquired_is_no_number() {
    let plan = plan(&["--lock", "tas_lock", "--threads", "2"]);
    let done = vec![Done {
        job: plan.job(0),
        outcome: outcome(&[0, 0]),
    }];
    let text = report(&plan, &done);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    assert_eq!(cell(&text, "Why: memory", &["tas_lock", "2"], "RMWs"), "-");
}

#[test]
fn raw_objects_have_everything() {
    let plan = plan(&["--lock", "tas_lock", "--threads", "2", "--overcommit", "2"]);
    let object = json::outcome(&plan, plan.job(1), &outcome(&[30, 10]));
    assert_eq!(object["seed"], 2);
    assert_eq!(object["overcommit"], 2);
    assert_eq!(object["by_thread"], serde_json::json!([30, 10]));
    assert_eq!(object["waits_ns"], serde_json::json!([[2000, 40]]));
    assert_eq!(object["counts"]["moved"]["hop1"], 40);
    assert_eq!(object["counts"]["link_bytes"][0][1], 40 * 64);
    assert_eq!(object["wait_split_ns"]["queueing"], 60_000.0);
}

#[test]
fn a_timeline_groups_threads_by_node() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("trace.json");
    let machine = crate::machine::load("westmere-ex-4s").expect("a machine");
    let far = (0..machine.cpus())
        .find(|&cpu| machine.places[cpu].node == 1)
        .expect("a node");
    let event = |thread, cpu, doing, from| Event {
        thread,
        cpu,
        doing,
        from,
        ns: 500.0,
    };
    let events = [
        event(0, 0, Doing::Wait, 1000.0),
        event(1, far as u32, Doing::Hold, 1500.0),
        event(0, far as u32, Doing::Hold, 2000.0),
    ];
    let file = timeline::create(&path).expect("a file");
    timeline::write(file, &machine, "a title", &events).expect("written");
    let text = std::fs::read_to_string(&path).expect("a file");
    let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let all = trace["traceEvents"].as_array().expect("events");
    let pieces: Vec<_> = all.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(pieces.len(), 3);
    assert_eq!(
        (&pieces[0]["name"], &pieces[0]["ts"]),
        (&"wait".into(), &1.0.into())
    );
    assert_eq!(pieces[0]["dur"], 0.5);
    assert_eq!(
        (&pieces[1]["pid"], &pieces[1]["tid"]),
        (&1.into(), &1.into())
    );
    // It moved, and its row stays where it was.
    assert_eq!(
        (&pieces[2]["pid"], &pieces[2]["args"]["node"]),
        (&0.into(), &1.into())
    );
    let names: Vec<_> = all.iter().filter(|e| e["name"] == "process_name").collect();
    assert_eq!(names.len(), 2);
}

#[test]
fn what_the_command_line_says_stands_above_the_file() {
    let plan = plan(&[
        "--workload",
        "rw-mix-90",
        "--lock",
        "qrwlock,tas_lock",
        "--section-ns",
        "7",
        "--think-ns",
        "9",
        "--read-ratio",
        "0.25",
        "--measure-us",
        "11",
        "--affinity",
        "off",
        "--cpus",
        "8",
        "--placement",
        "per-node",
        "--overcommit",
        "3",
        "--threads",
        "2",
    ]);
    let job = plan.job(0);
    let setup = plan.setup(job);
    let workload = setup.workload;
    assert_eq!(
        (workload.section.mean(), workload.read_section.mean()),
        (7.0, 7.0)
    );
    assert_eq!(workload.think, crate::workload::Time::Exponential(9.0));
    assert_eq!((workload.reads, workload.measure_us), (0.25, 11.0));
    assert!(!workload.affinity);
    assert_eq!(
        (setup.cpus, setup.placement),
        (8, crate::Placement::PerNode)
    );
    assert_eq!(setup.guests.map(|guests| guests.overcommit), Some(3));
    // A lock without readers is never asked to share.
    assert_eq!(plan.setup(Job { lock: 1, ..job }).workload.reads, 0.0);
}

#[test]
fn only_the_first_seed_records() {
    let plan = plan(&[
        "--lock",
        "tas_lock",
        "--threads",
        "2",
        "--timeline",
        "x",
        "--window",
        "5:7.5",
    ]);
    assert_eq!(plan.setup(plan.job(0)).window, Some((5.0, 7.5)));
    assert_eq!(plan.setup(plan.job(1)).window, None);
}

#[test]
fn mistakes_say_what_exists() {
    for (words, parts) in [
        (
            &["--lock", "spin"][..],
            &["'spin'", "ticket_lock", "rwlock"][..],
        ),
        (&["--machine", "cray"], &["'cray'", "westmere-ex-4s"]),
        (
            &["--workload", "cray"],
            &["'cray'", "spin-micro", "rw-mix-50"],
        ),
        (&["--cpus", "41"], &["40 CPUs"]),
        (&["--measure-us", "5"], &["--loops"]),
        (&["--workload", "ebizzy", "--loops", "5"], &["--measure-us"]),
        (&["--timeline", "x"], &["one lock", "--threads"]),
    ] {
        let message = refused(words);
        assert!(!message.contains('\n'), "{message}");
        for part in parts {
            assert!(message.contains(part), "{words:?}: {part}: {message}");
        }
    }
    for words in [["--window", "5"], ["--threads", "0"], ["--read-ratio", "2"]] {
        assert!(
            Command::try_parse_from([&["sim", "--timeline", "x"][..], &words].concat()).is_err()
        );
    }
}
