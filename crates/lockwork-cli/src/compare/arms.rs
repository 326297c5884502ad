// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The arms of a comparison, and the order in which a round runs them.

use std::time::Duration;

use anyhow::Result;
use lockwork_report::bail_usage;
use lockwork_report::settings::settings;

use super::report::ArmReport;
use crate::cli::CompareArgs;
use crate::environment::{self, Change};
use crate::policy::{Interposer, BASELINE, CONTROL, POLICIES};
use crate::spec::{self, LockSpec};

/// One lock in a comparison.
#[derive(Debug)]
pub struct Arm {
    /// The lock.
    pub spec: LockSpec,
    /// What it changes in the program's environment.
    pub environment: Vec<Change>,
    /// A run took too long: there are no more.
    pub stopped: bool,
    /// How long it was allowed to take.
    pub limit: Option<Duration>,
}

impl Arm {
    /// Its name in tables and samples.
    pub fn label(&self) -> &str {
        &self.spec.label
    }

    /// Is it the one that the others are compared with?
    pub fn is_baseline(&self) -> bool {
        self.spec.policy.interposer == Interposer::None
    }

    /// Itself for the JSON.
    pub fn report(&self) -> ArmReport {
        ArmReport {
            arm: self.spec.label.clone(),
            policy: self.spec.policy.name,
            settings: self.spec.settings.iter().cloned().collect(),
            stopped: self.stopped,
        }
    }
}

/// glibc, the control, and then the locks that were asked for.
pub fn arms(args: &CompareArgs) -> Result<Vec<Arm>> {
    let all = POLICIES
        .iter()
        .filter(|p| p.interposer == Interposer::Lockwork)
        .map(|p| p.name.to_string());
    let asked: Vec<String> = if args.locks.is_empty() {
        all.collect()
    } else {
        args.locks.clone()
    };
    let names = [BASELINE, CONTROL].map(str::to_owned);
    let arms = distinct(&[&names[..], &asked[..]].concat(), &args.set)?;
    all_read(&arms, &args.set)?;
    if arms.len() <= 2 && !asked.iter().any(|a| a == CONTROL) {
        bail_usage!("--locks names nothing to compare with glibc; leave it out for all locks");
    }
    Ok(arms)
}

/// Refuses a knob in `set` that the lock of no arm reads.
pub fn all_read(arms: &[Arm], set: &[String]) -> Result<()> {
    let policies: Vec<_> = arms.iter().map(|arm| arm.spec.policy).collect();
    spec::read_by(&settings(set, spec::validate)?, &policies)
}

/// An arm for each of `names`, each once; `set` has knobs of all.
pub fn distinct(names: &[String], set: &[String]) -> Result<Vec<Arm>> {
    let shared = settings(set, spec::validate)?;
    let mut arms: Vec<Arm> = Vec::new();
    for name in names {
        let spec = LockSpec::parse(name, &shared)?;
        if arms.iter().any(|arm| arm.label() == spec.label) {
            continue;
        }
        arms.push(Arm {
            environment: environment::changes(&spec)?,
            spec,
            stopped: false,
            limit: None,
        });
    }
    Ok(arms)
}

/// The orders of the rounds. Every second one is the one before it backwards, so that no arm has
/// the earlier places, and that one is shuffled.
#[derive(Debug)]
pub struct Orders {
    arms: usize,
    random: fastrand::Rng,
    before: Option<Vec<usize>>,
}

impl Orders {
    /// Of so many arms.
    pub fn new(arms: usize, seed: u64) -> Orders {
        Orders {
            arms,
            random: fastrand::Rng::with_seed(seed),
            before: None,
        }
    }

    /// What counts begins: its rounds are paired with each other alone.
    pub fn restart(&mut self) {
        self.before = None;
    }

    /// The next one. Until the limit for slow arms is known, the baseline is first.
    pub fn next(&mut self, baseline_first: bool) -> Vec<usize> {
        if let Some(mut order) = self.before.take() {
            order.reverse();
            return order;
        }
        let mut order: Vec<usize> = (0..self.arms).collect();
        self.random.shuffle(&mut order);
        if baseline_first {
            order.sort_by_key(|&arm| arm != 0);
        } else {
            self.before = Some(order.clone());
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_arm_has_the_better_places() {
        let mut orders = Orders::new(4, 1);
        assert_eq!(orders.next(true)[0], 0);
        orders.next(false);
        orders.restart();
        let mut places = [0; 4];
        for _ in 0..10 {
            for (place, arm) in orders.next(false).into_iter().enumerate() {
                places[arm] += place;
            }
        }
        assert_eq!(places, [15; 4]);
    }
}
