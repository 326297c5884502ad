// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The page of `--suite FILE --html PAGE`: the table, what is said of it, and a chart of the
//! ratios for each lock.

use std::cmp::Ordering;

use anyhow::Result;
use lockwork_report::html::{escape, figure, page, table as html_table};
use lockwork_report::ratios::{self, Row as Line};

use super::report::{LockScore, SuiteReport};
use super::table;

const STYLE: &str = "li{white-space:pre-wrap}tr:nth-last-child(-n+2){font-weight:bold}";

/// The page of this suite.
pub fn render(report: &SuiteReport) -> Result<String> {
    let mut body = format!("<p>{}</p>\n", escape(&table::heading(report)));
    let cells = |row: Vec<String>| row.iter().map(|cell| escape(cell)).collect();
    let rows: Vec<Vec<String>> = table::body(report).into_iter().map(cells).collect();
    body += &html_table(&table::header(report), &rows);
    let verdicts: Vec<String> = report
        .summary
        .iter()
        .map(|score| escape(&table::verdict(report, score)))
        .collect();
    body += &format!("<p><b>{}</b></p>\n", verdicts.join("<br>\n"));
    let names: Vec<String> = report.rows.iter().map(|row| row.name()).collect();
    let charts: Vec<(&LockScore, Vec<Line>)> = report
        .summary
        .iter()
        .map(|score| (score, lines(report, &names, score)))
        .collect();
    // One axis for all locks: their charts can be held against each other.
    let range = ratios::range(charts.iter().flat_map(|(_, lines)| lines));
    for (score, lines) in charts.iter().filter(|(score, _)| score.mean.is_some()) {
        body += &format!("<h2>{}: ratio to glibc</h2>\n", escape(&score.arm));
        let title = format!("{}: ratio to glibc, and the geometric mean", score.arm);
        let axis = "ratio, logarithmic; lines: 95 % intervals; *: shown to differ";
        body += &figure(|width| ratios::draw(width, &title, axis, range.clone(), lines))?;
    }
    let mut notes = table::notes(report);
    notes.push(table::end(report));
    let notes: Vec<String> = notes.iter().map(|note| escape(note)).collect();
    body += &format!(
        "<h2>To keep in mind</h2>\n<ul><li>{}</ul>\n",
        notes.join("\n<li>")
    );
    let title = format!("Locks compared: {}", report.suite);
    Ok(page(&title, STYLE, &body, ""))
}

/// The rows of the table, and their mean, for one lock.
fn lines<'a>(report: &SuiteReport, names: &'a [String], score: &LockScore) -> Vec<Line<'a>> {
    let rows = report.rows.iter().zip(names);
    let mut all: Vec<Line> = rows
        .map(|(row, name)| {
            let summary = row.of(&score.arm).filter(|_| row.failed.is_none());
            Line {
                name,
                ratio: summary.and_then(|summary| summary.ratio()),
                interval: summary.and_then(|summary| summary.ratio_interval()),
                label: table::cell(row, &score.arm),
                differs: summary.map_or(Ordering::Equal, table::differs),
                sum: false,
            }
        })
        .collect();
    if let Some(mean) = score.mean {
        all.push(Line {
            name: "Geometric mean",
            ratio: Some(mean),
            interval: score.interval,
            label: table::shown(mean, score.interval),
            differs: match score.interval {
                Some((low, _)) if low > 1.0 => Ordering::Greater,
                Some((_, high)) if high < 1.0 => Ordering::Less,
                _ => Ordering::Equal,
            },
            sum: true,
        });
    }
    all
}
