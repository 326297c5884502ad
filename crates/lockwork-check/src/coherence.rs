// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One rule of C11's modification order that loom leaves out.
//!
//! A read-modify-write stands right behind the store that it read. So a store
//! that comes after that one, because its thread has seen it, comes after the
//! read-modify-write as well. loom leaves the two unordered, and then lets a
//! failed test-and-set of a byte outlive the holder's store of 0. This log tells
//! when a store must first see the newest value, so that loom orders it.

/// The stores to one word in one execution, in the order they ran in.
#[derive(Debug, Default)]
pub(crate) struct Log {
    stores: Vec<(u64, Kind)>,
    /// The newest store that each thread is known to have seen.
    seen: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Store,
    Rmw,
}

impl Log {
    /// A word that all threads know as `value`.
    pub fn new(threads: usize, value: u64) -> Self {
        Log {
            stores: vec![(value, Kind::Store)],
            seen: vec![0; threads],
        }
    }

    pub fn stored(&mut self, thread: usize, value: u64, kind: Kind) {
        self.seen[thread] = self.stores.len();
        self.stores.push((value, kind));
    }

    /// `thread` read `value`: from the oldest store that it may have been.
    pub fn loaded(&mut self, thread: usize, value: u64) {
        let from = self.seen[thread];
        let found = self.stores[from..].iter().position(|store| store.0 == value);
        self.seen[thread] = from + found.unwrap_or(0);
    }

    /// A plain C store, ordered against everything.
    pub fn replaced(&mut self, thread: usize, value: u64) {
        let last = self.stores.len() - 1;
        self.stores[last].0 = value;
        self.seen[thread] = last;
    }

    /// Whether all that `thread` has not seen are read-modify-writes, each of
    /// which read the store before it.
    pub fn must_see_newest(&self, thread: usize) -> bool {
        let unseen = &self.stores[self.seen[thread] + 1..];
        !unseen.is_empty() && unseen.iter().all(|store| store.1 == Kind::Rmw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_comes_after_what_read_modified_the_one_before_it() {
        let mut log = Log::new(2, 0);
        log.stored(0, 1, Kind::Rmw);
        assert!(!log.must_see_newest(0));
        log.stored(1, 1, Kind::Rmw);
        assert!(log.must_see_newest(0));
    }

    #[test]
    fn a_store_is_free_against_one_that_its_thread_did_not_see() {
        let mut log = Log::new(2, 0);
        log.stored(0, 1, Kind::Store);
        assert!(!log.must_see_newest(1));
        log.stored(0, 2, Kind::Rmw);
        assert!(!log.must_see_newest(1));
        log.loaded(1, 1);
        assert!(log.must_see_newest(1));
    }
}
