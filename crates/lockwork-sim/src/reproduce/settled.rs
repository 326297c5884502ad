// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Simulates a trial for as long as it takes to be in a steady state.

use super::cell::{Extent, Runs, Trial};
use crate::outcome::Outcome;
use crate::settle::{self, Verdict};
use crate::{simulate, Found, Rules, Setup};
use anyhow::Result;
use lockwork_report::stats;

/// Memory operations of a simulation: some cells need more than what others may take.
const MOST_OPERATIONS: u64 = 8 * settle::MOST_OPERATIONS;
/// Times that a number of loops is doubled, at most.
const MOST_DOUBLINGS: u32 = 3;
/// Seeds at most of a workload with a number of loops, but for those that were asked for.
const MOST_SEEDS: usize = 96;
/// Times of a loop that differ by less than this share agree.
const NEXT_TO_NOTHING: f64 = 0.02;
/// Half the width of the interval over the seeds, relative to their mean, that is narrow
/// enough.
const NARROW: f64 = 0.05;
/// Of intervals.
const CONFIDENCE: f64 = 0.95;
/// Seeds at least of a workload with a number of loops: its interval comes from them, because
/// towards the end, when some threads are done, it is another load.
pub(crate) const SEEDS_OF_LOOPS: u64 = 3;

/// What the trial comes to with each of these seeds. It says whether it has settled, but for a
/// trial of which only the start is wanted.
///
/// # Errors
/// The trial is impossible.
pub(crate) fn simulated(trial: &Trial, seeds: &[u64], rules: Rules) -> Result<Runs> {
    if let (Extent::Steady, Some(loops)) = (trial.extent, trial.workload.loops) {
        return looped(trial, loops, seeds, rules);
    }
    let settle = (trial.extent == Extent::Steady).then_some(MOST_OPERATIONS);
    let one = |seed: &u64| -> Result<Found> {
        let found = simulate(&Setup {
            rules,
            settle,
            ..trial.setup(*seed)
        })?;
        Ok(found.map(|outcome| Outcome {
            settled: outcome.settled.filter(|_| settle.is_some()),
            ..outcome
        }))
    };
    seeds.iter().map(one).collect()
}

/// The same, but a number of loops is simulated once, and nobody asks whether it has settled.
///
/// # Errors
/// As [`simulated`].
pub(super) fn simulated_once(trial: &Trial, seed: u64, rules: Rules) -> Result<Found> {
    let settles = trial.extent == Extent::Steady && trial.workload.loops.is_none();
    simulate(&Setup {
        rules,
        settle: settles.then_some(settle::MOST_OPERATIONS),
        ..trial.setup(seed)
    })
}

/// The published runs have far more loops than are simulated. A start and an end that
/// differ from the rest show when there are twice as many: then the loops are doubled.
///
/// That a seed agrees with itself says nothing of another one. Some locks fall into a cycle at
/// the start, one of several, and stay there for ever: more loops do not change that, and more
/// seeds tell how often each comes.
fn looped(trial: &Trial, loops: u64, seeds: &[u64], rules: Rules) -> Result<Runs> {
    let run = |loops: u64, seeds: &[u64]| -> Result<Runs> {
        let mut workload = trial.workload.clone();
        workload.loops = Some(loops);
        let one = |seed: &u64| {
            simulate(&Setup {
                workload: &workload,
                rules,
                ..trial.setup(*seed)
            })
        };
        seeds.iter().map(one).collect()
    };
    let (mut loops, mut seeds, mut doublings) = (loops, seeds.to_vec(), 0);
    let (mut before, mut now) = (run(loops, &seeds)?, run(2 * loops, &seeds)?);
    loop {
        if before.iter().any(Result::is_err) {
            return Ok(before);
        }
        let verdict = judge(&before, &now);
        match verdict {
            Verdict::Drifts if doublings < MOST_DOUBLINGS => {
                (loops, doublings) = (2 * loops, doublings + 1);
                before = std::mem::replace(&mut now, run(2 * loops, &seeds)?);
            }
            Verdict::Short if 2 * seeds.len() <= MOST_SEEDS => {
                let last = seeds.last().copied().unwrap_or(0);
                let more: Vec<u64> = (1..=seeds.len() as u64).map(|i| last + i).collect();
                before.extend(run(loops, &more)?);
                now.extend(run(2 * loops, &more)?);
                seeds.extend(more);
            }
            _ => {
                let outcomes = now.iter_mut().flatten();
                outcomes.for_each(|outcome| outcome.settled = Some(verdict));
                return Ok(now);
            }
        }
    }
}

/// Judges seeds by what they came to with half as many loops before.
fn judge(before: &Runs, now: &Runs) -> Verdict {
    let times = |runs: &Runs| -> Option<Vec<f64>> {
        let of = |found: &Found| found.as_ref().ok().and_then(Outcome::ns_of_a_loop);
        runs.iter().map(of).collect()
    };
    let (Some(before), Some(now)) = (times(before), times(now)) else {
        return Verdict::Drifts;
    };
    if !agree(&before, &now) {
        return Verdict::Drifts;
    }
    match are_near(&now) {
        true => Verdict::Settled,
        false => Verdict::Short,
    }
}

