// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Rows of the tables: all seeds of one lock with one number of threads.

use crate::outcome::{Counts, Outcome, WaitSplit};
use hdrhistogram::Histogram;
use lockwork_report::stats;
use std::borrow::Borrow;

/// What the seeds of one lock with one number of threads say together.
pub(super) struct Row<'a> {
    pub(super) lock: &'a str,
    pub(super) threads: usize,
    /// One for each seed.
    pub(super) outcomes: Vec<&'a Outcome>,
    /// Against the first lock: 0.5 is half as much again.
    pub(super) improve: Option<f64>,
    pub(super) waits: Histogram<u64>,
    /// Of the shared acquisitions, and of the others.
    pub(super) read_waits: Histogram<u64>,
    pub(super) write_waits: Histogram<u64>,
    pub(super) overtakes: Histogram<u64>,
    pub(super) counts: Counts,
    pub(super) split: WaitSplit,
}

impl<'a> Row<'a> {
    /// Sums the outcomes of a lock up.
    pub(super) fn of(lock: &'a str, threads: usize, outcomes: Vec<&'a Outcome>) -> Row<'a> {
        let mut row = Row {
            lock,
            threads,
            improve: None,
            waits: summed(outcomes.iter().map(|o| &o.waits)),
            read_waits: summed(outcomes.iter().map(|o| &o.read_waits)),
            write_waits: summed(outcomes.iter().map(|o| o.write_waits())),
            overtakes: summed(outcomes.iter().map(|o| &o.overtakes)),
            counts: Counts::default(),
            split: WaitSplit::default(),
            outcomes,
        };
        for outcome in &row.outcomes {
            add_counts(&mut row.counts, &outcome.counts);
            add_split(&mut row.split, &outcome.split);
        }
        row
    }

    /// Acquisitions of all seeds.
    pub(super) fn acquisitions(&self) -> u64 {
        self.outcomes.iter().map(|o| o.acquisitions()).sum()
    }

    /// So much of all seeds for each acquisition, if there were any.
    pub(super) fn each(&self, total: f64) -> Option<f64> {
        let n = self.acquisitions();
        (n > 0).then(|| total / n as f64)
    }

    fn rates(&self) -> Vec<f64> {
        self.outcomes.iter().map(|o| o.rate()).collect()
    }

    /// Acquisitions a second, or rounds, on average of the seeds.
    pub(super) fn rate(&self) -> f64 {
        stats::mean(&self.rates())
    }

    /// The coefficient of variation of the rates.
    pub(super) fn variation(&self) -> Option<f64> {
        stats::variation(&self.rates())
    }

    /// Jain's index of fairness, on average of the seeds. Threads of different roles do
    /// different things: of several roles it is the least fair one's.
    pub(super) fn jain(&self) -> f64 {
        let all: Vec<f64> = self.outcomes.iter().map(|o| jain(o)).collect();
        stats::mean(&all)
    }

    /// Jain's index of fairness over the virtual machines, on average of the seeds.
    pub(super) fn jain_of_vms(&self) -> f64 {
        let of_one = |o: &&Outcome| fairness(o.vms.iter().map(|vm| &vm.acquisitions));
        let all: Vec<f64> = self.outcomes.iter().map(of_one).collect();
        stats::mean(&all)
    }

    /// The share of the CPU time that went into lock and unlock.
    pub(super) fn in_lock(&self) -> Option<f64> {
        let busy: f64 = self.outcomes.iter().map(|o| o.ns_busy).sum();
        let inside: f64 = self.outcomes.iter().map(|o| o.ns_in_lock).sum();
        (busy > 0.0).then(|| inside / busy)
    }

    /// When the last thread was done, ns, on average; for workloads that end so.
    pub(super) fn finished(&self) -> Option<f64> {
        let all: Option<Vec<f64>> = self.outcomes.iter().map(|o| o.finished_ns).collect();
        all.map(|all| stats::mean(&all))
    }

    /// Lines that came from another cache or from memory.
    pub(super) fn lines_moved(&self) -> u64 {
        self.counts.lines_moved()
    }

    /// Bytes from one socket to another.
    pub(super) fn link_bytes(&self) -> u64 {
        let sockets = self.counts.link_bytes.len().isqrt();
        let all = self.counts.link_bytes.iter().enumerate();
        all.filter(|(at, _)| sockets > 0 && at / sockets != at % sockets)
            .map(|(_, bytes)| bytes)
            .sum()
    }
}

