// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The first waiter fixes the queue of the process's mutexes. That is one test only.
use lockwork::{set_queue, Mutex, Queue};
use std::time::Duration;

#[test]
fn a_waiter_fixes_the_queue() {
    let mutex = Mutex::new(());
    let held = mutex.lock();
    // SAFETY: not unlocked by who did not get it.
    let got = unsafe { mutex.raw() }.lock_for(Duration::from_millis(1));
    assert!(!got);
    drop(held);
    assert!(set_queue(Queue::NumaOsq).is_err());
    assert!(set_queue(Queue::Osq).is_ok());
}
