// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Each lock excludes whom it must, with more threads than CPUs.

use lockwork::lock_api::{Mutex, RawMutex, RawRwLock, RwLock};
use lockwork::{set_spin_mode, RawSpinLock, SpinMode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const THREADS: usize = 8;
const ROUNDS: usize = 5_000;

/// A plain counter that loses counts if two threads are inside.
fn counts<R: RawMutex + Sync>(lock: &Mutex<R, usize>) {
    let inside = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let guard = if round % 4 == 0 {
                        lock.try_lock()
                    } else {
                        None
                    };
                    let mut guard = guard.unwrap_or_else(|| lock.lock());
                    assert!(!inside.swap(true, Ordering::Relaxed));
                    *guard += 1;
                    inside.store(false, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(*lock.lock(), THREADS * ROUNDS);
    assert!(!lock.is_locked());
}

#[test]
fn mutex() {
    counts(&lockwork::Mutex::new(0));
}

#[test]
fn spinlock_whose_mode_changes() {
    for mode in [SpinMode::Fair, SpinMode::Steal, SpinMode::Tas] {
        set_spin_mode(mode);
        counts::<RawSpinLock>(&Mutex::new(0));
    }
    set_spin_mode(SpinMode::Fair);
}

#[test]
fn rwlock() {
    readers_see_pairs(&lockwork::RwLock::new((0, 0)));
}

#[test]
fn spin_rwlock() {
    readers_see_pairs(&lockwork::SpinRwLock::new((0, 0)));
}

fn readers_see_pairs<R: RawRwLock + Sync>(lock: &RwLock<R, (usize, usize)>) {
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    match (thread + round) % 8 {
                        0 => {
                            let mut pair = lock.write();
                            pair.0 += 1;
                            pair.1 += 1;
                        }
                        1 => {
                            if let Some(pair) = lock.try_read() {
                                assert_eq!(pair.0, pair.1);
                            }
                        }
                        _ => {
                            let pair = lock.read();
                            assert_eq!(pair.0, pair.1);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(lock.read().0, THREADS * ROUNDS / 8);
    assert!(!lock.is_locked());
}

#[test]
fn a_panic_unlocks_and_does_not_poison() {
    let lock = lockwork::Mutex::new(1);
    let result = thread::scope(|scope| {
        let holder = scope.spawn(|| {
            let mut guard = lock.lock();
            *guard = 2;
            // No message: that of a test that failed looks the same.
            std::panic::resume_unwind(Box::new(()));
        });
        holder.join()
    });
    assert!(result.is_err());
    assert_eq!(*lock.lock(), 2);
}
