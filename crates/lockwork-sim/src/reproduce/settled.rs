// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Simulates a trial for as long as it takes to be in a steady state.

use super::cell::{Extent, Trial};
use crate::outcome::Outcome;
use crate::settle::{of_time, Verdict, MOST_OPERATIONS};
use crate::{simulate, Found, Rules, Setup};
use anyhow::Result;

/// Times that a number of loops is doubled, at most.
const MOST_DOUBLINGS: u32 = 3;
/// Times of a loop that differ by less than this share agree.
const NEXT_TO_NOTHING: f64 = 0.02;

/// What the trial comes to with a seed. It says whether it has settled, but for a trial of
/// which only the start is wanted.
///
/// # Errors
/// The trial is impossible.
pub(crate) fn simulated(trial: &Trial, seed: u64, rules: Rules) -> Result<Found> {
    let setup = Setup {
        rules,
        ..trial.setup(seed)
    };
    match (trial.extent, trial.workload.loops) {
        (Extent::Start, _) => {
            let found = simulate(&setup)?;
            Ok(found.map(|outcome| Outcome {
                settled: None,
                ..outcome
            }))
        }
        (Extent::Steady, None) => simulate(&Setup {
            settle: Some(MOST_OPERATIONS),
            ..setup
        }),
        (Extent::Steady, Some(loops)) => looped(&setup, loops),
    }
}

/// The same, but a number of loops is simulated once, and nobody asks whether it has settled.
///
/// # Errors
/// As [`simulated`].
pub(super) fn simulated_once(trial: &Trial, seed: u64, rules: Rules) -> Result<Found> {
    match trial.workload.loops {
        None => simulated(trial, seed, rules),
        Some(_) => simulate(&Setup {
            rules,
            ..trial.setup(seed)
        }),
    }
}

/// The published runs have far more loops than are simulated. A start and an end that
/// differ from the rest show when there are twice as many.
fn looped(setup: &Setup, loops: u64) -> Result<Found> {
    let run = |loops: u64| {
        let mut workload = setup.workload.clone();
        workload.loops = Some(loops);
        simulate(&Setup {
            workload: &workload,
            ..setup.clone()
        })
    };
    let mut last = match run(loops)? {
        Ok(outcome) => outcome,
        Err(stuck) => return Ok(Err(stuck)),
    };
    for doubled in 1..=MOST_DOUBLINGS {
        let mut next = match run(loops << doubled)? {
            Ok(outcome) => outcome,
            Err(stuck) => return Ok(Err(stuck)),
        };
        let agree = agree(&last, &next);
        next.settled = Some(match agree {
            true => Verdict::Settled,
            false => Verdict::Drifts,
        });
        last = next;
        if agree {
            break;
        }
    }
    Ok(Ok(last))
}

/// Whether a loop takes as long in both.
fn agree(a: &Outcome, b: &Outcome) -> bool {
    let [Some(one), Some(other)] = [a, b].map(Outcome::ns_of_a_loop) else {
        return false;
    };
    let [half_a, half_b] = [a, b].map(|outcome| of_time(&outcome.batches).unwrap_or(0.0));
    (one / other - 1.0).abs() <= half_a.hypot(half_b).max(NEXT_TO_NOTHING)
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
        let one = finished(100, 1000.0);
        assert!(agree(&one, &finished(200, 2030.0)));
        assert!(!agree(&one, &finished(200, 2100.0)));
        assert!(!agree(&one, &outcome(200, 2000.0)));
        // Batches that vary much allow for more.
        let mut wide = finished(200, 2100.0);
        wide.batches[0].ns *= 3.0;
        assert!(agree(&one, &wide));
    }

    #[test]
    fn loops_are_doubled_until_they_agree() {
        let table = spin_micro::table().expect("the table");
        let mut trial = table.trials[0].clone();
        trial.workload.loops = Some(100);
        let found = simulated(&trial, 1, Rules::default())
            .expect("possible")
            .expect("it ends");
        assert_eq!(found.settled, Some(Verdict::Settled));
        assert_eq!(found.acquisitions(), 200 * trial.threads as u64);
    }

    #[test]
    fn a_window_that_is_too_short_is_lengthened_but_for_a_start() {
        let table = mb_cache::table().expect("the table");
        let few = table.trials.iter().find(|trial| trial.threads == 32);
        let mut trial = few.expect("32 threads").clone();
        (trial.workload.warmup_us, trial.workload.measure_us) = (0.0, 50.0);
        trial.extent = Extent::Start;
        let start = simulated(&trial, 1, Rules::default())
            .expect("possible")
            .expect("it ends");
        assert_eq!((start.settled, start.ns), (None, 50e3));
        trial.extent = Extent::Steady;
        let steady = simulated(&trial, 1, Rules::default())
            .expect("possible")
            .expect("it ends");
        assert!(steady.ns > 50e3);
        assert_eq!(steady.settled, Some(Verdict::Settled));
    }
}
