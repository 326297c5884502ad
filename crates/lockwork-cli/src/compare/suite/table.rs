// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table of a suite: a row for each program and number of threads, a column for each
//! lock.

use lockwork_report::table;
use lockwork_report::text::{counted, grouped};

use super::super::report::{Ended, Summary};
use super::report::{LockScore, Row, Skipped, SuiteReport};
use crate::policy::BASELINE;

/// Rounds that differ by more than this are worth a word.
const MUCH: f64 = 0.1;
/// More rows than these are counted and not named.
const FEW: usize = 5;

/// The table, what it shows, and what is missing in it.
pub fn render(report: &SuiteReport) -> String {
    let mut text = format!(
        "{}: ratio to glibc, with its 95 % interval; more than 1 is better\n\n",
        report.suite
    );
    text += &table::render(header(report), body(report));
    text += "\n\n";
    for score in &report.summary {
        text += &verdict(report, score);
    }
    text += &notes(report);
    text + &end(report)
}

fn header(report: &SuiteReport) -> Vec<String> {
    let mut header = vec!["Program".to_owned(), "Threads".into()];
    header.extend(report.summary.iter().map(|score| score.arm.clone()));
    header.push("Waits/s".into());
    header
}

fn body(report: &SuiteReport) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = report.rows.iter().map(|row| line(report, row)).collect();
    rows.extend(report.skipped.iter().map(|skipped| {
        let mut line = vec![skipped.program.clone(), String::new()];
        line.extend(report.summary.iter().map(|_| "skipped".to_owned()));
        line.push(String::new());
        line
    }));
    let foot = |name: &str, of: &dyn Fn(&LockScore) -> String| {
        let mut line = vec![name.to_owned(), String::new()];
        line.extend(report.summary.iter().map(of));
        line.push(String::new());
        line
    };
    rows.push(foot("Geometric mean", &|score| {
        score
            .mean
            .map_or_else(dash, |mean| shown(mean, score.interval))
    }));
    rows.push(foot(
        "Worst",
        &|score| match (&score.worst, score.stopped) {
            (_, 1..) => "stopped".to_owned(),
            (Some(worst), _) => format!("{:.2}", worst.ratio),
            (None, _) => dash(),
        },
    ));
    rows
}

fn line(report: &SuiteReport, row: &Row) -> Vec<String> {
    let mut line = vec![row.program.clone(), row.threads.to_string()];
    line.extend(report.summary.iter().map(|score| cell(row, &score.arm)));
    let waits = row.switches().filter(|_| row.failed.is_none());
    line.push(waits.map_or_else(dash, |n| grouped(n, 0)));
    line
}

fn cell(row: &Row, arm: &str) -> String {
    if row.failed.is_some() {
        return "failed".to_owned();
    }
    let summaries = row.report.iter().flat_map(|report| &report.summary);
    let Some(summary) = summaries.into_iter().find(|s| s.arm == arm) else {
        return dash();
    };
    if summary.stopped {
        return "stopped".to_owned();
    }
    let up = |(low, high)| (1.0 + low, 1.0 + high);
    let mark = if differs(summary) { " *" } else { "" };
    summary.improve.map_or_else(dash, |improve| {
        shown(1.0 + improve, summary.interval.map(up)) + mark
    })
}

/// Is there a difference from glibc by the verdict's rule?
fn differs(summary: &Summary) -> bool {
    let interval = summary.verdict_interval;
    interval.is_some_and(|i| i.0 > 0.0 || i.1 < 0.0)
}

fn shown(ratio: f64, interval: Option<(f64, f64)>) -> String {
    let range = |(low, high)| format!(" ({low:.2} … {high:.2})");
    format!("{ratio:.2}{}", interval.map_or_else(String::new, range))
}

fn dash() -> String {
    "-".to_owned()
}

/// What is shown of one lock.
fn verdict(report: &SuiteReport, score: &LockScore) -> String {
    let n = score.rows + score.stopped;
    let mut text = format!(
        "{}: better than {BASELINE} in {} of {n} rows, worse in {}, no difference shown in {} \
         (* in the table: intervals adjusted for {}).",
        score.arm,
        score.better,
        score.worse,
        score.rows - score.better - score.worse,
        counted(report.comparisons, "comparison")
    );
    if let Some(worst) = &score.worst {
        let (program, threads) = (&worst.program, worst.threads);
        text += &format!(" Worst: {:.2}, {program} ({threads}).", worst.ratio);
    }
    if score.stopped > 0 {
        text += &format!(
            " Stopped because it took too long, and not in the mean: {}.",
            counted(score.stopped, "row")
        );
    }
    text + "\n"
}

/// What to keep in mind.
fn notes(report: &SuiteReport) -> String {
    let good = || report.rows.iter().filter(|row| row.failed.is_none());
    let names = |of: &dyn Fn(&Row) -> bool| {
        let all: Vec<String> = good().filter(|row| of(row)).map(Row::name).collect();
        (!all.is_empty()).then(|| all.join(", "))
    };
    let mut text = String::new();
    if let Some(rows) = names(&Row::hardly_contended) {
        text += &format!(
            "Hardly contended: with glibc these rows waited less than 100 times for each second \
             of CPU time, so that their locks matter little: {rows}.\n"
        );
    }
    for row in &report.rows {
        if let Some(why) = &row.failed {
            text += &format!("failed: {}: {why}\n", row.name());
        }
    }
    for skipped in &report.skipped {
        text += &skip(skipped);
    }
    let vary = |row: &Row| {
        let mut all = row.report.iter().flat_map(|report| &report.summary);
        all.any(|s| s.variation.is_some_and(|cv| cv > MUCH))
    };
    match good().filter(|row| vary(row)).count() {
        0 => {}
        n if n > FEW => {
            let all = good().count();
            text += &format!("warning: runs vary much (CV above 10 %) in {n} of {all} rows\n");
        }
        _ => {
            let rows = names(&vary).unwrap_or_default();
            text += &format!("warning: runs vary much (CV above 10 %): {rows}\n");
        }
    }
    for warning in report.machine.warnings() {
        text += &format!("warning: {warning}\n");
    }
    text
}

fn skip(skipped: &Skipped) -> String {
    let package = skipped.package.as_ref();
    let package = package.map_or_else(String::new, |package| {
        format!("; it is in the Debian package {package}")
    });
    format!("skipped: {}: {}{package}\n", skipped.program, skipped.why)
}

/// The last line: what the table is made of.
fn end(report: &SuiteReport) -> String {
    let failed = report.failed();
    let rows: usize = report.skipped.iter().map(|s| s.rows).sum();
    let cut = matches!(report.ended, Ended::Interrupted { .. });
    // The last row of an interrupted suite lacks rounds.
    let measured = report.rows.len() - failed - usize::from(cut);
    let mut text = format!(
        "{measured} of {} rows measured, {failed} failed, {rows} skipped",
        report.planned + rows
    );
    if !report.skipped.is_empty() {
        let programs = counted(report.skipped.len(), "program");
        text += &format!(" with {programs} that cannot run here");
    }
    if let Ended::Interrupted { signal } = &report.ended {
        text += &format!("; stopped by {signal} in the row {}", report.rows.len());
    }
    text + ".\n"
}
