// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A mutex that reads before each atomic operation, on 1 to 8 nodes.

use super::bound::{Bound, Form};
use super::cell::{Cell, Extent, Measure, Role, Trial, Unit};
use super::lab;
use super::published::{published, Figure};
use super::table::Table;
use super::target::{Target, Values};
use crate::machine::Machine;
use crate::workload::Workload;
use crate::Placement;
use anyhow::{bail, Result};
use serde::Deserialize;
use std::sync::Arc;

pub(crate) const NAME: &str = "mutex-nodes";
const TITLE: &str = "AIM7 high_systime, a mutex that reads first over one that does not";
const MACHINE: &str = "dl980";
/// The author takes less than 5 % for noise; one of these with, one without.
const TIE: f64 = 0.1;
/// What is measured of each simulation, µs.
const MEASURE_US: f64 = 10_000.0;
const RATIO: &str = "with / without";
const SLOW_WITHOUT: &str = "slow path without";
const SLOW_WITH: &str = "slow path with";
const SLOW_NODES: &str = "nodes at which the slow path with takes as much time as without, or more";

#[derive(Deserialize)]
struct Jobs {
    user_range: String,
    nodes: usize,
    #[serde(rename = "HT")]
    ht: String,
    jpm_without: Figure,
    jpm_with: Figure,
}

#[derive(Deserialize)]
struct SlowPath {
    nodes: usize,
    #[serde(rename = "HT")]
    ht: String,
    users: usize,
    #[serde(rename = "pct_time_in___mutex_lock_slowpath_without")]
    without: Figure,
    with: Figure,
}

struct Lab {
    machine: Arc<Machine>,
    workload: Workload,
}

impl Lab {
    fn trial(&self, lock: &str, nodes: usize, ht: &str, threads: usize) -> Result<Trial> {
        Ok(Trial {
            machine: lab::part(&self.machine, nodes, ht == "on")?,
            lock: lab::lock(lock)?,
            workload: self.workload.clone(),
            threads,
            placement: Placement::Spread,
            extent: Extent::Steady,
        })
    }
}

fn row_name(range: &str, ht: &str, nodes: usize) -> String {
    let plural = if nodes == 1 { "node" } else { "nodes" };
    format!("{range} users, HT {ht}, {nodes} {plural}")
}

/// The table.
///
/// # Errors
/// Its files, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("mutex_xchg_jpm.csv");
    let lab = Lab {
        machine: lab::machine(MACHINE)?,
        workload: lab::timed(lab::workload("aim7-high-systime")?, MEASURE_US),
    };
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    let slow = published!("mutex_slowpath_pct.csv");
    table.figures = file.figures()? + slow.figures()?;
    table.machine = lab.machine.name.clone();
    table.notes = vec![
        "The think time was chosen in sight of this table: docs/fidelity.md says why.".into(),
        "Ratios are of the published jobs a minute, not of the printed percents.".into(),
        "Slow path: here all CPU time within lock and unlock, the fast path too.".into(),
    ];
    let rows: Vec<Jobs> = file.rows()?;
    for row in &rows {
        jobs_cell(&mut table, &lab, row)?;
    }
    for row in slow.rows::<SlowPath>()? {
        slow_cells(&mut table, &lab, &row)?;
    }
    table.targets = targets(&rows);
    Ok(table)
}

fn jobs_cell(table: &mut Table, lab: &Lab, row: &Jobs) -> Result<()> {
    let threads = lab::users(&row.user_range)?;
    let with = lab.trial("mutex_with", row.nodes, &row.ht, threads)?;
    let without = lab.trial("mutex_without", row.nodes, &row.ht, threads)?;
    let trials = vec![table.trial(with), table.trial(without)];
    table.cells.push(Cell {
        row: row_name(&row.user_range, &row.ht, row.nodes),
        column: RATIO.to_owned(),
        group: format!("{} {}", row.user_range, row.ht),
        published: row.jpm_with.0 / row.jpm_without.0,
        unit: Unit::Times,
        role: Role::Prediction,
        base: None,
        trials,
        measure: Measure::RateOver,
    });
    Ok(())
}

