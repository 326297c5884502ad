// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the types are, apart from waiting: sizes, `Send` and `Sync`, tries, states.

use lockwork::{
    Mutex, RawMutex, RawRwLock, RawSpinLock, RawSpinRwLock, RwLock, RwLockWriteGuard, SpinLock,
    SpinRwLock,
};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

static MUTEX: Mutex<[u8; 8]> = Mutex::new([0; 8]);
static SPIN: SpinLock<i32> = SpinLock::new(-1);
static RW: RwLock<&str> = RwLock::new("read");
static SPIN_RW: SpinRwLock<&str> = SpinRwLock::new("spun");

const fn send_and_sync<T: Send + Sync>() {}
const _: () = send_and_sync::<Mutex<std::cell::Cell<u8>>>();
const _: () = send_and_sync::<SpinLock<std::cell::Cell<u8>>>();
const _: () = send_and_sync::<RwLock<String>>();
const _: () = send_and_sync::<SpinRwLock<String>>();

#[test]
fn sizes_are_those_of_c() {
    assert_eq!((size_of::<RawMutex>(), align_of::<RawMutex>()), (24, 8));
    assert_eq!(
        (size_of::<RawSpinLock>(), align_of::<RawSpinLock>()),
        (4, 4)
    );
    assert_eq!((size_of::<RawRwLock>(), align_of::<RawRwLock>()), (24, 8));
    assert_eq!(
        (size_of::<RawSpinRwLock>(), align_of::<RawSpinRwLock>()),
        (8, 4)
    );
    assert_eq!(size_of::<SpinLock<u32>>(), 8);
}

#[test]
fn static_items_and_arcs() {
    let shared = Arc::new(Mutex::new(0));
    thread::scope(|scope| {
        for n in 0..4 {
            let shared = Arc::clone(&shared);
            scope.spawn(move || {
                *shared.lock() += n;
                MUTEX.lock()[n] = 1;
                *SPIN.lock() += 1;
                assert_eq!((*RW.read(), *SPIN_RW.read()), ("read", "spun"));
            });
        }
    });
    assert_eq!(*shared.lock(), 6);
    assert_eq!(*MUTEX.lock(), [1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(*SPIN.lock(), 3);
    *RW.write() = "written";
    assert_eq!(*RW.read(), "written");
}

#[test]
fn tries_say_what_is_held() {
    let (mutex, spin) = (Mutex::new(()), SpinLock::new(()));
    {
        let _held = (mutex.lock(), spin.lock());
        assert!(mutex.try_lock().is_none() && mutex.is_locked());
        assert!(spin.try_lock().is_none() && spin.is_locked());
    }
    assert!(mutex.try_lock().is_some() && !mutex.is_locked());
    assert!(spin.try_lock().is_some() && !spin.is_locked());
    rw_tries_say_what_is_held(&RwLock::new(()));
    rw_tries_say_what_is_held(&SpinRwLock::new(()));
}

fn rw_tries_say_what_is_held<R: lockwork::lock_api::RawRwLock>(
    rw: &lockwork::lock_api::RwLock<R, ()>,
) {
    {
        let _held = rw.write();
        assert!(rw.try_read().is_none() && rw.try_write().is_none());
        assert!(rw.is_locked_exclusive());
    }
    {
        let _readers = (rw.read(), rw.try_read().expect("readers share"));
        assert!(rw.try_write().is_none());
        assert!(rw.is_locked() && !rw.is_locked_exclusive());
    }
    assert!(rw.try_write().is_some());
}

#[test]
fn a_deadline_ends_the_wait_and_not_early() {
    const LIMIT: Duration = Duration::from_millis(20);
    let mutex = Mutex::new(());
    let held = mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            assert!(mutex.try_lock_for(LIMIT).is_none());
            assert!(start.elapsed() >= LIMIT);
            assert!(mutex.try_lock_until(start + 2 * LIMIT).is_none());
            assert!(start.elapsed() >= 2 * LIMIT);
            assert!(mutex.try_lock_until(start).is_none());
            assert!(mutex.try_lock_for(Duration::ZERO).is_none());
        });
    });
    drop(held);
    assert!(mutex.try_lock_for(Duration::ZERO).is_some());
    assert!(mutex.try_lock_until(Instant::now() - LIMIT).is_some());
}

