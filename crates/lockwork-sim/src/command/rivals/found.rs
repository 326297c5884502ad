// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the simulations of a part found, as a grid: a row for each lock, a column for each
//! number of threads, or for each degree of overcommitment.

use super::parts::Yields;
use crate::command::plan::Plan;
use crate::command::rows::Row;
use crate::outcome::Outcome;
use crate::settle::Verdict;
use lockwork_report::page::escaped;

/// What one lock did in one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// Million acquisitions a second.
    pub(super) rate: f64,
    /// The longest wait, µs.
    pub(super) longest: f64,
    /// Jain's index of fairness.
    pub(super) jain: f64,
    /// Lines moved, an acquisition.
    pub(super) lines: f64,
    /// CPU time in lock and unlock, µs an acquisition.
    pub(super) cpu: f64,
    /// Shares of the waits in which the holder was off its CPU, and in which the lock was free
    /// and the one that got it next was.
    pub(super) off: [f64; 2],
    /// Jain's index over the virtual machines, if there are several.
    pub(super) of_vms: Option<f64>,
    /// All seeds measured a steady state.
    pub(super) settled: bool,
}

impl Cell {
    /// One for tests, which has settled.
    #[cfg(test)]
    pub(super) fn sample(rate: f64, longest: f64) -> Cell {
        Cell {
            rate,
            longest,
            jain: 1.0,
            lines: 1.0,
            cpu: 1.0,
            off: [0.0; 2],
            of_vms: None,
            settled: true,
        }
    }

    pub(super) fn of(row: &Row) -> Cell {
        let inside = row.outcomes.iter().map(|outcome| outcome.ns_in_lock).sum();
        let split = &row.split;
        let parts = [
            split.queueing,
            split.transfer,
            split.preempted_holder,
            split.preempted_next,
            split.asleep,
            split.waking,
        ];
        let waited = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let settled = |outcome: &&Outcome| {
            outcome
                .settled
                .is_none_or(|verdict| verdict == Verdict::Settled)
        };
        Cell {
            rate: row.rate() / 1e6,
            longest: row.waits.max() as f64 / 1e3,
            jain: row.jain(),
            lines: row.each(row.lines_moved() as f64).unwrap_or(0.0),
            cpu: row.each(inside).unwrap_or(0.0) / 1e3,
            off: [split.preempted_holder, split.preempted_next].map(|part| part / waited),
            of_vms: (!row.outcomes.iter().all(|outcome| outcome.vms.is_empty()))
                .then(|| row.jain_of_vms()),
            settled: row.outcomes.iter().all(settled),
        }
    }

    /// As fast and waits no longer, and one of both is better.
    pub(super) fn beats(&self, other: &Cell) -> bool {
        let no_worse = self.rate >= other.rate && self.longest <= other.longest;
        no_worse && (self.rate > other.rate || self.longest < other.longest)
    }
}

/// A lock, and what it did in each column.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) lock: &'static str,
    /// What a kick does beside waking the kicked virtual CPU.
    pub(super) yields: Option<Yields>,
    pub(super) is_rival: bool,
    pub(super) cells: Vec<Cell>,
}

impl Line {
    /// A row's first cell: ours are bold.
    pub(super) fn name(&self) -> String {
        let lock = escaped(self.lock);
        let name = match self.is_rival {
            true => lock,
            false => format!("**{lock}**"),
        };
        match self.yields {
            Some(Yields::Directed) => name + ", directed yield",
            Some(Yields::Donates) => name + ", donated slice",
            None => name,
        }
    }
}

/// All of a part.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// "8", or "8 (2 VCPUs a CPU)".
    pub(super) columns: Vec<String>,
    /// For the charts.
    pub(super) threads: Vec<usize>,
    pub(super) lines: Vec<Line>,
    /// Of each command with something other: the locks' cells.
    pub(super) besides: Vec<Vec<Line>>,
}

impl Found {
    /// Adds what a command found: a column for each number of threads.
    pub(super) fn add(&mut self, plan: &Plan, rows: &[Row]) {
        for &threads in &plan.threads {
            self.threads.push(threads);
            self.columns.push(match plan.guests {
                None => threads.to_string(),
                Some(_) => format!("{threads} on 1/{}", threads as f64 / plan.cpus() as f64),
            });
        }
        self.lines_of(plan, rows, None);
    }

    /// Adds what a command found with kicks that yield: rows in columns that are there.
    pub(super) fn add_yields(&mut self, plan: &Plan, rows: &[Row], yields: Yields) {
        self.lines_of(plan, rows, Some(yields));
    }

    /// Adds what a command found with something other.
    pub(super) fn add_beside(&mut self, plan: &Plan, rows: &[Row]) {
        let mut other = Found::default();
        other.lines_of(plan, rows, None);
        self.besides.push(other.lines);
    }

    fn lines_of(&mut self, plan: &Plan, rows: &[Row], yields: Option<Yields>) {
        for lock in &plan.locks {
            let own = rows.iter().filter(|row| row.lock == lock.name);
            let line = self.line(lock.name, yields, lock.is_baseline);
            line.cells.extend(own.map(Cell::of));
        }
    }

    /// The row of a lock; a new one stands at the end.
    pub(super) fn line(
        &mut self,
        lock: &'static str,
        yields: Option<Yields>,
        is_rival: bool,
    ) -> &mut Line {
        let is = |line: &Line| line.lock == lock && line.yields == yields;
        let at = self.lines.iter().position(is).unwrap_or_else(|| {
            self.lines.push(Line {
                lock,
                yields,
                is_rival,
                cells: Vec::new(),
            });
            self.lines.len() - 1
        });
        &mut self.lines[at]
    }

    /// The row of a lock whose kicks do not yield, if it is there.
    pub(super) fn plain(&self, lock: &str) -> Option<&Line> {
        let is = |line: &&Line| line.lock == lock && line.yields.is_none();
        self.lines.iter().find(is)
    }

    /// Ours, or the rivals, in a column; without what a directed yield makes of them.
    pub(super) fn of(&self, rivals: bool, column: usize) -> impl Iterator<Item = (&Line, &Cell)> {
        let own = self.lines.iter();
        let own = own.filter(move |l| l.is_rival == rivals && l.yields.is_none());
        own.filter_map(move |line| Some((line, line.cells.get(column)?)))
    }
}

/// The least and the most.
pub(super) fn range(all: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    (
        all.clone().fold(f64::INFINITY, f64::min),
        all.fold(0.0, f64::max),
    )
}
