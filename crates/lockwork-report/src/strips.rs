// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Samples as dots in a row for each name, drawn as SVG.

use crate::text::short;
use anyhow::{anyhow, Result};
use plotters::prelude::*;

const WIDTH: u32 = 900;
/// Of the title and the axis.
const FRAME: u32 = 110;
const ROW: u32 = 44;

/// A row.
pub struct Strip<'a> {
    /// Beside the row.
    pub name: &'a str,
    /// A dot each.
    pub values: Vec<f64>,
}

/// Returns an SVG of `strips`, the first one at the top. `axis` is the label of the axis.
pub fn draw(title: &str, axis: &str, strips: &[Strip]) -> Result<String> {
    let mut svg = String::new();
    chart(&mut svg, title, axis, strips).map_err(|why| anyhow!("cannot draw the chart: {why}"))?;
    Ok(svg)
}

fn chart(
    svg: &mut String,
    title: &str,
    axis: &str,
    strips: &[Strip],
) -> Result<(), Box<dyn std::error::Error>> {
    let rows = u32::try_from(strips.len())?.max(1);
    let area = SVGBackend::with_string(svg, (WIDTH, FRAME + ROW * rows)).into_drawing_area();
    area.fill(&WHITE)?;
    let all = || strips.iter().flat_map(|strip| strip.values.iter().copied());
    let most = all().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let least = all().filter(|value| value.is_finite()).fold(0.0, f64::min);
    let length = match most - least {
        0.0 => 1.0,
        length => length,
    };
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(170)
        .build_cartesian_2d(least..least + length * 1.05, (0..rows - 1).into_segmented())?;
    // Rows count from the bottom.
    let strip_of = |row: u32| strips.get((rows - 1 - row) as usize);
    let name = |row: &SegmentValue<u32>| match row {
        SegmentValue::CenterOf(row) => strip_of(*row).map_or("", |strip| strip.name).to_owned(),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .x_desc(axis)
        .x_label_formatter(&|x| short(*x))
        .y_label_formatter(&name)
        .y_labels(strips.len())
        .label_style(("sans-serif", 15))
        .light_line_style(TRANSPARENT)
        .draw()?;
    let color = RGBColor(60, 110, 180);
    for row in 0..rows {
        let values = strip_of(row).map_or(&[][..], |strip| &strip.values);
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let middle = SegmentValue::CenterOf(row);
        chart.draw_series(
            finite().map(|value| Circle::new((value, middle.clone()), 5, color.mix(0.5).filled())),
        )?;
        let count = finite().count();
        if count > 0 {
            let mean = finite().sum::<f64>() / count as f64;
            let line = PathElement::new([(0, -14), (0, 14)], BLACK.stroke_width(2));
            chart.draw_series([EmptyElement::at((mean, middle)) + line])?;
        }
    }
    area.present()?;
    Ok(())
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
        let svg = draw("a title", "seconds", &strips).expect("drawn");
        assert_eq!(svg.matches("<circle").count(), 3);
        for text in ["some_lock", "stopped_lock", "seconds", "a title"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
