// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From samples to one line a lock, and the warnings that go with them.

use super::metric::Better;
use super::report::{Outcome, Sample, Summary};
use crate::policy::CONTROL;
use lockwork_report::stats::{self, Pair};
use lockwork_report::text::counted;

/// What the summaries need to know beside the samples.
pub struct Setup<'a> {
    /// Every run so far.
    pub samples: &'a [Sample],
    /// Which way is better.
    pub better: Better,
    /// Seeds the resampling.
    pub seed: u64,
    /// The confidence of an interval by itself.
    pub confidence: f64,
    /// How many arms are compared with glibc: the locks and the control.
    pub comparisons: usize,
}

impl Setup<'_> {
    /// The confidence of the intervals for the verdict: all of them together are wrong
    /// no more often than one of `confidence` by itself (Bonferroni).
    pub fn verdict_confidence(&self) -> f64 {
        1.0 - (1.0 - self.confidence) / self.comparisons.max(1) as f64
    }

    fn counted<'b>(&'b self, arm: &'b str) -> impl Iterator<Item = &'b Sample> {
        self.samples
            .iter()
            .filter(move |s| s.counted && s.arm == arm)
    }

    /// Rounds that have both arms, such that more than 1 in the ratio means
    /// that `arm` is the better one.
    pub fn pairs(&self, arm: &str, other: &str) -> Vec<Pair> {
        let partner = |s: &Sample| {
            let round = s.round;
            self.counted(other)
                .find(|o| o.round == round)
                .map(Sample::value)
        };
        self.counted(arm)
            .filter_map(|s| Some((s.value(), partner(s)?)))
            .map(|(own, other)| match self.better {
                Better::Higher => (own, other),
                Better::Lower => (other, own),
            })
            .collect()
    }

    /// What runs under `arm` found contended, if they say.
    pub fn contended(&self, arm: &str) -> Option<f64> {
        let found: Vec<f64> = self.counted(arm).filter_map(|s| s.contended).collect();
        (!found.is_empty()).then(|| stats::mean(&found))
    }

    /// One line for `arm`, compared with `baseline`.
    pub fn summary(&self, arm: &str, baseline: &str, stopped: bool) -> Summary {
        let runs: Vec<&Sample> = self.counted(arm).collect();
        let mean = |of: &dyn Fn(&Sample) -> f64| {
            let all: Vec<f64> = runs.iter().map(|s| of(s)).collect();
            (!all.is_empty()).then(|| stats::mean(&all))
        };
        let values: Vec<f64> = runs.iter().map(|s| s.value()).collect();
        let pairs = self.pairs(arm, baseline);
        let compared = arm != baseline && !stopped;
        let coarse = is_coarse(&pairs);
        let interval = |confidence| {
            let found =
                (compared && !coarse).then(|| stats::interval(&pairs, confidence, self.seed));
            found.flatten()
        };
        let verdict_interval = interval(self.verdict_confidence());
        let beside = match compared && arm != CONTROL {
            true => self.pairs(arm, CONTROL),
            false => Vec::new(),
        };
        let control_interval = (!is_coarse(&beside))
            .then(|| stats::interval(&beside, self.verdict_confidence(), self.seed))
            .flatten();
        Summary {
            arm: arm.to_string(),
            samples: runs.len(),
            average: mean(&Sample::value),
            min: values.iter().copied().reduce(f64::min),
            median: (!values.is_empty()).then(|| stats::median(&values)),
            max: values.iter().copied().reduce(f64::max),
            variation: stats::variation(&values),
            improve: compared.then(|| stats::improve(&pairs)).flatten(),
            interval: interval(self.confidence),
            verdict_interval,
            control_interval,
            like_control: beside.len() >= stats::MIN_ROUNDS
                && verdict_interval.is_some_and(|own| !agree(own, control_interval)),
            cpu: mean(&|s| s.user + s.sys),
            voluntary: mean(&|s| s.voluntary as f64),
            involuntary: mean(&|s| s.involuntary as f64),
            stopped,
            limit: None,
            crashed: self.failed(arm, true),
            failed: self.failed(arm, false),
            zeros: runs.iter().filter(|s| s.value() <= 0.0).count(),
        }
    }

    /// How many runs of `arm` failed that were to count: ended by a signal, or otherwise.
    fn failed(&self, arm: &str, by_signal: bool) -> usize {
        let of_arm = self.samples.iter().filter(|s| s.arm == arm && s.round > 0);
        of_arm
            .filter(|s| s.outcome == Outcome::Failed && s.signal.is_some() == by_signal)
            .count()
    }

    /// What about `arm`'s samples is to be kept in mind.
    pub fn warnings(&self, summary: &Summary) -> Vec<String> {
        let (arm, n) = (&summary.arm, summary.samples);
        let values: Vec<f64> = self.counted(arm).map(Sample::value).collect();
        let mut all = Vec::new();
        let any = self.samples.iter().any(|s| s.counted);
        if any && n < stats::MIN_ROUNDS {
            all.push(format!("{arm}: only {}", counted(n, "sample")));
        }
        match stats::outliers(&values) {
            0 => {}
            k => all.push(format!("{arm}: {k} of {n} samples are outliers")),
        }
        if values.iter().any(|v| *v <= 0.0) {
            all.push(format!("{arm}: numbers of zero or less have no ratio"));
        }
        let failed = |s: &&Sample| s.arm == *arm && s.outcome == Outcome::Failed;
        match self.samples.iter().filter(failed).count() {
            0 => {}
            k => all.push(format!("{arm}: {} failed", counted(k, "run"))),
        }
        all
    }
}

/// A warning on arms whose runs differ much.
pub fn vary(arms: &[Summary]) -> Option<String> {
    let much = arms.iter().filter_map(|a| Some((a, a.variation?)));
    let much: Vec<String> = much
        .filter(|(_, cv)| *cv > 0.1)
        .map(|(a, cv)| format!("{} {:.0} %", a.arm, cv * 100.0))
        .collect();
    (!much.is_empty()).then(|| format!("runs vary much (CV above 10 %): {}", much.join(", ")))
}

/// Whether the interval of the difference from glibc holds 0, or the other one excludes it on the
/// same side.
fn agree(own: (f64, f64), other: Option<(f64, f64)>) -> bool {
    if own.0 > 0.0 {
        other.is_some_and(|other| other.0 > 0.0)
    } else if own.1 < 0.0 {
        other.is_some_and(|other| other.1 < 0.0)
    } else {
        true
    }
}

/// Whether the numbers do not vary, and differ by their last digit at most: then the difference may
/// come from rounding.
fn is_coarse(pairs: &[Pair]) -> bool {
    let Some(&(own, other)) = pairs.first() else {
        return false;
    };
    let decimals = |number: f64| {
        let text = format!("{number}");
        text.split_once('.').map_or(0, |(_, digits)| digits.len())
    };
    let step = 0.1_f64.powi(decimals(own).max(decimals(other)) as i32);
    let differ = (own - other).abs();
    differ > 0.0 && differ < 1.5 * step && pairs.iter().all(|pair| *pair == (own, other))
}
