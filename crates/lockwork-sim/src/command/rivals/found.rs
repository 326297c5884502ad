// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the simulations of a part found, as a grid: a row for each lock, a column for each
//! number of threads, or for each degree of overcommitment.

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
    /// All seeds measured a steady state.
    pub(super) settled: bool,
}

impl Cell {
    fn of(row: &Row) -> Cell {
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
    /// A kick has the kicked virtual CPU run at once.
    pub(super) yields: bool,
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
            true => name + ", directed yield",
            false => name,
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
        self.lines_of(plan, rows, false);
    }

    /// Adds what a command found with kicks that yield: rows in columns that are there.
    pub(super) fn add_yields(&mut self, plan: &Plan, rows: &[Row]) {
        self.lines_of(plan, rows, true);
    }

    fn lines_of(&mut self, plan: &Plan, rows: &[Row], yields: bool) {
        for lock in &plan.locks {
            let own = rows.iter().filter(|row| row.lock == lock.name);
            let cells = own.map(Cell::of);
            let is = |line: &&mut Line| line.lock == lock.name && line.yields == yields;
            match self.lines.iter_mut().find(is) {
                Some(line) => line.cells.extend(cells),
                None => self.lines.push(Line {
                    lock: lock.name,
                    yields,
                    is_rival: lock.is_baseline,
                    cells: cells.collect(),
                }),
            }
        }
    }

    /// Ours, or the rivals, in a column; without what a directed yield makes of them.
    pub(super) fn of(&self, rivals: bool, column: usize) -> impl Iterator<Item = (&Line, &Cell)> {
        let own = self.lines.iter();
        let own = own.filter(move |l| l.is_rival == rivals && !l.yields);
        own.filter_map(move |line| Some((line, line.cells.get(column)?)))
    }
}
