// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who came before whom, and how many came later and were served before.

use hdrhistogram::Histogram;
use std::collections::VecDeque;

/// The state of things when a thread begins to wait.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// Its place in the order of all arrivals.
    arrival: u64,
    /// Who waited then.
    before: u64,
    /// Acquisitions by then.
    served: u64,
}

/// All that wait, in the order in which they came.
pub(crate) struct Turns {
    arrivals: u64,
    served: u64,
    waiting: VecDeque<u64>,
    /// Overtakings of each acquisition.
    pub(crate) overtakes: Histogram<u64>,
}

impl Default for Turns {
    fn default() -> Self {
        Turns {
            arrivals: 0,
            served: 0,
            waiting: VecDeque::new(),
            overtakes: Histogram::new(3).expect("three digits are allowed"),
        }
    }
}

impl Turns {
    /// A thread begins to wait.
    pub(super) fn comes(&mut self) -> Turn {
        let turn = Turn {
            arrival: self.arrivals,
            before: self.waiting.len() as u64,
            served: self.served,
        };
        self.arrivals += 1;
        self.waiting.push_back(turn.arrival);
        turn
    }

    /// It has got the lock. Whoever was served meanwhile and did not wait before it came
    /// later.
    pub(super) fn gets(&mut self, turn: Turn) {
        let place = self.waiting.binary_search(&turn.arrival);
        let place = place.expect("it waits");
        self.waiting.remove(place);
        let in_order = turn.before - place as u64;
        let overtakes = self.served - turn.served - in_order;
        let _ = self.overtakes.record(overtakes);
        self.served += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_that_came_later_overtake() {
        let mut line = Turns::default();
        let (a, b, c) = (line.comes(), line.comes(), line.comes());
        line.gets(a);
        // `a` comes again and is served before `b`; so is `c`.
        let again = line.comes();
        line.gets(again);
        line.gets(c);
        line.gets(b);
        let count = |n| line.overtakes.count_at(n);
        assert_eq!((count(0), count(1), count(2)), (2, 1, 1));
    }

    #[test]
    fn a_queue_has_none() {
        let mut line = Turns::default();
        let mut turns: VecDeque<Turn> = (0..5).map(|_| line.comes()).collect();
        for _ in 0..20 {
            let first = turns.pop_front().expect("a waiter");
            line.gets(first);
            turns.push_back(line.comes());
        }
        assert_eq!(line.overtakes.max(), 0);
    }
}
