// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A thread computes ahead of the others. What is told of it, and what the schedulers do with
//! it, goes by the time at which it happens all the same.

use super::program::{always, lock, of, role, section, think};
use super::{machine, outcome, setup, workload};
use crate::workload::{Program, Time, What, Workload};
use crate::{simulate, Guests, Setup};

fn program(program: Program, measure_us: f64) -> Workload {
    Workload {
        preemptible: true,
        measure_us,
        program: Some(program),
        ..workload()
    }
}

fn sleep(ns: f64) -> crate::workload::Step {
    always(What::Sleep(Time::Fixed(ns)))
}

#[test]
fn a_holder_is_preempted_while_it_computes_its_section() {
    let (mut machine, mut workload) = (machine(), workload());
    machine.hypervisor.slice_us = 500.0;
    (workload.think, workload.section) = (Time::Fixed(1000.0), Time::Fixed(50_000.0));
    workload.measure_us = 100_000.0;
    let found = outcome(&Setup {
        threads: 4,
        cpus: 2,
        guests: Some(Guests::pinned(2)),
        ..setup(&machine, "tas_lock", &workload)
    });
    let split = found.split;
    assert!(found.counts.preempted_holders > 0);
    assert!(split.preempted_holder > split.preempted_next, "{split:?}");
}

#[test]
fn who_thinks_does_not_wait() {
    let (machine, mut workload) = (machine(), workload());
    (workload.think, workload.section) = (Time::Exponential(10_000.0), Time::Fixed(10.0));
    workload.measure_us = 20_000.0;
    let found = outcome(&Setup {
        threads: 2,
        ..setup(&machine, "ticket_lock", &workload)
    });
    let contended = found.counts.contended as f64 / found.acquisitions() as f64;
    assert!(contended < 0.05, "{contended}");
    // The time before the first call of the measured time is none of the lock's.
    let shares = found.batches.iter().map(|batch| batch.ns_in_lock);
    let shares: Vec<f64> = shares.collect();
    let mean = shares[1..].iter().sum::<f64>() / (shares.len() - 1) as f64;
    assert!(shares[0] < 2.0 * mean, "{shares:?}");
}

#[test]
fn who_thinks_is_preempted_then_and_not_in_the_lock() {
    let (mut machine, mut workload) = (machine(), workload());
    machine.scheduler.slice_us = 3000.0;
    (workload.think, workload.section) = (Time::Fixed(20_000_000.0), Time::Fixed(100.0));
    workload.measure_us = 1_000_000.0;
    for (lock, preemptible) in [("mutex", true), ("ticket_lock", false)] {
        workload.preemptible = preemptible;
        let found = outcome(&Setup {
            threads: 2,
            cpus: 1,
            ..setup(&machine, lock, &workload)
        });
        let worst = found.waits.max();
        assert!(worst < 3_100_000, "{lock}: {worst} ns");
        let switches = found.counts.involuntary as f64 / found.acquisitions() as f64;
        assert!((5.0..9.0).contains(&switches), "{lock}: {switches}");
    }
}

#[test]
fn a_deadlock_is_one_though_slices_come_to_their_end() {
    let machine = machine();
    let inside = |first, second| {
        section(
            first,
            0.0,
            vec![think(100_000.0), section(second, 0.0, vec![])],
        )
    };
    let roles = vec![role("x", vec![inside(0, 1)]), role("y", vec![inside(1, 0)])];
    let workload = program(of(vec![lock("a"), lock("b")], roles), 2000.0);
    let found = simulate(&Setup {
        threads: 2,
        cpus: 1,
        ..setup(&machine, "mutex", &workload)
    });
    assert!(found.expect("possible").is_err(), "not noticed");
}

#[test]
fn a_role_that_only_computes_comes_to_the_end() {
    let machine = machine();
    for idle in [vec![think(10_000.0)], vec![think(0.0)], vec![sleep(0.0)]] {
        let steps = vec![section(0, 10.0, vec![])];
        let roles = vec![role("locks", steps), role("computes", idle)];
        let workload = program(of(vec![lock("a")], roles), 100.0);
        let found = outcome(&Setup {
            threads: 2,
            ..setup(&machine, "ticket_lock", &workload)
        });
        assert!(found.acquisitions() > 100);
    }
}

#[test]
fn what_is_computed_before_a_sleep_counts() {
    let (machine, mut workload) = (machine(), workload());
    (workload.think, workload.sleep) = (Time::Fixed(100_000.0), Some(Time::Fixed(100_000.0)));
    workload.measure_us = 100_000.0;
    let found = outcome(&Setup {
        threads: 1,
        ..setup(&machine, "ticket_lock", &workload)
    });
    let busy = found.ns_busy / found.ns;
    assert!((0.45..0.55).contains(&busy), "{busy}");
}

#[test]
fn a_virtual_cpu_has_its_whole_slice() {
    let mut machine = machine();
    machine.hypervisor.slice_us = 6000.0;
    let steps = vec![think(4_000_000.0), section(0, 10.0, vec![]), sleep(1000.0)];
    let workload = program(of(vec![lock("a")], vec![role("r", steps)]), 1_000_000.0);
    let found = outcome(&Setup {
        threads: 2,
        cpus: 1,
        guests: Some(Guests::pinned(2)),
        ..setup(&machine, "ticket_lock", &workload)
    });
    assert_eq!(found.counts.preemptions, 0);
}