/// Whether a loop takes as long in both, seed by seed: they differ by next to nothing, or by
/// no more than the seeds make likely.
fn agree(before: &[f64], now: &[f64]) -> bool {
    let ratios: Vec<f64> = before.iter().zip(now).map(|(a, b)| b / a).collect();
    let likely = stats::half_width(&ratios, CONFIDENCE).unwrap_or(0.0);
    (stats::mean(&ratios) - 1.0).abs() <= likely.max(NEXT_TO_NOTHING)
}

/// Whether the seeds' interval is narrow.
fn are_near(times: &[f64]) -> bool {
    let half = stats::half_width(times, CONFIDENCE);
    half.is_some_and(|half| half <= NARROW * stats::mean(times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::samples::outcome;
    use crate::reproduce::{mb_cache, spin_micro};

    fn finished(loops: u64, ns: f64) -> Outcome {
        Outcome {
            finished_ns: Some(ns),
            ..outcome(loops, ns)
        }
    }

    #[test]
    fn twice_the_loops_in_twice_the_time_agree() {
        assert!(agree(&[10.0; 3], &[10.1; 3]));
        assert!(!agree(&[10.0; 3], &[10.5; 3]));
        // Seeds that differ much allow for more; one seed allows for nothing.
        assert!(agree(&[10.0; 3], &[10.0, 10.5, 11.0]));
        assert!(!agree(&[10.0], &[10.5]));
    }

    #[test]
    fn loops_are_doubled_until_they_agree() {
        let table = spin_micro::table().expect("the table");
        let mut trial = table.trials[0].clone();
        // The first loops fetch the lines: of 100 they are a good part.
        for (loops, simulated_loops) in [(100, 1600), (5000, 10_000)] {
            trial.workload.loops = Some(loops);
            for found in simulated(&trial, &[1, 2, 3], Rules::default()).expect("possible") {
                let found = found.expect("it ends");
                assert_eq!(found.settled, Some(Verdict::Settled));
                assert_eq!(found.acquisitions(), simulated_loops);
            }
        }
    }

    /// Three threads pass a ticket lock on in one of two orders, each with its time.
    #[test]
    fn seeds_that_fall_into_one_of_two_cycles_are_joined_by_more() {
        let table = spin_micro::table().expect("the table");
        let three = |trial: &&Trial| trial.lock == "ticket_lock" && trial.threads == 3;
        let mut trial = table.trials.iter().find(three).expect("a trial").clone();
        trial.workload.loops = Some(2000);
        // By chance in what they compute, each thread falls into both.
        let rules = ["any-order", "uneven-work"].map(str::to_owned);
        let rules = Rules::without(&rules).expect("rules");
        let found = simulated(&trial, &[1, 2, 3], rules).expect("possible");
        assert!(found.len() > 3, "{}", found.len());
        let found: Vec<Outcome> = found.into_iter().map(|one| one.expect("it ends")).collect();
        assert!(found
            .iter()
            .all(|one| one.settled == Some(Verdict::Settled)));
        assert!(found.iter().all(|one| one.acquisitions() == 3 * 4000));
    }

    #[test]
    fn seeds_have_to_be_near_each_other() {
        let runs = |ns: [f64; 3], loops: u64| -> Runs {
            let one = |ns: f64| Ok(finished(loops, ns * loops as f64));
            ns.map(one).into()
        };
        let judged = |before, now| judge(&runs(before, 100), &runs(now, 200));
        let same = [10.0, 10.1, 9.9];
        assert_eq!(judged(same, same), Verdict::Settled);
        // Each agrees with itself.
        let apart = [10.0, 10.0, 15.0];
        assert_eq!(judged(apart, apart), Verdict::Short);
        assert_eq!(judged(same, [11.0, 11.1, 10.9]), Verdict::Drifts);
        // One seed says nothing of the others.
        assert!(!are_near(&[10.0]) && are_near(&same));
    }

    #[test]
    fn a_window_that_is_too_short_is_lengthened_but_for_a_start() {
        let table = mb_cache::table().expect("the table");
        let few = table.trials.iter().find(|trial| trial.threads == 30);
        let mut trial = few.expect("30 threads").clone();
        (trial.workload.warmup_us, trial.workload.measure_us) = (0.0, 50.0);
        trial.extent = Extent::Start;
        let one = |trial: &Trial| {
            let mut runs = simulated(trial, &[1], Rules::default()).expect("possible");
            runs.remove(0).expect("it ends")
        };
        let start = one(&trial);
        assert_eq!((start.settled, start.ns), (None, 50e3));
        trial.extent = Extent::Steady;
        let steady = one(&trial);
        assert!(steady.ns > 50e3);
        assert_eq!(steady.settled, Some(Verdict::Settled));
    }
}
