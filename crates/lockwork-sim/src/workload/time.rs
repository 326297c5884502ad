// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How long a step takes, as a distribution.

use super::histogram::Histogram;

/// How long a step takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Time {
    /// Always so long, ns.
    Fixed(f64),
    /// Exponentially distributed, with this mean, ns.
    Exponential(f64),
    /// As often so long as a histogram says.
    Histogram(Histogram),
}

impl Time {
    /// The mean, ns.
    pub fn mean(&self) -> f64 {
        match self {
            Time::Fixed(ns) | Time::Exponential(ns) => *ns,
            Time::Histogram(times) => times.mean(),
        }
    }

    /// Distributed alike, with another mean in ns.
    pub fn with_mean(&self, ns: f64) -> Time {
        match self {
            Time::Fixed(_) => Time::Fixed(ns),
            Time::Exponential(_) => Time::Exponential(ns),
            Time::Histogram(times) => Time::Histogram(times.with_mean(ns)),
        }
    }

    /// One time by chance, ns.
    pub(crate) fn draw(&self, random: &mut fastrand::Rng) -> f64 {
        match self {
            Time::Fixed(ns) => *ns,
            Time::Exponential(ns) => -ns * (1.0 - random.f64()).ln(),
            Time::Histogram(times) => times.quantile(random.f64()),
        }
    }
}
