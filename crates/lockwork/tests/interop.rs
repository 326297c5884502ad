// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Rust's fast paths and the functions of `<lockwork/lockwork.h>` on the same
//! locks: what one has locked the other unlocks, while others wait.

use lockwork::lock_api::{RawMutex as _, RawRwLock as _};
use lockwork::{RawMutex, RawRwLock, RawSpinLock, RawSpinRwLock};
use lockwork_sys as c;
use std::cell::UnsafeCell;
use std::env;
use std::process::{Command, Output};
use std::thread;

const THREADS: usize = 8;
const ROUNDS: usize = 20_000;

/// A counter that only the lock under test guards.
struct Counter(UnsafeCell<usize>);

// SAFETY: guarded by the lock under test.
unsafe impl Sync for Counter {}

/// `lock` and `unlock` are told the round; each thread starts elsewhere, so that
/// Rust and C meet in all ways.
fn contended(lock: impl Fn(usize) + Sync, unlock: impl Fn(usize) + Sync) {
    let counter = Counter(UnsafeCell::new(0));
    let counter = &counter;
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (lock, unlock) = (&lock, &unlock);
            scope.spawn(move || {
                for round in thread..thread + ROUNDS {
                    lock(round);
                    // SAFETY: alone, by the lock.
                    unsafe { *counter.0.get() += 1 };
                    unlock(round);
                }
            });
        }
    });
    // SAFETY: the threads are gone.
    assert_eq!(unsafe { *counter.0.get() }, THREADS * ROUNDS);
}

#[test]
fn mutex() {
    let mutex = RawMutex::INIT;
    contended(
        // SAFETY: that mutex, which this thread does not hold.
        |round| match round % 4 {
            0 | 1 => mutex.lock(),
            2 => unsafe { c::lw_mutex_lock(mutex.as_ptr()) },
            _ => while !unsafe { c::lwlib_mutex_lock_for(mutex.as_ptr(), 1_000_000) } {},
        },
        // SAFETY: this thread holds it.
        |round| match round % 3 {
            0 => unsafe { mutex.unlock() },
            _ => unsafe { c::lw_mutex_unlock(mutex.as_ptr()) },
        },
    );
    assert!(!mutex.is_locked());
}

#[test]
fn spinlock() {
    let spin = RawSpinLock::INIT;
    contended(
        // SAFETY: that spinlock, which this thread does not hold.
        |round| match round % 4 {
            0 | 1 => spin.lock(),
            2 => unsafe { c::lw_spin_lock(spin.as_ptr()) },
            _ => while !unsafe { c::lw_spin_trylock(spin.as_ptr()) } && !spin.try_lock() {},
        },
        // SAFETY: this thread holds it.
        |round| match round % 3 {
            0 => unsafe { spin.unlock() },
            _ => unsafe { c::lw_spin_unlock(spin.as_ptr()) },
        },
    );
    assert!(!spin.is_locked());
}

#[test]
fn rwlock() {
    let rw = RawRwLock::INIT;
    let read_in_rust = |round| {
        rw.lock_shared();
        // SAFETY: read-locked by this thread, by Rust.
        match round % 3 {
            0 => unsafe { rw.unlock_shared() },
            _ => unsafe { c::lw_read_unlock(rw.as_ptr()) },
        }
    };
    let read_in_c = |round| {
        // SAFETY: that lock, which this thread does not hold; then it does.
        unsafe { c::lw_read_lock(rw.as_ptr()) };
        match round % 3 {
            0 => unsafe { rw.unlock_shared() },
            _ => unsafe { c::lw_read_unlock(rw.as_ptr()) },
        }
    };
    contended(
        |round| {
            read_in_rust(round);
            read_in_c(round);
            // SAFETY: that lock, which this thread does not hold.
            match round % 3 {
                0 => rw.lock_exclusive(),
                1 => unsafe { c::lw_write_lock(rw.as_ptr()) },
                _ => while !unsafe { c::lwlib_write_lock_for(rw.as_ptr(), 1_000_000) } {},
            }
        },
        // SAFETY: this thread holds it alone.
        |round| match round % 3 {
            0 => unsafe { rw.unlock_exclusive() },
            _ => unsafe { c::lw_write_unlock(rw.as_ptr()) },
        },
    );
    assert!(!rw.is_locked());
}

