// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The condition variable. A wake-up that is lost is a hang.

use lockwork::{Condvar, Mutex};
use std::hint;
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 20_000;

const fn send_and_sync<T: Send + Sync>() {}
const _: () = send_and_sync::<Condvar>();
const _: () = assert!(size_of::<Condvar>() == 16);

/// Two threads in turn.
#[test]
fn ping_pong() {
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        for own in 0..2 {
            let (turn, changed) = (&turn, &changed);
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let mut turn = turn.lock();
                    changed.wait_while(&mut turn, |turn| *turn % 2 != own);
                    *turn += 1;
                    changed.notify_one();
                }
            });
        }
    });
    assert_eq!(*turn.lock(), 2 * ROUNDS);
}

/// The one that notifies never sleeps and comes the moment that the mutex is free,
/// so that its notification often falls between the other's unlock and its sleep.
#[test]
fn a_notification_before_the_sleep_is_not_lost() {
    let (full, filled) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                let mut full = full.lock();
                filled.wait_while(&mut full, |full| !*full);
                *full = false;
            }
        });
        for _ in 0..ROUNDS {
            loop {
                match full.try_lock() {
                    Some(mut full) if !*full => break *full = true,
                    _ => hint::spin_loop(),
                }
            }
            filled.notify_one();
        }
    });
}

#[test]
fn all_are_woken() {
    const THREADS: usize = 8;
    let (state, open) = (Mutex::new((0, false)), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut state = state.lock();
                state.0 += 1;
                open.wait_while(&mut state, |state| !state.1);
                state.0 -= 1;
            });
        }
        loop {
            let mut state = state.lock();
            if state.0 == THREADS {
                break state.1 = true;
            }
        }
        open.notify_all();
    });
    assert_eq!(state.lock().0, 0);
}

#[test]
fn a_deadline_ends_the_wait_and_not_early() {
    const LIMIT: Duration = Duration::from_millis(20);
    let (mutex, never) = (Mutex::new(()), Condvar::default());
    let mut held = mutex.lock();
    let start = Instant::now();
    while !never.wait_until(&mut held, start + LIMIT).timed_out() {}
    assert!(start.elapsed() >= LIMIT);
    // Waits may end for no reason: the first that does not ends at the limit.
    while {
        let start = Instant::now();
        let result = never.wait_for(&mut held, LIMIT);
        assert!(!result.timed_out() || start.elapsed() >= LIMIT);
        !result.timed_out()
    } {}
    assert!(never.wait_until(&mut held, start).timed_out());
    assert!(mutex.try_lock().is_none(), "held again");
    drop(held);
    assert!(mutex.try_lock().is_some());
}
