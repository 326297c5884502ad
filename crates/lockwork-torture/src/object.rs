// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a lock under torture guards, made so that a visitor who should not be
//! there leaves a trace.
//!
//! Nothing that the exclusive holder does in here is a read-modify-write or
//! ordered: that would order what the lock must order. The counters are atomic
//! only so that a broken lock shows itself without undefined behaviour.
use lockwork_catalogue::{Lock, LockKind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

const OVERLAP: u64 = 1;
const TORN: u64 = 2;
const INTRUDER: u64 = 3;
const READER_INSIDE: u64 = 4;
const WRITER_INSIDE: u64 = 5;
const PASSED: u64 = 6;

/// An object: one lock and what it guards.
#[repr(align(128))]
pub(crate) struct Object {
    pub(crate) lock: Lock,
    /// Who holds it exclusively: a seat's number plus 1, 0 nobody.
    owner: AtomicU32,
    /// Counted up on the way in …
    entered: AtomicU64,
    /// … and on the way out: different while a holder is inside.
    left: AtomicU64,
    readers: AtomicU32,
    most_readers: AtomicU32,
    /// The first thing that went wrong: what << 56 | who << 28 | other.
    wrong: AtomicU64,
}

/// What went wrong in an object.
pub(crate) struct Wrong {
    /// The property that this fails.
    pub(crate) property: &'static str,
    pub(crate) text: String,
}

impl Object {
    pub(crate) fn new(kind: LockKind) -> Self {
        Self {
            lock: kind.create(),
            owner: AtomicU32::new(0),
            entered: AtomicU64::new(0),
            left: AtomicU64::new(0),
            readers: AtomicU32::new(0),
            most_readers: AtomicU32::new(0),
            wrong: AtomicU64::new(0),
        }
    }

    /// Async-signal-safe, and keeps the first report only.
    fn report(&self, what: u64, who: u32, other: u64) {
        let code = what << 56 | u64::from(who) << 28 | (other & 0xfff_ffff);
        let _ = self.wrong.compare_exchange(0, code, Relaxed, Relaxed);
    }

    pub(crate) fn enter(&self, me: u32) {
        let other = self.owner.load(Relaxed);
        if other != 0 {
            self.report(OVERLAP, me, other.into());
        }
        self.owner.store(me, Relaxed);
        let readers = self.readers.load(Relaxed);
        if readers != 0 {
            self.report(READER_INSIDE, me, readers.into());
        }
        let entered = self.entered.load(Relaxed);
        if entered != self.left.load(Relaxed) {
            self.report(TORN, me, entered);
        }
        self.entered.store(entered + 1, Relaxed);
    }

    pub(crate) fn leave(&self, me: u32) {
        self.left.store(self.left.load(Relaxed) + 1, Relaxed);
        let other = self.owner.load(Relaxed);
        if other != me {
            self.report(INTRUDER, me, other.into());
        }
        self.owner.store(0, Relaxed);
    }

    pub(crate) fn enter_shared(&self, me: u32) {
        self.look_for_writer(me);
        let readers = self.readers.fetch_add(1, Relaxed) + 1;
        self.most_readers.fetch_max(readers, Relaxed);
    }

    /// [`leave`](Self::leave) of one that goes on to read; its exclusive visits so far.
    pub(crate) fn leave_to_read(&self, me: u32) -> u64 {
        self.leave(me);
        self.left.load(Relaxed)
    }

    /// [`enter_shared`](Self::enter_shared) after that; no writer may have come since.
    pub(crate) fn enter_shared_after(&self, me: u32, left: u64) {
        let now = self.left.load(Relaxed);
        if now != left {
            self.report(PASSED, me, now - left);
        }
        self.enter_shared(me);
    }

    pub(crate) fn leave_shared(&self, me: u32) {
        self.look_for_writer(me);
        self.readers.fetch_sub(1, Relaxed);
    }

    fn look_for_writer(&self, me: u32) {
        let other = self.owner.load(Relaxed);
        if other != 0 || self.entered.load(Relaxed) != self.left.load(Relaxed) {
            self.report(WRITER_INSIDE, me, other.into());
        }
    }

    /// Exclusive visits, if nothing went wrong.
    pub(crate) fn visits(&self) -> u64 {
        self.left.load(Relaxed)
    }

    pub(crate) fn most_readers(&self) -> u32 {
        self.most_readers.load(Relaxed)
    }

    /// "thread 3", "2 readers" or "nobody that is known".
    pub(crate) fn holder(&self) -> String {
        match (self.owner.load(Relaxed), self.readers.load(Relaxed)) {
            (0, 0) => "nobody".to_owned(),
            (0, 1) => "1 reader".to_owned(),
            (0, readers) => format!("{readers} readers"),
            (owner, _) => format!("thread {}", owner - 1),
        }
    }

    /// The first thing that went wrong.
    pub(crate) fn wrong(&self) -> Option<Wrong> {
        let code = self.wrong.load(Relaxed);
        let (who, other) = (
            (code >> 28 & 0xfff_ffff).saturating_sub(1),
            code & 0xfff_ffff,
        );
        let owner = other.saturating_sub(1);
        let (property, text) = match code >> 56 {
            0 => return None,
            OVERLAP => (
                "exclusion",
                format!("thread {who} got in while thread {owner} was inside"),
            ),
            TORN => (
                "exclusion",
                format!("thread {who} found the data of entry {other} half written"),
            ),
            INTRUDER if other == 0 => (
                "exclusion",
                format!("while thread {who} was inside, another one came and went"),
            ),
            INTRUDER => (
                "exclusion",
                format!("thread {owner} got in while thread {who} was inside"),
            ),
            READER_INSIDE => (
                "readers",
                format!("thread {who} got in to write while {other} readers were inside"),
            ),
            PASSED => (
                "readers",
                format!("{other} writers got in while thread {who} downgraded the lock"),
            ),
            _ => (
                "readers",
                format!("thread {who} was inside to read together with a writer"),
            ),
        };
        Some(Wrong { property, text })
    }
}
