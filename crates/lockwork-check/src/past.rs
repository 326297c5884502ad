// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which stores led to a step of a thread, and which of them happen before it.
//!
//! A store leads to what comes later in its thread, and to what reads it, in any
//! order. One that did not lead to a step could as well have run after it; loom
//! explores that. One that happens before a step has to be seen by it. Only
//! between the two may a read-modify-write read an older store: docs/proof.md.

/// Threads that loom knows.
const THREADS: usize = 5;

/// For each thread, a number of its stores: all up to that one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Past([u32; THREADS]);

/// A store: its thread, and which of that thread's stores it is, from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub thread: usize,
    nth: u32,
}

impl Past {
    pub fn join(&mut self, other: &Past) {
        for (mine, other) in self.0.iter_mut().zip(other.0) {
            *mine = other.max(*mine);
        }
    }

    fn has(&self, store: Stamp) -> bool {
        self.0[store.thread] >= store.nth
    }
}

/// What a thread's next step follows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View {
    /// The stores that led to it.
    led: Past,
    /// Those that happen before it. Never more than loom takes for that.
    before: Past,
    /// Those that an acquire fence would add.
    read: Past,
    /// Those that happen before the last release fence.
    released: Past,
}

/// The steps of a kind that have an order among themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steps {
    led: Past,
    before: Past,
}

/// What a store hands to a thread that reads it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message {
    led: Past,
    /// What happens before an acquire that reads it.
    before: Past,
}

impl View {
    /// The thread reads.
    pub fn read(&mut self, message: &Message, acquires: bool) {
        self.led.join(&message.led);
        self.read.join(&message.before);
        if acquires {
            self.before.join(&message.before);
        }
    }

    /// It stores; `behind` is what a read-modify-write read.
    pub fn store(
        &mut self,
        thread: usize,
        releases: bool,
        behind: Option<&Message>,
    ) -> (Stamp, Message) {
        let nth = self.led.0[thread] + 1;
        self.led.0[thread] = nth;
        self.before.0[thread] = nth;
        let mut before = match releases {
            true => self.before,
            false => self.released,
        };
        if let Some(message) = behind {
            before.join(&message.before);
        }
        let led = self.led;
        (Stamp { thread, nth }, Message { led, before })
    }

    /// What others did led to it.
    pub fn follow(&mut self, others: &Past) {
        self.led.join(others);
    }

    /// What led to it leads to `others`.
    pub fn lead(&self, others: &mut Past) {
        others.join(&self.led);
    }

    /// A step that orders no memory.
    pub fn step(&mut self, steps: &mut Steps) {
        self.led.join(&steps.led);
        steps.led = self.led;
    }

    /// A release fence.
    pub fn release(&mut self) {
        self.released = self.before;
    }

    /// A full fence.
    pub fn fence(&mut self, fences: &mut Steps) {
        self.step(fences);
        self.before.join(&self.read);
        self.release();
        self.before.join(&fences.before);
        fences.before = self.before;
    }

    /// The store led to it.
    pub fn has_led(&self, store: Stamp) -> bool {
        self.led.has(store)
    }

    /// The store happens before it.
    pub fn must_see(&self, store: Stamp) -> bool {
        self.before.has(store)
    }
}
