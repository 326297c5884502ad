// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The frame of the charts that have a row for each name, drawn as SVG.

use std::error::Error;

use crate::text;
use anyhow::{anyhow, Result};
use plotters::coord::ranged1d::{AsRangedCoord, SegmentedCoord, ValueFormatter};
use plotters::coord::types::RangedCoordu32;
use plotters::prelude::*;

const WIDTH: u32 = 900;
/// Of the title and the axis.
const FRAME: u32 = 110;
const ROW: u32 = 44;
/// What names have at least and at most, and what one letter of them needs.
const NAMES: (u32, u32, u32) = (170, 320, 8);

/// Half of the stroke that ends an interval.
const END: i32 = 6;

/// Whether something was drawn; the backend's error otherwise.
pub type Drawn = Result<(), Box<dyn Error>>;
/// A place from top to bottom.
pub type Place = SegmentValue<u32>;
/// What the rows are drawn into; `X` is the axis.
pub type Chart<'a, 'b, X> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, SegmentedCoord<RangedCoordu32>>>;

/// What is around the rows.
pub struct Frame<'a> {
    /// Above them.
    pub title: &'a str,
    /// Below them: what the axis shows.
    pub axis: &'a str,
    /// A name for each row, the first one at the top.
    pub names: Vec<&'a str>,
    /// A number of the axis as text.
    pub number: &'a dyn Fn(f64) -> String,
}

impl Frame<'_> {
    fn rows(&self) -> u32 {
        u32::try_from(self.names.len()).unwrap_or(u32::MAX).max(1)
    }

    /// The middle of a row.
    pub fn middle(&self, row: usize) -> Place {
        SegmentValue::CenterOf(self.counted_up(row))
    }

    /// The lower and the upper edge of a row.
    pub fn edges(&self, row: usize) -> (Place, Place) {
        let row = self.counted_up(row);
        (SegmentValue::Exact(row), SegmentValue::Exact(row + 1))
    }

    /// A line across all rows, at a number of the axis.
    pub fn line(&self, at: f64) -> [(f64, Place); 2] {
        let ends = [SegmentValue::Exact(0), SegmentValue::Exact(self.rows())];
        ends.map(|end| (at, end))
    }

    /// Plotters counts rows from the bottom.
    fn counted_up(&self, row: usize) -> u32 {
        self.rows() - 1 - row as u32
    }

    fn name(&self, place: &Place) -> String {
        let SegmentValue::CenterOf(row) = place else {
            return String::new();
        };
        let row = (self.rows() - 1).checked_sub(*row);
        let name = row.and_then(|row| self.names.get(row as usize));
        name.copied().unwrap_or_default().to_owned()
    }

    /// Returns an SVG of the frame and of what `draw` draws into it.
    pub fn draw<X>(
        &self,
        range: X,
        draw: impl FnOnce(&mut Chart<'_, '_, X::CoordDescType>) -> Drawn,
    ) -> Result<String>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
    {
        let mut svg = String::new();
        self.fill(&mut svg, range, draw)
            .map_err(|why| anyhow!("cannot draw the chart: {why}"))?;
        Ok(svg)
    }

    fn fill<X>(
        &self,
        svg: &mut String,
        range: X,
        draw: impl FnOnce(&mut Chart<'_, '_, X::CoordDescType>) -> Drawn,
    ) -> Drawn
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
    {
        let rows = self.rows();
        let area = SVGBackend::with_string(svg, (WIDTH, FRAME + ROW * rows)).into_drawing_area();
        area.fill(&WHITE)?;
        let longest = self.names.iter().map(|name| text::length(name)).max();
        let (least, most, letter) = NAMES;
        let names = (longest.unwrap_or(0) as u32 * letter).clamp(least, most);
        let mut chart = ChartBuilder::on(&area)
            .caption(self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(names)
            .build_cartesian_2d(range, (0..rows - 1).into_segmented())?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .x_desc(self.axis)
            .x_label_formatter(&|x| (self.number)(*x))
            .y_label_formatter(&|place| self.name(place))
            .y_labels(self.names.len())
            .label_style(("sans-serif", 15))
            .light_line_style(TRANSPARENT)
            .draw()?;
        draw(&mut chart)?;
        area.present()?;
        Ok(())
    }
}

/// Draws an interval: a line with a stroke at each end.
pub fn interval<X>(chart: &mut Chart<'_, '_, X>, ends: (f64, f64), middle: &Place) -> Drawn
where
    X: Ranged<ValueType = f64>,
{
    let style = BLACK.stroke_width(2);
    let ends = [ends.0, ends.1].map(|end| (end, middle.clone()));
    chart.draw_series([PathElement::new(ends.clone(), style)])?;
    for end in ends {
        let stroke = PathElement::new([(0, -END), (0, END)], style);
        chart.draw_series([EmptyElement::at(end) + stroke])?;
    }
    Ok(())
}
