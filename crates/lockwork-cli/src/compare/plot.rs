// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The chart of `--plot`: Improve of each lock, with its interval.

use anyhow::Result;

use super::report::{Report, Summary};
use super::table;
use crate::policy::{BASELINE, CONTROL};
use lockwork_report::bars::{self, Bar};
use lockwork_report::rows::Width;
use lockwork_report::text::shell;

/// Characters of the command that fit into the title.
const LONGEST: usize = 60;

/// Returns the chart of `report` as SVG.
pub fn render(width: Width, report: &Report) -> Result<String> {
    let arms = report.summary.iter().filter(|s| s.arm != BASELINE);
    let bars: Vec<Bar> = arms.map(bar).collect();
    let mut command = shell(&report.command);
    if let Some((end, _)) = command.char_indices().nth(LONGEST) {
        command.truncate(end);
        command.push('…');
    }
    let rounds = report.plan.rounds;
    let title = format!("{command}: Improve over {BASELINE}, {rounds} rounds");
    let axis = "Improve in %; lines: 95 % confidence intervals";
    bars::draw(width, &title, axis, &bars)
}

fn bar(summary: &Summary) -> Bar<'_> {
    let percent = |share: f64| share * 100.0;
    let label = match summary.improve {
        Some(improve) => table::signed(improve),
        None if summary.stopped => "too slow, stopped".to_owned(),
        None if summary.crashed > 0 => "crashed".to_owned(),
        None => "no result".to_owned(),
    };
    Bar {
        name: &summary.arm,
        value: summary.improve.map(percent),
        interval: summary
            .interval
            .map(|(low, high)| (percent(low), percent(high))),
        label,
        faint: summary.arm == CONTROL,
    }
}
