// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the simulator counted of each lock in each column: what [`super::why`] rests on.

use crate::command::rows::Row;
use crate::machine::Distance;

/// Distances beyond the CPU's cluster.
const FAR: [Distance; 5] = [
    Distance::Die,
    Distance::Socket,
    Distance::Hop1,
    Distance::Hop2,
    Distance::Controller,
];

/// What one lock did in one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counter {
    /// Lines that came from another cache or from memory, an acquisition.
    pub(super) lines: f64,
    /// Those that came from another cluster of CPUs.
    pub(super) far_lines: f64,
    /// Read-modify-writes, an acquisition.
    pub(super) rmws: f64,
    /// The share of the acquisitions whose lock came from another cluster.
    pub(super) across: f64,
    /// Acquisitions by threads that came later, on average of the waits.
    pub(super) overtaken: f64,
    /// The most of one wait.
    pub(super) most_overtaken: u64,
    /// The share of the waits in which the holder, or the next one, was off its CPU.
    pub(super) off: f64,
    /// Wake-ups, an acquisition.
    pub(super) wakeups: f64,
}

impl Counter {
    pub(super) fn of(row: &Row) -> Counter {
        let each = |total: u64| row.each(total as f64).unwrap_or(0.0);
        let far = |of: &[u64; Distance::COUNT]| FAR.iter().map(|d| of[*d as usize]).sum::<u64>();
        let (counts, split) = (&row.counts, &row.split);
        let handovers: u64 = counts.handovers.iter().sum();
        let off = split.preempted_holder + split.preempted_next;
        let rest = split.queueing + split.transfer + split.asleep + split.waking;
        Counter {
            lines: each(counts.lines_moved()),
            far_lines: each(far(&counts.moved) + far(&counts.from_memory)),
            rmws: each(counts.rmws),
            across: far(&counts.handovers) as f64 / handovers.max(1) as f64,
            overtaken: match row.overtakes.is_empty() {
                true => 0.0,
                false => row.overtakes.mean(),
            },
            most_overtaken: row.overtakes.max(),
            off: off / (off + rest).max(f64::MIN_POSITIVE),
            wakeups: each(counts.wakeups),
        }
    }
}

/// Of all locks, by column.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters(Vec<Vec<(&'static str, Counter)>>);

impl Counters {
    /// Adds a column: of each lock what was counted.
    pub(super) fn add(&mut self, column: impl IntoIterator<Item = (&'static str, Counter)>) {
        self.0.push(column.into_iter().collect());
    }

    /// What was counted of a lock in a column.
    pub(super) fn of(&self, column: usize, lock: &str) -> Counter {
        let column = self.0.get(column).into_iter().flatten();
        let mut own = column.filter(|(name, _)| *name == lock);
        own.next().map_or_else(Counter::default, |(_, of)| *of)
    }
}
