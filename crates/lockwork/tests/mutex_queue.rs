// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mutexes over the other queue. One test: the queue belongs to the process.
use lockwork::{
    set_clusters, set_knob, set_mutex_queue, Condvar, Mutex, MutexQueue, MutexQueueError,
};
use std::thread::scope;

const THREADS: usize = 8;
const ROUNDS: usize = 5_000;

#[test]
fn waiters_queue_where_it_was_said() -> Result<(), MutexQueueError> {
    set_mutex_queue(MutexQueue::NumaOsq)?;
    set_mutex_queue(MutexQueue::NumaOsq)?;
    let refused = set_mutex_queue(MutexQueue::Osq).expect_err("it is chosen");
    assert!(refused.to_string().contains("once"), "{refused}");
    set_clusters(c"0-7000;7001").expect("two clusters");
    for (knob, value) in [
        (c"brief_spins", c"0"),
        (c"watch_owner", c"0"),
        (c"spin_budget", c"1000000"),
        (c"osq_lock_depth", c"5"),
        (c"osq_keep_times", c"16"),
    ] {
        set_knob(knob, value).expect("in range");
    }

    let (counter, turns) = (Mutex::new(0), Condvar::new());
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
