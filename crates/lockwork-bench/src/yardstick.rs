// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A lock against the best of its rivals, without a phantom winner.
//!
//! The largest of eight noisy numbers is larger than each of the eight is on average. So
//! "the best peer" of a case, chosen and compared in the same rounds, is partly luck, and
//! equals come out below 1. Here the odd rounds choose the rival that the even rounds
//! compare with, and the even rounds choose for the odd ones. All rounds compare, and no
//! round compares with a rival that it chose.
//!
//! This is the cross-validation estimator of van Hasselt ("Double Q-learning", NIPS 2010;
//! "Estimating the maximum expected value", arXiv:1302.7175, 2013); swapping the halves and
//! pooling is the cross-fitting of Chernozhukov et al. (Econometrics Journal 21, 2018).
use crate::sample::Sample;
use lockwork_report::stats::{self, LogRatio};

/// The confidence of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The choice makes the two halves depend on one another: where both choose the same rival
/// by luck, both compare with a high number. With eight equal rivals and 6 to 12 rounds the
/// mean varies by about a tenth more than its rounds show (simulated; a test looks at it).
const CHOICE: f64 = 1.1;

/// Which half of the rounds a round belongs to: 0 for odd rounds, 1 for even ones.
pub fn half(round: u32) -> usize {
    usize::from(round % 2 == 0)
}

/// A lock in a case, beside the rival that each half of the rounds chose for the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Yardstick {
    /// The ratio of throughputs.
    pub throughput: LogRatio,
    /// The ratio of CPU times for an acquisition.
    pub cpu: Option<LogRatio>,
    /// The middle mean of the logarithms of the throughput's ratio in the odd and in the even rounds.
    pub halves: [Option<f64>; 2],
    /// The rivals that were compared with, each once.
    pub rivals: Vec<String>,
}

/// Compares `own` with the best of `rivals`, all in one case. `None` without a rival or
/// with fewer than two rounds.
pub fn yardstick(own: &str, rivals: &[&str], samples: &[&Sample]) -> Option<Yardstick> {
    let chosen = [0, 1].map(|at| choose(rivals, samples, at));
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    let mut halves: [Vec<f64>; 2] = Default::default();
    for sample in samples.iter().filter(|s| s.lock == own) {
        let here = half(sample.round);
        // Chosen by the other half.
        let Some(rival) = chosen[1 - here] else {
            continue;
        };
        let same = |s: &&&Sample| s.lock == rival && s.round == sample.round;
        let Some(other) = samples.iter().find(same) else {
            continue;
        };
        if let Some(log) = log(sample.measured.rate(), other.measured.rate()) {
            rates.push(log);
            halves[here].push(log);
        }
        costs.extend(log(cost(sample), cost(other)));
    }
    let mut rivals: Vec<String> = Vec::new();
    for rival in chosen.into_iter().flatten() {
        if !rivals.iter().any(|r| r == rival) {
            rivals.push(rival.to_owned());
        }
    }
    Some(Yardstick {
        throughput: mean(&rates)?,
        cpu: mean(&costs),
        halves: halves.map(|logs| (!logs.is_empty()).then(|| stats::middle_mean(&logs))),
        rivals,
    })
}

/// The rival whose rates in one half of the rounds are highest, by the same mean as the
/// ratios.
fn choose<'a>(rivals: &[&'a str], samples: &[&Sample], at: usize) -> Option<&'a str> {
    let score = |rival: &&str| {
        let rounds = samples
            .iter()
            .filter(|s| s.lock == *rival && half(s.round) == at);
        let logs: Vec<f64> = rounds.map(|s| s.measured.rate().ln()).collect();
        (!logs.is_empty()).then(|| stats::middle_mean(&logs))
    };
    let scored = rivals
        .iter()
        .filter_map(|rival| Some((*rival, score(rival)?)));
    scored.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(r, _)| r)
}

/// The mean of all rounds, with what the choice adds to its error.
fn mean(logs: &[f64]) -> Option<LogRatio> {
    let mean = LogRatio::of(logs)?;
    Some(LogRatio {
        error: CHOICE * mean.error,
        ..mean
    })
}

/// CPU seconds for an acquisition; 0 if there were none.
fn cost(sample: &Sample) -> f64 {
    crate::sample::per(sample.measured.cpu, sample.measured.operations() as f64)
}

fn log(over: f64, under: f64) -> Option<f64> {
    (over > 0.0 && under > 0.0).then(|| (over / under).ln())
}
