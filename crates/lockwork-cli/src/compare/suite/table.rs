// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table of a suite: a row for each program and number of threads, a column for each
//! lock. And what is to be said of it.

use std::cmp::Ordering;

use lockwork_report::table;
use lockwork_report::text::{counted, grouped};

use super::super::conclusion::{paused, repeated, short};
use super::super::report::{Ended, Fault, Summary};
use super::super::verdict::too_few;
use super::report::{LockScore, Row, Skipped, SuiteReport};
use crate::policy::{BASELINE, CONTROL};

/// Rounds that differ by more than this are worth a word.
const MUCH: f64 = 0.1;
/// More rows than these are counted and not named.
const FEW: usize = 5;

/// The table, what it shows, and what is missing in it.
pub fn render(report: &SuiteReport) -> String {
    let mut text = heading(report) + "\n\n";
    text += &table::render(header(report), body(report));
    text += "\n\n";
    let verdicts = report.summary.iter().map(|score| verdict(report, score));
    let said: Vec<String> = verdicts.chain(notes(report)).chain([end(report)]).collect();
    text + &said.join("\n") + "\n"
}

/// What the table shows.
pub fn heading(report: &SuiteReport) -> String {
    let suite = &report.suite;
    format!("{suite}: ratio to glibc, with its 95 % interval; more than 1 is better")
}

/// The names of its columns.
pub fn header(report: &SuiteReport) -> Vec<String> {
    let mut header = vec!["Program".to_owned(), "Threads".into()];
    header.extend(report.summary.iter().map(|score| score.arm.clone()));
    header.push("Waits/s".into());
    header
}

/// Its rows; the mean and the worst are the last two.
pub fn body(report: &SuiteReport) -> Vec<Vec<String>> {
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
            _ if score.without > 0 => "crashed".to_owned(),
            _ if score.faulty > 0 => "failed".to_owned(),
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

/// What a lock comes to in a row.
pub fn cell(row: &Row, arm: &str) -> String {
    if row.failed.is_some() {
        return "failed".to_owned();
    }
    let Some(summary) = row.of(arm) else {
        return dash();
    };
    if summary.stopped {
        return "stopped".to_owned();
    }
    if summary.samples == 0 && summary.crashed > 0 {
        return "crashed".to_owned();
    }
    match row.report.as_ref().and_then(|report| report.fault(summary)) {
        Some(Fault::Failed(runs)) => return format!("{runs} failed"),
        Some(Fault::Zero(runs)) => return format!("{runs} × 0"),
        _ => {}
    }
    let mark = match differs(summary) {
        Ordering::Equal => "",
        _ => " *",
    };
    summary
        .ratio()
        .map_or_else(dash, |ratio| shown(ratio, summary.ratio_interval()) + mark)
}

/// Is there a difference from glibc by the verdict's rule, and which?
pub fn differs(summary: &Summary) -> Ordering {
    match summary.verdict_interval {
        Some((low, _)) if low > 0.0 => Ordering::Greater,
        Some((_, high)) if high < 0.0 => Ordering::Less,
        _ => Ordering::Equal,
    }
}

/// A ratio with its interval.
pub fn shown(ratio: f64, interval: Option<(f64, f64)>) -> String {
    let range = |(low, high)| format!(" ({low:.2} … {high:.2})");
    format!("{ratio:.2}{}", interval.map_or_else(String::new, range))
}

fn dash() -> String {
    "-".to_owned()
}

/// What is shown of one lock.
pub fn verdict(report: &SuiteReport, score: &LockScore) -> String {
    let n = score.measured;
    let without_ratio = n - score.rows - score.stopped - score.without - score.faulty;
    let mut text = match report.too_few() {
        Some(rounds) => format!("{}: {}", score.arm, too_few(rounds)),
        None => format!(
            "{}: better than {BASELINE} in {} of {n} rows, worse in {}, no difference shown in {} \
             (* in the table: intervals adjusted for {}).",
            score.arm,
            score.better,
            score.worse,
            score.rows - score.better - score.worse,
            counted(report.comparisons, "comparison")
        ),
    };
    if score.like_control > 0 {
        text += &format!(
            " In {} of these rows the difference is not shown to be more than that of the control, \
             {CONTROL}.",
            score.like_control
        );
    }
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
    if score.crashed > 0 {
        text += &format!(
            " A signal ended runs of it, and none of {BASELINE}'s, in {}; {} of these not in the \
             mean.",
            counted(score.crashed, "row"),
            score.without
        );
    }
    if score.faulty > 0 {
        text += &format!(
            " More of its runs failed than of {BASELINE}'s, or gave 0, in {}, not in the mean.",
            counted(score.faulty, "row")
        );
    }
    if without_ratio > 0 {
        text += &format!(" No ratio in {}.", counted(without_ratio, "row"));
    }
    text
}

/// What to keep in mind. A note on a program that failed has several lines.
pub fn notes(report: &SuiteReport) -> Vec<String> {
    let good = || report.rows.iter().filter(|row| row.failed.is_none());
    let names = |of: &dyn Fn(&Row) -> bool| {
        let all: Vec<String> = good().filter(|row| of(row)).map(Row::name).collect();
        (!all.is_empty()).then(|| all.join(", "))
    };
    let mut all = Vec::new();
    if let Some(rows) = names(&Row::hardly_contended) {
        all.push(format!(
            "Hardly contended: with glibc these rows waited less than 100 times for each second \
             of CPU time, so that their locks matter little: {rows}."
        ));
    }
    for row in &report.rows {
        if let Some(why) = &row.failed {
            all.push(format!("failed: {}: {why}", row.name()));
        }
    }
    all.extend(report.skipped.iter().map(skip));
    let vary = |row: &Row| {
        let mut all = row.report.iter().flat_map(|report| &report.summary);
        all.any(|s| s.variation.is_some_and(|cv| cv > MUCH))
    };
    match good().filter(|row| vary(row)).count() {
        0 => {}
        n if n > FEW => {
            let rows = good().count();
            all.push(format!(
                "warning: runs vary much (CV above 10 %) in {n} of {rows} rows"
            ));
        }
        _ => {
            let rows = names(&vary).unwrap_or_default();
            all.push(format!("warning: runs vary much (CV above 10 %): {rows}"));
        }
    }
    let quick = |row: &Row| {
        let report = row.report.as_ref();
        report.is_some_and(|report| short(&report.plan, &report.samples).is_some())
    };
    if let Some(rows) = names(&quick) {
        all.push(format!(
            "warning: runs take less than 50 ms, so that starting the program may be most of what \
             is measured: {rows}"
        ));
    }
    let reports = report.rows.iter().filter_map(|row| row.report.as_ref());
    let paused = reports.map(|report| paused(&report.samples)).sum();
    all.extend(repeated(paused).map(|repeated| format!("warning: {repeated}")));
    let warnings = report.machine.warnings().into_iter();
    all.extend(warnings.map(|warning| format!("warning: {warning}")));
    all
}

fn skip(skipped: &Skipped) -> String {
    let package = skipped.package.as_ref();
    let package = package.map_or_else(String::new, |package| {
        format!("; it is in the Debian package {package}")
    });
    format!("skipped: {}: {}{package}", skipped.program, skipped.why)
}

/// The last line: what the table is made of.
pub fn end(report: &SuiteReport) -> String {
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
    text + "."
}
