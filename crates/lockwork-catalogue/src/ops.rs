// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a lock promises, and the table of all locks.
use crate::mirrors::{RawOps, LK_CANCEL, LK_CLUSTERS, LK_FIFO, LK_FORKS};
use crate::mirrors::{LK_KEEPS_NODE, LK_RW, LK_SLEEPS};

bitflags::bitflags! {
    /// What a lock promises (`LK_*` in C).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Promises: u32 {
        /// Queued waiters acquire in arrival order.
        const FIFO = LK_FIFO;
        /// The `read_*` operations are shared, lock and unlock exclusive.
        const RW = LK_RW;
        /// `attempt` may give up in mid-queue.
        const CANCEL = LK_CANCEL;
        /// Waiters leave the CPU.
        const SLEEPS = LK_SLEEPS;
        /// The holder keeps its queue node, and `last_waiter` may name it.
        /// Locks nest four deep and are released in reverse order; a thread
        /// without a slot cannot take one.
        const KEEPS_NODE = LK_KEEPS_NODE;
        /// A forked child can go on with it though other threads waited.
        const FORKS = LK_FORKS;
        /// No promise: it serves waiters by clusters of CPUs.
        const CLUSTERS = LK_CLUSTERS;
        /// Promises that a newer table makes are kept, not dropped.
        const _ = !0;
    }
}

extern "C" {
    /// Ended by a null pointer.
    pub(crate) static lk_catalogue: [*const RawOps; 0];
}
