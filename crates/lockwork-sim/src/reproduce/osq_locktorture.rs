// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! locktorture on a mutex, 1 to 64 writers that stay on their CPUs.

use super::lab;
use super::published::{published, Figure};
use super::table::{Cell, Measure, Role, Table, Trial, Unit};
use super::target::Target;
use crate::Placement;
use anyhow::{bail, Result};
use serde::Deserialize;

pub(crate) const NAME: &str = "osq-locktorture";
const TITLE: &str = "operations, relative to one writer: mutex over its spin queue";
const MACHINE: &str = "epyc-7551";
/// The printed coefficient of variation is 2 to 7 %.
const TIE: f64 = 0.03;
/// What is measured of each simulation, µs.
const MEASURE_US: f64 = 20_000.0;

/// The columns that have a lock here. The third of the file, the queue that
/// knows nodes, joins with its lock.
#[derive(Deserialize)]
struct Row {
    writers: usize,
    #[serde(rename = "stock_6.6.28_4byte_ops")]
    stock: Figure,
    #[serde(rename = "dyn_disabled_2byte_ops")]
    two_bytes: Figure,
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

/// The table.
///
/// # Errors
/// Its file, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("osq_locktorture_affinity_epyc7551.csv");
    let machine = lab::machine(MACHINE)?;
    let workload = lab::timed(lab::workload("locktorture-mutex")?, MEASURE_US);
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.machine = machine.name.clone();
    table.notes = vec![
        "One writer is 1 by definition.".into(),
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
    let trial = |lock: &str, writers: usize| -> Result<Trial> {
        Ok(Trial {
            machine: machine.clone(),
            lock: lab::lock(lock)?,
            workload: workload.clone(),
            threads: writers,
            placement: Placement::Compact,
        })
    };
    for row in &rows {
        for ((column, lock, role, ops), of_one) in row.columns().into_iter().zip(one.columns()) {
            let trials = vec![
                table.trial(trial(lock, row.writers)?),
                table.trial(trial(lock, 1)?),
            ];
            table.cells.push(Cell {
                row: match row.writers {
                    1 => "1 writer".to_owned(),
                    n => format!("{n} writers"),
                },
                column: column.to_owned(),
                group: column.to_owned(),
                published: ops / of_one.3,
                unit: Unit::Times,
                role: if row.writers == 1 { Role::Shown } else { role },
                base: None,
                trials,
                measure: Measure::RateOver,
            });
        }
    }
    table.targets = vec![Target::worst_error(0.25)];
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!((table.cells.len(), table.trials.len()), (16, 8));
        let predictions: Vec<&Cell> = table
            .cells
            .iter()
            .filter(|cell| cell.role == Role::Prediction)
            .collect();
        assert_eq!(predictions.len(), 7);
        let last = predictions.last().expect("64 writers");
        assert!((last.published - 59_054_128.0 / 21_047_265.0).abs() < 1e-9);
        assert_eq!(table.trials[last.trials[0]].threads, 64);
        assert_eq!(table.trials[last.trials[1]].threads, 1);
        assert!(table.trials.iter().all(|trial| trial.workload.affinity));
    }
}
