// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Ratios with their intervals, a row for each, on a logarithmic axis, drawn as SVG: twice as
//! much is as far from 1 as half.

use crate::rows::{self, Chart, Drawn, Frame, Width};
use anyhow::Result;
use plotters::coord::combinators::WithKeyPoints;
use plotters::prelude::*;
use std::cmp::Ordering;
use std::ops::Range;

/// So few numbers along the axis say little.
const FEW: usize = 4;
/// Steps between the numbers of the axis where 1, 2 and 5 are too few.
const STEPS: &[f64] = &[0.5, 0.2, 0.1, 0.05, 0.02, 0.01];

/// One row.
pub struct Row<'a> {
    /// Beside the row.
    pub name: &'a str,
    /// The ratio. Without one, only the label is drawn.
    pub ratio: Option<f64>,
    /// Drawn as a line through it.
    pub interval: Option<(f64, f64)>,
    /// Right of them.
    pub label: String,
    /// How it is shown to differ from 1, if it is. Gives the colour.
    pub differs: Ordering,
    /// It sums the other rows up.
    pub sum: bool,
}

impl Row<'_> {
    /// What has to be on the axis.
    fn ends(&self) -> impl Iterator<Item = f64> {
        let (low, high) = self.interval.unzip();
        let ends = [self.ratio, low, high].into_iter().flatten();
        ends.filter(|end| end.is_finite() && *end > 0.0)
    }
}

/// Returns an SVG of `rows`, the first one at the top. `axis` is the label of the axis, and
/// `range` what it shows.
pub fn draw(
    width: Width,
    title: &str,
    axis: &str,
    range: Range<f64>,
    rows: &[Row],
) -> Result<String> {
    let numbers = numbers(&range);
    let frame = Frame {
        title,
        axis,
        width,
        labels: rows.iter().map(|row| &*row.label).collect(),
        names: rows.iter().map(|row| row.name).collect(),
        number: &|x| format!("{}", (x * 1000.0).round() / 1000.0),
    };
    frame.draw(
        range.clone().log_scale().with_key_points(numbers),
        |chart| {
            chart.draw_series([PathElement::new(frame.line(1.0), BLACK)])?;
            for (at, row) in rows.iter().enumerate() {
                draw_row(chart, &frame, &range, at, row)?;
            }
            Ok(())
        },
    )
}

/// An axis that has all of these rows, 1, and room for the labels.
pub fn range<'a>(rows: impl IntoIterator<Item = &'a Row<'a>>) -> Range<f64> {
    let ends = rows.into_iter().flat_map(Row::ends);
    let (low, high) = ends.fold((1.0_f64, 1.0_f64), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    let length = (high / low).max(1.1);
    low * length.powf(-0.05)..high * length.powf(0.35)
}

/// The numbers along the axis: as few and as round as will do. 1 is one of them.
fn numbers(range: &Range<f64>) -> Vec<f64> {
    let inside = |all: Vec<f64>| -> Vec<f64> {
        all.into_iter()
            .filter(|number| range.contains(number))
            .collect()
    };
    let decades = (-6..6).flat_map(|power| [1.0, 2.0, 5.0].map(|x| x * 10f64.powi(power)));
    let mut found = inside(decades.collect());
    for step in STEPS {
        if found.len() >= FEW {
            break;
        }
        let last = (range.end / step) as u32;
        found = inside((1..=last).map(|n| f64::from(n) * step).collect());
    }
    found
}

fn draw_row(
    chart: &mut Chart<'_, '_, WithKeyPoints<LogCoord<f64>>>,
    frame: &Frame,
    range: &Range<f64>,
    at: usize,
    row: &Row,
) -> Drawn {
    let middle = frame.middle(at);
    let color = match row.differs {
        Ordering::Greater => RGBColor(60, 110, 180),
        Ordering::Less => RGBColor(200, 70, 40),
        Ordering::Equal => RGBColor(140, 140, 140),
    };
    if let Some((low, high)) = row.interval {
        let ends = (low.max(range.start), high.min(range.end));
        rows::interval(chart, ends, &middle)?;
    }
    if let Some(ratio) = row.ratio.filter(|ratio| range.contains(ratio)) {
        let place = [(ratio, middle.clone())];
        match row.sum {
            true => chart.draw_series(place.map(|at| {
                let corners = [(0, -9), (9, 0), (0, 9), (-9, 0)];
                EmptyElement::at(at) + Polygon::new(corners, color.filled())
            }))?,
            false => chart.draw_series(place.map(|at| Circle::new(at, 6, color.filled())))?,
        };
    }
    if frame.width == Width::Narrow {
        return Ok(());
    }
    let end = row.ends().fold(range.start, f64::max).max(1.0);
    let label = Text::new(row.label.clone(), (12, -7), ("sans-serif", 15));
    chart.draw_series([EmptyElement::at((end, middle)) + label])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, ratio: Option<f64>, interval: Option<(f64, f64)>) -> Row<'_> {
        Row {
            name,
            ratio,
            interval,
            label: format!("label of {name}"),
            differs: Ordering::Equal,
            sum: name == "mean",
        }
    }

    #[test]
    fn each_row_has_its_name_its_label_and_its_dot() {
        let rows = [
            row("better", Some(2.5), Some((2.0, 3.0))),
            row("alone", Some(0.9), None),
            row("stopped", None, None),
            row("mean", Some(1.5), Some((1.0, f64::INFINITY))),
        ];
        for width in [Width::Wide, Width::Narrow] {
            let svg = draw(width, "a title", "an axis", range(&rows), &rows).expect("drawn");
            for row in &rows {
                assert!(svg.contains(&format!("\n{}\n", row.name)), "{}", row.name);
                assert_eq!(svg.matches(&row.label).count(), 1, "{}", row.label);
            }
            assert_eq!(svg.matches("<circle").count(), 2);
            assert_eq!(svg.matches("<polygon").count(), 1);
            assert!(svg.contains("a title") && svg.contains("an axis"), "{svg}");
            draw(width, "a title", "an axis", range(&[]), &[]).expect("drawn");
        }
    }

    #[test]
    fn the_range_has_all_ends_and_1() {
        let rows = [row("x", Some(2.0), Some((1.5, 4.0)))];
        let wide = range(&rows);
        assert!(wide.start < 1.0 && wide.end > 4.0, "{wide:?}");
        let rows = [row("x", Some(0.5), Some((0.0, 0.6)))];
        let low = range(&rows);
        assert!(
            low.start > 0.0 && low.start < 0.5 && low.end > 1.0,
            "{low:?}"
        );
    }

    #[test]
    fn the_axis_has_numbers_at_any_length() {
        assert_eq!(
            numbers(&(0.04..11.0)),
            [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
        );
        for range in [0.97..1.05, 0.9..1.3, 0.8..2.5, 0.99..1.0001, 1e-3..1e3] {
            let found = numbers(&range);
            assert!(found.contains(&1.0), "{range:?}: {found:?}");
            assert!(found.len() <= 20, "{range:?}: {found:?}");
        }
    }
}