#[test]
fn a_read_write_locks_deadline_ends_the_wait_and_not_early() {
    const LIMIT: Duration = Duration::from_millis(20);
    let rw = RwLock::new(());
    let held = rw.write();
    thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            assert!(rw.try_read_for(LIMIT).is_none());
            assert!(start.elapsed() >= LIMIT);
            assert!(rw.try_write_until(start + 2 * LIMIT).is_none());
            assert!(start.elapsed() >= 2 * LIMIT);
            assert!(rw.try_read_until(start).is_none());
            assert!(rw.try_write_for(Duration::ZERO).is_none());
        });
    });
    drop(held);
    assert!(rw.try_write_for(Duration::ZERO).is_some());
    assert!(rw.try_read_until(Instant::now() - LIMIT).is_some());
}

#[test]
fn a_writer_that_downgrades_lets_readers_in_and_no_writer() {
    let rw = RwLock::new(1);
    let mut writer = rw.write();
    thread::scope(|scope| {
        let reader = scope.spawn(|| *rw.read());
        let other = scope.spawn(|| {
            *rw.write() += 10;
        });
        *writer += 1;
        let held = RwLockWriteGuard::downgrade(writer);
        // The other writer waits: a second read lock passes it.
        assert_eq!(*rw.read_recursive(), 2);
        assert!(rw.try_read_recursive().is_some());
        assert_eq!(*held, 2);
        drop(held);
        let seen = reader.join().expect("it reads");
        assert!(seen == 2 || seen == 12, "{seen}");
        other.join().expect("it writes");
    });
    assert_eq!(rw.into_inner(), 12);
}

#[test]
fn a_deadline_far_away_waits_for_the_unlock() {
    let mutex = Mutex::new(0);
    let mut held = mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = mutex.try_lock_for(Duration::MAX).expect("unlocked in time");
            assert_eq!(*guard, 7);
        });
        thread::sleep(Duration::from_millis(20));
        *held = 7;
        drop(held);
    });
}

/// The catalogue's crate in the same program has the same C code and its state.
#[test]
fn there_is_one_set_of_knobs() {
    let value = || {
        let knobs = lockwork_catalogue::knobs();
        let knob = knobs.iter().find(|knob| knob.name() == "handover_spins");
        knob.expect("a knob of the mutex").get()
    };
    let before = value();
    lockwork::set_knob(c"handover_spins", c"33").expect("in its range");
    assert_eq!(value(), 33);
    lockwork_catalogue::set_knob("handover_spins", &before.to_string()).expect("as it was");
    assert_eq!(
        lockwork::set_knob(c"no_such_knob", c"1"),
        Err(lockwork::KnobError::Unknown)
    );
}

/// A guard that is forgotten is counted for ever, which is safe code. The count must not overflow.
#[test]
fn readers_are_never_too_many() {
    let panics = |call: &dyn Fn()| catch_unwind(AssertUnwindSafe(call)).is_err();
    let spin = SpinRwLock::new(());
    assert!(panics(&|| loop {
        std::mem::forget(spin.read());
    }));
    assert!(spin.try_read().is_none());
    assert!(spin.try_write().is_none() && spin.is_locked());

    let sleeping = RwLock::new(());
    std::mem::forget(sleeping.read());
    // SAFETY: the lock's first word counts readers from bit 4 on. To count so far takes long.
    unsafe { &*sleeping.raw().as_ptr().cast::<AtomicU32>() }.store((1 << 31) - 16, Relaxed);
    std::mem::forget(sleeping.read());
    assert!(panics(&|| std::mem::forget(sleeping.read())));
    assert!(panics(&|| std::mem::forget(sleeping.read_recursive())));
    assert!(panics(&|| std::mem::forget(
        sleeping.try_read_for(Duration::ZERO)
    )));
    assert!(sleeping.try_write().is_none() && sleeping.is_locked());
}