#[test]
fn spin_rwlock() {
    let rw = RawSpinRwLock::INIT;
    let read_in_rust = |round| {
        rw.lock_shared();
        // SAFETY: read-locked by this thread, by Rust.
        match round % 3 {
            0 => unsafe { rw.unlock_shared() },
            _ => unsafe { c::lw_spin_read_unlock(rw.as_ptr()) },
        }
    };
    let read_in_c = |round| {
        // SAFETY: that lock, which this thread does not hold; then it does.
        unsafe { c::lw_spin_read_lock(rw.as_ptr()) };
        match round % 3 {
            0 => unsafe { rw.unlock_shared() },
            _ => unsafe { c::lw_spin_read_unlock(rw.as_ptr()) },
        }
    };
    contended(
        |round| {
            read_in_rust(round);
            read_in_c(round);
            // SAFETY: that lock, which this thread does not hold.
            match round % 2 {
                0 => rw.lock_exclusive(),
                _ => unsafe { c::lw_spin_write_lock(rw.as_ptr()) },
            }
        },
        // SAFETY: this thread holds it alone.
        |round| match round % 3 {
            0 => unsafe { rw.unlock_exclusive() },
            _ => unsafe { c::lw_spin_write_unlock(rw.as_ptr()) },
        },
    );
    assert!(!rw.is_locked());
}

/// What a forked child's first looks at a lock need is in C.
#[test]
fn a_forked_child_goes_on() {
    let (mutex, spin, held) = (RawMutex::INIT, RawSpinLock::INIT, RawSpinLock::INIT);
    let rw = RawRwLock::INIT;
    let read_and_write = || {
        rw.lock_shared();
        // SAFETY: held so by this thread.
        unsafe { rw.unlock_shared() };
        rw.lock_exclusive();
    };
    // SAFETY: this thread holds it alone.
    contended(|_| read_and_write(), |_| unsafe { rw.unlock_exclusive() });
    // Waiters, so that forks are noticed from here on.
    contended(
        |_| spin.lock(),
        // SAFETY: this thread holds it.
        |_| unsafe { spin.unlock() },
    );
    held.lock();
    // SAFETY: the child only locks, unlocks and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let fine = mutex.try_lock() && spin.try_lock() && !held.try_lock();
        let fine = fine && rw.try_lock_exclusive() && !rw.try_lock_shared();
        // SAFETY: held by the thread that forked.
        unsafe {
            spin.unlock();
            held.unlock();
            mutex.unlock();
        }
        let fine = fine && held.try_lock() && spin.try_lock() && !spin.try_lock();
        // SAFETY: ends the child, with none of the parent's clean-up.
        unsafe { libc::_exit(if fine { 0 } else { 1 }) };
    }
    assert!(child > 0, "fork failed");
    let mut status = 0;
    // SAFETY: our child.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    // SAFETY: held by this thread.
    unsafe { held.unlock() };
}

/// Runs the test `name` of this file in a process of its own that checks mutexes.
fn in_debug_mode(name: &str, variable: &str) -> Output {
    let mut command = Command::new(env::current_exe().expect("a test runs"));
    command.env("LOCKWORK_DEBUG", "1").env(variable, "1");
    command.args(["--exact", name]).output().expect("as above")
}

/// C's checks know which mutexes an inlined fast path has locked.
#[test]
fn debug_mode_lets_rust_lock_what_c_unlocks() {
    let output = in_debug_mode("mutex", "LOCKWORK_UNUSED");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Without inlined fast paths, the checks are for Rust code too.
#[cfg(feature = "out-of-line")]
#[test]
fn debug_mode_finds_a_relock() {
    const CHILD: &str = "LOCKWORK_TEST_RELOCK";
    if env::var_os(CHILD).is_some() {
        let mutex = RawMutex::INIT;
        mutex.lock();
        mutex.lock();
    }
    let output = in_debug_mode("debug_mode_finds_a_relock", CHILD);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("locked again by its holder"), "{said}");
    assert!(!output.status.success());
}
