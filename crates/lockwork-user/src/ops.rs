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

/// One entry of the C table, `struct lk_ops`. Opaque: see [`crate::LockKind`].
#[repr(C)]
#[derive(Debug)]
pub struct RawOps {
    pub(crate) name: *const c_char,
    pub(crate) summary: *const c_char,
    pub(crate) size: u32,
    pub(crate) align: u32,
    pub(crate) flags: u32,
    pub(crate) init: Act,
    pub(crate) lock: Act,
    pub(crate) unlock: Act,
    pub(crate) trylock: Option<Ask>,
    pub(crate) timedlock: Option<unsafe extern "C" fn(*mut c_void, u64) -> bool>,
    pub(crate) attempt: Option<Ask>,
    pub(crate) read_lock: Option<Act>,
    pub(crate) read_unlock: Option<Act>,
    pub(crate) read_trylock: Option<Ask>,
    pub(crate) last_waiter: Option<unsafe extern "C" fn(*const c_void) -> u64>,
}

// SAFETY: a table is constant data and functions that any thread may call.
unsafe impl Sync for RawOps {}

extern "C" {
    /// Ended by a null pointer.
    pub(crate) static lk_catalogue: [*const RawOps; 0];
}
