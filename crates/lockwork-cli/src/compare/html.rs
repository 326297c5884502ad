// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The page of `--html`: the table, the verdict, and charts.

use anyhow::Result;

use super::report::Report;
use super::{plot, table};
use lockwork_report::html::{escape, figure, page, table as html_table};
use lockwork_report::strips::{self, Strip};
use lockwork_report::text::{shell, short};

/// The page of this comparison.
pub fn render(report: &Report) -> Result<String> {
    let mut body = format!("<p>{}</p>\n", escape(&table::heading(report)));
    let strips: Vec<Strip> = report
        .arms
        .iter()
        .map(|arm| strip(report, &arm.arm))
        .collect();
    let counted: usize = strips.iter().map(|strip| strip.values.len()).sum();
    if counted > 0 {
        let rows: Vec<Vec<String>> = report
            .summary
            .iter()
            .map(|summary| table::row(summary).map(|cell| escape(&cell)).to_vec())
            .collect();
        body += &html_table(&table::HEADER, &rows);
    }
    let early = report.ended_early();
    let verdict = early.as_ref().unwrap_or(&report.verdict);
    body += &format!("<p><b>{}</b></p>\n", escape(verdict));
    if let Some(note) = &report.note {
        body += &format!("<p>{}</p>\n", escape(note));
    }
    if counted > 0 {
        body += "<h2>Improve over glibc</h2>\n";
        body += &figure(|width| plot::render(width, report))?;
        body += "<h2>The runs of each lock</h2>\n";
        let axis = table::unit(report);
        let title = "A dot is a counted run; a line is the mean";
        body += &figure(|width| strips::draw(width, title, axis, &strips))?;
        body += &runs(&strips);
    }
    if !report.warnings.is_empty() {
        let warnings: Vec<String> = report.warnings.iter().map(|w| escape(w)).collect();
        body += &format!(
            "<h2>Warnings</h2>\n<ul><li>{}</ul>\n",
            warnings.join("\n<li>")
        );
    }
    let title = format!("Locks compared: {}", shell(&report.command));
    Ok(page(&title, "", &body, ""))
}

fn strip<'a>(report: &'a Report, arm: &'a str) -> Strip<'a> {
    let samples = report.samples.iter();
    let counted = samples.filter(|sample| sample.counted && sample.arm == arm);
    Strip {
        name: arm,
        values: counted.map(|sample| sample.value()).collect(),
    }
}

fn runs(strips: &[Strip]) -> String {
    let rows: Vec<Vec<String>> = strips
        .iter()
        .map(|strip| {
            let values: Vec<String> = strip.values.iter().map(|v| short(*v)).collect();
            vec![escape(strip.name), values.join(" · ")]
        })
        .collect();
    let table = html_table(&["Lock", "Runs, in their order"], &rows);
    format!("<details><summary>The runs as numbers</summary>{table}</details>\n")
}
