// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table that people read, in the form of the kernel's patch mails.

use super::metric::Better;
use super::report::{Ended, Report, Summary};
use crate::policy::BASELINE;
use lockwork_report::table;
use lockwork_report::text::{grouped, shell, short};

/// The columns of the table.
pub const HEADER: [&str; 7] = [
    "Lock",
    "Average",
    "CV",
    "Improve",
    "95% CI of Improve",
    "CPU s",
    "Ctx switches",
];

/// The table, the verdict and the warnings.
pub fn render(report: &Report) -> String {
    // A failure is printed as an error, and there is nothing else to say.
    if let Some(why) = report.ended_early() {
        return match report.ended {
            Ended::Interrupted { .. } => format!("{why}\n"),
            _ => String::new(),
        };
    }
    let runs = report.samples.iter().filter(|s| s.counted).count();
    let mut text = format!("{}\n\n", heading(report));
    if runs > 0 {
        let rows = report.summary.iter().map(row);
        text += &table::render(HEADER, rows);
        text += "\n\n";
    }
    text += &report.verdict;
    text += "\n";
    if let Some(note) = &report.note {
        text += &format!("{note}\n");
    }
    for warning in &report.warnings {
        text += &format!("warning: {warning}\n");
    }
    text
}

/// What was run and measured.
pub fn heading(report: &Report) -> String {
    let runs = report.samples.iter().filter(|s| s.counted).count();
    format!(
        "{}: {}, {} is better; {runs} counted runs",
        shell(&report.command),
        unit(report),
        match report.plan.better {
            Better::Higher => "more",
            Better::Lower => "less",
        }
    )
}

/// What a run is judged by.
pub fn unit(report: &Report) -> &str {
    match report.plan.metric.as_str() {
        "wall" => "wall time in seconds",
        other => other,
    }
}

/// The cells of a lock.
pub fn row(summary: &Summary) -> [String; 7] {
    let dash = || "-".to_string();
    if summary.stopped {
        let limit = summary.limit.unwrap_or_default();
        let stopped = format!("> {} s, stopped", short(limit));
        let arm = summary.arm.clone();
        return [arm, stopped, dash(), dash(), dash(), dash(), dash()];
    }
    if summary.samples == 0 && summary.crashed > 0 {
        let crashed = "crashed".to_owned();
        let arm = summary.arm.clone();
        return [arm, crashed, dash(), dash(), dash(), dash(), dash()];
    }
    let is_base = summary.arm == BASELINE;
    let missing = || if is_base { String::new() } else { dash() };
    let switches = summary.voluntary.zip(summary.involuntary);
    [
        summary.arm.clone(),
        summary.average.map_or_else(dash, short),
        summary
            .variation
            .map_or_else(dash, |cv| format!("{:.1} %", cv * 100.0)),
        summary.improve.map_or_else(missing, signed),
        summary.interval.map_or_else(missing, |(low, high)| {
            format!("{} … {}", signed(low), signed(high))
        }),
        summary.cpu.map_or_else(dash, |cpu| grouped(cpu, 3)),
        switches.map_or_else(dash, |(own, forced)| grouped(own + forced, 0)),
    ]
}

/// `improve` in percent, with its sign.
pub fn signed(improve: f64) -> String {
    let percent = improve * 100.0;
    if percent.abs() >= 100_000.0 {
        return format!("{percent:+.0e} %");
    }
    format!("{percent:+.1} %")
}
