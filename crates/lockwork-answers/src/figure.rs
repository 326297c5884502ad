// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Figures with their intervals, and the words that follow from them.

use lockwork_report::text::{grouped, number, signed_percent};
use lockwork_sim::settle::{of_rate, Verdict};
use lockwork_sim::Simulated;

/// A difference of less than this share is none.
const NEXT_TO_NOTHING: f64 = 0.02;

/// A value, and half of its 95 % interval relative to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    half: f64,
    settled: Verdict,
}

/// On which side of 1 a ratio is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    More,
    Less,
    /// Within its interval, or next to nothing.
    Even,
}

impl Figure {
    /// Million acquisitions a second.
    pub(crate) fn rate(of: &Simulated) -> Figure {
        Figure {
            value: of.outcome.rate() / 1e6,
            half: of_rate(&of.outcome.batches).unwrap_or(f64::INFINITY),
            settled: of.outcome.settled.unwrap_or(Verdict::Drifts),
        }
    }

    /// How many times `base` it is.
    pub(crate) fn over(self, base: Figure) -> Figure {
        Figure {
            value: self.value / base.value,
            half: self.half.hypot(base.half),
            settled: worse(self.settled, base.settled),
        }
    }

    /// Of a ratio. What drifts is on no side; what is short has a wide interval.
    pub(crate) fn side(self) -> Side {
        let by = (self.half * self.value).max(NEXT_TO_NOTHING);
        match self.value - 1.0 {
            _ if self.settled == Verdict::Drifts => Side::Even,
            more if more > by => Side::More,
            more if more < -by => Side::Less,
            _ => Side::Even,
        }
    }

    /// "1.38 ±2 %".
    pub(crate) fn text(self) -> String {
        let half = grouped(self.half * 100.0, 1);
        self.marked(format!("{} ±{half} %", number(self.value)))
    }

    /// Of a ratio, as a change: "+32.9 % ±3.1".
    pub(crate) fn change(self) -> String {
        let half = grouped(self.half * self.value * 100.0, 1);
        self.marked(format!("{} ±{half}", signed_percent(self.value - 1.0)))
    }

    fn marked(self, text: String) -> String {
        match self.settled {
            Verdict::Settled => text,
            not => format!("{text} ({})", not.name()),
        }
    }
}

/// Of two, the one that says less.
fn worse(a: Verdict, b: Verdict) -> Verdict {
    match (a, b) {
        (Verdict::Drifts, _) | (_, Verdict::Drifts) => Verdict::Drifts,
        (Verdict::Short, _) | (_, Verdict::Short) => Verdict::Short,
        _ => Verdict::Settled,
    }
}

/// "2.3 times".
pub(crate) fn times(factor: f64) -> String {
    let decimals = if factor < 9.95 { 1 } else { 0 };
    format!("{} times", grouped(factor, decimals))
}

/// "a, b and c"; nothing: "none".
pub(crate) fn listed<S: AsRef<str>>(all: &[S]) -> String {
    match all {
        [] => "none".to_owned(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
impl Figure {
    /// One made by hand, settled.
    pub(crate) fn of_test(value: f64, half: f64) -> Figure {
        Figure {
            value,
            half,
            settled: Verdict::Settled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{ratio, simulated};

    #[test]
    fn a_side_is_beyond_the_interval_and_next_to_nothing() {
        let side = |value, half| ratio(value, half).side();
        assert_eq!(side(1.3, 0.1), Side::More);
        assert_eq!(side(0.7, 0.1), Side::Less);
        assert_eq!(side(1.3, 0.3), Side::Even);
        assert_eq!(side(1.015, 0.001), Side::Even);
        let with = |settled| Figure {
            settled,
            ..ratio(1.3, 0.1)
        };
        let (drifts, short) = (with(Verdict::Drifts), with(Verdict::Short));
        assert_eq!((drifts.side(), short.side()), (Side::Even, Side::More));
        assert!(drifts.change().ends_with("(drifts)"));
        assert!(short.over(ratio(1.0, 0.0)).change().ends_with("(short)"));
        assert_eq!(drifts.over(short).settled, Verdict::Drifts);
    }

    #[test]
    fn a_rate_is_in_millions_and_a_ratio_adds_the_intervals() {
        let (one, two) = (
            Figure::rate(&simulated("mutex", 8, 2000)),
            Figure::rate(&simulated("mutex_numa", 8, 3000)),
        );
        assert_eq!(one.text(), "2.000 ±0.0 %");
        let over = two.over(one);
        assert_eq!(over.change(), "+50.0 % ±0.0");
        assert_eq!(over.side(), Side::More);
        let wide = ratio(1.0, 0.03).over(ratio(1.0, 0.04));
        assert!((wide.half - 0.05).abs() < 1e-12);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(listed::<&str>(&[]), "none");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!(
            (times(2.34), times(12.3)),
            ("2.3 times".into(), "12 times".into())
        );
    }
}
