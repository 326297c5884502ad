// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;

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
    let rest = ["2.000", "2.000", "2.000", "1.00", "1.000", "25.0 %"];
    assert_eq!(ticket[5..], rest);
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
    assert_eq!(why(waits, "Wake-ups"), "0.500");
    assert_eq!(why(waits, "Useful"), "50.0 %");
    assert!(
        text.starts_with("Simulated: aim7-disk-ext4 on westmere-ex-4s\n"),
        "{text}"
    );
}

#[test]
fn what_locks_counted_has_a_table_if_they_did() {
    let plan = Arc::new(plan(&[
        "--lock",
        "tas_lock,ticket_lock",
        "--threads",
        "2",
        "--seeds",
        "2",
    ]));
    let (mut done, _) = done(&plan, 1, fake);
    assert!(!report(&plan, &done).contains("counted"));
    let ticket = |done: &&mut Done| plan.locks[done.job.lock].name == "ticket_lock";
    for (of, counts) in done
        .iter_mut()
        .filter(ticket)
        .zip([&[0, 4][..], &[0, 1300, 0]])
    {
        of.outcome.counts.events = counts.to_vec();
        of.outcome.counts.divided = 1;
    }
    let text = report(&plan, &done);
    let (_, counted) = text.split_once("Why: what the locks counted").expect("it");
    let lines: Vec<&str> = counted.lines().skip(1).collect();
    // What nobody counted has no column, and who counted nothing has no row.
    assert!(lines[0].ends_with("local  Divided at the end"), "{text}");
    assert!(!lines[0].contains("opened"), "{text}");
    let words: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(words, ["ticket_lock", "2", "1,304", "2"]);
    assert!(!counted.contains("tas_lock"), "{text}");
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
    let many = [
        "--lock",
        "tas_lock",
        "--threads",
        "2,50",
        "--cpus",
        "40",
        "--seeds",
        "2",
    ];
    let text = words(&many, &[&[2000, 2100], &[2000, 2101]]);
    assert!(text.contains("50 on 40"), "{text}");
    let free = [&many[..], &["--affinity", "off"]].concat();
    assert_eq!(words(&free, &[&[2000, 2100], &[2000, 2101]]), "");
    let beside = ["--lock", "tas_lock,qrwlock", "--threads", "2"];
    let shared = [&beside[..], &["--seeds", "2", "--read-ratio", "0.5"]].concat();
    let text = words(&shared, &[&[2000, 2100], &[2000, 2101]]);
    assert!(
        text.contains("without readers") && text.contains("tas_lock"),
        "{text}"
    );
}

#[test]
fn what_has_not_settled_is_named() {
    let plan = plan(&["--lock", "tas_lock", "--threads", "2", "--seeds", "2"]);
    for (verdict, words) in [
        (Verdict::Drifts, "the halves of the measured time differ"),
        (Verdict::Short, "the measured time is too short"),
    ] {
        let mut all = [outcome(&[2000, 2100]), outcome(&[2000, 2101])];
        all[1].settled = Some(verdict);
        let rows = [Row::of("tas_lock", 2, all.iter().collect())];
        let text = warnings::warnings(&plan, &rows).join("\n");
        assert!(
            text.starts_with("not settled") && text.contains(words),
            "{text}"
        );
        assert!(text.ends_with(": tas_lock with 2 threads"), "{text}");
    }
}

#[test]
fn settling_has_a_limit_and_is_not_the_default() {
    let setup = |words: &[&str]| {
        let plan = plan(words);
        plan.setup(plan.job(0)).settle
    };
    assert_eq!(setup(&["--lock", "tas_lock"]), None);
    let limit = Some(crate::settle::MOST_OPERATIONS);
    let asked = ["--workload", "rw-mix-90", "--lock", "tas_lock", "--settle"];
    assert_eq!(setup(&asked), limit);
    let error = refused(&["--lock", "tas_lock", "--settle"]);
    assert!(error.contains("ends after a number of loops"), "{error}");
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
