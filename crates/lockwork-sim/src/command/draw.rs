// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--plot`: throughput and waits by threads, a curve for each lock.

use super::plan::Plan;
use super::rows::Row;
use anyhow::Result;
use lockwork_report::plot::{self, Axis};
use std::path::{Path, PathBuf};

struct Quantity {
    /// Begins the file's name.
    file: &'static str,
    axis: Axis,
    of: fn(&Row) -> f64,
}

const QUANTITIES: [Quantity; 2] = [
    Quantity {
        file: "throughput",
        axis: Axis {
            label: "million acquisitions a second, simulated",
            logarithmic: false,
        },
        of: |row| row.rate() / 1e6,
    },
    Quantity {
        file: "wait",
        axis: Axis {
            label: "p99 wait in µs, simulated",
            logarithmic: true,
        },
        of: |row| row.waits.value_at_quantile(0.99) as f64 / 1e3,
    },
];

/// Draws into `dir`, which is there; returns the files.
pub(super) fn draw(plan: &Plan, rows: &[Row], dir: &Path) -> Result<Vec<PathBuf>> {
    let (workload, machine) = (&plan.workload.name, &plan.machine.name);
    let mut files = Vec::new();
    for mut quantity in QUANTITIES {
        if plan.workload.program.is_some() && quantity.file == "throughput" {
            quantity.axis.label = "million rounds a second, simulated";
        }
        let mut curves = Vec::new();
        for row in rows {
            let point = (row.threads as f64, (quantity.of)(row));
            plot::add(&mut curves, row.lock, false, point);
        }
        let path = dir.join(format!("{}-{workload}-{machine}.svg", quantity.file));
        let title = format!("{workload} on {machine}");
        plot::draw(&path, &title, quantity.axis, curves)?;
        files.push(path);
    }
    Ok(files)
}
