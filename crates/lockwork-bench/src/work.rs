// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What threads do inside and outside of a lock, as users write it.
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// More than this many cache lines nobody touches under one lock.
const MAX_LINES: u64 = 65_536;
/// A thousand seconds; more is a mistake.
const MAX_NS: u64 = 1_000_000_000_000;
const SHAPE: &str = "write a time as 100, 100ns, 10us or 1ms, or cache lines as 4lines";

/// What a thread does at one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Work {
    /// Computes that many nanoseconds in a calibrated loop.
    Ns(u64),
    /// Reads and writes that many distinct cache lines.
    Lines(u32),
    /// Mostly nothing, 2 µs at times, 10 ms rarely; see [`crate::presets`].
    Torture,
}

impl Work {
    /// So many times as much; `None` where that means nothing.
    pub fn times(self, factor: f64) -> Option<Work> {
        match self {
            Work::Ns(ns) => Some(Work::Ns((ns as f64 * factor).round() as u64)),
            Work::Lines(n) => Some(Work::Lines((f64::from(n) * factor).round() as u32)),
            Work::Torture => None,
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Work::Ns(0) => f.pad("0"),
            Work::Ns(ns) if ns % 1_000_000 == 0 => f.pad(&format!("{}ms", ns / 1_000_000)),
            Work::Ns(ns) if ns % 1000 == 0 => f.pad(&format!("{}us", ns / 1000)),
            Work::Ns(ns) => f.pad(&format!("{ns}ns")),
            Work::Lines(n) => f.pad(&format!("{n}lines")),
            Work::Torture => f.pad("locktorture"),
        }
    }
}

impl FromStr for Work {
    type Err = String;

    fn from_str(text: &str) -> Result<Work, String> {
        if text == "locktorture" {
            return Ok(Work::Torture);
        }
        let digits = text.find(|c: char| !c.is_ascii_digit());
        let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
        let number: u64 = number.parse().map_err(|_| SHAPE)?;
        let scale = match unit {
            "" | "ns" => 1,
            "us" | "µs" => 1000,
            "ms" => 1_000_000,
            "lines" | "line" if number > MAX_LINES => {
                return Err(format!("at most {MAX_LINES} lines"));
            }
            "lines" | "line" => return Ok(Work::Lines(number as u32)),
            _ => return Err(SHAPE.to_owned()),
        };
        match number.checked_mul(scale) {
            Some(ns) if ns <= MAX_NS => Ok(Work::Ns(ns)),
            _ => Err("at most 1000 s".to_owned()),
        }
    }
}

impl From<Work> for String {
    fn from(work: Work) -> String {
        work.to_string()
    }
}

impl TryFrom<String> for Work {
    type Error = String;

    fn try_from(text: String) -> Result<Work, String> {
        text.parse()
    }
}

/// What a thread does between two acquisitions: by itself, or measured by what
/// it does inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outside {
    /// So much.
    Work(Work),
    /// So many times what it does inside.
    Times(f64),
}

impl Outside {
    /// What that is for a given inside.
    pub fn beside(self, inside: Work) -> Option<Work> {
        match self {
            Outside::Work(work) => Some(work),
            Outside::Times(factor) => inside.times(factor),
        }
    }
}

impl FromStr for Outside {
    type Err = String;

    fn from_str(text: &str) -> Result<Outside, String> {
        let Some(factor) = text.strip_suffix('x') else {
            return text
                .parse()
                .map(Outside::Work)
                .map_err(|why: String| format!("{why}, or 10x for ten times the inside"));
        };
        match factor.parse::<f64>() {
            Ok(factor) if (0.0..=10_000.0).contains(&factor) => Ok(Outside::Times(factor)),
            _ => Err("write 1x or 0.5x, up to 10000x".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_read_as_it_is_written() {
        for text in [
            "0",
            "100ns",
            "1us",
            "1500ns",
            "3ms",
            "4lines",
            "locktorture",
        ] {
            assert_eq!(text.parse::<Work>().map(|w| w.to_string()), Ok(text.into()));
        }
        assert_eq!("100".parse(), Ok(Work::Ns(100)));
        assert_eq!("1line".parse(), Ok(Work::Lines(1)));
        assert_eq!("10x".parse(), Ok(Outside::Times(10.0)));
        assert_eq!("7us".parse(), Ok(Outside::Work(Work::Ns(7000))));
    }

    #[test]
    fn wrong_work_is_refused_with_what_to_write() {
        for text in ["", "x", "-1", "1.5us", "10 us", "4pages", "ns", "1s"] {
            let error = text.parse::<Work>().expect_err(text);
            assert!(error.contains("100ns"), "{text}: {error}");
        }
        for text in ["99999999999999999999", "99999999999ms", "70000lines"] {
            assert!(text.parse::<Work>().is_err(), "{text}");
        }
        for text in ["x", "-1x", "nanx", "1e9x", "5y"] {
            assert!(text.parse::<Outside>().is_err(), "{text}");
        }
    }

    #[test]
    fn outside_follows_inside() {
        let times = |work| Outside::Times(10.0).beside(work);
        assert_eq!(times(Work::Ns(100)), Some(Work::Ns(1000)));
        assert_eq!(times(Work::Lines(2)), Some(Work::Lines(20)));
        assert_eq!(times(Work::Torture), None);
    }
}
