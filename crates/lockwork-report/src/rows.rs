// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The frame of the charts that have a row for each name, drawn as SVG.

use std::error::Error;
use std::ops::Range;

use crate::text;
use anyhow::{anyhow, Result};
use plotters::coord::ranged1d::{AsRangedCoord, SegmentedCoord, ValueFormatter};
use plotters::coord::types::RangedCoordu32;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// How wide a chart is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// For a screen or a document. The names are beside their rows.
    Wide,
    /// For a phone. The names and labels are above their rows.
    Narrow,
}

const WIDE: u32 = 900;
/// A screen of 390 pixels less the page's margins.
const NARROW: u32 = 356;
/// Of the title and the axis.
const FRAME: u32 = 110;
const ROW: u32 = 44;
const MARGIN: u32 = 12;
const AXIS: u32 = 44;
/// With a line of text above it.
const TALL_ROW: u32 = 64;
/// What names have at least and at most, and what one letter of them needs.
const NAMES: (u32, u32, u32) = (170, 320, 8);

/// What a digit of the axis needs at most: sans-serif fonts have them up to 0.64 em wide.
const DIGIT: u32 = 10;
/// Of a narrow chart: what a letter of the names and labels needs, and how high it stands
/// above the middle of its row.
const TEXT: (u32, i32) = (6, 26);
/// Height and letters of a line of the text below its axis.
const LINE: i32 = 12;
const LETTERS: usize = 56;
/// The title of a narrow chart has no room for more letters.
const TITLE: usize = 46;

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
    /// How wide it is.
    pub width: Width,
    /// A text for each row of a narrow chart. In a wide one the text is beside the row's mark.
    pub labels: Vec<&'a str>,
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
        let narrow = self.width == Width::Narrow;
        let (width, row) = if narrow {
            (NARROW, TALL_ROW)
        } else {
            (WIDE, ROW)
        };
        let area = SVGBackend::with_string(svg, (width, FRAME + row * rows)).into_drawing_area();
        area.fill(&WHITE)?;
        let longest = self.names.iter().map(|name| text::length(name)).max();
        let (least, most, letter) = NAMES;
        let names = match narrow {
            true => 0,
            false => (longest.unwrap_or(0) as u32 * letter).clamp(least, most),
        };
        let (title, size) = match narrow {
            true => (shortened(self.title, TITLE), 14),
            false => (self.title.to_owned(), 18),
        };
        let range: X::CoordDescType = range.into();
        let (numbers, beside) = self.numbers(&range, width - names, if narrow { 5 } else { 10 });
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", size))
            .margin(MARGIN)
            .margin_left(if narrow { beside } else { MARGIN })
            .margin_right(beside)
            .x_label_area_size(AXIS)
            .y_label_area_size(names)
            .build_cartesian_2d(range, (0..rows - 1).into_segmented())?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .x_desc(match narrow {
                true => "",
                false => self.axis,
            })
            .x_label_formatter(&|x| (self.number)(*x))
            .y_label_formatter(&|place| match narrow {
                true => String::new(),
                false => self.name(place),
            })
            .x_labels(numbers)
            .y_labels(self.names.len())
            .label_style(("sans-serif", 15))
            .light_line_style(TRANSPARENT)
            .draw()?;
        draw(&mut chart)?;
        if narrow {
            let rows = chart.plotting_area().get_pixel_range().1;
            self.texts(&area, &rows)?;
        }
        area.present()?;
        Ok(())
    }

    /// How many numbers an axis of `room` pixels can show, `most` at most, and what half of the
    /// longest needs beyond the ends of the axis.
    fn numbers<X>(&self, axis: &X, room: u32, most: usize) -> (usize, u32)
    where
        X: Ranged<ValueType = f64>,
    {
        let half = |points: &[f64]| {
            let lengths = points.iter().map(|at| text::length(&(self.number)(*at)));
            lengths.max().unwrap_or(0) as u32 * DIGIT / 2
        };
        let fit = |count: &usize| {
            let points = axis.key_points(*count);
            let half = half(&points);
            let length = room.saturating_sub(2 * half.max(MARGIN)) as i32;
            let places = points.iter().map(|at| axis.map(at, (0, length)));
            let places: Vec<i32> = places.collect();
            places
                .windows(2)
                .all(|two| two[0].abs_diff(two[1]) >= 2 * half)
        };
        let count = (2..=most).rev().find(fit).unwrap_or(2);
        (count, half(&axis.key_points(count)).max(MARGIN))
    }

    /// Names to the left, labels to the right, in the pixels that the rows have from top to
    /// bottom; and the axis, which may need two lines.
    fn texts(&self, area: &DrawingArea<SVGBackend<'_>, Shift>, rows: &Range<i32>) -> Drawn {
        let font = ("sans-serif", 13).into_font();
        let right = font.clone().into_text_style(area);
        let right = right.pos(Pos::new(HPos::Right, VPos::Top));
        let height = area.dim_in_pixel().1;
        let row = (rows.end - rows.start) / self.rows() as i32;
        let most = (NARROW - 2 * MARGIN) / TEXT.0;
        for (at, name) in self.names.iter().enumerate() {
            let label = self.labels.get(at).copied().unwrap_or_default();
            let y = rows.start + row * at as i32 + row / 2 - TEXT.1;
            let room = (most as usize).saturating_sub(text::length(label) + 1);
            area.draw(&Text::new(
                shortened(name, room),
                (MARGIN as i32, y),
                font.clone(),
            ))?;
            let end = ((NARROW - MARGIN) as i32, y);
            area.draw(&Text::new(label.to_owned(), end, right.clone()))?;
        }
        let small = ("sans-serif", LINE).into_font();
        for (at, line) in lines(self.axis).into_iter().rev().enumerate() {
            let y = height as i32 - MARGIN as i32 / 2 - LINE * (at as i32 + 1);
            area.draw(&Text::new(line, (MARGIN as i32, y), small.clone()))?;
        }
        Ok(())
    }
}

