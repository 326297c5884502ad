// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a run is judged by: its wall time, or a number that it prints.

use std::sync::LazyLock;

use anyhow::Result;
use lockwork_report::usage;
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

/// How much of the output's end is searched and kept.
pub const KEEP_OUTPUT: usize = 4 << 20;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is.
    Higher,
    /// Less is.
    Lower,
}

/// What is measured.
#[derive(Debug)]
pub struct Metric {
    /// `None`: the wall time in seconds.
    pub pattern: Option<Regex>,
    /// Which way is better.
    pub better: Better,
}

impl Metric {
    /// Reads `wall` or a regular expression.
    pub fn parse(text: &str, better: Option<Better>) -> Result<Metric> {
        if text == "wall" {
            return Ok(Metric {
                pattern: None,
                better: better.unwrap_or(Better::Lower),
            });
        }
        let pattern = pattern(text).map_err(|why| usage::error(format!("--metric {why}")))?;
        Ok(Metric {
            pattern: Some(pattern),
            better: better.unwrap_or(Better::Higher),
        })
    }

    /// The number in the last match in `output`.
    pub fn find(&self, output: &[u8]) -> Result<Option<f64>, String> {
        let Some(pattern) = &self.pattern else {
            return Ok(None);
        };
        let last = pattern.captures_iter(output).last();
        let group = last.and_then(|captures| captures.get(1));
        let Some(group) = group else {
            return Err(format!("its output does not match --metric '{pattern}'"));
        };
        let text = String::from_utf8_lossy(group.as_bytes());
        match number(text.trim()) {
            Some(number) => Ok(Some(number)),
            None if text.contains(',') => Err(format!(
                "--metric '{pattern}' found '{text}' in its output: a comma is read between \
                 groups of three digits only; run the program with LC_ALL=C"
            )),
            None => Err(format!(
                "--metric '{pattern}' found '{text}' in its output, which is not a number"
            )),
        }
    }
}

/// Commas between groups of three digits, as in 12,345.6.
static GROUPED: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(r"^[+-]?\d{1,3}(,\d{3})+([.eE].*)?$").expect("an expression")
});

/// A finite number, or none.
fn number(text: &str) -> Option<f64> {
    let number = match text.contains(',') {
        true if !GROUPED.is_match(text) => return None,
        true => text.replace(',', "").parse::<f64>(),
        false => text.parse::<f64>(),
    };
    number.ok().filter(|number| number.is_finite())
}

/// Reads a regular expression with one group; or says in a sentence what is wrong with it.
pub fn pattern(text: &str) -> Result<Regex, String> {
    let pattern = Regex::new(text).map_err(|error| {
        // The lines before the last one are the expression, and where it is wrong.
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default();
        let last = last.trim_start_matches("error: ");
        format!("'{text}' is not a regular expression: {last}")
    })?;
    match pattern.captures_len() {
        2 => Ok(pattern),
        n => Err(format!(
            "'{text}' has {} groups and needs exactly one, around the number, as in \
             'rate: ([0-9.]+)'; write (?:…) for a group that is not the number",
            n - 1
        )),
    }
}

/// The end of `output`, for messages: at most ten lines.
pub fn tail(output: &[u8]) -> String {
    let end = &output[output.len().saturating_sub(4096)..];
    let text = String::from_utf8_lossy(end);
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(10)..];
    last.iter().map(|line| format!("  | {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, output: &str) -> Result<Option<f64>, String> {
        let metric = Metric::parse(pattern, None).expect("pattern");
        metric.find(output.as_bytes())
    }

    #[test]
    fn takes_the_last_match() {
        let output = "rate: 1\nrate: 12,345.5 ops\nend";
        assert_eq!(find(r"rate: ([\d.,]+)", output), Ok(Some(12345.5)));
        assert_eq!(find("wall", output), Ok(None));
        assert!(find(r"speed: (\d+)", output).is_err());
        assert!(find(r"(end)", output).is_err());
        assert_eq!(find("(.*)", "1,234,567"), Ok(Some(1_234_567.0)));
        assert_eq!(find("(.*)", "-2.5e3"), Ok(Some(-2500.0)));
        // A decimal comma, and what is no grouping.
        for text in ["12,5", "1,2,3", "1234,567", "1.5,000", ",123", "inf", "nan"] {
            assert!(find("(.*)", text).is_err(), "{text}");
        }
    }

    #[test]
    fn wants_exactly_one_group() {
        assert!(Metric::parse("rate", None).is_err());
        assert!(Metric::parse("(a)(b)", None).is_err());
        assert!(Metric::parse("(a", None).is_err());
        assert!(Metric::parse("(?:a)(b)", None).is_ok());
    }

    #[test]
    fn keeps_the_end_for_messages() {
        let many: String = (0..50).map(|i| format!("line {i}\n")).collect();
        let shown = tail(many.as_bytes());
        assert!(shown.contains("line 49") && !shown.contains("line 39"));
    }
}
