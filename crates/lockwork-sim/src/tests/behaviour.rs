// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How simulated locks and CPUs behave.

use super::{locks, machine, outcome, setup, workload, CROWDED};
use crate::workload::{Histogram, Time};
use crate::{Placement, Setup};

#[test]
fn each_lock_makes_progress() {
    let (machine, workload) = (machine(), workload());
    for lock in locks() {
        for threads in [1, 2, 9, 40] {
            for guests in [None, CROWDED] {
                let outcome = outcome(&Setup {
                    threads,
                    guests,
                    ..setup(&machine, lock, &workload)
                });
                let found = outcome.acquisitions();
                // With guests an OSQ's waiters leave all the time: the slowest by far.
                assert!(found > 2, "{lock}, {threads} threads, {guests:?}: {found}");
            }
        }
    }
}

#[test]
fn readers_share() {
    let (machine, mut workload) = (machine(), workload());
    workload.reads = 1.0;
    workload.read_section = Time::Fixed(2000.0);
    for lock in ["rwlock", "qrwlock", "glibc_rwlock"] {
        let outcome = outcome(&Setup {
            threads: 8,
            ..setup(&machine, lock, &workload)
        });
        assert_eq!(outcome.reads, outcome.acquisitions(), "{lock}");
        let side_by_side = outcome.reads as f64 * 2000.0 / outcome.ns;
        assert!(
            side_by_side > 3.0,
            "{lock}: {side_by_side} readers at a time"
        );
    }
}

#[test]
fn writers_do_not_share() {
    let (machine, mut workload) = (machine(), workload());
    workload.section = Time::Fixed(2000.0);
    for lock in locks() {
        let outcome = outcome(&setup(&machine, lock, &workload));
        let side_by_side = outcome.acquisitions() as f64 * 2000.0 / outcome.ns;
        assert!(side_by_side <= 1.01, "{lock}: {side_by_side} at a time");
    }
}

#[test]
fn a_parked_spinner_costs_no_operations() {
    let (machine, mut workload) = (machine(), workload());
    workload.think = Time::Fixed(0.0);
    workload.section = Time::Fixed(20_000.0);
    workload.measure_us = 2000.0;
    let [one, many] = [2, 31].map(|threads| {
        let outcome = outcome(&Setup {
            threads,
            cpus: 0,
            ..setup(&machine, "mcs_lock", &workload)
        });
        outcome.operations as f64 / outcome.acquisitions() as f64
    });
    // Thirty spin for 20 µs each time; a handover takes the same few operations.
    assert!(one < 20.0 && many < 20.0, "{one} and {many} an acquisition");
}

#[test]
fn a_queue_is_fair() {
    let (machine, mut workload) = (machine(), workload());
    workload.think = Time::Fixed(0.0);
    for lock in ["ticket_lock", "mcs_lock"] {
        let outcome = outcome(&Setup {
            threads: 8,
            ..setup(&machine, lock, &workload)
        });
        let of = |f: fn(f64) -> f64| outcome.by_thread.iter().map(|&n| f(n as f64)).sum::<f64>();
        let jain = of(|n| n).powi(2) / (8.0 * of(|n| n * n));
        assert!(jain > 0.999, "{lock}: {jain}, {:?}", outcome.by_thread);
    }
}

#[test]
fn holders_and_heirs_without_a_cpu_show_and_pv_avoids_them() {
    let (mut machine, mut workload) = (machine(), workload());
    machine.hypervisor.slice_us = 300.0;
    workload.measure_us = 10_000.0;
    workload.think = Time::Exponential(1000.0);
    let crowd = |lock| {
        outcome(&Setup {
            threads: 16,
            guests: CROWDED,
            ..setup(&machine, lock, &workload)
        })
    };
    let ticket = crowd("ticket_lock");
    assert!(ticket.counts.preemptions > 0);
    assert!(ticket.split.preempted_holder + ticket.split.preempted_next > 0.0);
    let (pv, fair) = (crowd("qspinlock_pv"), crowd("qspinlock_fair"));
    assert!(pv.counts.wakeups > 0, "nobody was kicked");
    assert!(pv.rate() > fair.rate(), "{} and {}", pv.rate(), fair.rate());
    let alone = outcome(&Setup {
        threads: 8,
        ..setup(&machine, "ticket_lock", &workload)
    });
    assert_eq!(alone.split.preempted_holder, 0.0);
    assert_eq!(alone.counts.preemptions, 0);
}

