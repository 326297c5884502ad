// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Bars with their intervals, drawn as SVG.

use crate::rows::{self, Chart, Drawn, Frame, Width};
use anyhow::Result;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::ops::Range;

/// One bar.
pub struct Bar<'a> {
    /// Beside the bar.
    pub name: &'a str,
    /// Its length. Without one, only the label is drawn.
    pub value: Option<f64>,
    /// Drawn as a line across the end of the bar.
    pub interval: Option<(f64, f64)>,
    /// Right of the bar.
    pub label: String,
    /// Drawn in grey.
    pub faint: bool,
}

/// Returns an SVG of `bars`, the first one at the top. `axis` is the label of the axis.
pub fn draw(width: Width, title: &str, axis: &str, bars: &[Bar]) -> Result<String> {
    let frame = Frame {
        title,
        axis,
        width,
        labels: bars.iter().map(|bar| &*bar.label).collect(),
        names: bars.iter().map(|bar| bar.name).collect(),
        number: &|x| format!("{x:.0}"),
    };
    frame.draw(range(bars), |chart| {
        for (row, bar) in bars.iter().enumerate() {
            draw_bar(chart, &frame, row, bar)?;
        }
        chart.draw_series([PathElement::new(frame.line(0.0), BLACK)])?;
        Ok(())
    })
}

/// All bars and intervals, 0, and room for the labels.
fn range(bars: &[Bar]) -> Range<f64> {
    let ends = bars.iter().flat_map(|bar| {
        let (low, high) = bar.interval.unzip();
        [bar.value, low, high].into_iter().flatten()
    });
    let ends = ends.filter(|end| end.is_finite());
    let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    let length = (high - low).max(1.0);
    low - 0.05 * length..high + 0.15 * length
}

fn draw_bar(
    chart: &mut Chart<'_, '_, RangedCoordf64>,
    frame: &Frame,
    row: usize,
    bar: &Bar,
) -> Drawn {
    let color = match bar.faint {
        true => RGBColor(150, 150, 150),
        false => RGBColor(60, 110, 180),
    };
    let middle = frame.middle(row);
    let mut end = 0.0_f64;
    if let Some(value) = bar.value {
        let (below, above) = frame.edges(row);
        let corners = [(0.0, below), (value, above)];
        let mut body = Rectangle::new(corners, color.mix(0.6).filled());
        // The names of a narrow chart stand above the bars.
        let margin = match frame.width {
            Width::Wide => 9,
            Width::Narrow => 24,
        };
        body.set_margin(margin, margin, 0, 0);
        chart.draw_series([body])?;
        end = end.max(value);
    }
    if let Some((low, high)) = bar.interval {
        rows::interval(chart, (low, high), &middle)?;
        end = end.max(high);
    }
    if frame.width == Width::Narrow {
        return Ok(());
    }
    let label = Text::new(bar.label.clone(), (8, -7), ("sans-serif", 15));
    chart.draw_series([EmptyElement::at((end, middle)) + label])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, value: Option<f64>, interval: Option<(f64, f64)>) -> Bar<'_> {
        let label = format!("label of {name}");
        let faint = false;
        Bar {
            name,
            value,
            interval,
            label,
            faint,
        }
    }

    #[test]
    fn each_bar_has_its_name_and_label() {
        let bars = [
            bar("better", Some(65.0), Some((51.5, 79.7))),
            bar("worse", Some(-20.0), Some((-30.0, -10.0))),
            bar("alone", Some(3.0), None),
            bar("missing", None, None),
        ];
        let svg = draw(Width::Wide, "a title", "an axis", &bars).expect("drawn");
        for bar in &bars {
            assert!(svg.contains(&format!("\n{}\n", bar.name)), "{}", bar.name);
            assert!(svg.contains(&bar.label), "{}", bar.label);
        }
        assert!(svg.contains("a title") && svg.contains("an axis"), "{svg}");
        assert!(svg.ends_with("</svg>\n"), "{svg}");
    }

    #[test]
    fn one_bar_and_none_can_be_drawn() {
        for bars in [&[bar("one", Some(0.0), None)][..], &[]] {
            draw(Width::Wide, "a title", "an axis", bars).expect("drawn");
        }
    }

    #[test]
    fn the_range_has_all_ends_and_zero() {
        let range = range(&[bar("x", Some(10.0), Some((5.0, 20.0)))]);
        assert!(range.start <= 0.0 && range.end > 20.0, "{range:?}");
        let range = super::range(&[bar("x", Some(-10.0), Some((f64::NEG_INFINITY, -5.0)))]);
        assert!(
            range.start < -10.0 && range.start.is_finite() && range.end > 0.0,
            "{range:?}"
        );
    }
}
