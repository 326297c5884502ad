// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What was simulated already: parts that have a machine and a number of threads in common
//! share the figures. A simulation depends on nothing else that its command asks for.

use super::counters::Counter;
use super::found::Cell;
use crate::command::plan::Plan;
use crate::command::rows::Row;

/// What one lock did with one number of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) lock: &'static str,
    pub(super) is_rival: bool,
    pub(super) threads: usize,
    pub(super) cell: Cell,
    pub(super) counter: Counter,
}

/// What a command found.
pub(super) fn entries(plan: &Plan, rows: &[Row]) -> Vec<Entry> {
    let entry = |row: &Row| {
        let lock = plan.locks.iter().find(|lock| lock.name == row.lock)?;
        Some(Entry {
            lock: lock.name,
            is_rival: lock.is_baseline,
            threads: row.threads,
            cell: Cell::of(row),
            counter: Counter::of(row),
        })
    };
    rows.iter().filter_map(entry).collect()
}

/// The words of a command up to its threads. Parts that share name what else they ask for
/// before these, and behind them the locks at most.
fn base(command: &str) -> &str {
    command.split(" --threads ").next().unwrap_or(command)
}

/// Entries, each with the base of the command that it is of.
#[derive(Debug, Default)]
pub(super) struct Shared(Vec<(String, Entry)>);

impl Shared {
    /// Keeps what `command` found.
    pub(super) fn keep(&mut self, command: &str, entries: &[Entry]) {
        let own = entries
            .iter()
            .map(|entry| (base(command).to_owned(), *entry));
        self.0.extend(own);
    }

    /// What is there of a lock that `command` names, with so many threads.
    pub(super) fn find(&self, command: &str, lock: &str, threads: usize) -> Option<Entry> {
        let base = base(command);
        let is = |(of, entry): &&(String, Entry)| {
            of == base && entry.lock == lock && entry.threads == threads
        };
        self.0.iter().find(is).map(|(_, entry)| *entry)
    }
}
