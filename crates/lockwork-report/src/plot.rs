// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Curves over numbers of threads, drawn as SVG.

use crate::text;
use anyhow::{anyhow, Context, Result};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use std::ops::Range;
use std::path::Path;

const SIZE: (u32, u32) = (900, 560);

/// One lock's points: threads, and what is drawn.
pub struct Curve<'a> {
    /// For the legend.
    pub name: &'a str,
    /// Drawn with a thicker line.
    pub strong: bool,
    /// In any order.
    pub points: Vec<(f64, f64)>,
}

/// What is drawn.
#[derive(Clone, Copy)]
pub struct Axis {
    /// Beside the axis, with its unit.
    pub label: &'static str,
    /// Else linear, from 0 on.
    pub logarithmic: bool,
}

/// Makes sure that `dir` exists.
pub fn make(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir)
        .with_context(|| format!("cannot make the directory '{}' for plots", dir.display()))
}

/// Adds a point to the curve `name`, which is begun if it is not there.
pub fn add<'a>(curves: &mut Vec<Curve<'a>>, name: &'a str, strong: bool, point: (f64, f64)) {
    match curves.iter_mut().find(|curve| curve.name == name) {
        Some(curve) => curve.points.push(point),
        None => curves.push(Curve {
            name,
            strong,
            points: vec![point],
        }),
    }
}

/// Draws `curves` into the file `path`.
pub fn draw(path: &Path, title: &str, axis: Axis, mut curves: Vec<Curve>) -> Result<()> {
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if axis.logarithmic {
            // Nothing has no place on a logarithmic axis.
            curve.points.iter_mut().for_each(|p| p.1 = p.1.max(1e-3));
        }
    }
    plot(path, title, axis, &curves)
        .map_err(|why| anyhow!("cannot draw '{}': {why}", path.display()))
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn plot(path: &Path, title: &str, axis: Axis, curves: &[Curve]) -> Drawn {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let threads = all().fold(1.0, |most: f64, point| most.max(point.0));
    let most = all().fold(0.0, |most: f64, point| most.max(point.1));
    let least = all().fold(f64::INFINITY, |least: f64, point| least.min(point.1));
    if axis.logarithmic {
        let range = least.min(most) / 2.0..most.max(1e-3) * 2.0;
        chart(path, title, axis, curves, threads, range.log_scale())
    } else {
        let range = 0.0..most.max(1.0) * 1.05;
        chart(path, title, axis, curves, threads, range)
    }
}

fn chart<Y>(path: &Path, title: &str, axis: Axis, curves: &[Curve], threads: f64, range: Y) -> Drawn
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
        .y_desc(axis.label)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| text::short(*y))
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (i, curve) in curves.iter().enumerate() {
        let width = if curve.strong { 3 } else { 1 };
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
    let corner = match axis.logarithmic {
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

    #[test]
    fn a_curve_is_drawn_with_its_name() {
        let dir = std::env::temp_dir().join(format!("lockwork-plot-{}", std::process::id()));
        make(&dir).expect("a directory");
        let path = dir.join("x.svg");
        for logarithmic in [false, true] {
            let mut curves = Vec::new();
            add(&mut curves, "some_lock", true, (4.0, 10.0));
            add(&mut curves, "some_lock", true, (1.0, 0.0));
            add(&mut curves, "other_lock", false, (1.0, 3.0));
            assert_eq!(curves.len(), 2);
            let axis = Axis {
                label: "what it shows",
                logarithmic,
            };
            draw(&path, "a title", axis, curves).expect("drawn");
            let svg = std::fs::read_to_string(&path).expect("a file");
            for text in ["some_lock", "other_lock", "what it shows", "a title"] {
                assert!(svg.contains(text), "{text}");
            }
        }
        std::fs::remove_dir_all(&dir).expect("removed");
    }
}
