// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every peer that is present does what its table says.
//!
//! FIFO locks that spin take a time slice for each hand-over where CPUs are
//! short, so spinners get two threads and few rounds, and the tests take turns.
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use lockwork_catalogue::{Lock, LockKind, Promises, RawOps};
use lockwork_peers::{peers, Family, Peer};

/// One test at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many threads, and how many rounds for each.
fn load(kind: LockKind) -> (u64, u64) {
    if kind.flags().contains(Promises::SLEEPS) {
        (4, 1000)
    } else {
        (2, 150)
    }
}

/// The increments, of `threads * rounds`, that were not lost. Their two halves
/// are apart at times, so that on one CPU too the other thread may come between.
fn count(lock: &Lock, threads: u64, rounds: u64) -> u64 {
    let total = AtomicU64::new(0);
    let start = Barrier::new(threads as usize);
    let work = || {
        start.wait();
        for round in 0..rounds {
            // SAFETY: this thread holds nothing.
            unsafe { lock.lock() };
            let seen = total.load(Relaxed);
            if round % 4 == 0 {
                thread::yield_now();
            }
            total.store(seen + 1, Relaxed);
            // SAFETY: locked above.
            unsafe { lock.unlock() };
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    total.into_inner()
}

#[test]
fn every_peer_excludes() {
    let _turn = turn();
    for peer in &peers().present {
        let (threads, rounds) = load(peer.kind);
        let total = count(&peer.kind.create(), threads, rounds);
        assert_eq!(total, threads * rounds, "{}", peer.kind.name());
    }
}

/// A lock that is none: the count must tell.
static NO_LOCK: RawOps = RawOps {
    name: c"no_lock".as_ptr(),
    summary: c"does nothing".as_ptr(),
    size: 1,
    align: 1,
    flags: 0,
    init: nothing,
    lock: nothing,
    unlock: nothing,
    trylock: None,
    timedlock: None,
    attempt: None,
    read_lock: Some(nothing),
    read_unlock: Some(nothing),
    read_trylock: None,
    read_timedlock: None,
    downgrade: None,
    last_waiter: None,
};

unsafe extern "C" fn nothing(_: *mut c_void) {}

#[test]
fn the_count_finds_a_lock_that_does_not_exclude() {
    let _turn = turn();
    // SAFETY: the table is constant.
    let lock = unsafe { LockKind::from_raw(&raw const NO_LOCK) }.create();
    while count(&lock, 2, 150) == 300 {}
    while torn_reads(&lock, 1, 150) == 0 {}
}

/// How often readers saw one half only of what a writer did.
fn torn_reads(lock: &Lock, readers: u64, rounds: u64) -> u64 {
    let (one, two) = (AtomicU64::new(0), AtomicU64::new(0));
    let torn = AtomicU64::new(0);
    let start = Barrier::new(readers as usize + 1);
    let write = || {
        start.wait();
        for round in 1..=rounds {
            // SAFETY: this thread holds nothing, and unlocks below.
            unsafe { lock.lock() };
            one.store(round, Relaxed);
            thread::yield_now();
            two.store(round, Relaxed);
            // SAFETY: locked above.
            unsafe { lock.unlock() };
        }
    };
    let read = || {
        start.wait();
        for _ in 0..rounds {
            // SAFETY: this thread holds nothing, and unlocks below.
            unsafe { lock.read_lock() }.expect("it has readers");
            let first = one.load(Relaxed);
            thread::yield_now();
            if two.load(Relaxed) != first {
                torn.fetch_add(1, Relaxed);
            }
            // SAFETY: locked above.
            unsafe { lock.read_unlock() }.expect("it has readers");
        }
    };
    thread::scope(|scope| {
        scope.spawn(write);
        for _ in 0..readers {
            scope.spawn(read);
        }
    });
    torn.into_inner()
}

/// The peers with readers: those of that family, and no others.
fn with_readers() -> impl Iterator<Item = &'static Peer> {
    peers().present.iter().filter(|peer| {
        let rw = peer.family == Family::Rw;
        assert_eq!(rw, peer.kind.has_read(), "{}", peer.kind.name());
        assert_eq!(rw, peer.kind.flags().contains(Promises::RW));
        rw
    })
}

#[test]
fn readers_never_see_half_a_write() {
    let _turn = turn();
    for peer in with_readers() {
        let (threads, rounds) = load(peer.kind);
        let torn = torn_reads(&peer.kind.create(), threads - 1, rounds);
        assert_eq!(torn, 0, "{}", peer.kind.name());
    }
}

/// Two readers meet inside; a lock that keeps one out hangs here.
#[test]
fn readers_share() {
    let _turn = turn();
    for peer in with_readers() {
        let (lock, inside) = (peer.kind.create(), Barrier::new(2));
        let read = || {
            // SAFETY: this thread holds nothing, and unlocks below.
            unsafe { lock.read_lock() };
            inside.wait();
            // SAFETY: locked above.
            unsafe { lock.read_unlock() };
        };
        thread::scope(|scope| {
            scope.spawn(read);
            scope.spawn(read);
        });
    }
}

/// What another thread can take of `lock` at once, or within a millisecond:
/// alone, alone in time, shared. Gives back what it took.
fn taken_elsewhere(lock: &Lock) -> [Option<bool>; 3] {
    // SAFETY: a new thread holds nothing, and unlocks what it took.
    let attempts = || unsafe {
        let alone = lock.try_lock();
        if alone == Some(true) {
            lock.unlock();
        }
        let timed = lock.timed_lock(Duration::from_millis(1));
        if timed == Some(true) {
            lock.unlock();
        }
        let shared = lock.read_try_lock();
        if shared == Some(true) {
            lock.read_unlock();
        }
        [alone, timed, shared]
    };
    thread::scope(|scope| scope.spawn(attempts).join().unwrap())
}

/// `answer` to each operation that `kind` has; the last one is `shared`.
fn expected(kind: LockKind, answer: bool, shared: bool) -> [Option<bool>; 3] {
    [
        kind.has_try().then_some(answer),
        kind.has_timed().then_some(answer),
        kind.has_read_try().then_some(shared),
    ]
}

#[test]
fn tries_fail_on_a_held_lock_and_succeed_on_a_free_one() {
    let _turn = turn();
    for peer in &peers().present {
        let (kind, lock) = (peer.kind, peer.kind.create());
        let name = kind.name();
        assert_eq!(taken_elsewhere(&lock), expected(kind, true, true), "{name}");
        // SAFETY: this thread holds nothing, and unlocks below.
        unsafe { lock.lock() };
        assert_eq!(
            taken_elsewhere(&lock),
            expected(kind, false, false),
            "{name}"
        );
        // SAFETY: locked above.
        unsafe { lock.unlock() };
        if kind.has_read() {
            // SAFETY: this thread holds nothing, and unlocks below.
            unsafe { lock.read_lock() };
            // oneTBB's tries find nothing but a lock that nobody holds.
            let shared = name != "tbb.queuing_rw_mutex";
            assert_eq!(
                taken_elsewhere(&lock),
                expected(kind, false, shared),
                "{name}"
            );
            // SAFETY: locked above.
            unsafe { lock.read_unlock() };
        }
        assert_eq!(taken_elsewhere(&lock), expected(kind, true, true), "{name}");
    }
}

/// What a peer has: its inlined loops.
fn loops(peer: &Peer) -> Vec<unsafe extern "C" fn(*mut c_void, u64)> {
    let inlined = peer.inlined.expect("every shim here has it");
    assert_eq!(inlined.read_pairs.is_some(), peer.kind.has_read());
    [Some(inlined.pairs), inlined.read_pairs]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn inlined_pairs_leave_the_lock_free() {
    let _turn = turn();
    for peer in &peers().present {
        for pairs in loops(peer) {
            let lock = peer.kind.create();
            // SAFETY: a free lock of that kind.
            unsafe { pairs(lock.as_ptr(), 1000) };
            assert_eq!(
                taken_elsewhere(&lock),
                expected(peer.kind, true, true),
                "{}",
                peer.kind.name()
            );
            // One without a try hangs here, if it is not free.
            assert_eq!(count(&lock, 1, 1), 1);
        }
    }
}

/// They lock: they come to no end while somebody holds the lock alone.
#[test]
fn inlined_pairs_wait_for_a_holder() {
    let _turn = turn();
    for peer in &peers().present {
        for pairs in loops(peer) {
            let (lock, done) = (peer.kind.create(), AtomicBool::new(false));
            // SAFETY: this thread holds nothing, and unlocks below.
            unsafe { lock.lock() };
            thread::scope(|scope| {
                scope.spawn(|| {
                    // SAFETY: a lock of that kind, which will be free.
                    unsafe { pairs(lock.as_ptr(), 1) };
                    done.store(true, Relaxed);
                });
                thread::sleep(Duration::from_millis(5));
                assert!(!done.load(Relaxed), "{}", peer.kind.name());
                // SAFETY: locked above.
                unsafe { lock.unlock() };
            });
            assert!(done.into_inner());
        }
    }
}

#[test]
fn eight_locks_of_a_kind_nest() {
    let _turn = turn();
    for peer in &peers().present {
        let locks: Vec<Lock> = (0..8).map(|_| peer.kind.create()).collect();
        for _ in 0..2 {
            // SAFETY: each is locked once, and unlocked in reverse order.
            locks.iter().for_each(|lock| unsafe { lock.lock() });
            // SAFETY: as above.
            locks.iter().rev().for_each(|lock| unsafe { lock.unlock() });
        }
        for lock in &locks {
            assert_eq!(count(lock, 1, 1), 1);
        }
    }
}
