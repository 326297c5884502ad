// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Time that passes by the workload's word.

use crate::calls;
use crate::engine::caches::ps;
use crate::rules::{Rule, Rules};
use crate::workload::Time;

/// The share by which what a thread computes varies, more or less.
const VARIES: f64 = 0.1;

/// What is by chance for one thread.
pub(crate) struct Chance {
    random: fastrand::Rng,
    varies: f64,
}

impl Chance {
    pub fn new(seed: u64, rules: Rules) -> Self {
        Chance {
            random: fastrand::Rng::with_seed(seed),
            varies: match rules.has(Rule::UnevenWork) {
                true => VARIES,
                false => 0.0,
            },
        }
    }

    /// From 0 to 1, and never 1.
    pub fn share(&mut self) -> f64 {
        self.random.f64()
    }

    /// One of so many.
    pub fn one_of(&mut self, count: usize) -> usize {
        self.random.usize(..count)
    }

    /// One length of time, ps.
    pub fn time(&mut self, length: &Time) -> u64 {
        ps(length.draw(&mut self.random))
    }

    /// What a thread computes for about so long, ps.
    pub fn work(&mut self, length: &Time) -> u64 {
        let varies = match length {
            Time::Fixed(_) => self.varies * (2.0 * self.share() - 1.0),
            _ => 0.0,
        };
        ps(length.draw(&mut self.random) * (1.0 + varies))
    }
}

/// Who sleeps for no time at all does not switch.
pub(super) fn sleep(time: u64) {
    if time > 0 {
        calls::sleep_for(time);
    }
}
