// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Simulations that cannot go on say so, and where each thread is.

use super::{machine, reset, setup, workload};
use crate::outcome::Stuck;
use crate::{simulate, Setup};

/// `threads` on eight CPUs, after one of them forgot to unlock.
fn stuck(lock: &str, threads: usize, loops: Option<u64>) -> Stuck {
    let (machine, mut workload) = (machine(), workload());
    workload.loops = loops;
    reset(Some(100));
    let found = simulate(&Setup {
        threads,
        ..setup(&machine, lock, &workload)
    });
    reset(None);
    let Err(stuck) = found.expect("possible") else {
        panic!("{lock}: not noticed");
    };
    assert_eq!(stuck.threads.len(), threads, "{lock}");
    stuck
}

/// Each thread is named with its CPU, and is in one of `states` at a line of one of
/// `files`.
fn says(stuck: &Stuck, states: &[&str], files: &[&str]) {
    for (id, line) in stuck.threads.iter().enumerate() {
        let rest = line.strip_prefix(&format!("thread {id} on CPU "));
        let rest = rest.unwrap_or_else(|| panic!("{line}"));
        let (cpu, rest) = rest.split_once(": ").expect("a state");
        assert!(cpu.parse::<usize>().is_ok_and(|cpu| cpu < 8), "{line}");
        let (state, at) = rest.split_once("; last wait at ").expect("a place");
        assert!(states.contains(&state), "{line}");
        let (name, at) = at.split_once(':').expect("a line of a file");
        assert!(files.contains(&name), "{line}");
        let number = at.split_once(' ').expect("a function").0;
        assert!(number.parse::<u32>().is_ok_and(|line| line > 0), "{line}");
    }
}

#[test]
fn spinners_that_nobody_will_serve_are_a_deadlock() {
    for (lock, file) in [("ticket_lock", "ticket_lock.h"), ("tas_lock", "tas_lock.h")] {
        for loops in [None, Some(1000)] {
            let stuck = stuck(lock, 8, loops);
            assert!(stuck.what.starts_with("deadlock after "), "{}", stuck.what);
            says(&stuck, &["spins, waits for the lock"], &[file]);
        }
    }
}

#[test]
fn waiters_for_one_that_waits_for_itself_are_a_deadlock() {
    // The owner is on its CPU and waits for its own mutex: so most spin for it. The
    // ninth thread has no CPU to spin on, or has taken that of one that sleeps now.
    for loops in [None, Some(1000)] {
        let stuck = stuck("mutex", 9, loops);
        assert!(stuck.what.starts_with("deadlock after "), "{}", stuck.what);
        let (spins, asleep) = ("spins, waits for the lock", "asleep, waits for the lock");
        says(&stuck, &[spins, asleep], &["mutex.c", "osq_lock.c"]);
        assert!(stuck.threads.iter().any(|line| line.contains(asleep)));
    }
}

/// Of a spinlock of a kernel, no holder loses its CPU to waiters that keep theirs, whatever
/// the workload says.
#[test]
fn a_spinlock_of_a_preemptible_workload_goes_on() {
    let machine = crate::machine::load("vm-2cpu").expect("it is in the program");
    let workload = crate::workload::Workload {
        preemptible: true,
        section: crate::workload::Time::Exponential(1000.0),
        // Several slices of each CPU.
        loops: Some(5000),
        ..workload()
    };
    let mut all = crate::locks().expect("they load");
    all.retain(|lock| !lock.needs_clusters && !lock.sleeps);
    assert!(all.iter().any(|lock| lock.name == "qspinlock_fair"));
    for lock in all {
        reset(None);
        let found = simulate(&Setup {
            threads: 4,
            cpus: 2,
            ..setup(&machine, lock.name, &workload)
        });
        let outcome = found.expect("possible");
        let outcome = outcome.unwrap_or_else(|stuck| panic!("{}: {stuck:?}", lock.name));
        assert_eq!(outcome.by_thread, [5000; 4], "{}", lock.name);
    }
}

/// The ninth thread wants a CPU, and spinners with queue tickets keep theirs.
#[test]
fn spinners_on_a_cpu_that_another_thread_wants_are_a_deadlock() {
    for loops in [None, Some(1000)] {
        let stuck = stuck("ticket_lock", 9, loops);
        assert!(stuck.what.starts_with("deadlock after "), "{}", stuck.what);
        let spins = |line: &&String| line.contains("spins, waits for the lock; last wait at");
        assert_eq!(stuck.threads.iter().filter(spins).count(), 8);
    }
}

#[test]
fn what_takes_longer_than_time_can_be_counted_is_no_deadlock() {
    let (machine, mut workload) = (machine(), workload());
    workload.think = crate::workload::Time::Fixed(1e13);
    workload.loops = Some(1000);
    let found = simulate(&Setup {
        threads: 1,
        ..setup(&machine, "ticket_lock", &workload)
    });
    let Err(stuck) = found.expect("possible") else {
        panic!("not noticed");
    };
    assert!(stuck.what.contains("simulated seconds"), "{}", stuck.what);
}
