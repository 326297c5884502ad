// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! parking_lot's raw locks, which unlock without a guard.
use std::ffi::{c_char, c_void};
use std::time::Duration;

use lockwork_catalogue::{Promises, RawOps};
use parking_lot::lock_api::{RawMutexTimed, RawRwLock as _, RawRwLockTimed as _};
use parking_lot::{RawFairMutex, RawMutex, RawRwLock};

use crate::entry::Entry;
use crate::peer::Family;

static MUTEX_OPS: RawOps = mutex_ops::<RawMutex>(
    c"parking_lot.mutex".as_ptr(),
    c"parking_lot's Mutex: spins, then sleeps; hands over every 0.5 ms".as_ptr(),
);

static FAIR_MUTEX_OPS: RawOps = mutex_ops::<RawFairMutex>(
    c"parking_lot.fair_mutex".as_ptr(),
    c"parking_lot's FairMutex: always hands over to a waiter".as_ptr(),
);

static RWLOCK_OPS: RawOps = RawOps {
    name: c"parking_lot.rwlock".as_ptr(),
    summary: c"parking_lot's RwLock: task-fair; spins, then sleeps".as_ptr(),
    size: size_of::<RawRwLock>() as u32,
    align: align_of::<RawRwLock>() as u32,
    flags: Promises::SLEEPS.union(Promises::RW).bits(),
    init: rwlock_init,
    lock: rwlock_lock,
    unlock: rwlock_unlock,
    trylock: Some(rwlock_trylock),
    timedlock: Some(rwlock_timedlock),
    attempt: None,
    read_lock: Some(rwlock_read_lock),
    read_unlock: Some(rwlock_read_unlock),
    read_trylock: Some(rwlock_read_trylock),
    read_timedlock: None,
    downgrade: None,
    last_waiter: None,
};

/// All three.
pub(crate) fn entries() -> Vec<Entry> {
    let rwlock = Entry::new(
        &RWLOCK_OPS,
        Family::Rw,
        rwlock_pairs,
        Some(rwlock_read_pairs),
    );
    vec![
        Entry::new(&MUTEX_OPS, Family::Mutex, mutex_pairs::<RawMutex>, None),
        Entry::new(
            &FAIR_MUTEX_OPS,
            Family::Mutex,
            mutex_pairs::<RawFairMutex>,
            None,
        ),
        rwlock,
    ]
}

/// A raw mutex that can be waited for so long.
trait Timed: RawMutexTimed<Duration = Duration> {}
impl<M: RawMutexTimed<Duration = Duration>> Timed for M {}

const fn mutex_ops<M: Timed>(name: *const c_char, summary: *const c_char) -> RawOps {
    RawOps {
        name,
        summary,
        size: size_of::<M>() as u32,
        align: align_of::<M>() as u32,
        flags: Promises::SLEEPS.bits(),
        init: mutex_init::<M>,
        lock: mutex_lock::<M>,
        unlock: mutex_unlock::<M>,
        trylock: Some(mutex_trylock::<M>),
        timedlock: Some(mutex_timedlock::<M>),
        attempt: None,
        read_lock: None,
        read_unlock: None,
        read_trylock: None,
        read_timedlock: None,
        downgrade: None,
        last_waiter: None,
    }
}

/// # Safety
/// `lock` points to an `L` that is not moved or freed meanwhile.
unsafe fn of<'a, L>(lock: *mut c_void) -> &'a L {
    // SAFETY: the caller's promise.
    unsafe { &*lock.cast() }
}

// SAFETY of all below: the table's contract, which `lockwork_catalogue::Lock` states.

unsafe extern "C" fn mutex_init<M: Timed>(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { lock.cast::<M>().write(M::INIT) }
}

unsafe extern "C" fn mutex_lock<M: Timed>(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { of::<M>(lock) }.lock();
}

unsafe extern "C" fn mutex_unlock<M: Timed>(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { of::<M>(lock).unlock() }
}

unsafe extern "C" fn mutex_trylock<M: Timed>(lock: *mut c_void) -> bool {
    // SAFETY: as above.
    unsafe { of::<M>(lock) }.try_lock()
}

unsafe extern "C" fn mutex_timedlock<M: Timed>(lock: *mut c_void, ns: u64) -> bool {
    // SAFETY: as above.
    unsafe { of::<M>(lock) }.try_lock_for(Duration::from_nanos(ns))
}

unsafe extern "C" fn mutex_pairs<M: Timed>(lock: *mut c_void, n: u64) {
    // SAFETY: as above.
    let mutex = unsafe { of::<M>(lock) };
    for _ in 0..n {
        mutex.lock();
        // SAFETY: just locked.
        unsafe { mutex.unlock() };
    }
}

unsafe extern "C" fn rwlock_init(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { lock.cast::<RawRwLock>().write(RawRwLock::INIT) }
}

unsafe extern "C" fn rwlock_lock(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { of::<RawRwLock>(lock) }.lock_exclusive();
}

unsafe extern "C" fn rwlock_unlock(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { of::<RawRwLock>(lock).unlock_exclusive() }
}

unsafe extern "C" fn rwlock_trylock(lock: *mut c_void) -> bool {
    // SAFETY: as above.
    unsafe { of::<RawRwLock>(lock) }.try_lock_exclusive()
}

unsafe extern "C" fn rwlock_timedlock(lock: *mut c_void, ns: u64) -> bool {
    // SAFETY: as above.
    unsafe { of::<RawRwLock>(lock) }.try_lock_exclusive_for(Duration::from_nanos(ns))
}

unsafe extern "C" fn rwlock_read_lock(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { of::<RawRwLock>(lock) }.lock_shared();
}

unsafe extern "C" fn rwlock_read_unlock(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { of::<RawRwLock>(lock).unlock_shared() }
}

unsafe extern "C" fn rwlock_read_trylock(lock: *mut c_void) -> bool {
    // SAFETY: as above.
    unsafe { of::<RawRwLock>(lock) }.try_lock_shared()
}

unsafe extern "C" fn rwlock_pairs(lock: *mut c_void, n: u64) {
    // SAFETY: as above.
    let rwlock = unsafe { of::<RawRwLock>(lock) };
    for _ in 0..n {
        rwlock.lock_exclusive();
        // SAFETY: just locked.
        unsafe { rwlock.unlock_exclusive() };
    }
}

unsafe extern "C" fn rwlock_read_pairs(lock: *mut c_void, n: u64) {
    // SAFETY: as above.
    let rwlock = unsafe { of::<RawRwLock>(lock) };
    for _ in 0..n {
        rwlock.lock_shared();
        // SAFETY: just locked.
        unsafe { rwlock.unlock_shared() };
    }
}
