// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A cell of a published table: what to simulate for it, and how outcomes become
//! its value.

use super::bound::Bound;
use crate::machine::Machine;
use crate::outcome::Outcome;
use crate::settle::{self, Verdict};
use crate::workload::Workload;
use crate::{Clusters, Found, Placement, Rules, Setup};
use lockwork_report::{stats, text};
use std::sync::Arc;

/// Of intervals.
const CONFIDENCE: f64 = 0.95;

/// What a cell's number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Milliseconds.
    Ms,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// A ratio, which people read as a change in percent.
    Change,
    /// A ratio.
    Times,
    /// A part of a whole: judged by targets, because between 0.3 % and 0.4 % a
    /// relative error says nothing.
    Share,
}

impl Unit {
    /// `value` as tables show it.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Ms | Unit::Us => text::grouped(value, 0),
            Unit::Ns => text::grouped(value, 1),
            Unit::Change => format!("{:+.1} %", (value - 1.0) * 100.0),
            Unit::Times => format!("{value:.2}×"),
            Unit::Share => format!("{:.2} %", value * 100.0),
        }
    }

    /// Half the width of an interval around `value`, as tables show it.
    pub fn show_half(self, value: f64, half: f64) -> String {
        match self {
            Unit::Change | Unit::Share => format!("±{:.1} pp", half * 100.0),
            _ if value > 0.0 => format!("±{:.1} %", half / value * 100.0),
            _ => String::new(),
        }
    }

    /// The same as a number, for programs.
    pub fn number(self, value: f64) -> f64 {
        match self {
            Unit::Ms | Unit::Ns | Unit::Us | Unit::Times => value,
            Unit::Change => (value - 1.0) * 100.0,
            Unit::Share => value * 100.0,
        }
    }

    /// Half the width of an interval as a number, for programs.
    pub fn number_half(self, half: f64) -> f64 {
        match self {
            Unit::Ms | Unit::Ns | Unit::Us | Unit::Times => half,
            Unit::Change | Unit::Share => half * 100.0,
        }
    }

    /// As programs know it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ms => "ms",
            Unit::Ns => "ns",
            Unit::Us => "µs",
            Unit::Change => "change in %",
            Unit::Times => "times",
            Unit::Share => "%",
        }
    }
}

/// What a cell's error says about the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The machine's file was fitted to it: its error says how well.
    Calibration,
    /// Nothing was fitted to it.
    Prediction,
    /// The machine was not fitted to it, but the workload's think time was chosen by figures of
    /// the same table: compared, and counted apart from predictions.
    FittedThink,
    /// What was measured is not what is simulated; or it is 1 by definition, or follows from
    /// other cells.
    Shown,
}

impl Role {
    /// Those whose errors, signs and orders count.
    pub const COMPARED: [Role; 2] = [Role::Prediction, Role::FittedThink];

    /// As programs know it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Calibration => "calibration",
            Role::Prediction => "prediction",
            Role::FittedThink => "fitted think time",
            Role::Shown => "shown",
        }
    }
}

/// Which part of a simulation is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A steady state, whenever it comes.
    Steady,
    /// The time that the workload says, from the start.
    Start,
}

/// A simulation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    pub machine: Arc<Machine>,
    pub lock: &'static str,
    pub workload: Workload,
    pub threads: usize,
    pub placement: Placement,
    pub extent: Extent,
}

impl Trial {
    /// It, with a seed.
    pub fn setup(&self, seed: u64) -> Setup<'_> {
        Setup {
            machine: &self.machine,
            lock: self.lock,
            workload: &self.workload,
            threads: self.threads,
            placement: self.placement,
            cpus: 0,
            guests: None,
            clusters: Clusters::Llc,
            settings: &[],
            settle: None,
            rules: Rules::default(),
            seed,
            window: None,
        }
    }
}

