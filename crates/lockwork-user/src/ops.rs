// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The mirror of `struct lk_ops`, as `locks/catalogue.h` declares it.
use std::ffi::{c_char, c_void};

bitflags::bitflags! {
    /// What a lock promises (`LK_*` in C).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Promises: u32 {
        /// Queued waiters acquire in arrival order.
        const FIFO = 1 << 0;
        /// The `read_*` operations are shared, lock and unlock exclusive.
        const RW = 1 << 1;
        /// `attempt` may give up in mid-queue.
        const CANCEL = 1 << 2;
        /// Waiters leave the CPU.
        const SLEEPS = 1 << 3;
        /// The holder keeps its queue node, and `last_waiter` may name it.
        /// Locks nest four deep and are released in reverse order; a thread
        /// without a slot cannot take one.
        const KEEPS_NODE = 1 << 4;
        /// A forked child can go on with it though other threads waited.
        const FORKS = 1 << 5;
        /// Promises that a newer table makes are kept, not dropped.
        const _ = !0;
    }
}

pub(crate) type Act = unsafe extern "C" fn(*mut c_void);
pub(crate) type Ask = unsafe extern "C" fn(*mut c_void) -> bool;

/// One entry of the C table, `struct lk_ops`, which `locks/catalogue.h`
/// explains. Used through [`crate::LockKind`]; its fields are for who makes a
/// table in Rust. An operation is `None` where the lock has none such.
#[repr(C)]
#[derive(Debug)]
pub struct RawOps {
    /// The name that users type, a constant C string.
    pub name: *const c_char,
    /// One line for lists, a constant C string.
    pub summary: *const c_char,
    /// Bytes of one lock.
    pub size: u32,
    /// Its alignment in bytes, a power of two.
    pub align: u32,
    /// [`Promises`].
    pub flags: u32,
    /// Makes a free lock of zeroed memory.
    pub init: Act,
    /// Waits until the lock is held alone.
    pub lock: Act,
    /// Gives up what was held alone.
    pub unlock: Act,
    /// Takes the lock if it is free.
    pub trylock: Option<Ask>,
    /// Waits so many nanoseconds at most; false: not held.
    pub timedlock: Option<unsafe extern "C" fn(*mut c_void, u64) -> bool>,
    /// One try that may be cancelled while queued; false: not held.
    pub attempt: Option<Ask>,
    /// Waits until the lock is held with other readers.
    pub read_lock: Option<Act>,
    /// Gives up what was held with other readers.
    pub read_unlock: Option<Act>,
    /// Takes the lock with other readers, if nobody holds it alone.
    pub read_trylock: Option<Ask>,
    /// As `timedlock`, with other readers.
    pub read_timedlock: Option<unsafe extern "C" fn(*mut c_void, u64) -> bool>,
    /// Makes a lock that is held alone one that is held with other readers.
    pub downgrade: Option<Act>,
    /// Names the waiter that queued last, 0 when nobody is queued.
    pub last_waiter: Option<unsafe extern "C" fn(*const c_void) -> u64>,
}

// SAFETY: a table is constant data and functions that any thread may call.
unsafe impl Sync for RawOps {}

extern "C" {
    /// Ended by a null pointer.
    pub(crate) static lk_catalogue: [*const RawOps; 0];
}
