// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A lock and the cache lines that it guards.
use lockwork_catalogue::{Lock, LockKind};
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

    /// The first thing that an exclusive holder does: it reads the count of visits,
    /// and reads and writes the other lines.
    #[inline]
    pub(crate) fn enter(&self) -> u64 {
        touch(&self.lines[1..]);
        self.lines[0].0.load(Relaxed)
    }

    /// The last thing: it counts its visit. Who was inside meanwhile is lost.
    #[inline]
    pub(crate) fn leave(&self, entered: u64) {
        self.lines[0].0.store(entered + 1, Relaxed);
    }

    /// What a shared holder does.
    #[inline]
    pub(crate) fn read(&self) {
        self.lines.iter().for_each(Line::look);
    }

    /// Exclusive visits, unless the lock let two in at once: then some line
    /// counted fewer of them.
    pub(crate) fn visits(&self) -> u64 {
        let counts = self.lines.iter().map(|line| line.0.load(Relaxed));
        counts.min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(guarded: u32) -> Object {
        Object::new(lockwork_catalogue::catalogue()[0], guarded)
    }

    #[test]
    fn visits_are_counted() {
        for guarded in [0, 1, 5] {
            let object = object(guarded);
            for _ in 0..3 {
                let entered = object.enter();
                object.leave(entered);
            }
            object.read();
            assert_eq!(object.visits(), 3, "{guarded}");
        }
    }

    #[test]
    fn who_is_inside_together_is_lost() {
        let object = object(4);
        let (one, other) = (object.enter(), object.enter());
        object.leave(one);
        object.leave(other);
        assert_eq!(object.visits(), 1);
    }

    #[test]
    fn an_update_of_any_line_that_is_lost_is_seen() {
        let object = object(4);
        let entered = object.enter();
        object.leave(entered);
        object.lines[3].0.store(0, Relaxed);
        assert_eq!(object.visits(), 0);
    }
}
