// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The same setup gives the same outcome.

use super::program::{lock, of, role, section, think};
use super::{epyc, locks, machine, outcome, setup, workload, CROWDED};
use crate::outcome::Outcome;
use crate::routine::LOWER;
use crate::workload::{SharedLock, Workload};
use crate::Setup;
use std::thread;

/// All of it that does not depend on the host.
fn all_of(outcome: Outcome) -> String {
    let outcome = Outcome {
        seconds: 0.0,
        ..outcome
    };
    assert!(outcome.acquisitions() > 0);
    format!("{outcome:?}")
}

/// Each lock, with and without guests.
fn everything(seed: u64) -> Vec<String> {
    let (machine, workload) = (machine(), workload());
    let mut found = Vec::new();
    for lock in locks() {
        for guests in [None, CROWDED] {
            found.push(all_of(outcome(&Setup {
                seed,
                guests,
                window: Some((0.0, 50.0)),
                ..setup(&machine, lock, &workload)
            })));
        }
    }
    found
}

fn same(a: &[String], b: &[String]) {
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        assert!(a == b, "{}: not the same again", locks()[at / 2]);
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome_in_any_thread_and_after_others() {
    let first = everything(7);
    same(&first, &everything(7));
    thread::scope(|scope| {
        let both = [0, 1].map(|_| scope.spawn(|| everything(7)));
        for thread in both {
            same(&first, &thread.join().expect("no panic"));
        }
    });
}

#[test]
fn another_seed_gives_another_outcome() {
    let (first, second) = (everything(7), everything(8));
    for (at, (a, b)) in first.iter().zip(&second).enumerate() {
        assert!(a != b, "{}: the seed changes nothing", locks()[at / 2]);
    }
}

/// Records of waiters are on the stacks of their threads. Another compiler's frames put them
/// elsewhere: here stacks begin lower. Locks of which other frames, on the way to a wait, lie
/// where a record was are left out.
#[test]
fn where_frames_lie_changes_nothing() {
    let machine = epyc();
    let run = |lock: &&str| {
        let shared = ["rwlock", "qrwlock", "glibc_rwlock"];
        let workload = Workload {
            reads: if shared.contains(lock) { 0.3 } else { 0.0 },
            measure_us: 1000.0,
            ..workload()
        };
        all_of(outcome(&Setup {
            threads: 40,
            cpus: 16,
            ..setup(&machine, lock, &workload)
        }))
    };
    let mut steady = locks().to_vec();
    steady.retain(|lock| !["cond", "rwsem", "rwsem_numa"].contains(lock));
    let first: Vec<String> = steady.iter().map(run).collect();
    for bytes in [16, 32, 48] {
        LOWER.set(bytes);
        for (lock, first) in steady.iter().zip(&first) {
            assert!(*first == run(lock), "{lock}: {bytes} bytes lower");
        }
    }
    LOWER.set(0);
}

/// Locks enough that some have the same entry in a table that goes by addresses.
#[test]
fn where_the_host_puts_the_locks_changes_nothing() {
    let many = SharedLock {
        count: 100,
        ..lock("many")
    };
    let steps = vec![think(100.0), section(0, 200.0, Vec::new())];
    let workload = Workload {
        program: Some(of(vec![many], vec![role("all", steps)])),
        ..workload()
    };
    let machine = machine();
    let run = |lock| {
        all_of(outcome(&Setup {
            threads: 64,
            guests: CROWDED,
            ..setup(&machine, lock, &workload)
        }))
    };
    for lock in ["qspinlock_pv", "qspinlock_auto", "mutex"] {
        let first = run(lock);
        let others: Vec<Vec<u8>> = (1..6).map(|pages| vec![0; pages * 300_000]).collect();
        let second = run(lock);
        assert!(first == second, "{lock}: not the same again");
        drop(others);
    }
}