/// How outcomes become a cell's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Measure {
    /// The time of a loop of each thread, until the last one was done, ns, times this.
    Finished(f64),
    /// The first trial's time of a loop, over the second's.
    FinishedOver,
    /// The first trial's acquisitions a second, over the second's. With more trials: the mean of
    /// the first half, over that of the second.
    RateOver,
    /// The first trial's CPU time for each acquisition, over the second's.
    BusyOver,
    /// The share of all CPU time that was spent in lock and unlock.
    InLock,
    /// The longest wait of all, µs.
    LongestWait,
}

impl Measure {
    /// The value of one seed's outcomes, if it has one: above zero.
    pub fn of(self, outcomes: &[&Outcome]) -> Option<f64> {
        let value = match (self, outcomes) {
            (Measure::Finished(scale), [one]) => one.ns_of_a_loop()? * scale,
            (Measure::FinishedOver, [one, base]) => one.ns_of_a_loop()? / base.ns_of_a_loop()?,
            (Measure::RateOver, all) if !all.is_empty() && all.len() % 2 == 0 => {
                let (some, base) = all.split_at(all.len() / 2);
                let [some, base] =
                    [some, base].map(|part| part.iter().map(|one| one.rate()).sum::<f64>());
                some / base
            }
            (Measure::BusyOver, [one, base]) => {
                let [one, base] =
                    [one, base].map(|outcome| outcome.ns_busy / outcome.acquisitions() as f64);
                one / base
            }
            (Measure::InLock, [one]) => one.ns_in_lock / one.ns_busy,
            (Measure::LongestWait, [one]) => one.waits.max() as f64 / 1e3,
            _ => return None,
        };
        (value.is_finite() && value >= 0.0).then_some(value)
    }

    /// Half the width of the value's 95 % interval, by the batches of one seed's outcomes.
    /// A longest wait has none: it is the greatest of all, and not a mean.
    pub fn half_width(self, outcomes: &[&Outcome]) -> Option<f64> {
        let value = self.of(outcomes)?;
        match (self, outcomes) {
            (Measure::Finished(_), [one]) => Some(value * settle::of_time(&one.batches)?),
            (Measure::FinishedOver, [one, base]) => {
                let [one, base] = [one, base].map(|outcome| settle::of_time(&outcome.batches));
                Some(value * one?.hypot(base?))
            }
            (Measure::RateOver, all) => {
                let (some, base) = all.split_at(all.len() / 2);
                Some(value * half_of_rates(some)?.hypot(half_of_rates(base)?))
            }
            (Measure::BusyOver, [one, base]) => {
                let [one, base] = [one, base].map(|outcome| settle::of_rate(&outcome.batches));
                Some(value * one?.hypot(base?))
            }
            (Measure::InLock, [one]) => settle::of_share(&one.batches),
            _ => None,
        }
    }
}

/// Half the width of the interval of the mean rate of `outcomes`, as a share of it.
fn half_of_rates(outcomes: &[&Outcome]) -> Option<f64> {
    let half = |one: &&Outcome| Some(one.rate() * settle::of_rate(&one.batches)?);
    let halves: Option<Vec<f64>> = outcomes.iter().map(half).collect();
    let all: f64 = outcomes.iter().map(|one| one.rate()).sum();
    Some(halves?.into_iter().fold(0.0, f64::hypot) / all)
}

/// One published number.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub row: String,
    pub column: String,
    /// Cells of one group are ranked.
    pub group: String,
    pub published: f64,
    pub unit: Unit,
    pub role: Role,
    /// The cell that signs are against; without one, ratios are against 1.
    pub base: Option<usize>,
    /// Indices of the table's trials.
    pub trials: Vec<usize>,
    pub measure: Measure,
}

/// A ratio of less is a loss. 1 %: what is published of few threads varies more.
pub(crate) const NO_LOSS: f64 = 0.99;

