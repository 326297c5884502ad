// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A lock that is divided by clusters, while the clusters change. One test: knobs
//! and clusters belong to the process.
use lockwork_catalogue::{
    by_name, cluster_count, counted, divided, force_knob, reset_events, set_clusters, set_knob,
};
use std::thread::scope;

fn force(name: &str, value: u32) {
    // SAFETY: numbers that a numa_osq compares with counts.
    unsafe { force_knob(name, value) }.expect("a knob of platform/knobs.def");
}

fn sum(event: &str) -> u64 {
    counted().get(event).copied().unwrap_or(0)
}

/// Division comes from forced knobs, at the first acquisition.
#[test]
fn a_cluster_that_comes_later_has_a_queue_too() {
    let kind = by_name("numa_osq").expect("in the catalogue");
    let lock = kind.create();
    set_clusters("0-7000;7001").expect("two clusters");
    set_knob("count_events", "1").expect("a knob");
    set_knob("spin_budget", "50").expect("a knob");
    force("osq_lock_depth", u32::MAX);
    force("osq_keep_times", 0);

    // SAFETY: this thread unlocks what it locked.
    unsafe { lock.lock() };
    assert_eq!((sum("numa_opened"), divided()), (1, 1));
    force("osq_keep_times", 1000);
    // This machine's CPUs are now in a third cluster.
    set_clusters("7001;7002;0-7000").expect("three clusters");
    assert_eq!(cluster_count(), 3);
    reset_events();
    // SAFETY: not held by that thread; not taken.
    let got = scope(|scope| scope.spawn(|| unsafe { lock.attempt() }).join());
    assert_eq!(got.expect("no panic"), Some(false));
    assert_eq!(sum("numa_turned_away"), 0, "{:?}", counted());
    assert_eq!(sum("numa_cancel_top"), 1, "{:?}", counted());

    // SAFETY: locked above.
    unsafe { lock.unlock() };
    assert_eq!((sum("numa_closed_idle"), divided()), (1, 0));
    // SAFETY: as above.
    unsafe {
        lock.lock();
        lock.unlock();
    }
}