/// `text` in lines that a narrow chart has room for.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text::length(line) + text::length(word) < LETTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `text`, or its beginning if it has more letters than `most`.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text
            .chars()
            .take(most.saturating_sub(1))
            .chain(['…'])
            .collect(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of an axis from 0 to `most`: the middle of each, and its text.
    fn numbers(width: Width, most: f64) -> Vec<(u32, String)> {
        let frame = Frame {
            title: "",
            axis: "",
            width,
            labels: Vec::new(),
            names: vec!["a", "b"],
            number: &text::short,
        };
        let svg = frame.draw(0.0..most, |_| Ok(())).expect("drawn");
        let texts = svg.split("<text ").skip(1);
        let texts = texts.filter(|text| text.contains("text-anchor=\"middle\""));
        let numbers = texts.filter_map(|text| {
            let x = text.strip_prefix("x=\"")?.split('"').next()?;
            let shown = text.split('\n').nth(1)?.trim();
            shown.parse::<f64>().ok()?;
            Some((x.parse().ok()?, shown.to_owned()))
        });
        numbers.collect()
    }

    #[test]
    fn numbers_of_an_axis_fit_wherever_it_ends() {
        for (width, pixels) in [(Width::Wide, WIDE), (Width::Narrow, NARROW)] {
            for step in 0..200 {
                let most = 1e-5 * 1.1_f64.powi(step);
                let numbers = numbers(width, most);
                assert!(!numbers.is_empty(), "{width:?} {most}");
                let mut free = 0;
                for (middle, shown) in numbers {
                    let half = shown.len() as u32 * DIGIT / 2;
                    assert!(middle >= free + half, "{width:?} {most}: {shown}");
                    free = middle + half;
                    assert!(free <= pixels, "{width:?} {most}: {shown}");
                }
            }
        }
    }
}
