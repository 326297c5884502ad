// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Throughput and waits by threads, drawn as SVG.
use crate::journal::Data;
use crate::sample::Cell;
use crate::summary::{summaries, Line, Summary};
use anyhow::{anyhow, Context, Result};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use std::ops::Range;
use std::path::{Path, PathBuf};

const SIZE: (u32, u32) = (900, 560);

/// One lock's points: threads, and what is drawn.
struct Curve<'a> {
    name: &'a str,
    ours: bool,
    points: Vec<(f64, f64)>,
}

/// What is drawn.
#[derive(Clone, Copy)]
struct Quantity {
    /// Begins the file's name.
    file: &'static str,
    label: &'static str,
    of: fn(&Line) -> f64,
    logarithmic: bool,
}

const QUANTITIES: [Quantity; 2] = [
    Quantity {
        file: "throughput",
        label: "acquisitions a second",
        of: |line| line.rate,
        logarithmic: false,
    },
    Quantity {
        file: "wait",
        label: "p99.9 wait in µs",
        of: |line| line.tail() as f64 / 1e3,
        logarithmic: true,
    },
];

/// Makes sure that `dir` exists.
pub(crate) fn make(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir)
        .with_context(|| format!("cannot make the directory '{}' for plots", dir.display()))
}

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
            plot(&path, &title, quantity, &curves(group, quantity))
                .map_err(|why| anyhow!("cannot draw '{}': {why}", path.display()))?;
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
            let name = line.lock.name.as_str();
            let value = (quantity.of)(line);
            // A wait of nothing has no place on a logarithmic axis.
            let value = if quantity.logarithmic {
                value.max(1e-3)
            } else {
                value
            };
            let point = (f64::from(summary.cell.threads), value);
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve {
                    name,
                    ours: line.is_ours(),
                    points: vec![point],
                }),
            }
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    curves
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn plot(path: &Path, title: &str, quantity: Quantity, curves: &[Curve]) -> Drawn {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let threads = all().fold(1.0, |most: f64, point| most.max(point.0));
    let most = all().fold(0.0, |most: f64, point| most.max(point.1));
    let least = all().fold(f64::INFINITY, |least: f64, point| least.min(point.1));
    if quantity.logarithmic {
        let range = least.min(most) / 2.0..most.max(1e-3) * 2.0;
        chart(path, title, quantity, curves, threads, range.log_scale())
    } else {
        chart(
            path,
            title,
            quantity,
            curves,
            threads,
            0.0..most.max(1.0) * 1.05,
        )
    }
}

fn chart<Y>(
    path: &Path,
    title: &str,
    quantity: Quantity,
    curves: &[Curve],
    threads: f64,
    range: Y,
) -> Drawn
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let across: Range<f64> = 0.9..threads.max(2.0) * 1.1;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(90)
        .build_cartesian_2d(across.log_scale().base(2.0), range)?;
    chart
        .configure_mesh()
        .x_desc("threads")
        .y_desc(quantity.label)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| lockwork_report::text::short(*y))
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (i, curve) in curves.iter().enumerate() {
        let width = if curve.ours { 3 } else { 1 };
        let style = ShapeStyle::from(Palette99::pick(i).mix(0.9)).stroke_width(width);
        let points = curve.points.iter().copied();
        chart
            .draw_series(LineSeries::new(points.clone(), style))?
            .label(curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        let dot = style.filled();
        chart.draw_series(points.map(|at| Circle::new(at, 3, dot)))?;
    }
    // Where there is mostly nothing: throughput starts at 0, waits grow.
    let corner = match quantity.logarithmic {
        true => SeriesLabelPosition::UpperLeft,
        false => SeriesLabelPosition::LowerLeft,
    };
    chart
        .configure_series_labels()
        .position(corner)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()?;
    Ok(())
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
