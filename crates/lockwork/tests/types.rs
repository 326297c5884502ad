// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the types are, apart from waiting: sizes, `Send` and `Sync`, tries, states.

use lockwork::{Mutex, RawMutex, RawRwLock, RawSpinLock, RwLock, SpinLock};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

static MUTEX: Mutex<[u8; 8]> = Mutex::new([0; 8]);
static SPIN: SpinLock<i32> = SpinLock::new(-1);
static RW: RwLock<&str> = RwLock::new("read");

const fn send_and_sync<T: Send + Sync>() {}
const _: () = send_and_sync::<Mutex<std::cell::Cell<u8>>>();
const _: () = send_and_sync::<SpinLock<std::cell::Cell<u8>>>();
const _: () = send_and_sync::<RwLock<String>>();

#[test]
fn sizes_are_those_of_c() {
    assert_eq!((size_of::<RawMutex>(), align_of::<RawMutex>()), (24, 8));
    assert_eq!(
        (size_of::<RawSpinLock>(), align_of::<RawSpinLock>()),
        (4, 4)
    );
    assert_eq!((size_of::<RawRwLock>(), align_of::<RawRwLock>()), (8, 4));
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
                assert_eq!(*RW.read(), "read");
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
    let (mutex, spin, rw) = (Mutex::new(()), SpinLock::new(()), RwLock::new(()));
    {
        let _held = (mutex.lock(), spin.lock(), rw.write());
        assert!(mutex.try_lock().is_none() && mutex.is_locked());
        assert!(spin.try_lock().is_none() && spin.is_locked());
        assert!(rw.try_read().is_none() && rw.try_write().is_none());
        assert!(rw.is_locked_exclusive());
    }
    assert!(mutex.try_lock().is_some() && !mutex.is_locked());
    assert!(spin.try_lock().is_some() && !spin.is_locked());
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
        let knobs = lockwork_user::knobs();
        let knob = knobs.iter().find(|knob| knob.name() == "handover_spins");
        knob.expect("a knob of the mutex").get()
    };
    let before = value();
    lockwork::set_knob(c"handover_spins", c"33").expect("in its range");
    assert_eq!(value(), 33);
    lockwork_user::set_knob("handover_spins", &before.to_string()).expect("as it was");
    assert_eq!(
        lockwork::set_knob(c"no_such_knob", c"1"),
        Err(lockwork::KnobError::Unknown)
    );
}
