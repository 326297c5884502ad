// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The C functions, and the variables that the inline fast paths read.
use crate::types::{lw_cond_t, lw_mutex_t, lw_rwlock_t, lw_spin_rwlock_t, lw_spinlock_t};
use core::ffi::{c_char, c_int, c_uint};
use core::sync::atomic::{AtomicIsize, AtomicU32};

// include/lockwork/lockwork.h
extern "C" {
    /// Waits until the caller holds `m`.
    pub fn lw_mutex_lock(m: *mut lw_mutex_t);
    /// True: the caller holds `m`.
    pub fn lw_mutex_trylock(m: *mut lw_mutex_t) -> bool;
    /// Gives `m` up, which the caller holds.
    pub fn lw_mutex_unlock(m: *mut lw_mutex_t);
    /// Sets the queue of all mutexes of the process, a `QUEUE_…`: 0, `EBUSY`
    /// or `EINVAL`.
    pub fn lw_set_queue(queue: c_uint) -> c_int;

    /// Gives `m` up, waits for a signal or for no reason, and takes `m` again.
    pub fn lw_cond_wait(c: *mut lw_cond_t, m: *mut lw_mutex_t);
    /// Wakes one waiter.
    pub fn lw_cond_signal(c: *mut lw_cond_t);
    /// Wakes all waiters.
    pub fn lw_cond_broadcast(c: *mut lw_cond_t);

    /// Waits until the caller holds `s`.
    pub fn lw_spin_lock(s: *mut lw_spinlock_t);
    /// True: the caller holds `s`.
    pub fn lw_spin_trylock(s: *mut lw_spinlock_t) -> bool;
    /// Gives `s` up, which the caller holds.
    pub fn lw_spin_unlock(s: *mut lw_spinlock_t);
    /// Sets the mode of all spinlocks of the process: a `SPIN_MODE_…`.
    pub fn lw_spin_set_mode(mode: c_uint) -> c_int;

    /// Waits until the caller holds `l` shared.
    pub fn lw_read_lock(l: *mut lw_rwlock_t);
    /// True: the caller holds `l` shared.
    pub fn lw_read_trylock(l: *mut lw_rwlock_t) -> bool;
    /// `lw_read_lock` that passes all waiters: the caller may hold `l` shared already.
    pub fn lw_read_lock_nested(l: *mut lw_rwlock_t);
    /// `lw_read_trylock` that passes all waiters.
    pub fn lw_read_trylock_nested(l: *mut lw_rwlock_t) -> bool;
    /// Gives `l` up, which the caller holds shared.
    pub fn lw_read_unlock(l: *mut lw_rwlock_t);
    /// Waits until the caller holds `l` alone.
    pub fn lw_write_lock(l: *mut lw_rwlock_t);
    /// True: the caller holds `l` alone.
    pub fn lw_write_trylock(l: *mut lw_rwlock_t) -> bool;
    /// Gives `l` up, which the caller holds alone.
    pub fn lw_write_unlock(l: *mut lw_rwlock_t);
    /// The caller holds `l` alone, and from then on shared.
    pub fn lw_write_downgrade(l: *mut lw_rwlock_t);

    /// Waits until the caller holds `l` shared.
    pub fn lw_spin_read_lock(l: *mut lw_spin_rwlock_t);
    /// True: the caller holds `l` shared.
    pub fn lw_spin_read_trylock(l: *mut lw_spin_rwlock_t) -> bool;
    /// Gives `l` up, which the caller holds shared.
    pub fn lw_spin_read_unlock(l: *mut lw_spin_rwlock_t);
    /// Waits until the caller holds `l` alone.
    pub fn lw_spin_write_lock(l: *mut lw_spin_rwlock_t);
    /// True: the caller holds `l` alone.
    pub fn lw_spin_write_trylock(l: *mut lw_spin_rwlock_t) -> bool;
    /// Gives `l` up, which the caller holds alone.
    pub fn lw_spin_write_unlock(l: *mut lw_spin_rwlock_t);

    /// Sets a knob of the process: 0, `ENOENT` or `ERANGE`.
    pub fn lw_set_knob(name: *const c_char, value: *const c_char) -> c_int;

    /// Sets which CPUs are a cluster: null, or a constant text, what is wrong.
    pub fn lw_set_clusters(map: *const c_char) -> *const c_char;
    /// How many clusters there are, at least 1.
    pub fn lw_cluster_count() -> u32;
    /// How many locks are divided by clusters just now.
    pub fn lw_numa_divided() -> u32;

    /// The name of event `n`, a constant text; null past the last.
    pub fn lw_event_name(n: u32) -> *const c_char;
    /// What it is, likewise.
    pub fn lw_event_help(n: u32) -> *const c_char;
    /// How often event `name` was counted, to `sum`: 0 or `ENOENT`.
    pub fn lw_event_sum(name: *const c_char, sum: *mut u64) -> c_int;
    /// Counts all events from 0 again.
    pub fn lw_events_reset();
}

