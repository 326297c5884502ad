// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! locktorture on mutexes whose queue of spinners knows clusters of CPUs, on
//! machines for which nobody published figures of it.

use super::bound::Bound;
use super::cell::{Beside, Extent, Measure, Trial, Unit, Wanted, NO_LOSS};
use super::lab;
use super::table::Table;
use crate::machine::Machine;
use crate::workload::Workload;
use crate::Placement;
use anyhow::Result;
use std::sync::Arc;

pub(crate) const NAME: &str = "numa-osq";
const TITLE: &str = "locktorture over the mutex's: queues of spinners that know clusters";
/// Machines, and writers: a few of one cluster, those of some, one on each core.
const ROWS: [(&str, [usize; 3]); 4] = [
    ("westmere-ex-4s", [4, 20, 40]),
    ("dl980", [4, 20, 80]),
    ("epyc-9654", [4, 24, 192]),
    ("kh-40000-2s", [4, 16, 64]),
];
/// With fewer writers no queue is divided.
const FEW: usize = 8;
/// What is measured of many writers, µs, and what passes before it: at first, and
/// later, when the published lock has divided its queue.
const MEASURE_US: f64 = 20_000.0;
const FIRST_US: f64 = 2_000.0;
const LATER_US: f64 = 30_000.0;
/// What our lock's throughput over the mutex's has to be: no loss with few writers, and
/// a gain with many.
fn wanted(writers: usize) -> Wanted {
    Wanted::Is(Bound::AtLeast(if writers <= FEW { NO_LOSS } else { 1.1 }))
}

/// How long to measure, µs. The fewer the writers, the more of the time is in long
/// holds, which are rare and come by chance.
pub(super) fn measured(writers: usize) -> f64 {
    match writers {
        0..=FEW => 480_000.0 / writers.max(1) as f64,
        _ => 60_000.0,
    }
}

/// Writers on a machine.
pub(super) struct Writers<'a> {
    pub row: String,
    pub machine: &'a Arc<Machine>,
    pub workload: &'a Workload,
    pub threads: usize,
    pub extent: Extent,
}

impl Writers<'_> {
    /// Their simulation with a lock.
    pub fn trial(&self, table: &mut Table, lock: &'static str) -> usize {
        table.trial(Trial {
            machine: Arc::clone(self.machine),
            lock,
            workload: self.workload.clone(),
            threads: self.threads,
            placement: Placement::Compact,
            extent: self.extent,
        })
    }

    fn enter(
        &self,
        table: &mut Table,
        column: &str,
        (unit, measure): (Unit, Measure),
        trials: Vec<usize>,
        wanted: Option<Wanted>,
    ) {
        table.beside.push(Beside {
            row: self.row.clone(),
            column: column.to_owned(),
            unit,
            wanted,
            trials,
            measure,
        });
    }

    /// Our lock's throughput over the mutex's, beside the table's last cell, which is of the
    /// published lock. It has to be as good as that one, where a gain was published; and no loss.
    pub fn ours_over_mutex(&self, table: &mut Table, trial: usize) {
        let cell = table.cells.len() - 1;
        let wanted = match table.cells[cell].published > 1.0 + table.tie {
            true => Wanted::AsGoodAs(cell),
            false => Wanted::Is(Bound::AtLeast(NO_LOSS)),
        };
        self.over_mutex(table, "mutex_numa over mutex", trial, Some(wanted));
    }

    /// A lock's throughput over the mutex's.
    pub fn over_mutex(
        &self,
        table: &mut Table,
        column: &str,
        trial: usize,
        wanted: Option<Wanted>,
    ) {
        let trials = vec![trial, self.trial(table, "mutex")];
        let what = (Unit::Change, Measure::RateOver);
        self.enter(table, column, what, trials, wanted);
    }

    /// The longest wait of a lock.
    pub fn longest(&self, table: &mut Table, lock: &str, trial: usize) {
        let column = format!("longest wait, µs: {lock}");
        let what = (Unit::Us, Measure::LongestWait);
        self.enter(table, &column, what, vec![trial], None);
    }
}

/// The table.
///
/// # Errors
/// A machine or the workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let source =
        "no locktorture figures of these machines; other loads of three of them".to_owned();
    let mut table = Table::new(NAME, TITLE, source, 0.0);
    table.machine = ROWS.map(|(name, _)| name).join(", ");
    table.notes = vec![
        "mutex_numa_2024 is the published lock as described, its faults kept.".into(),
        "\"At first\" is the time from 2 to 22 ms, on purpose: until the published lock's queue \
         has drained, all that come spin on a word of the mutex's own line. All else is \
         measured after 30 ms or later."
            .into(),
    ];
    let workload = lab::workload("locktorture-mutex")?;
    let after = |warmup_us| Workload {
        warmup_us,
        ..lab::timed(workload.clone(), MEASURE_US)
    };
    let [first, later] = [FIRST_US, LATER_US].map(after);
    for (name, all) in ROWS {
        let machine = lab::machine(name)?;
        for threads in all {
            let few = lab::timed(workload.clone(), measured(threads));
            let writers = |workload, extent| Writers {
                row: format!("{name}, {threads} writers"),
                machine: &machine,
                workload,
                threads,
                extent,
            };
            let first = writers(&first, Extent::Start);
            match threads {
                0..=FEW => row(&mut table, &writers(&few, Extent::Steady), None),
                _ => row(&mut table, &writers(&later, Extent::Steady), Some(&first)),
            }
        }
    }
    Ok(table)
}

fn row(table: &mut Table, at: &Writers, first: Option<&Writers>) {
    let locks = ["mutex", "mutex_numa_2024", "mutex_numa"];
    let trials = locks.map(|lock| at.trial(table, lock));
    if let Some(first) = first {
        let published = first.trial(table, locks[1]);
        first.over_mutex(table, "mutex_numa_2024, at first", published, None);
    }
    at.over_mutex(table, locks[1], trials[1], None);
    at.over_mutex(table, locks[2], trials[2], Some(wanted(at.threads)));
    for (lock, trial) in locks.into_iter().zip(trials) {
        at.longest(table, lock, trial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_three_locks_and_a_target() {
        let table = table().expect("the table");
        assert_eq!(
            (table.beside.len(), table.trials.len()),
            (4 * 5 + 8 * 6, 4 * 3 + 8 * 5)
        );
        let wanted: Vec<&Beside> = table.beside.iter().filter(|b| b.wanted.is_some()).collect();
        assert_eq!(wanted.len(), 12);
        for one in wanted {
            let [ours, base] = [0, 1].map(|at| &table.trials[one.trials[at]]);
            assert_eq!((ours.lock, base.lock), ("mutex_numa", "mutex"));
            assert_eq!(ours.threads, base.threads);
            assert!(ours.threads <= ours.machine.cpus() && ours.machine == base.machine);
        }
    }
}