/// What a number that nobody published has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// Within a bound.
    Is(Bound),
    /// About the simulated value of the table's cell with this index, or more; and no loss.
    AsGoodAs(usize),
}

/// A number that nobody published: to be read beside those that are.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    pub row: String,
    pub column: String,
    pub unit: Unit,
    /// What it has to be, if that is a target.
    pub wanted: Option<Wanted>,
    /// Indices of the table's trials.
    pub trials: Vec<usize>,
    pub measure: Measure,
}

/// What one trial came to: each seed's outcome.
pub(crate) type Runs = Vec<Found>;

/// What the seeds of some trials say together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Estimate {
    /// The mean over the seeds, of which the interval is; none if a simulation got stuck.
    pub value: Option<f64>,
    /// Half the width of its 95 % interval: by the seeds if there are three or more, by
    /// the batches of the simulations if not.
    pub half: Option<f64>,
    /// Not all simulations came to a steady state.
    pub unsettled: bool,
    /// How many seeds that is of.
    pub seeds: usize,
}

impl Cell {
    /// It is a part of a whole, and has no relative error.
    pub fn is_share(&self) -> bool {
        self.unit == Unit::Share
    }

    /// Its simulated value; `found` is by trial.
    pub fn estimate(&self, found: &[Runs]) -> Estimate {
        estimate(self.measure, &self.trials, found)
    }
}

impl Beside {
    /// As [`Cell::estimate`].
    pub fn estimate(&self, found: &[Runs]) -> Estimate {
        estimate(self.measure, &self.trials, found)
    }
}

