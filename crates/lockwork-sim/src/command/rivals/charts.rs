// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The charts of a part: throughput and the longest wait, by threads.

use super::ahead;
use super::every::Of as Machine;
use super::found::{Cell, Found, Line};
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
        for ((lock, is_rival, threads), mean) in means(all, of) {
            plot::add(&mut curves, lock, !is_rival, (threads as f64, mean));
        }
        let path = dir.join(format!("{}-{name}.svg", part.name));
        plot::draw(&path, &part.title, axis, curves)?;
    }
    Ok(())
}

/// A lock, whether it is a rival, and threads rounded down to a power of two.
type Group = (&'static str, bool, usize);

/// The mean of what the locks have of the fastest one's. What never waited, or was never got,
/// has no logarithm.
fn means(all: &[Machine], of: Of) -> Vec<(Group, f64)> {
    let mut groups: Vec<(Group, Vec<f64>)> = Vec::new();
    for found in all.iter().map(|machine| &machine.found) {
        for (at, threads) in found.threads.iter().enumerate() {
            for (line, share) in shares(found, at, of) {
                let key = (line.lock, line.is_rival, 1 << threads.ilog2());
                match groups.iter_mut().find(|(other, _)| *other == key) {
                    Some((_, logarithms)) => logarithms.push(share.ln()),
                    None => groups.push((key, vec![share.ln()])),
                }
            }
        }
    }
    let mean = |(group, logarithms): (Group, Vec<f64>)| {
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        (group, mean.exp())
    };
    groups.into_iter().map(mean).collect()
}

/// What each lock has of the fastest one's in a column.
fn shares(found: &Found, at: usize, of: Of) -> Vec<(&Line, f64)> {
    let both = [false, true].into_iter();
    let cells: Vec<(&Line, &Cell)> = both
        .flat_map(|rivals| ahead::of(found, rivals, at))
        .collect();
    let Some((_, best)) = cells.iter().max_by(|a, b| a.1.rate.total_cmp(&b.1.rate)) else {
        return Vec::new();
    };
    let share = cells
        .iter()
        .map(|(line, cell)| (*line, of(cell) / of(best)));
    share.filter(|(_, share)| share.is_normal()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::counters::Counters;
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
        assert_eq!(
            found,
            [(("mutex", false, 32), 0.5), (("cna", true, 32), 0.5)]
        );
    }
}
