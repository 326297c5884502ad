// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The stores that one word has had in an execution.
//!
//! loom holds the number of a store instead of its value. So it is known which
//! store a load read, and not only a value that several may have stored.
use crate::past::{Message, Past, Stamp, View};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Release, SeqCst};

/// Stores of a word that loom still shows to a load.
const HISTORY: u32 = 7;

/// Which store; it counts those of one word.
pub(crate) type Number = u32;

#[derive(Debug, Default)]
struct Store {
    value: u64,
    /// Its place in the order in which stores ran, from 1; 0: not run yet.
    at: u32,
    /// `None`: what the word held before any thread ran.
    stamp: Option<Stamp>,
    is_rmw: bool,
    /// A read-modify-write has read it: none other may, and nothing comes
    /// between the two.
    taken: bool,
    message: Message,
}

#[derive(Debug)]
pub(crate) struct Stores {
    all: Vec<Store>,
    /// The one that ran last.
    newest: Number,
    /// How many have run.
    run: u32,
    /// For each thread the latest place in the order of running that it read or
    /// stored itself.
    seen: Vec<u32>,
    /// What led to the read-modify-writes and failed compares so far.
    rmws: Past,
    /// Two stores may be in either order, because neither thread knew of the other store.
    forked: bool,
}

/// The running thread, and what its step follows.
pub(crate) struct Step<'a> {
    pub thread: usize,
    pub view: &'a mut View,
    pub order: Ordering,
}

impl Step<'_> {
    fn acquires(&self) -> bool {
        matches!(self.order, Acquire | AcqRel | SeqCst)
    }

    fn releases(&self) -> bool {
        matches!(self.order, Release | AcqRel | SeqCst)
    }
}

/// What makes it worth to ask loom which store a read-modify-write reads.
pub(crate) struct Wanted<'a> {
    /// A plain store has to be behind: a compare that fails may be anywhere.
    pub place: bool,
    /// An old value that matters, and whether one may stand right behind it.
    pub value: &'a dyn Fn(u64, bool) -> bool,
}

impl Stores {
    pub fn new(value: u64, threads: usize) -> Self {
        let first = Store {
            value,
            at: 1,
            ..Store::default()
        };
        Stores {
            all: vec![first],
            newest: 0,
            run: 1,
            seen: vec![1; threads],
            rmws: Past::default(),
            forked: false,
        }
    }

    /// A number for a store that is about to run.
    pub fn number(&mut self) -> Number {
        self.all.push(Store::default());
        self.all.len() as Number - 1
    }

    pub fn value(&self, number: Number) -> u64 {
        self.all[number as usize].value
    }

    pub fn newest(&self) -> Number {
        self.newest
    }

    pub fn newest_is_rmw(&self) -> bool {
        self.all[self.newest as usize].is_rmw
    }

    /// A load has read the store.
    pub fn read(&mut self, number: Number, step: &mut Step) {
        let store = &self.all[number as usize];
        step.view.read(&store.message, step.acquires());
        let seen = &mut self.seen[step.thread];
        *seen = store.at.max(*seen);
    }

    /// A compare that failed has read the store.
    pub fn compared(&mut self, number: Number, step: &mut Step) {
        self.read(number, step);
        step.view.lead(&mut self.rmws);
    }

    /// The plain store `number` has run.
    pub fn plain(&mut self, number: Number, value: u64, step: &mut Step) {
        let newest = &self.all[self.newest as usize];
        let must_see = newest.stamp.is_some_and(|stamp| step.view.must_see(stamp));
        self.forked |= self.seen[step.thread] < newest.at && !must_see;
        // It comes after the read-modify-writes that ran before it.
        step.view.follow(&self.rmws);
        self.run(number, value, step, None);
    }

    /// The read-modify-write `number` of the store `read` has run.
    pub fn rmw(&mut self, number: Number, read: Number, value: u64, step: &mut Step) {
        self.read(read, step);
        self.all[read as usize].taken = true;
        self.run(number, value, step, Some(read));
        step.view.lead(&mut self.rmws);
    }

    fn run(&mut self, number: Number, value: u64, step: &mut Step, read: Option<Number>) {
        self.run += 1;
        let behind = read.map(|read| &self.all[read as usize].message);
        let (stamp, message) = step.view.store(step.thread, step.releases(), behind);
        self.all[number as usize] = Store {
            value,
            at: self.run,
            stamp: Some(stamp),
            is_rmw: read.is_some(),
            taken: false,
            message,
        };
        self.newest = number;
        self.seen[step.thread] = self.run;
    }

    /// Has a read-modify-write stand right behind the store, if none does.
    pub fn take(&mut self, number: Number) -> bool {
        !std::mem::replace(&mut self.all[number as usize].taken, true)
    }

    /// Whether to ask loom which store a read-modify-write of `thread` reads: a
    /// store led to this step, and need not be seen by it; and there is one that
    /// it may read instead of the newest.
    pub fn offers(&self, thread: usize, view: &View, wanted: &Wanted) -> bool {
        if self.forked || self.all[self.newest as usize].at == self.seen[thread] {
            return false;
        }
        let must_see = |store: &&Store| store.stamp.is_some_and(|stamp| view.must_see(stamp));
        let known = self.all.iter().filter(must_see).map(|store| store.at).max();
        let forgotten = self.run.saturating_sub(HISTORY) + 1;
        let first = known.unwrap_or(0).max(self.seen[thread]).max(forgotten);
        let missed = |store: &Store| {
            store.at > first
                && !(wanted.place && store.is_rmw)
                && store.stamp.is_some_and(|stamp| view.has_led(stamp))
        };
        let old = |store: &Store| {
            (first..self.run).contains(&store.at) && (wanted.value)(store.value, !store.taken)
        };
        self.all.iter().any(missed) && self.all.iter().any(old)
    }
}
