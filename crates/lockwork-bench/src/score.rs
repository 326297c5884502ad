// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All cases of a lock in a few numbers, as the report and the JSON have them;
//! `scoring` makes them.
use crate::sample::Case;
use crate::yardstick::CONFIDENCE;
use lockwork_report::stats::LogRatio;
use serde::{Deserialize, Serialize};

/// A ratio below this is under the goal of a case.
pub const GOAL: f64 = 0.90;
/// A ratio to the best peer that is still called near.
pub const NEAR: f64 = 0.85;

/// A ratio and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// The ratio.
    pub ratio: f64,
    /// Its interval, if there were rounds enough.
    pub interval: Option<(f64, f64)>,
}

impl Known {
    /// Of a mean of logarithms.
    pub fn of(log: &LogRatio) -> Known {
        Known {
            ratio: log.ratio(),
            interval: log.interval(CONFIDENCE),
        }
    }
}

/// A lock in one case, against the best of its rivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseScore {
    /// The case.
    #[serde(alias = "cell")]
    pub case: Case,
    /// Its throughput to that of the rival.
    pub throughput: Known,
    /// Its CPU time for an acquisition to that of the rival.
    pub cpu: Option<Known>,
    /// The rivals: one, or the two that the halves of the rounds chose.
    pub rivals: Vec<String>,
}

/// A lock in all cases, against the best of its rivals in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The lock.
    pub lock: String,
    /// The geometric mean of the throughput's ratios.
    pub throughput: Known,
    /// The geometric mean of the ratios of CPU time for an acquisition.
    pub cpu: Option<Known>,
    /// The smallest change of the throughput's mean between two such runs that is told
    /// apart: 0.05 is 5 %.
    pub detectable: f64,
    /// The place of the worst case in `cases`.
    pub worst: usize,
    /// The ratio, in one half of the rounds, of the case that is worst in the other half:
    /// the worst of many noisy numbers is worse than it is on average.
    pub worst_again: Option<f64>,
    /// Cases that have no ratio, because the lock took too long to stop and was left out.
    #[serde(default)]
    pub left_out: usize,
    /// The cases.
    #[serde(alias = "cells")]
    pub cases: Vec<CaseScore>,
}

impl Score {
    /// In how many cases the ratio is as `wanted`.
    pub fn count(&self, wanted: impl Fn(f64) -> bool) -> usize {
        let cases = self.cases.iter();
        cases.filter(|c| wanted(c.throughput.ratio)).count()
    }

    /// In how many cases the whole interval is below the goal.
    pub fn surely_under(&self) -> usize {
        let below = |c: &&CaseScore| c.throughput.interval.is_some_and(|(_, high)| high < GOAL);
        self.cases.iter().filter(below).count()
    }
}
