// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! FxMark's items that share one file or one directory: the NUMA-aware queue over the
//! mutex as it was, by cores, on two machines.

use super::cell::{Cell, Extent, Measure, Role, Unit};
use super::lab;
use super::numa_osq::Writers;
use super::osq_macro::machine;
use super::published::{published, Figure};
use super::table::Table;
use super::target::Target;
use anyhow::{Context, Result};
use serde::Deserialize;

pub(crate) const NAME: &str = "fxmark";
const TITLE: &str = "FxMark, change of the NUMA-aware queue against the mutex, by cores";
/// Most printed coefficients of variation are 0.3 to 5 %.
const TIE: f64 = 0.05;
/// The items that are simulated, and our workload for each.
const ITEMS: [(&str, &str); 4] = [
    ("DWOM", "fxmark-dwom"),
    ("MWRM", "fxmark-mwrm"),
    ("MWCM", "fxmark-mwcm"),
    ("MWUM", "fxmark-mwum"),
];
/// With fewer cores no queue of ours is divided.
const FEW: usize = 8;

#[derive(Deserialize)]
struct Row {
    machine: String,
    #[serde(rename = "fxmark_item")]
    item: String,
    cores: usize,
    improve_pct: f64,
}

impl Row {
    /// The new over the old.
    fn ratio(&self) -> Result<Figure> {
        let ratio = 1.0 + self.improve_pct / 100.0;
        (ratio > 0.0)
            .then_some(Figure(ratio))
            .with_context(|| format!("a change of {} % leaves nothing", self.improve_pct))
    }
}

/// The table.
///
/// # Errors
/// Its file, a machine or a workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("osq_fxmark.csv");
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.figures = file.figures()?;
    table.machine = "epyc-7551, kh-40000-1s".to_owned();
    table.notes = vec![
        "All costs of the KH-40000 are assumed.".into(),
        "Four items of nineteen; lockwork reproduce --list says why the others are not here."
            .into(),
        "Sections are derived from what the new lock did with 64 cores of the EPYC, not from \
         the gain; the same workload is simulated on the KH-40000, whose file system is another."
            .into(),
        "The published locks of MWRM, MWCM and MWUM are the write sides of a read/write \
         semaphore with the same queue of spinners; a mutex stands for them."
            .into(),
    ];
    table.notes.push(
        "One core is shown only: no writer waits, so that it is 1 whatever the queue.".into(),
    );
    for row in file.rows::<Row>()? {
        if let Some((_, workload)) = ITEMS.iter().find(|(item, _)| *item == row.item) {
            enter(&mut table, &row, workload)?;
        }
    }
    table.targets = vec![
        Target::ranks("orders by cores that are wrong (ties: 5 %)"),
        Target::worst_factor(2.0),
    ];
    Ok(table)
}

fn enter(table: &mut Table, row: &Row, workload: &str) -> Result<()> {
    let machine = machine(&row.machine)?;
    let workload = lab::workload(workload)?;
    let plural = if row.cores == 1 { "core" } else { "cores" };
    let at = Writers {
        row: format!("{}, {}, {} {plural}", row.item, machine.name, row.cores),
        machine: &machine,
        workload: &workload,
        threads: row.cores,
        extent: Extent::Steady,
    };
    let [mutex, enabled] = [lab::lock("stock")?, lab::lock("dyn_enabled")?];
    let [mutex, enabled] = [mutex, enabled].map(|lock| at.trial(table, lock));
    table.cells.push(Cell {
        row: at.row.clone(),
        column: "NUMA-aware".to_owned(),
        group: format!("{}, {}", row.item, machine.name),
        published: row.ratio()?.0,
        unit: Unit::Change,
        role: match row.cores {
            1 => Role::Shown,
            _ => Role::Prediction,
        },
        base: None,
        trials: vec![enabled, mutex],
        measure: Measure::RateOver,
    });
    if row.cores > FEW {
        let ours = at.trial(table, "mutex_numa");
        at.ours_over_mutex(table, ours);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::cell::Wanted;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!(table.cells.len(), 4 * 2 * 4);
        assert_eq!(table.beside.len(), 4 * 2 * 2);
        assert_eq!(
            table.trials.len(),
            2 * table.cells.len() + table.beside.len()
        );
        let shown = table.cells.iter().filter(|cell| cell.role == Role::Shown);
        assert!(shown.clone().all(|cell| cell.row.ends_with(", 1 core")));
        assert_eq!(shown.count(), 8);
        let goals = table.beside.iter().map(|one| match one.wanted {
            Some(Wanted::AsGoodAs(cell)) => Some(table.cells[cell].row.clone()),
            _ => None,
        });
        for (one, goal) in table.beside.iter().zip(goals) {
            let beside = table.cells.iter().find(|cell| cell.row == one.row);
            let gained = beside.expect("a cell").published > 1.0 + TIE;
            assert_eq!(goal, gained.then(|| one.row.clone()));
        }
        let cell = |row: &str| table.cells.iter().find(|cell| cell.row == row);
        let most = cell("DWOM, epyc-7551, 64 cores").expect("a cell");
        assert_eq!(most.unit.show(most.published), "+210.4 %");
        let alone = cell("MWUM, kh-40000-1s, 1 core").expect("a cell");
        assert_eq!(alone.unit.show(alone.published), "-3.1 %");
        assert_eq!(table.trials[alone.trials[0]].threads, 1);
    }
}
