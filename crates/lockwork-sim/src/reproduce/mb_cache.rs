// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A hot global spinlock of ext4 as a read/write lock.

use super::lab;
use super::published::{published, Figure};
use super::table::{Cell, Measure, Role, Table, Trial, Unit};
use super::target::Target;
use crate::workload::Workload;
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
}

/// The table.
///
/// # Errors
/// Its file, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("qrwlock_mbcache_jpm.csv");
    let machine = lab::machine(MACHINE)?;
    let shared = lab::timed(lab::workload("mb-cache")?, MEASURE_US);
    // A spinlock knows no shared sections: each of them is as long, and alone.
    let exclusive = Workload {
        reads: 0.0,
        ..shared.clone()
    };
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.machine = machine.name.clone();
    table.notes = vec![
        "The think time was chosen in sight of this table: docs/fidelity.md says why.".into(),
        "Users of a range are its geometric middle: 32, 450 and 1500 threads.".into(),
    ];
    for row in file.rows::<Row>()? {
        let part = lab::part(&machine, machine.nodes(), row.ht == "on")?;
        let threads = lab::users(&row.user_range)?;
        let trial = |name: &str, workload: &Workload| -> Result<Trial> {
            Ok(Trial {
                machine: part.clone(),
                lock: lab::lock(name)?,
                workload: workload.clone(),
                threads,
                placement: Placement::Spread,
            })
        };
        let base = table.trial(trial("ticket_vanilla", &exclusive)?);
        for (column, jpm) in [("qrwlock", row.qrwlock), ("rwlock", row.rwlock)] {
            let with = table.trial(trial(column, &shared)?);
            let name = format!("{} users, HT {}", row.user_range, row.ht);
            table.cells.push(Cell {
                row: name.clone(),
                column: column.to_owned(),
                group: name,
                published: jpm.0 / row.ticket.0,
                unit: Unit::Change,
                role: Role::Prediction,
                base: None,
                trials: vec![with, base],
                measure: Measure::RateOver,
            });
        }
    }
    table.targets = vec![
        Target::signs("cells with the wrong sign"),
        Target::ranks("rows with the two read/write locks out of order"),
    ];
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!((table.cells.len(), table.trials.len()), (12, 18));
        assert_eq!(
            table.cells[0].unit.show(table.cells[0].published),
            "+20.7 %"
        );
        let cpus = |cell: usize| table.trials[table.cells[cell].trials[0]].machine.cpus();
        assert_eq!((cpus(0), cpus(2)), (80, 160));
        for cell in &table.cells {
            let [with, base] = [0, 1].map(|i| &table.trials[cell.trials[i]]);
            assert_eq!((base.lock, base.workload.reads), ("ticket_lock", 0.0));
            assert_eq!(with.lock, cell.column);
            assert_eq!(with.workload.read_section, base.workload.read_section);
        }
    }
}
