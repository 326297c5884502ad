// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The charts of a part: throughput and the longest wait, by threads.

use super::found::{Cell, Found};
use super::parts::Part;
use anyhow::Result;
use lockwork_report::plot::{self, Axis};
use std::path::Path;

type Of = fn(&Cell) -> f64;

const CHARTS: [(&str, Axis, Of); 2] = [
    (
        "throughput",
        Axis {
            label: "million acquisitions a second, simulated",
            logarithmic: false,
        },
        |cell| cell.rate,
    ),
    (
        "longest",
        Axis {
            label: "longest wait in µs, simulated",
            logarithmic: true,
        },
        |cell| cell.longest,
    ),
];

/// Draws them into `dir`, which is there.
pub(super) fn draw(part: &Part, found: &Found, dir: &Path) -> Result<()> {
    for (name, axis, of) in CHARTS {
        let mut curves = Vec::new();
        for line in found.lines.iter().filter(|line| line.yields.is_none()) {
            for (threads, cell) in found.threads.iter().zip(&line.cells) {
                plot::add(
                    &mut curves,
                    line.lock,
                    !line.is_rival,
                    (*threads as f64, of(cell)),
                );
            }
        }
        let path = dir.join(format!("{}-{name}.svg", part.name));
        plot::draw(&path, &part.title, axis, curves)?;
    }
    Ok(())
}
