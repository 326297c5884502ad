// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks of Rust's standard library. They unlock by a guard, which waits in
//! [`Guards`]: some thread-local stores and loads more than a program would need.
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::sync::{TryLockError, TryLockResult};

use lockwork_catalogue::{Promises, RawOps};

use crate::entry::Entry;
use crate::guards::{pop, push, Guards};
use crate::peer::Family;

thread_local! {
    static MUTEXES: Guards<MutexGuard<'static, ()>> = const { Guards::new() };
    static WRITING: Guards<RwLockWriteGuard<'static, ()>> = const { Guards::new() };
    static READING: Guards<RwLockReadGuard<'static, ()>> = const { Guards::new() };
}

const MUTEX: &str = "std.mutex";
const RWLOCK: &str = "std.rwlock";

static MUTEX_OPS: RawOps = RawOps {
    name: c"std.mutex".as_ptr(),
    summary: c"Rust's std::sync::Mutex: spins a little, then sleeps".as_ptr(),
    size: size_of::<Mutex<()>>() as u32,
    align: align_of::<Mutex<()>>() as u32,
    flags: Promises::SLEEPS.bits(),
    init: mutex_init,
    lock: mutex_lock,
    unlock: mutex_unlock,
    trylock: Some(mutex_trylock),
    timedlock: None,
    attempt: None,
    read_lock: None,
    read_unlock: None,
    read_trylock: None,
    read_timedlock: None,
    downgrade: None,
    last_waiter: None,
};

static RWLOCK_OPS: RawOps = RawOps {
    name: c"std.rwlock".as_ptr(),
    summary: c"Rust's std::sync::RwLock: spins a little, then sleeps".as_ptr(),
    size: size_of::<RwLock<()>>() as u32,
    align: align_of::<RwLock<()>>() as u32,
    flags: Promises::SLEEPS.union(Promises::RW).bits(),
    init: rwlock_init,
    lock: rwlock_lock,
    unlock: rwlock_unlock,
    trylock: Some(rwlock_trylock),
    timedlock: None,
    attempt: None,
    read_lock: Some(rwlock_read_lock),
    read_unlock: Some(rwlock_read_unlock),
    read_trylock: Some(rwlock_read_trylock),
    read_timedlock: None,
    downgrade: None,
    last_waiter: None,
};

/// Both.
pub(crate) fn entries() -> Vec<Entry> {
    vec![
        Entry::new(&MUTEX_OPS, Family::Mutex, mutex_pairs, None),
        Entry::new(
            &RWLOCK_OPS,
            Family::Rw,
            rwlock_pairs,
            Some(rwlock_read_pairs),
        ),
    ]
}

/// The guard, whether a panicking thread held the lock before or not.
fn tried<G>(result: TryLockResult<G>) -> Option<G> {
    match result {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// # Safety
/// `lock` was made by [`mutex_init`] and stays while guards of it do.
unsafe fn mutex(lock: *mut c_void) -> &'static Mutex<()> {
    // SAFETY: the caller's promise.
    unsafe { &*lock.cast() }
}

/// # Safety
/// As for [`mutex`], by [`rwlock_init`].
unsafe fn rwlock(lock: *mut c_void) -> &'static RwLock<()> {
    // SAFETY: the caller's promise.
    unsafe { &*lock.cast() }
}

// SAFETY of all below: the table's contract, which `lockwork_catalogue::Lock` states.
// A lock's memory is that of one create(), and outlives what is held of it.

unsafe extern "C" fn mutex_init(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { lock.cast::<Mutex<()>>().write(Mutex::new(())) }
}

unsafe extern "C" fn mutex_lock(lock: *mut c_void) {
    // SAFETY: as above.
    let guard = unsafe { mutex(lock) }.lock();
    let guard = guard.unwrap_or_else(PoisonError::into_inner);
    push(&MUTEXES, MUTEX, lock, guard);
}

unsafe extern "C" fn mutex_unlock(lock: *mut c_void) {
    drop(pop(&MUTEXES, MUTEX, lock));
}

unsafe extern "C" fn mutex_trylock(lock: *mut c_void) -> bool {
    // SAFETY: as above.
    let guard = tried(unsafe { mutex(lock) }.try_lock());
    guard
        .map(|guard| push(&MUTEXES, MUTEX, lock, guard))
        .is_some()
}

unsafe extern "C" fn mutex_pairs(lock: *mut c_void, n: u64) {
    // SAFETY: as above.
    let mutex = unsafe { mutex(lock) };
    for _ in 0..n {
        drop(mutex.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

unsafe extern "C" fn rwlock_init(lock: *mut c_void) {
    // SAFETY: as above.
    unsafe { lock.cast::<RwLock<()>>().write(RwLock::new(())) }
}

unsafe extern "C" fn rwlock_lock(lock: *mut c_void) {
    // SAFETY: as above.
    let guard = unsafe { rwlock(lock) }.write();
    let guard = guard.unwrap_or_else(PoisonError::into_inner);
    push(&WRITING, RWLOCK, lock, guard);
}

unsafe extern "C" fn rwlock_unlock(lock: *mut c_void) {
    drop(pop(&WRITING, RWLOCK, lock));
}

unsafe extern "C" fn rwlock_trylock(lock: *mut c_void) -> bool {
    // SAFETY: as above.
    let guard = tried(unsafe { rwlock(lock) }.try_write());
    guard
        .map(|guard| push(&WRITING, RWLOCK, lock, guard))
        .is_some()
}

unsafe extern "C" fn rwlock_read_lock(lock: *mut c_void) {
    // SAFETY: as above.
    let guard = unsafe { rwlock(lock) }.read();
    let guard = guard.unwrap_or_else(PoisonError::into_inner);
    push(&READING, RWLOCK, lock, guard);
}

unsafe extern "C" fn rwlock_read_unlock(lock: *mut c_void) {
    drop(pop(&READING, RWLOCK, lock));
}

unsafe extern "C" fn rwlock_read_trylock(lock: *mut c_void) -> bool {
    // SAFETY: as above.
    let guard = tried(unsafe { rwlock(lock) }.try_read());
    guard
        .map(|guard| push(&READING, RWLOCK, lock, guard))
        .is_some()
}

unsafe extern "C" fn rwlock_pairs(lock: *mut c_void, n: u64) {
    // SAFETY: as above.
    let rwlock = unsafe { rwlock(lock) };
    for _ in 0..n {
        drop(rwlock.write().unwrap_or_else(PoisonError::into_inner));
    }
}

unsafe extern "C" fn rwlock_read_pairs(lock: *mut c_void, n: u64) {
    // SAFETY: as above.
    let rwlock = unsafe { rwlock(lock) };
    for _ in 0..n {
        drop(rwlock.read().unwrap_or_else(PoisonError::into_inner));
    }
}
