// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table for other programs: `--csv` with plain numbers, and `--markdown` as people read it.

use super::report::{Report, Summary};
use super::table;

/// The columns of the CSV.
const COLUMNS: [&str; 15] = [
    "lock",
    "samples",
    "average",
    "median",
    "min",
    "max",
    "variation",
    "improve",
    "interval_low",
    "interval_high",
    "cpu",
    "voluntary",
    "involuntary",
    "stopped",
    "failed",
];

/// A line for each lock, with times in seconds and shares of 1. What is not known is empty.
pub fn csv(report: &Report) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for summary in &report.summary {
        text += &(cells(summary).join(",") + "\n");
    }
    text
}

fn cells(of: &Summary) -> [String; COLUMNS.len()] {
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    [
        quoted(&of.arm),
        of.samples.to_string(),
        number(of.average),
        number(of.median),
        number(of.min),
        number(of.max),
        number(of.variation),
        number(of.improve),
        number(of.interval.map(|i| i.0)),
        number(of.interval.map(|i| i.1)),
        number(of.cpu),
        number(of.voluntary),
        number(of.involuntary),
        of.stopped.to_string(),
        (of.failed + of.crashed).to_string(),
    ]
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// The table, and the verdict below it.
pub fn markdown(report: &Report) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | ").replace('\n', " "));
    let header = table::HEADER.map(str::to_owned);
    let mut text = line(&header);
    text += "|---|--:|--:|--:|--:|--:|--:|\n";
    for summary in &report.summary {
        text += &line(&table::row(summary).map(|cell| cell.replace('|', "\\|")));
    }
    text + "\n" + &report.verdict + "\n"
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn commas_are_quoted() {
        assert_eq!(quoted("mutex:a=1"), "mutex:a=1");
        assert_eq!(quoted("a,\"b"), "\"a,\"\"b\"");
    }
}
