// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the engine makes of a start that is no steady state.

use super::{machine, outcome, setup, workload};
use crate::outcome::Outcome;
use crate::settle::{Verdict, BATCHES};
use crate::workload::{Time, Workload};
use crate::Setup;

const LIMIT: u64 = 2_000_000;

fn settled(workload: &Workload, settle: Option<u64>) -> Outcome {
    let machine = machine();
    outcome(&Setup {
        settle,
        ..setup(&machine, "ticket_lock", workload)
    })
}

#[test]
fn batches_are_the_measured_time() {
    for settle in [None, Some(LIMIT)] {
        let found = settled(&workload(), settle);
        assert_eq!(found.batches.len(), BATCHES);
        let acquisitions: u64 = found.batches.iter().map(|b| b.acquisitions).sum();
        assert_eq!(acquisitions, found.acquisitions());
        let sum = |of: fn(&crate::settle::Batch) -> f64| found.batches.iter().map(of).sum::<f64>();
        assert!((sum(|b| b.ns) / found.ns - 1.0).abs() < 1e-9);
        assert!((sum(|b| b.ns_busy) / found.ns_busy - 1.0).abs() < 1e-9);
        assert!((sum(|b| b.ns_in_lock) / found.ns_in_lock - 1.0).abs() < 1e-6);
        assert!(found.settled.is_some());
    }
}

#[test]
fn a_short_window_is_lengthened_until_it_is_long_enough() {
    let short = Workload {
        warmup_us: 1.0,
        measure_us: 5.0,
        ..workload()
    };
    let as_said = settled(&short, None);
    assert_eq!(as_said.ns, 5e3);
    assert_ne!(as_said.settled, Some(Verdict::Settled));
    let long = settled(&short, Some(LIMIT));
    assert_eq!(long.settled, Some(Verdict::Settled));
    assert!(long.ns > 5e3 && long.acquisitions() > 4 * 9, "{}", long.ns);
}

/// Threads that think for long, and all start at once: first a crowd, then few.
#[test]
fn a_start_in_a_crowd_is_left_out() {
    let slow = Workload {
        think: Time::Fixed(0.0),
        sleep: Some(Time::Exponential(200_000.0)),
        warmup_us: 0.0,
        measure_us: 300.0,
        ..workload()
    };
    let found = settled(&slow, Some(LIMIT));
    assert_eq!(found.settled, Some(Verdict::Settled));
    // Nine threads, each of which comes every 200 us.
    let rate = found.rate() / 1e6;
    assert!((0.03..0.06).contains(&rate), "{rate}");
}

/// Ten threads for each of eight CPUs: what they did, and what two turns of all take, ns.
fn shared_cpus(workload: &Workload, slice_us: f64) -> (Outcome, f64) {
    let mut machine = machine();
    machine.scheduler.slice_us = slice_us;
    let found = outcome(&Setup {
        threads: 80,
        settle: Some(LIMIT),
        ..setup(&machine, "ticket_lock", workload)
    });
    assert_eq!(found.settled, Some(Verdict::Settled));
    (found, 2.0 * 10.0 * slice_us * 1e3)
}

/// The eight threads that have the CPUs first make four acquisitions for each of the 80 soon.
#[test]
fn threads_that_share_cpus_have_all_had_their_turn() {
    let short = Workload {
        affinity: true,
        warmup_us: 1.0,
        measure_us: 50.0,
        ..workload()
    };
    let (found, two_turns) = shared_cpus(&short, 200.0);
    let went_round = found.by_thread.iter().filter(|&&n| n >= 4).count();
    assert!(found.ns >= two_turns || went_round >= 72, "{}", found.ns);
    assert!(found.by_thread.iter().all(|&n| n > 0), "{went_round}");
}

/// Nobody is in a run queue for long: they have gone round in less than two turns.
#[test]
fn threads_that_sleep_need_no_turns() {
    let sleepy = Workload {
        think: Time::Fixed(0.0),
        sleep: Some(Time::Exponential(100_000.0)),
        affinity: true,
        measure_us: 200.0,
        ..workload()
    };
    let (found, two_turns) = shared_cpus(&sleepy, 1000.0);
    assert!(found.ns < two_turns, "{}", found.ns);
}

#[test]
fn the_limit_ends_it() {
    let short = Workload {
        measure_us: 5.0,
        ..workload()
    };
    let found = settled(&short, Some(1));
    assert_eq!(found.ns, 5e3);
    assert_ne!(found.settled, Some(Verdict::Settled));
}

#[test]
fn loops_have_batches_of_as_many_acquisitions() {
    let looped = Workload {
        loops: Some(160),
        ..workload()
    };
    let found = settled(&looped, Some(LIMIT));
    assert_eq!((found.batches.len(), found.settled), (BATCHES, None));
    assert!(found.batches.iter().all(|batch| batch.acquisitions == 90));
    let last = found.batches.iter().map(|batch| batch.ns).sum::<f64>();
    assert!(found.finished_ns.is_some_and(|end| last <= end));
}
