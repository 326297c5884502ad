// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The lock of ext4's journal: a queued read/write lock over the one before.

use super::cell::{Cell, Extent, Measure, Role, Trial, Unit};
use super::lab;
use super::published::published;
use super::table::Table;
use super::target::Target;
use crate::Placement;
use anyhow::{ensure, Result};
use serde::Deserialize;

pub(crate) const NAME: &str = "j-state";
const TITLE: &str = "AIM7 fserver on ext4, change of jobs a minute with a queued journal lock";
const MACHINE: &str = "dl980";
/// The greatest change that the mail takes for nothing is 1.9 %.
const TIE: f64 = 0.03;
/// What is measured of each simulation at first, µs.
const MEASURE_US: f64 = 5_000.0;

#[derive(Deserialize)]
struct Row {
    workload: String,
    #[serde(rename = "HT_as_printed")]
    ht: String,
    pct_10_100: f64,
    pct_200_1000: f64,
    pct_1100_2000: f64,
}

impl Row {
    fn columns(&self) -> [(&'static str, f64); 3] {
        [
            ("10-100", self.pct_10_100),
            ("200-1000", self.pct_200_1000),
            ("1100-2000", self.pct_1100_2000),
        ]
    }
}

/// The table.
///
/// # Errors
/// Its file, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("qrwlock_jstate_pct.csv");
    let machine = lab::machine(MACHINE)?;
    let workload = lab::timed(lab::workload("j-state-lock")?, MEASURE_US);
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.figures = file.figures()?;
    table.machine = machine.name.clone();
    table.notes = vec![
        "Hyper-threading is as printed. Gleixner suspects that the labels of new_fserver are \
         swapped; the author's answer, that the lock takes 1-2 % of the CPU time without and \
         more than 20 % with hyper-threading, fits those of fserver."
            .into(),
        "The think time is fitted to these 1-2 % without hyper-threading, with the simulated rwlock \
         (data/workloads/j-state-lock.toml)."
            .into(),
        "fserver and new_fserver are one workload here: the mail does not say how they use the \
         lock. So the rows of new_fserver are shown only."
            .into(),
        lab::USERS.into(),
    ];
    for row in file.rows::<Row>()? {
        let part = lab::part(&machine, machine.nodes(), row.ht == "on")?;
        for (range, percent) in row.columns() {
            ensure!(percent > -100.0, "a change of {percent} % leaves nothing");
            let mut trials = Vec::new();
            for lock in ["qrwlock", "rwlock"] {
                for threads in lab::steps(range)? {
                    trials.push(table.trial(Trial {
                        machine: part.clone(),
                        lock: lab::lock(lock)?,
                        workload: workload.clone(),
                        threads,
                        placement: Placement::Spread,
                        extent: Extent::Steady,
                    }));
                }
            }
            table.cells.push(Cell {
                row: format!("{}, {range} users, HT {}", row.workload, row.ht),
                column: "qrwlock over rwlock".to_owned(),
                group: format!("{}, {range} users", row.workload),
                published: 1.0 + percent / 100.0,
                unit: Unit::Change,
                role: match row.workload.as_str() {
                    "fserver" => Role::Prediction,
                    _ => Role::Shown,
                },
                base: None,
                trials,
                measure: Measure::RateOver,
            });
        }
    }
    table.targets = vec![
        Target::ranks("users for whom hyper-threading turns it the other way"),
        Target::worst_factor(2.0),
    ];
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        // Both workloads are the same simulations.
        assert_eq!((table.cells.len(), table.trials.len()), (12, 48));
        let shown: Vec<String> = table
            .cells
            .iter()
            .map(|cell| cell.unit.show(cell.published))
            .collect();
        assert_eq!(
            [&shown[0], &shown[4], &shown[11]],
            ["+0.3 %", "+32.2 %", "+40.5 %"]
        );
        let trials = |row: &str| {
            let cell = table.cells.iter().find(|cell| cell.row == row);
            cell.expect(row).trials.clone()
        };
        let [old, new] =
            ["fserver", "new_fserver"].map(|name| format!("{name}, 10-100 users, HT on"));
        assert_eq!(trials(&old), trials(&new));
    }
}
