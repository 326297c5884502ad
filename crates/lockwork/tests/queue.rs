// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mutexes over the other queue. One test: the queue belongs to the process.
use lockwork::{events, set_clusters, set_knob, set_queue, Condvar, Mutex, Queue, QueueError};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::{scope, sleep};
use std::time::Duration;

const THREADS: usize = 8;
const ROUNDS: usize = 5_000;

// platform/knobs.def
extern "C" {
    static lk_knob_osq_lock_depth: AtomicU32;
    static lk_knob_osq_keep_times: AtomicU32;
}

fn opened() -> u64 {
    let event = events().find(|event| event.name == c"numa_opened");
    event.expect("an event").sum
}

/// A queue is divided as soon as somebody is in it.
fn divide_at_once() {
    set_clusters(c"0-7000;7001").expect("two clusters");
    for (knob, value) in [
        (c"count_events", c"1"),
        (c"brief_spins", c"0"),
        (c"watch_owner", c"0"),
    ] {
        set_knob(knob, value).expect("in range");
    }
    // SAFETY: numbers that a numa_osq compares with counts, here past their ranges.
    unsafe {
        lk_knob_osq_lock_depth.store(u32::MAX, Relaxed);
        lk_knob_osq_keep_times.store(0, Relaxed);
    }
}

#[test]
fn waiters_queue_where_it_was_said() -> Result<(), QueueError> {
    set_queue(Queue::NumaOsq)?;
    set_queue(Queue::NumaOsq)?;
    let refused = set_queue(Queue::Osq).expect_err("it is chosen");
    assert!(refused.to_string().contains("once"), "{refused}");
    divide_at_once();

    let (counter, turns) = (Mutex::new(0), Condvar::new());
    scope(|scope| {
        let held = counter.lock();
        scope.spawn(|| *counter.lock() += 0);
        for nap in 0.. {
            if opened() > 0 {
                break;
            }
            assert!(nap < 10_000, "a waiter came to no numa_osq");
            sleep(Duration::from_millis(1));
        }
        drop(held);
    });
    scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    *counter.lock() += 1;
                }
                turns.notify_all();
            });
        }
        let mut sum = counter.lock();
        while *sum < THREADS * ROUNDS {
            turns.wait(&mut sum);
        }
    });
    assert_eq!(*counter.lock(), THREADS * ROUNDS);
    Ok(())
}
