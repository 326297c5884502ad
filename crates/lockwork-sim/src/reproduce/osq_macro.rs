// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! locktorture without affinity and two benchmarks of epoll: the NUMA-aware queue over the
//! mutex as it was.

use super::cell::{Cell, Extent, Measure, Role, Unit};
use super::lab;
use super::numa_osq::Writers;
use super::published::{published, Figure};
use super::table::Table;
use super::target::Target;
use crate::machine::Machine;
use anyhow::{bail, Result};
use serde::Deserialize;
use std::sync::Arc;

pub(crate) const NAME: &str = "osq-macro";
const TITLE: &str = "locktorture and epoll, change of the NUMA-aware queue against the mutex";
/// The printed coefficient of variation is 1 to 5 %, and once 17 %.
const TIE: f64 = 0.05;
/// Benchmarks of the file that lock nothing that the mail names.
const NOT_SIMULATED: &str = "unixbench";

#[derive(Deserialize)]
struct Row {
    benchmark: String,
    machine: String,
    #[serde(rename = "stock_6.6.28_avg")]
    stock: Figure,
    #[serde(rename = "osq_dynamic_avg")]
    dynamic: Figure,
}

/// Our machine for a published one, one thread of each core.
///
/// # Errors
/// There is none.
pub(super) fn machine(published: &str) -> Result<Arc<Machine>> {
    let name = match published {
        name if name.starts_with("AMD EPYC 7551 2S") => "epyc-7551",
        name if name.starts_with("Zhaoxin KH40000 32c") => "kh-40000-1s",
        _ => bail!("no machine stands for the published '{published}'"),
    };
    let whole = lab::machine(name)?;
    lab::part(&whole, whole.nodes(), false)
}

/// Our workload for a benchmark, and its threads on so many CPUs.
fn workload(benchmark: &str, cpus: usize) -> Result<(&'static str, usize)> {
    match benchmark {
        // By default it starts two writers for each CPU (Documentation/locking/locktorture.rst).
        "locktorture mutex_lock Writes" => Ok(("locktorture-mutex-free", 2 * cpus)),
        "perf bench epoll ADD" => Ok(("epoll-add", cpus)),
        "perf bench epoll WAIT" => Ok(("epoll-wait", cpus)),
        _ => bail!("no workload stands for the published '{benchmark}'"),
    }
}

/// The table.
///
/// # Errors
/// Its file, a machine or a workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("osq_macro.csv");
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.figures = file.figures()?;
    table.machine = "epyc-7551, kh-40000-1s".to_owned();
    table.notes = vec![
        "All costs of the KH-40000 are assumed.".into(),
        "Threads: two for each CPU in locktorture, its default; one in epoll. Whether the second \
         threads of the EPYC's cores were in use is not published; here they are not."
            .into(),
        "epoll WAIT: the think time is derived from this table's gain on the EPYC \
         (data/workloads/epoll-wait.toml), so that this cell is shown only."
            .into(),
        "The dynamic switch is on, as published: mutex_numa_2024. mutex_numa is ours.".into(),
    ];
    for row in file.rows::<Row>()? {
        if row.benchmark.starts_with(NOT_SIMULATED) {
            continue;
        }
        enter(&mut table, &row)?;
    }
    table.targets = vec![Target::worst_factor(2.0)];
    Ok(table)
}

fn enter(table: &mut Table, row: &Row) -> Result<()> {
    let machine = machine(&row.machine)?;
    let (workload, threads) = workload(&row.benchmark, machine.cpus())?;
    let name = machine.name.clone();
    let derived = workload == "epoll-wait" && name == "epyc-7551";
    let workload = lab::workload(workload)?;
    let at = Writers {
        row: format!("{}, {name}", row.benchmark),
        machine: &machine,
        workload: &workload,
        threads,
        extent: Extent::Steady,
    };
    let [mutex, enabled] = [lab::lock("stock")?, lab::lock("dyn_enabled")?];
    let [mutex, enabled, ours] = [mutex, enabled, "mutex_numa"].map(|lock| at.trial(table, lock));
    table.cells.push(Cell {
        row: at.row.clone(),
        column: "NUMA-aware".to_owned(),
        group: at.row.clone(),
        published: row.dynamic.0 / row.stock.0,
        unit: Unit::Change,
        role: if derived {
            Role::Shown
        } else {
            Role::Prediction
        },
        base: None,
        trials: vec![enabled, mutex],
        measure: Measure::RateOver,
    });
    at.ours_over_mutex(table, ours);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!((table.cells.len(), table.trials.len()), (6, 18));
        let shown: Vec<String> = table
            .cells
            .iter()
            .map(|cell| cell.unit.show(cell.published))
            .collect();
        assert_eq!([&shown[2], &shown[5]], ["+141.9 %", "+116.8 %"]);
        let threads = |cell: usize| table.trials[table.cells[cell].trials[0]].threads;
        assert_eq!([0, 2, 3, 5].map(threads), [32, 64, 64, 128]);
        for trial in &table.trials {
            assert_eq!(
                trial.workload.affinity,
                trial.threads == trial.machine.cpus()
            );
        }
    }
}
