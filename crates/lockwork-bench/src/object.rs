// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A lock and the cache lines that it guards.
use lockwork_user::{Lock, LockKind};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A line of its own; two lines long, for neighbours are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Line(AtomicU64);

impl Line {
    /// A read and a write, not one atomic step: that would be what the lock is
    /// there for. Atomic each, so that a broken lock is no undefined behaviour.
    fn touch(&self) {
        self.0.store(self.0.load(Relaxed) + 1, Relaxed);
    }

    fn look(&self) {
        black_box(self.0.load(Relaxed));
    }
}

/// `n` lines.
pub(crate) fn lines(n: u32) -> Vec<Line> {
    (0..n).map(|_| Line::default()).collect()
}

/// Reads and writes all of `lines`.
pub(crate) fn touch(lines: &[Line]) {
    lines.iter().for_each(Line::touch);
}

/// A lock, and what it guards: one line at least, which counts the visits.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) lock: Lock,
    lines: Vec<Line>,
}

impl Object {
    pub(crate) fn new(kind: LockKind, guarded: u32) -> Object {
        Object {
            lock: kind.create(),
            lines: lines(guarded.max(1)),
        }
    }

    /// What an exclusive holder does to the data.
    #[inline]
    pub(crate) fn write(&self) {
        touch(&self.lines);
    }

    /// What a shared one does.
    #[inline]
    pub(crate) fn read(&self) {
        self.lines.iter().for_each(Line::look);
    }

    /// Exclusive visits, unless the lock let two in at once: then some line
    /// counted fewer.
    pub(crate) fn visits(&self) -> u64 {
        let counts = self.lines.iter().map(|line| line.0.load(Relaxed));
        counts.min().unwrap_or(0)
    }
}
