// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A hot global spinlock of ext4 against the write side of read/write locks.

use super::cell::{Cell, Extent, Measure, Role, Trial, Unit};
use super::lab;
use super::published::{published, Figure};
use super::table::Table;
use super::target::Target;
use crate::Placement;
use anyhow::Result;
use serde::Deserialize;

pub(crate) const NAME: &str = "mb-cache";
const TITLE: &str = "AIM7 disk on ext4, change of jobs a minute against the ticket lock";
const MACHINE: &str = "dl980";
/// Both read/write locks gain about as much in two of the rows.
const TIE: f64 = 0.03;
/// What is measured of each simulation, µs.
const MEASURE_US: f64 = 4_000.0;

#[derive(Deserialize)]
struct Row {
    user_range: String,
    #[serde(rename = "HT")]
    ht: String,
    #[serde(rename = "ticket_vanilla_3.10")]
    ticket: Figure,
    qrwlock: Figure,
    rwlock: Figure,
    #[serde(rename = "qrwlock_change_pct")]
    qrwlock_printed: Figure,
    #[serde(rename = "rwlock_change_pct_by_tglx")]
    rwlock_printed: Figure,
}

impl Row {
    /// Column, printed change in percent, jobs a minute.
    fn columns(&self) -> [(&'static str, f64, f64); 2] {
        [
            ("qrwlock", self.qrwlock_printed.0, self.qrwlock.0),
            ("rwlock", self.rwlock_printed.0, self.rwlock.0),
        ]
    }
}

/// The printed changes that are not those of the printed jobs a minute.
fn errata(rows: &[Row]) -> String {
    let mut all = Vec::new();
    for row in rows {
        for (_, printed, jobs) in row.columns() {
            let printed = format!("{printed:.1}");
            let of_jobs = format!("{:.1}", (jobs / row.ticket.0 - 1.0) * 100.0);
            if printed != of_jobs {
                all.push(format!("+{printed} % (by its jobs a minute +{of_jobs} %)"));
            }
        }
    }
    all.join(", ")
}

/// The table.
///
/// # Errors
/// Its file, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("qrwlock_mbcache_jpm.csv");
    let machine = lab::machine(MACHINE)?;
    let workload = lab::timed(lab::workload("mb-cache")?, MEASURE_US);
    let rows: Vec<Row> = file.rows()?;
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.figures = file.figures()?;
    table.machine = machine.name.clone();
    table.notes = vec![
        "All acquisitions are exclusive: the read/write locks are used as write locks.".into(),
        "The think time is fitted to the ticket lock's share of the time, which two figures of \
         this table give: data/workloads/mb-cache.toml."
            .into(),
        lab::USERS.into(),
        format!("Changes are as printed: {}.", errata(&rows)),
    ];
    for row in rows {
        let part = lab::part(&machine, machine.nodes(), row.ht == "on")?;
        let steps = lab::steps(&row.user_range)?;
        let trials = |table: &mut Table, name: &str| -> Result<Vec<usize>> {
            let lock = lab::lock(name)?;
            let trial = |&threads| {
                table.trial(Trial {
                    machine: part.clone(),
                    lock,
                    workload: workload.clone(),
                    threads,
                    placement: Placement::Spread,
                    extent: Extent::Steady,
                })
            };
            Ok(steps.iter().map(trial).collect())
        };
        let base = trials(&mut table, "ticket_vanilla")?;
        for (column, printed, _) in row.columns() {
            let with = trials(&mut table, column)?;
            let name = format!("{} users, HT {}", row.user_range, row.ht);
            table.cells.push(Cell {
                row: name.clone(),
                column: column.to_owned(),
                group: name,
                published: 1.0 + printed / 100.0,
                unit: Unit::Change,
                role: Role::Prediction,
                base: None,
                trials: [with, base.clone()].concat(),
                measure: Measure::RateOver,
            });
        }
    }
    table.targets = vec![Target::ranks(
        "rows with the two read/write locks out of order",
    )];
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!((table.cells.len(), table.trials.len()), (12, 72));
        let shown: Vec<String> = table
            .cells
            .iter()
            .map(|cell| cell.unit.show(cell.published))
            .collect();
        assert_eq!(
            [&shown[0], &shown[2], &shown[5], &shown[7]],
            ["+20.7 %", "+30.1 %", "+63.3 %", "+48.8 %"]
        );
        let note = table.notes.last().expect("a note");
        for of_jobs in ["+30.0 %", "+63.8 %", "+48.7 %"] {
            assert!(note.contains(of_jobs), "{note}");
        }
        assert_eq!(note.matches("jobs").count(), 3, "{note}");
        let cpus = |cell: usize| table.trials[table.cells[cell].trials[0]].machine.cpus();
        assert_eq!((cpus(0), cpus(2)), (80, 160));
        for cell in &table.cells {
            let [with, base] = [0, cell.trials.len() / 2].map(|i| &table.trials[cell.trials[i]]);
            assert_eq!(with.threads, base.threads);
            assert_eq!(
                (base.lock, with.lock),
                ("ticket_lock", cell.column.as_str())
            );
            assert_eq!((with.workload.reads, &with.workload), (0.0, &base.workload));
        }
    }
}
