// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the simulations of a part found, as a grid: a row for each lock, a column for each
//! number of threads, or for each degree of overcommitment.

use crate::command::plan::Plan;
use crate::command::rows::Row;

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
}

impl Cell {
    fn of(row: &Row) -> Cell {
        Cell {
            rate: row.rate() / 1e6,
            longest: row.waits.max() as f64 / 1e3,
            jain: row.jain(),
            lines: row.each(row.lines_moved() as f64).unwrap_or(0.0),
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
    pub(super) is_rival: bool,
    pub(super) cells: Vec<Cell>,
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
                Some(guests) => format!("{threads} on 1/{}", guests.overcommit),
            });
        }
        for lock in &plan.locks {
            let own = rows.iter().filter(|row| row.lock == lock.name);
            let cells = own.map(Cell::of);
            match self.lines.iter_mut().find(|line| line.lock == lock.name) {
                Some(line) => line.cells.extend(cells),
                None => self.lines.push(Line {
                    lock: lock.name,
                    is_rival: lock.is_baseline,
                    cells: cells.collect(),
                }),
            }
        }
    }

    /// Ours, or the rivals, in a column.
    pub(super) fn of(&self, rivals: bool, column: usize) -> impl Iterator<Item = (&Line, &Cell)> {
        let own = self.lines.iter().filter(move |l| l.is_rival == rivals);
        own.filter_map(move |line| Some((line, line.cells.get(column)?)))
    }
}
