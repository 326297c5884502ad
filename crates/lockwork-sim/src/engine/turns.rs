// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who came before whom, and how many came later and were served before.
//!
//! Threads compute ahead of the others, and tell of their arrival then: what counts is the
//! time of an arrival, and not when it is told.

use super::tree::Ps;
use std::collections::VecDeque;

/// When a thread came, and which.
type Arrival = (Ps, u32);

/// All that wait, and all that came since the first of them did, in their order.
#[derive(Default)]
pub(crate) struct Turns {
    waiting: VecDeque<Arrival>,
    arrivals: VecDeque<Arrival>,
}

/// How many of `all` are before `one`.
fn before(all: &VecDeque<Arrival>, one: Arrival) -> usize {
    // Mostly it is the last to come, and the first to go.
    if all.back().is_none_or(|&last| last < one) {
        return all.len();
    }
    if all.front().is_some_and(|&first| first >= one) {
        return 0;
    }
    all.partition_point(|&other| other < one)
}

impl Turns {
    /// A thread begins to wait.
    pub(super) fn comes(&mut self, arrival: Arrival) {
        for all in [&mut self.waiting, &mut self.arrivals] {
            let place = before(all, arrival);
            all.insert(place, arrival);
        }
    }

    /// It has got the lock: how many that came later, and do not wait, were served before it.
    pub(super) fn gets(&mut self, arrival: Arrival) -> u64 {
        let place = before(&self.waiting, arrival);
        let later = self.arrivals.len() - before(&self.arrivals, arrival);
        let overtakes = later - (self.waiting.len() - place);
        self.waiting.remove(place);
        // Nobody that waits came before these.
        let first = self.waiting.front().copied();
        let over = first.map_or(self.arrivals.len(), |first| before(&self.arrivals, first));
        self.arrivals.drain(..over);
        overtakes as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_that_came_later_overtake() {
        let mut line = Turns::default();
        let [a, b, c] = [(10, 0), (20, 1), (30, 2)];
        for arrival in [a, b, c] {
            line.comes(arrival);
        }
        assert_eq!(line.gets(a), 0);
        // The first comes again and is served before the second; so is the third.
        line.comes((40, 0));
        let found = [(40, 0), c, b].map(|arrival| line.gets(arrival));
        assert_eq!(found, [0, 1, 2]);
        assert!(line.arrivals.is_empty() && line.waiting.is_empty());
    }

    #[test]
    fn an_arrival_that_is_told_early_overtakes_nobody() {
        let mut line = Turns::default();
        line.comes((100, 0));
        line.comes((10, 1));
        let first = line.gets((10, 1));
        line.comes((50, 1));
        let more = [(50, 1), (100, 0)].map(|arrival| line.gets(arrival));
        assert_eq!((first, more), (0, [0, 0]));
    }

    #[test]
    fn a_queue_has_none() {
        let mut line = Turns::default();
        let mut turns: VecDeque<Arrival> = (0..5).map(|at| (at, at as u32)).collect();
        turns.iter().for_each(|&arrival| line.comes(arrival));
        for at in 5..25 {
            let first = turns.pop_front().expect("a waiter");
            assert_eq!(line.gets(first), 0);
            line.comes((at, first.1));
            turns.push_back((at, first.1));
        }
    }
}
