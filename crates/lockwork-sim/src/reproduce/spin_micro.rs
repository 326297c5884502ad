// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Four spinlocks, 1 to 8 tasks on one socket or one on each.

use super::bound::{Bound, Form};
use super::cell::{Cell, Extent, Measure, Role, Trial, Unit};
use super::lab;
use super::published::{published, Figure};
use super::table::Table;
use super::target::Target;
use crate::machine::{Distance, Machine};
use crate::workload::Workload;
use crate::Placement;
use anyhow::{bail, Result};
use serde::Deserialize;

pub(crate) const NAME: &str = "spin-micro";
const TITLE: &str = "time of 5 million loops of each task, four spinlocks";
const MACHINE: &str = "westmere-ex-4s";
/// Loops of each task in the published benchmark.
pub(super) const PUBLISHED_LOOPS: f64 = 5e6;
/// Loops that are simulated.
const LOOPS: u64 = 10_000;
/// The printed times have about this resolution: 135 and 137 ms are one time.
const TIE: f64 = 0.03;
/// The row's name in the file and in the table.
const PER_NODE: &str = "one_task_per_node";

#[derive(Deserialize)]
struct Row {
    placement: String,
    n: usize,
    ticket_ms: Figure,
    fair_queue_ms: Figure,
    unfair_queue_ms: Figure,
    unfair_byte_ms: Figure,
}

impl Row {
    fn columns(&self) -> [(&'static str, f64); 4] {
        [
            ("ticket", self.ticket_ms.0),
            ("fair_queue", self.fair_queue_ms.0),
            ("unfair_queue", self.unfair_queue_ms.0),
            ("unfair_byte", self.unfair_byte_ms.0),
        ]
    }
}

/// The placement that the files of this benchmark name so.
///
/// # Errors
/// There is none.
pub(super) fn placement(name: &str) -> Result<Placement> {
    match name {
        "same_node" => Ok(Placement::Compact),
        PER_NODE => Ok(Placement::PerNode),
        other => bail!("'{other}' is no placement that can be simulated"),
    }
}

/// What is simulated of the benchmark's loops.
///
/// # Errors
/// The workload's file is wrong.
pub(super) fn workload() -> Result<Workload> {
    Ok(lab::looped(lab::workload("spin-micro")?, LOOPS))
}

/// So many tasks, placed so.
pub(super) fn row_name(placement: &str, n: usize) -> String {
    format!("{placement} {n}")
}

/// The table.
///
/// # Errors
/// Its file, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("qspinlock_micro.csv");
    let machine = lab::machine(MACHINE)?;
    let workload = workload()?;
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.figures = file.figures()?;
    table.machine = machine.name.clone();
    table.notes = vec![format!(
        "Simulated: {LOOPS} loops of each task or more, scaled to 5 million."
    )];
    let rows: Vec<Row> = file.rows()?;
    for row in &rows {
        let base = table.cells.len();
        for (column, ms) in row.columns() {
            let trial = table.trial(Trial {
                machine: machine.clone(),
                lock: lab::lock(column)?,
                workload: workload.clone(),
                threads: row.n,
                placement: placement(&row.placement)?,
                extent: Extent::Steady,
            });
            table.cells.push(Cell {
                row: row_name(&row.placement, row.n),
                column: column.to_owned(),
                group: row_name(&row.placement, row.n),
                published: ms,
                unit: Unit::Ms,
                role: Role::Prediction,
                base: (column != "ticket").then_some(base),
                trials: vec![trial],
                measure: Measure::Finished(PUBLISHED_LOOPS / 1e6),
            });
        }
    }
    table.targets = targets(&rows, &machine);
    Ok(table)
}

fn targets(rows: &[Row], machine: &Machine) -> Vec<Target> {
    let [two, three, four] = [2, 3, 4].map(|n| row_name(PER_NODE, n));
    vec![
        Target::ranks("rows with the four locks out of order"),
        Target::worst_factor(2.0),
        // The pending bit serves two tasks without a queue; with four, the queue
        // finds its next waiter ready more often than with three.
        Target::less("fair_queue", &two, &three),
        Target::less("fair_queue", &two, &four),
        Target::less("fair_queue", &four, &three),
        below_one_hop(rows, machine),
    ]
}

/// ns of each acquisition, of `n` tasks that took so many ms.
fn ns_each(ms: f64, n: usize) -> f64 {
    ms * 1e6 / (n as f64 * PUBLISHED_LOOPS)
}

/// An unfair lock makes several acquisitions for each time that its line goes
/// from socket to socket: where that shows in print, it must be simulated.
fn below_one_hop(rows: &[Row], machine: &Machine) -> Target {
    let hop = machine.costs[Distance::Hop1 as usize].rmw;
    let mut cells = Vec::new();
    for row in rows
        .iter()
        .filter(|row| row.placement == PER_NODE && row.n > 1)
    {
        for (column, ms) in row.columns() {
            if column.starts_with("unfair") && ns_each(ms, row.n) < hop {
                cells.push((row_name(&row.placement, row.n), column, row.n));
            }
        }
    }
    let name = format!(
        "ns of an unfair acquisition, where published below one hop ({} cells)",
        cells.len()
    );
    Target::new(name, Form::Ns, Bound::Under(hop), move |sheet| {
        let each = cells
            .iter()
            .map(|(row, column, n)| Some(ns_each(sheet.value(row, column)?, *n)));
        let each: Option<Vec<f64>> = each.collect();
        each?.into_iter().max_by(f64::total_cmp)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!((table.cells.len(), table.trials.len()), (48, 48));
        let cell = &table.cells[45];
        assert_eq!(
            (cell.row.as_str(), cell.published),
            ("one_task_per_node 4", 10507.0)
        );
        assert_eq!(table.trials[cell.trials[0]].lock, "qspinlock_fair");
        assert_eq!(table.trials[cell.trials[0]].placement, Placement::PerNode);
    }

    #[test]
    fn an_acquisition_costs_its_share_of_the_time() {
        assert_eq!(ns_each(135.0, 1), 27.0);
        assert!((ns_each(3731.0, 4) - 186.55).abs() < 1e-9);
    }
}
