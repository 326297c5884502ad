// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What four spinlocks of the kernel are worth to two loads.

use super::cell::{Cell, Extent, Measure, Role, Trial, Unit};
use super::lab;
use super::published::{published, Figure};
use super::table::Table;
use super::target::Target;
use crate::Placement;
use anyhow::{bail, Context, Result};
use serde::Deserialize;

pub(crate) const NAME: &str = "aim7-ebizzy";
const TITLE: &str = "AIM7 on XFS and ext4, ebizzy: throughput over the ticket lock's";
const MACHINE: &str = "westmere-ex-4s";
/// What the author's runs of a load without contention differ by.
const TIE: f64 = 0.03;
/// What is measured of each simulation, µs.
const MEASURE_US: f64 = 5_000.0;
const BASE: &str = "ticketlock";
/// Of the columns of CPU time.
const BUSY: &str = ", CPU time";

#[derive(Deserialize)]
struct Row {
    test: String,
    kernel: String,
    throughput: Figure,
    real_s: Figure,
    sys_s: Figure,
    usr_s: Figure,
}

impl Row {
    /// CPU time for each unit of work, in a unit of its own.
    fn busy(&self) -> f64 {
        (self.sys_s.0 + self.usr_s.0) / (self.throughput.0 * self.real_s.0)
    }
}

/// Our workload for a test, and the row's name.
fn workload(test: &str) -> Result<(&'static str, &'static str)> {
    match test {
        "AIM7_XFS_JPM" => Ok(("aim7-disk-xfs", "AIM7 disk, XFS")),
        "AIM7_EXT4_JPM" => Ok(("aim7-disk-ext4", "AIM7 disk, ext4")),
        "ebizzy_-m_rec_s" => Ok(("ebizzy", "ebizzy -m")),
        _ => bail!("no workload stands for the published '{test}'"),
    }
}

/// Whether the workload's times were derived from the figures of this row
/// (data/workloads/ebizzy.toml).
fn derived(test: &str, kernel: &str) -> bool {
    test.starts_with("ebizzy") && kernel == "unfair_qspinlock"
}

/// The table.
///
/// # Errors
/// Its file, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("qspinlock_aim7_ebizzy.csv");
    let machine = lab::machine(MACHINE)?;
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.figures = file.figures()?;
    table.machine = machine.name.clone();
    table.notes = vec![
        "The workloads' times are derived from the published CPU times of the ticket lock; \
         threads are the CPUs that were busy (32; ebizzy 22)."
            .into(),
        "CPU time: Sys and Usr together, for each job or record; simulated: all CPU time of \
         the threads, for each acquisition."
            .into(),
        "CPU time is shown only: the threads are always busy, so that it is the inverse of the \
         throughput. So is ebizzy's unfair queue: the share of the time in the lock was derived \
         from its figures."
            .into(),
    ];
    let rows: Vec<Row> = file.rows()?;
    for row in rows.iter().filter(|row| row.kernel != BASE) {
        let base = rows
            .iter()
            .find(|base| base.test == row.test && base.kernel == BASE)
            .with_context(|| format!("{}: no {BASE} of {}", file.name, row.test))?;
        let (workload, name) = workload(&row.test)?;
        let workload = lab::timed(lab::workload(workload)?, MEASURE_US);
        let threads = workload.threads.iter().copied().max().unwrap_or(1);
        let trial = |kernel: &str| -> Result<Trial> {
            Ok(Trial {
                machine: machine.clone(),
                lock: lab::lock(kernel)?,
                workload: workload.clone(),
                threads,
                placement: Placement::Spread,
                extent: Extent::Steady,
            })
        };
        let trials = vec![table.trial(trial(&row.kernel)?), table.trial(trial(BASE)?)];
        for (words, published, measure) in [
            ("", row.throughput.0 / base.throughput.0, Measure::RateOver),
            (BUSY, row.busy() / base.busy(), Measure::BusyOver),
        ] {
            table.cells.push(Cell {
                row: name.to_owned(),
                column: format!("{}{words}", row.kernel),
                group: format!("{name}{words}"),
                published,
                unit: Unit::Times,
                role: match words == BUSY || derived(&row.test, &row.kernel) {
                    true => Role::Shown,
                    false => Role::Prediction,
                },
                base: None,
                trials: trials.clone(),
                measure,
            });
        }
    }
    table.targets = vec![Target::ranks("loads with the three locks out of order")];
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!((table.cells.len(), table.trials.len()), (18, 12));
        let ext4: Vec<f64> = table.cells[6..12].iter().map(|c| c.published).collect();
        assert!((ext4[0] - 1.96).abs() < 0.01 && (ext4[2] - 0.532).abs() < 0.001);
        // 239.00 s and 516.83 s of CPU time for the same jobs.
        assert!((ext4[1] - 239.0 / 516.83).abs() < 0.002, "{}", ext4[1]);
        assert!((ext4[3] - 1.89).abs() < 0.01, "{}", ext4[3]);
        let counts: Vec<bool> = table
            .cells
            .iter()
            .map(|cell| cell.role == Role::Prediction)
            .collect();
        let each = [true, false].repeat(8);
        assert_eq!(counts, [each, vec![false, false]].concat());
        for cell in table.cells.iter().step_by(2) {
            assert_eq!(table.trials[cell.trials[1]].lock, "ticket_lock");
            assert_eq!(
                table.trials[cell.trials[0]].lock,
                lab::lock(&cell.column).expect("one")
            );
        }
    }
}
