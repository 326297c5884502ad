// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Samples as dots in a row for each name, drawn as SVG.

use crate::rows::{Frame, Width};
use crate::text::short;
use anyhow::Result;
use plotters::prelude::*;

/// A row.
pub struct Strip<'a> {
    /// Beside the row.
    pub name: &'a str,
    /// A dot each.
    pub values: Vec<f64>,
}

/// Returns an SVG of `strips`, the first one at the top. `axis` is the label of the axis.
pub fn draw(width: Width, title: &str, axis: &str, strips: &[Strip]) -> Result<String> {
    let frame = Frame {
        title,
        axis,
        width,
        labels: Vec::new(),
        names: strips.iter().map(|strip| strip.name).collect(),
        number: &short,
    };
    let all = || strips.iter().flat_map(|strip| strip.values.iter().copied());
    let most = all().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let least = all().filter(|value| value.is_finite()).fold(0.0, f64::min);
    let length = match most - least {
        0.0 => 1.0,
        length => length,
    };
    let color = RGBColor(60, 110, 180);
    frame.draw(least..least + length * 1.05, |chart| {
        for (row, strip) in strips.iter().enumerate() {
            let finite = || {
                strip
                    .values
                    .iter()
                    .copied()
                    .filter(|value| value.is_finite())
            };
            let middle = frame.middle(row);
            let dots = finite().map(|value| (value, middle.clone()));
            chart.draw_series(dots.map(|at| Circle::new(at, 5, color.mix(0.5).filled())))?;
            let count = finite().count();
            if count > 0 {
                let mean = finite().sum::<f64>() / count as f64;
                let line = PathElement::new([(0, -14), (0, 14)], BLACK.stroke_width(2));
                chart.draw_series([EmptyElement::at((mean, middle)) + line])?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_a_dot_and_each_row_has_its_name() {
        let strips = [
            Strip {
                name: "some_lock",
                values: vec![1.0, 2.0, 4.0],
            },
            Strip {
                name: "stopped_lock",
                values: Vec::new(),
            },
        ];
        let svg = draw(Width::Wide, "a title", "seconds", &strips).expect("drawn");
        assert_eq!(svg.matches("<circle").count(), 3);
        for text in ["some_lock", "stopped_lock", "seconds", "a title"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
