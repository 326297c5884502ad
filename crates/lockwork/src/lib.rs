// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Scalable locks as Rust types, for Linux with glibc: the algorithms of the Linux
//! kernel's locks, written anew.
//!
//! | type | bytes beside the data | waiters |
//! |---|---|---|
//! | [`Mutex`] | 24 | spin while the holder runs, then sleep; no sleeper starves but for those of higher real-time priority |
//! | [`RwLock`] | 24 | spin while a writer runs, then sleep; readers that sleep are let in together |
//! | [`Condvar`] | 16 | a waiter that is alone polls for some microseconds, others sleep; for a [`Mutex`] |
//! | [`SpinLock`] | 4 | spin, in an order that depends on the machine; by default they sleep while threads outnumber CPUs |
//! | [`SpinRwLock`] | 8 | spin in a FIFO queue; readers that are next to each other hold it together |
//!
//! The locks are [`lock_api`] types, used as those of `std` are, but for poisoning:
//!
//! ```
//! use lockwork::Mutex;
//!
//! static TOTAL: Mutex<u64> = Mutex::new(0);
//!
//! std::thread::scope(|scope| {
//!     for n in 1..=4 {
//!         scope.spawn(move || *TOTAL.lock() += n);
//!     }
//! });
//! assert_eq!(*TOTAL.lock(), 10);
//! ```
//!
//! Use [`Mutex`] and [`RwLock`] unless you have measured something better. A spinning lock wins
//! when sections are short and threads do not outnumber CPUs. When they do, waiters of a
//! [`SpinRwLock`] burn the CPU that the holder needs.
//!
//! # What is promised, and what not
//!
//! - **No poisoning.** A thread that panics while it holds a lock releases it, and
//!   the data stays reachable, as in `parking_lot`. Poisoning makes each `lock()`
//!   fallible for a state that most programs answer with a second panic; one that
//!   must know can keep a flag beside its data.
//! - **`Send` and `Sync`** as for `std`: a lock is `Sync` if its data is `Send`
//!   (an [`RwLock`]'s also `Sync`). Guards stay on their thread.
//!
//!   ```compile_fail
//!   fn moves<T: Send>(_: T) {}
//!   moves(lockwork::Mutex::new(0).lock());
//!   ```
//! - **Not recursive.** A thread that locks again what it holds waits for itself
//!   for ever. A second read lock of an [`RwLock`] is taken by
//!   [`read_recursive`](lock_api::RwLock::read_recursive); a [`SpinRwLock`] has none.
//! - **One process.** A lock in shared memory does not work. A forked child may go
//!   on with locks that its thread holds or that are free, but not with a
//!   [`SpinRwLock`] that other threads waited for.
//! - **No priority inheritance.**
//! - A signal handler must not wait for a lock that its own thread may hold. It may
//!   try it.
//!
//! # The same locks in C
//!
//! A raw type is the C object of `<lockwork/lockwork.h>` and may be used from both
//! languages; [`RawMutex::as_ptr`] and its like give its address. The functions of
//! that header are in the program already, with the crate `lockwork-sys`: do not
//! link `liblockwork` as well.
//!
//! The environment variable `LOCKWORK_DEBUG=1` checks the mutex calls of C code, and
//! reports deadlocks. It checks those of Rust code only with the feature `out-of-line`.
#![no_std]
#[cfg(feature = "std")]
extern crate std;

mod condvar;
mod events;
mod fast;
mod knobs;
mod mutex;
pub mod profile;
mod rwlock;
mod spin_rwlock;
mod spinlock;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use events::{events, reset_events, Event};
pub use knobs::{
    cluster_count, numa_divided, set_clusters, set_knob, set_queue, set_spin_mode, ClustersError,
    KnobError, Queue, QueueError, SpinMode,
};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, RawMutex};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RawRwLock, RwLock, RwLockReadGuard,
    RwLockWriteGuard,
};
pub use spin_rwlock::{
    MappedSpinRwLockReadGuard, MappedSpinRwLockWriteGuard, RawSpinRwLock, SpinRwLock,
    SpinRwLockReadGuard, SpinRwLockWriteGuard,
};
pub use spinlock::{MappedSpinLockGuard, RawSpinLock, SpinLock, SpinLockGuard};

pub use lock_api;
