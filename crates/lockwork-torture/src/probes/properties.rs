// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The properties, by name, and which locks they are for.
use lockwork_catalogue::{LockKind, Promises};

/// The first property of the stress.
pub(crate) const STRESS: &str = "exclusion";
/// The property that the driver of knobs and clusters tests.
pub(crate) const SWITCHING: &str = "switching";

/// One property: a row of the report.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// What `--property` calls it.
    pub name: &'static str,
    /// What it claims when it passes.
    pub about: &'static str,
    /// Why the kind need not have it, or `None`: it must.
    pub(crate) absent: fn(&LockKind) -> Option<&'static str>,
}

impl Property {
    /// Whether the promises and operations of `kind` call for it.
    pub fn applies(&self, kind: &LockKind) -> bool {
        (self.absent)(kind).is_none()
    }
}

fn always(_: &LockKind) -> Option<&'static str> {
    None
}

fn unless(offered: bool, reason: &'static str) -> Option<&'static str> {
    (!offered).then_some(reason)
}

fn keeps_node(kind: &LockKind) -> Option<&'static str> {
    let keeps = kind.flags().contains(Promises::KEEPS_NODE);
    unless(!keeps, "the holder keeps its queue node, which uses a slot")
}

/// All properties, in the order of the report.
pub const PROPERTIES: &[Property] = &[
    Property {
        name: STRESS,
        about: "one holder at a time; no update is lost",
        absent: always,
    },
    Property {
        name: "readers",
        about: "readers share the lock and exclude writers",
        absent: |kind| unless(kind.has_read(), "has no readers"),
    },
    Property {
        name: "progress",
        about: "every thread makes progress",
        absent: always,
    },
    Property {
        name: "fifo",
        about: "queued waiters acquire in arrival order",
        absent: |kind| unless(kind.flags().contains(Promises::FIFO), "promises no order"),
    },
    Property {
        name: "try",
        about: "a try succeeds on a free lock and fails on a held lock",
        absent: |kind| unless(kind.has_try() || kind.has_read_try(), "cannot be tried"),
    },
    Property {
        name: "timed",
        about: "a timed wait does not end before its limit and leaves nothing behind",
        absent: |kind| unless(kind.has_timed(), "has no time limits"),
    },
    Property {
        name: "cancel",
        about: "waiters that leave the queue do not break it",
        absent: |kind| {
            unless(
                kind.flags().contains(Promises::CANCEL),
                "waiters do not leave its queue",
            )
        },
    },
    Property {
        name: "nesting",
        about: "a thread can hold two locks, and lock in nested signal handlers",
        absent: always,
    },
    Property {
        name: SWITCHING,
        about: "changes of knobs and clusters during use break nothing",
        absent: always,
    },
    Property {
        name: "slots",
        about: "a thread that ends frees its slot",
        absent: always,
    },
    Property {
        name: "overflow",
        about: "threads that find no free slot can lock too",
        absent: keeps_node,
    },
    Property {
        name: "fork",
        about: "a forked child does not wait for threads that it does not have",
        absent: |kind| {
            let forks = kind.flags().contains(Promises::FORKS);
            unless(forks, "promises nothing to a forked child")
        },
    },
];
