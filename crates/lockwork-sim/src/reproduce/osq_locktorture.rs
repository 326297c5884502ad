// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! locktorture on a mutex, 1 to 64 writers that stay on their CPUs, and on two whose
//! queue of spinners knows clusters: the published one, and ours.

use super::bound::Bound;
use super::cell::{Cell, Extent, Measure, Role, Unit, Wanted, NO_LOSS};
use super::lab;
use super::numa_osq::{measured, Writers};
use super::published::{published, Figure};
use super::table::Table;
use super::target::Target;
use crate::workload::Workload;
use anyhow::{bail, Result};
use serde::Deserialize;

pub(crate) const NAME: &str = "osq-locktorture";
const TITLE: &str = "operations, relative to one writer: mutex over its spin queue";
/// Its column is over the stock lock with as many writers.
const KNOWS_CLUSTERS: &str = "NUMA-aware";
const MACHINE: &str = "epyc-7551";
/// The printed coefficient of variation is 2 to 7 %.
const TIE: f64 = 0.03;

#[derive(Deserialize)]
struct Row {
    writers: usize,
    #[serde(rename = "stock_6.6.28_4byte_ops")]
    stock: Figure,
    #[serde(rename = "dyn_disabled_2byte_ops")]
    two_bytes: Figure,
    #[serde(rename = "dyn_enabled_2byte_ops")]
    enabled: Figure,
}

impl Row {
    /// Column, the lock's published name, role, value.
    fn columns(&self) -> [(&'static str, &'static str, Role, f64); 2] {
        [
            ("stock", "stock", Role::Prediction, self.stock.0),
            ("2-byte tail", "stock", Role::Shown, self.two_bytes.0),
        ]
    }
}

/// What our lock's throughput over the mutex's has to be: no loss where the
/// published one lost, and its gains.
fn wanted(writers: usize) -> Wanted {
    Wanted::Is(Bound::AtLeast(match writers {
        0..=8 => NO_LOSS,
        9..=32 => 1.72,
        33..=48 => 1.80,
        _ => 1.91,
    }))
}

/// The table.
///
/// # Errors
/// Its file, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("osq_locktorture_affinity_epyc7551.csv");
    let machine = lab::machine(MACHINE)?;
    let workload = lab::workload("locktorture-mutex")?;
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.figures = file.figures()?;
    table.machine = machine.name.clone();
    table.notes = vec![
        "One writer is 1 by definition; of NUMA-aware it is shown, as nobody waits.".into(),
        "NUMA-aware: the published lock as described, mutex_numa_2024, over stock with as many \
         writers. mutex_numa is ours."
            .into(),
        "The 2-byte tail is simulated by the same lock: the model knows no difference between \
         2 and 4 bytes of a line."
            .into(),
        "Published operations are of a run whose length is not stated: hence only the shape."
            .into(),
    ];
    let rows: Vec<Row> = file.rows()?;
    let Some(one) = rows.iter().find(|row| row.writers == 1) else {
        bail!("data/published/{} has no row of one writer", file.name);
    };
    let timed = |threads| lab::timed(workload.clone(), measured(threads));
    let workloads: Vec<Workload> = rows.iter().map(|row| timed(row.writers)).collect();
    let alone = timed(1);
    for (row, workload) in rows.iter().zip(&workloads) {
        let writers = |threads: usize, workload| Writers {
            row: match threads {
                1 => "1 writer".to_owned(),
                n => format!("{n} writers"),
            },
            machine: &machine,
            workload,
            threads,
            extent: Extent::Steady,
        };
        enter(
            &mut table,
            row,
            one,
            &writers(row.writers, workload),
            &writers(1, &alone),
        )?;
    }
    table.targets = vec![Target::worst_error(0.25)];
    Ok(table)
}

/// A row: the published columns, and ours beside them.
fn enter(table: &mut Table, row: &Row, one: &Row, at: &Writers, alone: &Writers) -> Result<()> {
    let shown = |role| if row.writers == 1 { Role::Shown } else { role };
    let cell = |column: &str, published, unit, role, trials| Cell {
        row: at.row.clone(),
        column: column.to_owned(),
        group: column.to_owned(),
        published,
        unit,
        role: shown(role),
        base: None,
        trials,
        measure: Measure::RateOver,
    };
    for ((column, lock, role, ops), of_one) in row.columns().into_iter().zip(one.columns()) {
        let lock = lab::lock(lock)?;
        let trials = vec![at.trial(table, lock), alone.trial(table, lock)];
        let published = ops / of_one.3;
        table
            .cells
            .push(cell(column, published, Unit::Times, role, trials));
    }
    let [mutex, enabled] = [lab::lock("stock")?, lab::lock("dyn_enabled")?];
    let [mutex, enabled, ours] = [mutex, enabled, "mutex_numa"].map(|lock| at.trial(table, lock));
    let (published, trials) = (row.enabled.0 / row.stock.0, vec![enabled, mutex]);
    table.cells.push(cell(
        KNOWS_CLUSTERS,
        published,
        Unit::Change,
        Role::Prediction,
        trials,
    ));
    at.over_mutex(
        table,
        "mutex_numa over mutex",
        ours,
        Some(wanted(row.writers)),
    );
    at.longest(table, "mutex", mutex);
    at.longest(table, "mutex_numa_2024", enabled);
    at.longest(table, "mutex_numa", ours);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!((table.cells.len(), table.trials.len()), (24, 24));
        assert_eq!(table.beside.len(), 8 * 4);
        let predictions: Vec<&Cell> = table
            .cells
            .iter()
            .filter(|cell| cell.role == Role::Prediction && cell.column == "stock")
            .collect();
        assert_eq!(predictions.len(), 7);
        let known = |cell: &&Cell| cell.column == KNOWS_CLUSTERS && cell.row == "16 writers";
        let known = table.cells.iter().find(known).expect("a cell");
        assert_eq!(known.unit.show(known.published), "+72.4 %");
        let last = predictions.last().expect("64 writers");
        assert!((last.published - 59_054_128.0 / 21_047_265.0).abs() < 1e-9);
        assert_eq!(table.trials[last.trials[0]].threads, 64);
        assert_eq!(table.trials[last.trials[1]].threads, 1);
        assert!(table.trials.iter().all(|trial| trial.workload.affinity));
    }
}
