// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What it costs a program to go to sleep, and when the kernel looks at the word.

use super::{machine, outcome, setup, workload};
use crate::machine::Machine;
use crate::outcome::Outcome;
use crate::workload::{Time, Workload};
use crate::Setup;

/// A machine whose calls take `wait` ns where a word has changed, and `wake` ns where
/// nobody sleeps.
fn with_calls(wait: f64, wake: f64) -> Machine {
    let mut machine = machine();
    machine.scheduler.wait_call = wait;
    machine.scheduler.wake_call = wake;
    machine
}

/// A program whose threads hold a lock for `section` ns, and do something else for so long
/// that the lock is free by then.
fn program(section: f64) -> Workload {
    Workload {
        affinity: true,
        preemptible: true,
        think: Time::Exponential(8.0 * section),
        section: Time::Fixed(section),
        loops: Some(200),
        ..workload()
    }
}

fn run(machine: &Machine, lock: &str, workload: &Workload, cpus: usize) -> Outcome {
    outcome(&Setup {
        threads: 2,
        cpus,
        ..setup(machine, lock, workload)
    })
}

#[test]
fn who_finds_the_lock_free_after_the_way_in_does_not_sleep() {
    let program = program(200.0);
    // The kernel looks 500 ns later than the waiter has: the section is over.
    for lock in ["glibc_mutex", "std_mutex"] {
        let found = run(&with_calls(1000.0, 0.0), lock, &program, 2);
        assert_eq!(found.by_thread, [200, 200], "{lock}");
        assert_eq!(found.split.asleep, 0.0, "{lock}: somebody slept");
    }
    let found = run(&with_calls(1000.0, 0.0), "glibc_mutex", &program, 2);
    assert!(found.counts.refused_sleeps > 5, "nobody was refused");
    // Who looks at once sleeps.
    let at_once = run(&with_calls(0.0, 0.0), "glibc_mutex", &program, 2);
    assert!(at_once.split.asleep > 0.0, "nobody slept");
}

#[test]
fn a_wait_that_is_refused_takes_the_way_in_and_back() {
    let program = program(200.0);
    let took = |wait, wake| {
        let found = run(&with_calls(wait, wake), "glibc_mutex", &program, 2);
        assert_eq!(found.split.asleep, 0.0, "somebody slept");
        let waits = found.waits.mean() * found.waits.len() as f64;
        (found.counts.refused_sleeps, waits)
    };
    // Most of their waits are calls: a longest one, and then a longer one.
    let ((some, short), (others, long)) = (took(1000.0, 0.0), took(3000.0, 0.0));
    let each = [short / some as f64, long / others as f64];
    assert!(each[0] > 1000.0 && each[1] > 3000.0, "{each:?}");
    // Whoever gives a lock back for which others called tells the kernel in vain.
    let finished = |wake| {
        let found = run(&with_calls(1000.0, wake), "glibc_mutex", &program, 2);
        found.finished_ns.expect("a number of loops")
    };
    assert!(finished(500.0) > finished(0.0));
}

#[test]
fn a_sleep_that_sleeps_costs_as_much_as_ever() {
    // One CPU, and a holder that loses it: who comes then has to sleep.
    let program = Workload {
        loops: Some(20),
        ..program(30_000.0)
    };
    let took = |wait| {
        let found = run(&with_calls(wait, 0.0), "glibc_mutex", &program, 1);
        assert!(found.split.asleep > 0.0, "nobody slept");
        assert_eq!(found.counts.refused_sleeps, 0);
        found.finished_ns.expect("a number of loops")
    };
    let (at_once, later) = (took(0.0), took(1000.0));
    assert!((at_once - later).abs() < 1.0, "{at_once} and {later} ns");
}

#[test]
fn the_kernel_has_no_way_in() {
    let program = Workload {
        preemptible: false,
        ..program(5000.0)
    };
    let took = |wait, wake| {
        let found = run(&with_calls(wait, wake), "glibc_mutex", &program, 2);
        found.finished_ns.expect("a number of loops")
    };
    assert_eq!(took(0.0, 0.0), took(1000.0, 1000.0));
}

/// A thread that sleeps for a time is woken as any other: it comes back later by `wake`, and
/// not before it has left its CPU.
#[test]
fn a_sleep_for_a_time_costs_a_wake_up() {
    let took = |sleep_ns: f64, wake_us: f64, switch_us: f64| {
        let mut machine = machine();
        (machine.scheduler.wake_us, machine.scheduler.switch_us) = (wake_us, switch_us);
        let sleepy = Workload {
            think: Time::Fixed(0.0),
            sleep: Some(Time::Fixed(sleep_ns)),
            loops: Some(100),
            ..program(100.0)
        };
        let found = outcome(&Setup {
            threads: 1,
            ..setup(&machine, "mutex", &sleepy)
        });
        found.finished_ns.expect("a number of loops") / 100.0
    };
    let differ = |a: f64, b: f64, ns: f64| ((a - b) - ns).abs() < 1.0;
    let plain = took(10_000.0, 0.0, 0.0);
    assert!(plain > 10_000.0, "{plain}");
    assert!(differ(took(10_000.0, 3.0, 0.0), plain, 3000.0));
    // To leave the CPU takes time that it sleeps anyway, unless the sleep is shorter.
    assert!(differ(took(10_000.0, 3.0, 2.0), plain, 3000.0));
    assert!(differ(took(500.0, 3.0, 2.0), took(500.0, 0.0, 0.0), 4500.0));
}