#[test]
fn a_mutex_with_many_threads_sleeps_and_wakes() {
    let (machine, mut workload) = (machine(), workload());
    workload.section = Time::Fixed(2000.0);
    workload.loops = Some(20);
    for lock in ["mutex", "mutex_xchg"] {
        let outcome = outcome(&Setup {
            threads: 32,
            cpus: 4,
            placement: Placement::Compact,
            ..setup(&machine, lock, &workload)
        });
        assert_eq!(outcome.by_thread, [20; 32], "{lock}");
        let (all, useful) = (outcome.counts.wakeups, outcome.counts.useful_wakeups);
        assert!(useful > 0 && useful <= all, "{lock}: {useful} of {all}");
        assert!(outcome.split.asleep > 0.0, "{lock}: nobody slept");
        assert!(outcome.split.waking > 0.0, "{lock}: nobody woke up");
        assert!(outcome.counts.switches >= 32, "{lock}");
    }
}

/// One thread that does nothing but sections, most short and some long: they take as long on
/// average as their histogram says, and another seed draws others.
#[test]
fn sections_are_as_long_as_their_histogram() {
    let classes = [(1000.0, 2000.0, 9), (20_000.0, 30_000.0, 1)];
    let times = Histogram::new(&classes).expect("right");
    let (machine, mut workload) = (machine(), workload());
    workload.think = Time::Fixed(0.0);
    workload.section = Time::Histogram(times.clone());
    workload.measure_us = 100_000.0;
    let run = |seed| {
        outcome(&Setup {
            threads: 1,
            seed,
            ..setup(&machine, "ticket_lock", &workload)
        })
    };
    let (first, again, other) = (run(1), run(1), run(2));
    let round = first.ns / first.acquisitions() as f64;
    // A lock and an unlock that nobody else wants, and a line of data, are some ten ns.
    assert!((round / times.mean() - 1.0).abs() < 0.05, "{round}");
    assert_eq!(first.acquisitions(), again.acquisitions());
    assert_ne!(first.acquisitions(), other.acquisitions());
}

/// Who sleeps in one round of a hundred switches no more often.
#[test]
fn rounds_without_a_sleep_do_not_switch() {
    let classes = [(0.0, 0.0, 99), (50_000.0, 100_000.0, 1)];
    let (machine, mut workload) = (machine(), workload());
    workload.sleep = Some(Time::Histogram(Histogram::new(&classes).expect("right")));
    workload.measure_us = 20_000.0;
    let found = outcome(&Setup {
        threads: 1,
        ..setup(&machine, "ticket_lock", &workload)
    });
    let (all, switches) = (found.acquisitions() as f64, found.counts.switches as f64);
    assert!(all > 1000.0, "{all}");
    assert!(
        (0.005..0.015).contains(&(switches / all)),
        "{switches}, {all}"
    );
}

/// Each thread thinks, and then sleeps for 100 µs; one CPU, with slices of 20 µs.
fn sleepers(threads: usize, think: f64, measure_us: f64) -> super::Outcome {
    let workload = crate::workload::Workload {
        think: Time::Fixed(think),
        sleep: Some(Time::Fixed(100_000.0)),
        measure_us,
        ..workload()
    };
    outcome(&Setup {
        threads,
        cpus: 1,
        ..setup(&machine(), "mutex", &workload)
    })
}

#[test]
fn threads_that_slept_run_in_the_order_in_which_they_woke() {
    // Together they want 13 times the CPU time that there is.
    let outcome = sleepers(40, 50_000.0, 40_000.0);
    let (least, most) = (
        outcome.by_thread.iter().min(),
        outcome.by_thread.iter().max(),
    );
    let (least, most) = (*least.expect("threads"), *most.expect("threads"));
    assert!(least > 0 && most <= 2 * least, "{:?}", outcome.by_thread);
}

#[test]
fn time_in_a_switch_is_nobodys() {
    // One thread is always ready: a round is 50 µs of CPU time, whatever the switches cost.
    let mut machine = machine();
    machine.scheduler.switch_us = 10.0;
    let workload = crate::workload::Workload {
        think: Time::Fixed(50_000.0),
        measure_us: 20_000.0,
        ..workload()
    };
    let outcome = outcome(&Setup {
        threads: 2,
        cpus: 1,
        ..setup(&machine, "mutex", &workload)
    });
    let share = outcome.ns_busy / outcome.ns;
    assert!((0.6..0.75).contains(&share), "{share}: 20 of 30 µs");
}
