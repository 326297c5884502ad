// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Throughput and waits by threads, drawn as SVG.
use crate::journal::Data;
use crate::sample::Cell;
use crate::summary::{summaries, Line, Summary};
use anyhow::Result;
pub(crate) use lockwork_report::plot::make;
use lockwork_report::plot::{self, Axis, Curve};
use std::path::{Path, PathBuf};

/// What is drawn.
#[derive(Clone, Copy)]
struct Quantity {
    /// Begins the file's name.
    file: &'static str,
    of: fn(&Line) -> f64,
    axis: Axis,
}

const QUANTITIES: [Quantity; 2] = [
    Quantity {
        file: "throughput",
        of: |line| line.rate,
        axis: Axis {
            label: "acquisitions a second",
            logarithmic: false,
        },
    },
    Quantity {
        file: "wait",
        of: |line| line.tail() as f64 / 1e3,
        axis: Axis {
            label: "p99.9 wait in µs",
            logarithmic: true,
        },
    },
];

/// Draws two plots for each combination of all but the threads into `dir`;
/// returns their files.
pub fn draw(data: &Data, dir: &Path) -> Result<Vec<PathBuf>> {
    make(dir)?;
    let cells = summaries(data);
    let mut groups: Vec<Vec<&Summary>> = Vec::new();
    for summary in &cells {
        let alike = |group: &&mut Vec<&Summary>| group[0].cell.ground() == summary.cell.ground();
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(summary),
            None => groups.push(vec![summary]),
        }
    }
    let mut files = Vec::new();
    for group in &groups {
        for quantity in QUANTITIES {
            let path = dir.join(file_name(quantity.file, &group[0].cell));
            let title = title(&group[0].cell);
            plot::draw(&path, &title, quantity.axis, curves(group, quantity))?;
            files.push(path);
        }
    }
    Ok(files)
}

fn title(cell: &Cell) -> String {
    let text = cell.ground().to_string();
    text.trim_start_matches("0 threads, ").to_owned()
}

/// `throughput-100ns-200ns-90reads.svg`
fn file_name(what: &str, cell: &Cell) -> String {
    let mut name = format!("{what}-{}-{}", cell.inside, cell.outside);
    if cell.reads > 0 {
        name += &format!("-{}reads", cell.reads);
    }
    if cell.objects > 1 {
        name += &format!("-{}locks", cell.objects);
    }
    name + ".svg"
}

fn curves<'a>(group: &[&'a Summary], quantity: Quantity) -> Vec<Curve<'a>> {
    let mut curves: Vec<Curve> = Vec::new();
    for summary in group {
        for line in &summary.lines {
            let point = (f64::from(summary.cell.threads), (quantity.of)(line));
            plot::add(&mut curves, &line.lock.name, line.is_ours(), point);
        }
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Work;

    #[test]
    fn files_are_named_after_what_is_in_them() {
        let mut cell = Cell {
            threads: 4,
            inside: Work::Ns(100),
            outside: Work::Ns(0),
            reads: 0,
            objects: 1,
            time_ms: 10,
            loops: None,
            calls: None,
        };
        assert_eq!(file_name("wait", &cell), "wait-100ns-0.svg");
        cell.reads = 90;
        cell.objects = 3;
        assert_eq!(file_name("wait", &cell), "wait-100ns-0-90reads-3locks.svg");
        assert_eq!(title(&cell), "100ns inside, 0 outside, 90 % reads, 3 locks");
    }
}
