// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the simulations of a plan say, by lock and number of threads.

use lockwork_report::stats::mean;
use lockwork_sim::outcome::Outcome;
use lockwork_sim::settle::Verdict;

use crate::doubt::{self, band};
use crate::plan::{Case, Job, Plan};

/// What is kept of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Acquisitions a second.
    pub rate: f64,
    /// The share of the threads' time that they wait for the lock.
    pub waiting: f64,
    /// Whether it came to a steady state.
    pub settled: bool,
}

impl Point {
    /// Of a simulation.
    pub fn of(outcome: &Outcome) -> Point {
        let time = outcome.ns * outcome.by_thread.len() as f64;
        // Of nested locks the first is the one that is predicted.
        let nested = outcome.program.as_ref().map(|program| &program.locks[0]);
        let waits = nested.map_or(&outcome.waits, |lock| &lock.waits);
        let waits = waits.mean() * waits.len() as f64;
        Point {
            rate: match nested {
                Some(lock) => lock.acquisitions as f64 * 1e9 / outcome.ns.max(1e-9),
                None => outcome.rate(),
            },
            waiting: (waits / time).min(1.0),
            settled: outcome.settled == Some(Verdict::Settled),
        }
    }
}

/// A value and its band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Banded {
    /// In the middle of the simulations.
    pub value: f64,
    /// What it may be at least.
    pub low: f64,
    /// And at most.
    pub high: f64,
}

impl Banded {
    /// Of one value for each simulation.
    fn of(values: &[f64], error: f64) -> Option<Banded> {
        if values.is_empty() {
            return None;
        }
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(0.0, f64::max);
        let (low, high) = band(least, greatest, error);
        let value = mean(values);
        Some(Banded { value, low, high })
    }
}

/// One policy with one number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The policies' names.
    pub policies: String,
    /// The simulator's lock.
    pub lock: &'static str,
    /// Threads.
    pub threads: usize,
    /// It is glibc's.
    pub is_base: bool,
    /// Acquisitions a second; none: not predicted.
    pub rate: Option<Banded>,
    /// Over glibc's: 1 is as many.
    pub ratio: Option<Banded>,
    /// The share of the threads' time that they wait.
    pub waiting: f64,
    /// Whether all its simulations came to a steady state.
    pub settled: bool,
}

/// All that was simulated.
pub struct Results<'a> {
    plan: &'a Plan,
    points: Vec<Option<Point>>,
}

impl<'a> Results<'a> {
    /// None yet.
    pub fn new(plan: &'a Plan) -> Results<'a> {
        Results {
            plan,
            points: vec![None; plan.jobs.len()],
        }
    }

    /// The simulation at this place said so.
    pub fn put(&mut self, at: usize, point: Point) {
        self.points[at] = Some(point);
    }

    /// The simulations of a lock with so many threads, in the order of seeds and thinking.
    fn points(&self, case: usize, lock: &str, threads: usize) -> Vec<Point> {
        let is = |job: &Job| job.case == case && job.lock == lock && job.threads == threads;
        let all = self.plan.jobs.iter().zip(&self.points);
        all.filter(|(job, _)| is(job))
            .filter_map(|(_, point)| *point)
            .collect()
    }

    /// The rows of a case: the threads change last.
    pub fn rows(&self, at: usize) -> Vec<Row> {
        let case = &self.plan.cases[at];
        let error = self.error(at);
        let mut rows = Vec::new();
        for &threads in &case.threads {
            let base = case.models.iter().find(|model| model.is_base);
            let base = base.map_or_else(Vec::new, |model| self.points(at, model.lock, threads));
            for model in &case.models {
                let found = self.points(at, model.lock, threads);
                let rates: Vec<f64> = found.iter().map(|point| point.rate).collect();
                let waits: Vec<f64> = found.iter().map(|point| point.waiting).collect();
                let pairs = found.iter().zip(&base);
                let ratios: Vec<f64> = pairs
                    .filter(|(_, base)| base.rate > 0.0)
                    .map(|(point, base)| point.rate / base.rate)
                    .collect();
                let is_paired = !model.is_base && found.len() == base.len();
                rows.push(Row {
                    policies: model.policies.clone(),
                    lock: model.lock,
                    threads,
                    is_base: model.is_base,
                    rate: Banded::of(&rates, error),
                    ratio: Banded::of(&ratios, error).filter(|_| is_paired),
                    waiting: mean(&waits),
                    settled: !found.is_empty() && found.iter().all(|point| point.settled),
                });
            }
        }
        rows
    }

    /// What the profiled lock does in the simulation with as many threads as were profiled:
    /// acquisitions a second.
    pub fn as_profiled(&self, at: usize) -> Option<f64> {
        let case: &Case = &self.plan.cases[at];
        let found = self.points(at, case.profiled?, case.profiled_threads());
        let rates: Vec<f64> = found.iter().map(|point| point.rate).collect();
        (!rates.is_empty()).then(|| mean(&rates))
    }

    /// How wide the bands of a case are: see [`doubt::error`].
    pub fn error(&self, at: usize) -> f64 {
        let lock = &self.plan.cases[at].lock;
        doubt::error(lock.kind, lock.rate, self.as_profiled(at))
    }
}

/// What a band says.
pub fn verdict(ratio: &Banded) -> &'static str {
    match ratio {
        ratio if ratio.low > 1.0 => "faster",
        ratio if ratio.high < 1.0 => "slower",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_has_all_simulations() {
        let found = Banded::of(&[1.0, 2.0], 0.2).expect("some");
        assert_eq!(found.value, 1.5);
        assert!((found.low - 1.0 / 1.2).abs() < 1e-12);
        assert!((found.high - 2.4).abs() < 1e-12);
        assert_eq!(Banded::of(&[], 0.2), None);
    }

    #[test]
    fn only_a_band_beyond_glibcs_says_something() {
        let banded = |low, high| Banded {
            value: 1.0,
            low,
            high,
        };
        assert_eq!(verdict(&banded(1.01, 2.0)), "faster");
        assert_eq!(verdict(&banded(0.5, 0.99)), "slower");
        assert_eq!(verdict(&banded(0.9, 3.0)), "unknown");
    }
}