// lib/lib.h
extern "C" {
    /// The rest of `lw_mutex_lock`, whose compare-and-exchange failed.
    pub fn lwlib_mutex_lock_slow(m: *mut lw_mutex_t);
    /// Waits at most `ns` nanoseconds. True: the caller holds `m`.
    pub fn lwlib_mutex_lock_for(m: *mut lw_mutex_t, ns: u64) -> bool;
    /// `lw_cond_wait` for at most `ns` nanoseconds. False: they are over.
    pub fn lwlib_cond_wait_for(c: *mut lw_cond_t, m: *mut lw_mutex_t, ns: u64) -> bool;
    /// The rest of `lw_read_lock`, which did not get `l` at once.
    pub fn lwlib_read_lock_slow(l: *mut lw_rwlock_t);
    /// The rest of `lw_write_lock`, whose compare-and-exchange failed.
    pub fn lwlib_write_lock_slow(l: *mut lw_rwlock_t);
    /// Waits at most `ns` nanoseconds. True: the caller holds `l` shared.
    pub fn lwlib_read_lock_for(l: *mut lw_rwlock_t, ns: u64) -> bool;
    /// Waits at most `ns` nanoseconds. True: the caller holds `l` alone.
    pub fn lwlib_write_lock_for(l: *mut lw_rwlock_t, ns: u64) -> bool;
    /// The rest of `lw_spin_lock`, whose compare-and-exchange saw `seen`.
    pub fn lwlib_spin_lock_slow(s: *mut lw_spinlock_t, seen: u32);
    /// The mode of all spinlocks of the process: a `SPIN_MODE_…`.
    pub static lwlib_spin_mode: AtomicU32;
}

// locks/mutex.h, locks/qrwlock.h, locks/rwsem.h, platform/user/
extern "C" {
    /// All of `lw_mutex_unlock` where a hand-off is due.
    pub fn lk_mutex_unlock_slow(m: *mut lw_mutex_t);
    /// The rest of `lw_mutex_unlock` where a sleeper may want to be told.
    pub fn lk_mutex_wake(m: *mut lw_mutex_t);
    /// The rest of `lw_spin_unlock` where the head of the queue is asleep.
    pub fn lk_qspin_kick(s: *mut lw_spinlock_t);

    /// Before a try that failed is made again: forgets waiters that are not in this
    /// process, after a fork.
    pub fn lk_rwsem_check_epoch(l: *mut lw_rwlock_t);
    /// The rest of both unlocks of `l`, where a sleeper is to be looked after: `what`
    /// is `RWLOCK_WRITER` or `RWLOCK_READER`.
    pub fn lk_rwsem_unlock_slow(l: *mut lw_rwlock_t, what: u32);

    /// The rest of `lw_spin_read_lock`, once the caller is counted as a reader.
    pub fn lk_qrw_read_lock_slow(l: *mut lw_spin_rwlock_t);
    /// The rest of `lw_spin_write_lock`.
    pub fn lk_qrw_lock_slow(l: *mut lw_spin_rwlock_t);

    /// 1: the light half of the asymmetric fence is the compiler's only.
    pub static lkp_membarrier: AtomicU32;
    /// What a free spinlock of this process reads.
    pub static lkp_wait_tag: AtomicU32;
    /// Waiters of spinlocks that may be asleep; 0: unlock need not look.
    pub static lk_qspin_halting: AtomicU32;
    /// Where the caller's CPU number is, from the thread pointer.
    pub static lkp_rseq_cpu: AtomicIsize;
    /// The caller's CPU where that word is negative.
    pub fn lkp_vcpu_slow() -> u32;
}