fn jain(outcome: &Outcome) -> f64 {
    let done = outcome.done();
    let Some(program) = &outcome.program else {
        return fairness(done.iter());
    };
    let of_role = |role: usize| {
        let threads = done.iter().zip(&program.roles);
        threads.filter_map(move |(done, of)| (*of == role).then_some(done))
    };
    let roles = program
        .roles
        .iter()
        .copied()
        .max()
        .map_or(0, |last| last + 1);
    let all = (0..roles).filter(|&role| of_role(role).next().is_some());
    all.map(|role| fairness(of_role(role))).fold(1.0, f64::min)
}

fn fairness<'a>(done: impl Iterator<Item = &'a u64>) -> f64 {
    stats::jain(&done.map(|&n| n as f64).collect::<Vec<_>>())
}

/// Says of each row how it compares with the first lock's of as many threads.
pub(super) fn compare(rows: &mut [Row], first: &str) {
    let base: Vec<(usize, f64)> = rows
        .iter()
        .filter(|row| row.lock == first)
        .map(|row| (row.threads, row.rate()))
        .collect();
    for row in rows.iter_mut().filter(|row| row.lock != first) {
        let base = base.iter().find(|(threads, _)| *threads == row.threads);
        row.improve = base
            .filter(|(_, rate)| *rate > 0.0)
            .map(|(_, rate)| row.rate() / rate - 1.0);
    }
}

/// The waits of several together.
pub(super) fn summed<H: Borrow<Histogram<u64>>>(parts: impl Iterator<Item = H>) -> Histogram<u64> {
    let mut all = Histogram::new(3).expect("three digits are possible");
    for part in parts {
        all.add(part.borrow()).expect("it grows as needed");
    }
    all
}

fn add_counts(sum: &mut Counts, more: &Counts) {
    let add = |a: &mut [u64], b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    sum.loads += more.loads;
    sum.stores += more.stores;
    sum.rmws += more.rmws;
    add(&mut sum.moved, &more.moved);
    add(&mut sum.from_memory, &more.from_memory);
    add(&mut sum.handovers, &more.handovers);
    if sum.link_bytes.len() < more.link_bytes.len() {
        sum.link_bytes.resize(more.link_bytes.len(), 0);
    }
    add(&mut sum.link_bytes, &more.link_bytes);
    if sum.events.len() < more.events.len() {
        sum.events.resize(more.events.len(), 0);
    }
    add(&mut sum.events, &more.events);
    sum.divided += more.divided;
    sum.contended += more.contended;
    sum.sleeps += more.sleeps;
    sum.wakeups += more.wakeups;
    sum.futile_wakeups += more.futile_wakeups;
    sum.useful_wakeups += more.useful_wakeups;
    sum.refused_sleeps += more.refused_sleeps;
    sum.switches += more.switches;
    sum.voluntary += more.voluntary;
    sum.involuntary += more.involuntary;
    sum.preempted_holders += more.preempted_holders;
    sum.preemptions += more.preemptions;
    sum.migrations += more.migrations;
    sum.donations += more.donations;
    sum.yields += more.yields;
}

fn add_split(sum: &mut WaitSplit, more: &WaitSplit) {
    sum.queueing += more.queueing;
    sum.transfer += more.transfer;
    sum.preempted_holder += more.preempted_holder;
    sum.preempted_next += more.preempted_next;
    sum.asleep += more.asleep;
    sum.waking += more.waking;
}
