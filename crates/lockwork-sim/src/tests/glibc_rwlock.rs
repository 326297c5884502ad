// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The model of glibc's read/write lock does what glibc's description says: how many
//! atomic operations an acquisition takes, who sleeps, and who is woken.

use super::{machine, outcome, setup, workload};
use crate::outcome::Outcome;
use crate::workload::{Time, Workload};
use crate::Setup;

const LOCK: &str = "glibc_rwlock";

fn run(workload: &Workload, threads: usize, cpus: usize) -> Outcome {
    let machine = machine();
    outcome(&Setup {
        threads,
        cpus,
        ..setup(&machine, LOCK, workload)
    })
}

/// A program of `reads` that is `section` ns inside and `think` ns outside.
fn program(reads: f64, section: f64, think: f64) -> Workload {
    Workload {
        affinity: true,
        preemptible: true,
        reads,
        section: Time::Fixed(section),
        read_section: Time::Fixed(section),
        think: Time::Exponential(think),
        measure_us: 5000.0,
        ..workload()
    }
}

fn rmws(outcome: &Outcome) -> f64 {
    outcome.counts.rmws as f64 / outcome.acquisitions() as f64
}

#[test]
fn alone_a_reader_makes_two_atomic_operations_and_a_writer_three() {
    for (reads, expected) in [(1.0, 2.0), (0.0, 3.0)] {
        let alone = run(&program(reads, 100.0, 100.0), 1, 1);
        assert!((rmws(&alone) - expected).abs() < 0.01, "{}", rmws(&alone));
        assert_eq!(alone.counts.wakeups, 0, "nobody sleeps");
    }
}

#[test]
fn to_change_the_phase_costs_more() {
    // A reader after a writer begins a phase, and says so: two operations more. A writer after a
    // reader does so too, and says it by a plain store: one more.
    let mixed = run(&program(0.5, 100.0, 100.0), 1, 1);
    let expected = 2.5 + 0.25 * 2.0 + 0.25;
    assert!((rmws(&mixed) - expected).abs() < 0.1, "{}", rmws(&mixed));
}

#[test]
fn readers_share_and_never_sleep_for_each_other() {
    let found = run(&program(1.0, 20_000.0, 300.0), 8, 8);
    let side_by_side = found.reads as f64 * 20_000.0 / found.ns;
    assert!(side_by_side > 5.0, "{side_by_side} readers at a time");
    assert_eq!(found.counts.sleeps + found.counts.refused_sleeps, 0);
}

#[test]
fn a_writer_waits_while_readers_overlap() {
    // Seven readers hardly ever leave the lock to nobody: a writer gets it when they do.
    let found = run(&program(0.9, 20_000.0, 100.0), 8, 8);
    let writes = found.acquisitions() - found.reads;
    let share = writes as f64 / found.acquisitions() as f64;
    let waits = |waits: &hdrhistogram::Histogram<u64>| waits.mean() * waits.len() as f64;
    let read = waits(&found.read_waits) / found.reads as f64;
    let write = (waits(&found.waits) - waits(&found.read_waits)) / writes.max(1) as f64;
    assert!(
        share < 0.2 && write > 2.0 * read,
        "{share}: {write} and {read} ns"
    );
}

#[test]
fn who_finds_it_held_sleeps_without_a_second_look() {
    // The section is long enough that a thread that comes meanwhile has to wait.
    let found = run(&program(0.0, 50_000.0, 1000.0), 2, 2);
    let sleeps = found.counts.sleeps as f64 / found.acquisitions() as f64;
    assert!(sleeps > 0.9, "{sleeps} sleeps for each acquisition");
    assert!(found.ns_in_lock < 0.2 * found.split.asleep, "somebody spun");
}

#[test]
fn a_phase_wakes_all_readers_and_an_unlock_one_writer() {
    // Four writers: one sleeper is woken each time, and never more than one at a time
    // runs in vain.
    let writers = run(&program(0.0, 50_000.0, 1000.0), 4, 4);
    let woken = writers.counts.wakeups - writers.counts.futile_wakeups;
    let each = woken as f64 / writers.acquisitions() as f64;
    assert!((0.5..1.1).contains(&each), "{each} woken by an unlock");
    // Readers that a writer kept waiting are woken by one unlock.
    let mixed = run(&program(0.9, 50_000.0, 1000.0), 8, 8);
    let writes = mixed.acquisitions() - mixed.reads;
    let woken = mixed.counts.wakeups - mixed.counts.futile_wakeups;
    let each = woken as f64 / writes as f64;
    assert!(each > 3.0, "{each} woken for a writer's section");
}