fn estimate(measure: Measure, trials: &[usize], found: &[Runs]) -> Estimate {
    let seeds = trials.iter().map(|&trial| found[trial].len()).min();
    let of_seed = |seed: usize| {
        let outcomes = trials.iter().map(|&trial| found[trial][seed].as_ref());
        outcomes.map(Result::ok).collect::<Option<Vec<&Outcome>>>()
    };
    let seeds: Option<Vec<Vec<&Outcome>>> = (0..seeds.unwrap_or(0)).map(of_seed).collect();
    let seeds = seeds.unwrap_or_default();
    let values: Option<Vec<f64>> = seeds.iter().map(|one| measure.of(one)).collect();
    let Some(values) = values.filter(|values| !values.is_empty()) else {
        return Estimate::default();
    };
    let settled = |outcome: &&Outcome| {
        let verdict = outcome.settled;
        verdict.is_none_or(|verdict| verdict == Verdict::Settled)
    };
    let n = values.len() as f64;
    let half = match stats::half_width(&values, CONFIDENCE) {
        Some(half) => Some(half),
        None => {
            let halves = seeds.iter().map(|one| measure.half_width(one));
            let halves: Option<Vec<f64>> = halves.collect();
            halves.map(|halves| stats::mean(&halves) / n.sqrt())
        }
    };
    Estimate {
        value: Some(stats::mean(&values)),
        half,
        unsettled: !seeds.iter().flatten().all(settled),
        seeds: values.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::samples::{cell, outcome, stuck};

    #[test]
    fn outcomes_become_values() {
        let mut one = outcome(200, 100.0);
        (one.ns_in_lock, one.ns_busy) = (25.0, 100.0);
        let base = outcome(100, 100.0);
        assert_eq!(Measure::RateOver.of(&[&one, &base]), Some(2.0));
        assert_eq!(
            Measure::RateOver.of(&[&one, &base, &base, &base]),
            Some(1.5)
        );
        assert_eq!(Measure::RateOver.of(&[&one, &base, &base]), None);
        assert_eq!(Measure::InLock.of(&[&one]), Some(0.25));
        let mut other = outcome(100, 100.0);
        other.ns_busy = 200.0;
        assert_eq!(Measure::BusyOver.of(&[&one, &other]), Some(0.25));
        one.waits.record(2_500_000).expect("recorded");
        let longest = Measure::LongestWait.of(&[&one]).expect("a wait");
        assert!((longest / 2500.0 - 1.0).abs() < 1e-3, "{longest}");
        assert_eq!(Measure::Finished(5e6 / 1e3).of(&[&one]), None);
        one.finished_ns = Some(27e3);
        assert_eq!(Measure::Finished(1e-6).of(&[&one]), Some(0.027 / 200.0));
        assert_eq!(Measure::FinishedOver.of(&[&one, &base]), None);
        let slow = Outcome {
            finished_ns: Some(54e3),
            ..one.clone()
        };
        assert_eq!(Measure::FinishedOver.of(&[&slow, &one]), Some(2.0));
    }

    #[test]
    fn what_has_no_value_has_none() {
        let one = outcome(100, 100.0);
        let none = outcome(0, 100.0);
        assert_eq!(Measure::RateOver.of(&[&one, &none]), None);
        assert_eq!(Measure::RateOver.of(&[&one]), None);
        assert_eq!(Measure::InLock.of(&[&none]), None);
    }

    #[test]
    fn a_value_is_the_mean_of_the_seeds() {
        let of = |n: &[u64]| n.iter().map(|&n| Ok(outcome(n, 100.0))).collect::<Runs>();
        let ratio = Cell {
            trials: vec![1, 0],
            measure: Measure::RateOver,
            ..cell("r", "c", 1.0)
        };
        let found = [of(&[10, 10, 10]), of(&[10, 10, 40])];
        let estimate = ratio.estimate(&found);
        // The middle one would be 1.
        assert_eq!((estimate.value, estimate.unsettled), (Some(2.0), false));
        // t(0.975, 2) = 4.303, and the seeds' 1, 1 and 4 deviate by the root of 3.
        let half = estimate.half.expect("three seeds");
        assert!((half - 4.303).abs() < 0.01, "{half}");
        let found = [of(&[10, 10]), vec![Ok(outcome(1, 1.0)), Err(stuck())]];
        assert_eq!(ratio.estimate(&found), Estimate::default());
        let none = ratio.estimate(&[of(&[]), of(&[])]);
        assert_eq!(none, Estimate::default());
    }

    #[test]
    fn one_seed_has_the_interval_of_its_batches() {
        let (mut one, base) = (outcome(200, 100.0), outcome(100, 100.0));
        let cell = Cell {
            trials: vec![0, 1],
            measure: Measure::RateOver,
            ..cell("r", "c", 1.0)
        };
        let known = |one: &Outcome| cell.estimate(&[vec![Ok(one.clone())], vec![Ok(base.clone())]]);
        assert_eq!(known(&one).half, Some(0.0));
        one.batches[0].acquisitions *= 2;
        assert!(known(&one).half.is_some_and(|half| half > 0.1));
        assert!(!known(&one).unsettled);
        one.settled = Some(Verdict::Short);
        assert!(known(&one).unsettled);
        assert_eq!(Measure::LongestWait.half_width(&[&one]), None);
        assert_eq!(Unit::Change.show_half(2.0, 0.05), "±5.0 pp");
        assert_eq!(Unit::Ms.show_half(200.0, 5.0), "±2.5 %");
    }

    #[test]
    fn numbers_are_shown_with_their_units() {
        for (unit, value, shown) in [
            (Unit::Ms, 12087.4, "12,087"),
            (Unit::Ns, 14.94, "14.9"),
            (Unit::Us, 2499.6, "2,500"),
            (Unit::Change, 1.207, "+20.7 %"),
            (Unit::Change, 0.9, "-10.0 %"),
            (Unit::Times, 4.018, "4.02×"),
            (Unit::Share, 0.6534, "65.34 %"),
        ] {
            assert_eq!(unit.show(value), shown);
        }
        assert!((Unit::Change.number(1.5) - 50.0).abs() < 1e-9);
        assert!((Unit::Share.number(0.25) - 25.0).abs() < 1e-9);
    }
}
