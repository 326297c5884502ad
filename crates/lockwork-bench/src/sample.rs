// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One round of one lock in one case: the raw numbers.
use crate::waits::Waits;
use crate::work::Work;
use lockwork_report::stats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How an uncontended pair is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Calls {
    /// Through a pointer in the lock's table of functions.
    Pointer,
    /// Inlined: the loop is compiled together with the lock.
    Inlined,
}

/// One combination of what is swept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Case {
    /// Threads.
    pub threads: u32,
    /// What each does while it holds the lock.
    pub inside: Work,
    /// What each does between two acquisitions.
    pub outside: Work,
    /// Percent of acquisitions that are shared.
    pub reads: u32,
    /// Locks, of which each acquisition takes one at random.
    pub objects: u32,
    /// How long a round lasts, or may last, in milliseconds.
    pub time_ms: u64,
    /// How often each thread acquires; without it, for as long as the round
    /// lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops: Option<u64>,
    /// How an uncontended pair is called, where that is what is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
}

impl Case {
    /// The case but for its threads and what follows from them.
    pub fn ground(&self) -> Case {
        Case {
            threads: 0,
            time_ms: 0,
            ..self.clone()
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.threads == 1 { "" } else { "s" };
        let (inside, outside) = (self.inside, self.outside);
        write!(
            f,
            "{} thread{s}, {inside} inside, {outside} outside",
            self.threads
        )?;
        if self.reads > 0 {
            write!(f, ", {} % reads", self.reads)?;
        }
        if self.objects > 1 {
            write!(f, ", {} locks", self.objects)?;
        }
        Ok(())
    }
}

/// What the threads of one round did and cost, all together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// From the first thread's start to the end of the last operation.
    pub seconds: f64,
    /// The part of it after the threads were told to stop.
    pub overrun: f64,
    /// Exclusive acquisitions of each thread.
    pub writes: Vec<u64>,
    /// Shared acquisitions of each thread; empty if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<u64>,
    /// CPU seconds of the threads, in user space and in the kernel.
    pub cpu: f64,
    /// Context switches because a thread slept.
    pub voluntary: u64,
    /// Context switches because a thread was preempted, or yielded.
    pub involuntary: u64,
    /// Waits for exclusive acquisitions, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_waits: Option<Waits>,
    /// Waits for shared ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_waits: Option<Waits>,
}

impl Measured {
    /// Acquisitions of all threads.
    pub fn operations(&self) -> u64 {
        self.writes.iter().chain(&self.reads).sum()
    }

    /// Acquisitions a second; 0 if there was no time.
    pub fn rate(&self) -> f64 {
        per(self.operations() as f64, self.seconds)
    }

    /// Jain's index over the acquisitions of each thread.
    pub fn jain(&self) -> f64 {
        let reads = |i: usize| self.reads.get(i).copied().unwrap_or(0);
        let counts = self.writes.iter().enumerate();
        let counts: Vec<f64> = counts.map(|(i, w)| (w + reads(i)) as f64).collect();
        stats::jain(&counts)
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// `what` for each one of `whole`; 0 of nothing.
pub(crate) fn per(what: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        what / whole
    } else {
        0.0
    }
}

/// One round of one lock, as the JSON has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// What was measured; older files call it a cell.
    #[serde(alias = "cell")]
    pub case: Case,
    /// Which lock.
    pub lock: String,
    /// The round, from 1 on.
    pub round: u32,
    /// The lock's place in the round's order, from 1 on.
    pub order: u32,
    /// How often it was measured before in vain, see `again`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeats: u32,
    /// What came out.
    #[serde(flatten)]
    pub measured: Measured,
    /// Events that were counted meanwhile, by name, if any were to be.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub events: BTreeMap<String, u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_count_together() {
        let measured = Measured {
            seconds: 2.0,
            writes: vec![1, 0],
            reads: vec![9, 10],
            ..Measured::default()
        };
        assert_eq!(measured.operations(), 20);
        assert_eq!(measured.rate(), 10.0);
        assert_eq!(measured.jain(), 1.0);
        assert_eq!(Measured::default().rate(), 0.0);
    }
}
