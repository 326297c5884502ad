// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Throughput and waits by threads, drawn as SVG.
use crate::journal::Data;
use crate::sample::Case;
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
    let cases = summaries(data);
    let mut groups: Vec<Vec<&Summary>> = Vec::new();
    for summary in &cases {
        let alike = |group: &&mut Vec<&Summary>| group[0].case.ground() == summary.case.ground();
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(summary),
            None => groups.push(vec![summary]),
        }
    }
    let mut files = Vec::new();
    for group in &groups {
        for quantity in QUANTITIES {
            let path = dir.join(file_name(quantity.file, &group[0].case));
            let title = title(&group[0].case);
            plot::draw(&path, &title, quantity.axis, curves(group, quantity))?;
            files.push(path);
        }
    }
    Ok(files)
}

fn title(case: &Case) -> String {
    let text = case.ground().to_string();
    text.trim_start_matches("0 threads, ").to_owned()
}

/// `throughput-100ns-200ns-90reads.svg`
fn file_name(what: &str, case: &Case) -> String {
    let mut name = format!("{what}-{}-{}", case.inside, case.outside);
    if case.reads > 0 {
        name += &format!("-{}reads", case.reads);
    }
    if case.objects > 1 {
        name += &format!("-{}locks", case.objects);
    }
    name + ".svg"
}

fn curves<'a>(group: &[&'a Summary], quantity: Quantity) -> Vec<Curve<'a>> {
    let mut curves: Vec<Curve> = Vec::new();
    for summary in group {
        for line in &summary.lines {
            let point = (f64::from(summary.case.threads), (quantity.of)(line));
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
        let mut case = Case {
            threads: 4,
            inside: Work::Ns(100),
            outside: Work::Ns(0),
            reads: 0,
            objects: 1,
            time_ms: 10,
            loops: None,
            calls: None,
        };
        assert_eq!(file_name("wait", &case), "wait-100ns-0.svg");
        case.reads = 90;
        case.objects = 3;
        assert_eq!(file_name("wait", &case), "wait-100ns-0-90reads-3locks.svg");
        assert_eq!(title(&case), "100ns inside, 0 outside, 90 % reads, 3 locks");
    }
}