fn slow_cells(table: &mut Table, lab: &Lab, row: &SlowPath) -> Result<()> {
    let range = match row.users {
        1100..=2000 => "1100-2000",
        users => bail!("{users} users are in no range of the table"),
    };
    for (column, lock, percent) in [
        (SLOW_WITHOUT, "mutex_without", row.without),
        (SLOW_WITH, "mutex_with", row.with),
    ] {
        let trial = lab.trial(lock, row.nodes, &row.ht, row.users)?;
        let trials = vec![table.trial(trial)];
        table.cells.push(Cell {
            row: row_name(range, &row.ht, row.nodes),
            column: column.to_owned(),
            group: column.to_owned(),
            published: percent.0 / 100.0,
            unit: Unit::Share,
            role: Role::Prediction,
            base: (column == SLOW_WITH).then(|| table.cells.len() - 1),
            trials,
            measure: Measure::InLock,
        });
    }
    Ok(())
}

/// The extreme (`worse` picks it) of the ratios with so many nodes.
fn extreme(
    rows: &[Jobs],
    nodes: &[usize],
    worse: fn(f64, f64) -> f64,
) -> impl Fn(&dyn Values) -> Option<f64> {
    let rows = rows.iter().filter(|row| nodes.contains(&row.nodes));
    let names: Vec<String> = rows
        .map(|row| row_name(&row.user_range, &row.ht, row.nodes))
        .collect();
    move |sheet: &dyn Values| {
        let ratios = sheet.values_of(&|cell| cell.column == RATIO && names.contains(&cell.row))?;
        ratios.into_iter().reduce(worse)
    }
}

fn targets(rows: &[Jobs]) -> Vec<Target> {
    let at = row_name("1100-2000", "off", 8);
    let few = [1, 2];
    vec![
        Target::ranks("orders by nodes that are wrong (ties: 10 %)"),
        Target::new(
            "least ratio at 1 and 2 nodes",
            Form::Times,
            Bound::AtLeast(0.9),
            extreme(rows, &few, f64::min),
        ),
        Target::new(
            "greatest ratio at 1 and 2 nodes",
            Form::Times,
            Bound::AtMost(1.1),
            extreme(rows, &few, f64::max),
        ),
        Target::new(
            "least ratio at 8 nodes",
            Form::Times,
            Bound::AtLeast(2.0),
            extreme(rows, &[8], f64::min),
        ),
        // 4 in words; 4.02 in print.
        Target::new(
            "greatest ratio at 8 nodes",
            Form::Times,
            Bound::AtMost(4.05),
            extreme(rows, &[8], f64::max),
        ),
        Target::cell(
            "8 nodes, HT off: time in the slow path, without",
            Form::Percent,
            Bound::Over(0.4),
            (&at, SLOW_WITHOUT),
        ),
        Target::cell(
            "8 nodes, HT off: time in the slow path, with",
            Form::Percent,
            Bound::Under(0.05),
            (&at, SLOW_WITH),
        ),
        Target::below(SLOW_NODES, SLOW_WITH, SLOW_WITHOUT),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        // The slow path's share is of simulations that the ratios need anyway.
        assert_eq!((table.cells.len(), table.trials.len()), (22, 32));
        let cpus = |cell: &Cell| table.trials[cell.trials[0]].machine.cpus();
        let all: Vec<usize> = table.cells[..8].iter().map(cpus).collect();
        assert_eq!(all, [160, 80, 80, 40, 40, 20, 20, 10]);
        // The printed change of this row (51.1 %) is an erratum.
        assert!((table.cells[2].published - 1.9317).abs() < 1e-3);
        let shares = table.cells.iter().filter(|cell| cell.unit == Unit::Share);
        let shares: Vec<f64> = shares.map(|cell| cell.published * 100.0).collect();
        assert_eq!(shares.len(), 6);
        assert!((shares[0] - 65.34).abs() < 1e-9 && (shares[1] - 0.69).abs() < 1e-9);
    }
}
