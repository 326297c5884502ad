// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks whose holder keeps a queue node, and a thread that has no slot to get
//! one with. One test: slots are counted in the whole process.
use lockwork_catalogue::{catalogue, limit_slots, LockKind, Promises};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::Barrier;
use std::time::Duration;

/// Time for a waiter to get in where it must not.
const TEMPTATION: Duration = Duration::from_millis(20);

#[test]
fn without_a_slot_tries_fail_and_a_lock_waits_for_one() {
    limit_slots(1);
    let keeps = |kind: &LockKind| kind.flags().contains(Promises::KEEPS_NODE);
    let kinds: Vec<LockKind> = catalogue().into_iter().filter(keeps).collect();
    assert!(!kinds.is_empty(), "no lock keeps a node: remove this test");
    kinds.into_iter().for_each(waits_for_a_slot);
}

fn waits_for_a_slot(kind: LockKind) {
    let name = kind.name();
    let lock = kind.create();
    let got = AtomicBool::new(false);
    let (taken, tried) = (Barrier::new(2), Barrier::new(2));
    // SAFETY: each thread unlocks what it locked.
    std::thread::scope(|scope| unsafe {
        let owner = scope.spawn(|| {
            // The lock is free again, the slot stays taken.
            lock.lock();
            lock.unlock();
            taken.wait();
            tried.wait();
            std::thread::sleep(TEMPTATION);
            assert!(!got.load(SeqCst), "{name}: taken without a slot");
        });
        scope.spawn(|| {
            taken.wait();
            let tries = [lock.try_lock(), lock.attempt()];
            tried.wait();
            assert!(!tries.contains(&Some(true)), "{name}: a try without a slot");
            lock.lock();
            got.store(true, SeqCst);
            lock.unlock();
        });
        owner.join().expect("nobody panics inside");
    });
    assert!(got.load(SeqCst), "{name}");
}
