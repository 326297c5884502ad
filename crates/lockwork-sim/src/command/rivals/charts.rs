// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The charts of a part: throughput and the longest wait, by threads.

use super::ahead;
use super::every::Of as Machine;
use super::found::{Cell, Found};
use super::parts::Part;
use anyhow::Result;
use lockwork_report::plot::{self, Axis};
use std::path::Path;

type Of = fn(&Cell) -> f64;
type Chart = (&'static str, Axis, Of);

const CHARTS: [Chart; 2] = [
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

/// The same of every machine: each lock beside the best of its row.
const EVERY: [Chart; 2] = [
    (
        "throughput",
        Axis {
            label: "throughput, of the fastest lock's",
            logarithmic: false,
        },
        |cell| cell.rate,
    ),
    (
        "longest",
        Axis {
            label: "longest wait, of the fastest lock's",
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

/// The same for a part that has every machine: geometric means over the rows whose numbers of
/// threads have the same power of two below them.
pub(super) fn draw_every(part: &Part, all: &[Machine], dir: &Path) -> Result<()> {
    for (name, axis, of) in EVERY {
        let mut curves = Vec::new();
        for (lock, is_rival, threads, mean) in means(all, of) {
            plot::add(&mut curves, lock, !is_rival, (threads as f64, mean));
        }
        let path = dir.join(format!("{}-{name}.svg", part.name));
        plot::draw(&path, &part.title, axis, curves)?;
    }
    Ok(())
}

/// Lock, whether it is a rival, threads rounded down to a power of two, and the mean of what it
/// has of the fastest lock's. What never waited, or was never got, has no logarithm.
fn means(all: &[Machine], of: Of) -> Vec<(&'static str, bool, usize, f64)> {
    let mut sums: Vec<(&str, bool, usize, f64, u32)> = Vec::new();
    for found in all.iter().map(|machine| &machine.found) {
        for (at, threads) in found.threads.iter().enumerate() {
            let bin = 1 << threads.ilog2();
            let both = [false, true].map(|rivals| ahead::fastest(found, rivals, at));
            let best = both.into_iter().flatten();
            let Some((_, best)) = best.max_by(|a, b| a.1.rate.total_cmp(&b.1.rate)) else {
                continue;
            };
            for is_rival in [false, true] {
                for (line, cell) in ahead::of(found, is_rival, at) {
                    let share = of(cell) / of(&best);
                    if !share.is_normal() {
                        continue;
                    }
                    let is = |sum: &&mut (&str, bool, usize, f64, u32)| {
                        (sum.0, sum.2) == (line.lock, bin)
                    };
                    match sums.iter_mut().find(is) {
                        Some(sum) => {
                            sum.3 += share.ln();
                            sum.4 += 1;
                        }
                        None => sums.push((line.lock, is_rival, bin, share.ln(), 1)),
                    }
                }
            }
        }
    }
    let mean =
        |(lock, is_rival, bin, sum, count)| (lock, is_rival, bin, f64::exp(sum / f64::from(count)));
    sums.into_iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::super::counters::Counters;
    use super::super::found::Line;
    use super::*;

    #[test]
    fn a_mean_is_of_the_rows_with_about_as_many_threads() {
        let line = |lock, is_rival, rates: [f64; 2]| Line {
            lock,
            yields: None,
            is_rival,
            cells: rates.map(|rate| Cell::sample(rate, 4.0)).to_vec(),
        };
        let machine = Machine {
            machine: "m".to_owned(),
            is_new: true,
            found: Found {
                columns: Vec::new(),
                threads: vec![32, 63],
                lines: vec![
                    line("mutex", false, [1.0, 1.0]),
                    line("cna", true, [4.0, 0.25]),
                ],
                besides: Vec::new(),
            },
            counters: Counters::default(),
        };
        let found = means(&[machine], |cell| cell.rate);
        assert_eq!(found, [("mutex", false, 32, 0.5), ("cna", true, 32, 0.5)]);
    }
}
