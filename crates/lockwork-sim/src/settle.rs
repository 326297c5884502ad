// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Whether what was measured is a steady state.
//!
//! The measured time is cut into [`BATCHES`] parts of equal length. Their means have the
//! interval of independent samples (batch means: Law and Kelton, Simulation Modeling and
//! Analysis, section 9.5.3). A run has settled if
//!
//! - its two halves agree, in the rate of acquisitions and in the share of CPU time within
//!   lock and unlock: they differ by no more than the batches make likely, or by next to
//!   nothing;
//! - the interval of the rate is narrow;
//! - each thread has, on average, gone round a few times. A window in which most threads
//!   are still on their first way round says nothing of later ones.

use lockwork_report::stats::{self, deviation, mean};

/// Parts of the measured time.
pub const BATCHES: usize = 16;
/// Of intervals.
const CONFIDENCE: f64 = 0.95;
/// Student's t for that, both sides, of a difference of two halves: 14 degrees of freedom.
const T_HALVES: f64 = 2.145;
/// Halves whose rates differ by less than this share agree; of shares of time, so many.
const NEXT_TO_NOTHING: f64 = 0.02;
/// The half width of the rate's interval, relative to the rate, that is narrow enough.
const NARROW: f64 = 0.05;
/// Memory operations that a run may take to come to a steady state: some ten seconds of
/// a CPU.
pub const MOST_OPERATIONS: u64 = 30_000_000;
/// Acquisitions for each thread.
const ROUNDS: f64 = 4.0;

/// A part of the measured time, and what was counted in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Batch {
    /// How long it was, ns.
    pub ns: f64,
    /// Acquisitions.
    pub acquisitions: u64,
    /// CPU time within lock and unlock, ns.
    pub ns_in_lock: f64,
    /// CPU time in all, ns.
    pub ns_busy: f64,
}

impl Batch {
    fn rate(&self) -> f64 {
        self.acquisitions as f64 / self.ns
    }

    fn share(&self) -> f64 {
        match self.ns_busy > 0.0 {
            true => self.ns_in_lock / self.ns_busy,
            false => 0.0,
        }
    }
}

/// What is to be done about a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is a steady state, and known well enough.
    Settled,
    /// Its halves differ: all of it is a transient.
    Drifts,
    /// Its halves agree, but it is too short.
    Short,
}

impl Verdict {
    /// As programs know it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Settled => "settled",
            Verdict::Drifts => "drifts",
            Verdict::Short => "short",
        }
    }
}

/// Judges the batches of a window in which `threads` ran.
pub fn judge(batches: &[Batch], threads: usize) -> Verdict {
    let rates: Vec<f64> = batches.iter().map(Batch::rate).collect();
    let shares: Vec<f64> = batches.iter().map(Batch::share).collect();
    let centre = mean(&rates);
    if !agree(&rates, NEXT_TO_NOTHING * centre) || !agree(&shares, NEXT_TO_NOTHING) {
        return Verdict::Drifts;
    }
    let acquisitions: u64 = batches.iter().map(|batch| batch.acquisitions).sum();
    let narrow = of_rate(batches).is_some_and(|half| half <= NARROW);
    match narrow && acquisitions as f64 >= ROUNDS * threads as f64 {
        true => Verdict::Settled,
        false => Verdict::Short,
    }
}

fn agree(samples: &[f64], least: f64) -> bool {
    let (first, second) = samples.split_at(samples.len() / 2);
    let error = |half: &[f64]| deviation(half).powi(2) / half.len().max(1) as f64;
    let likely = T_HALVES * (error(first) + error(second)).sqrt();
    (mean(first) - mean(second)).abs() <= likely.max(least)
}

/// Half the width of the 95 % interval of a mean.
fn half_width(samples: &[f64]) -> Option<f64> {
    stats::half_width(samples, CONFIDENCE).filter(|_| samples.len() == BATCHES)
}

/// Half the width of the interval of the rate of acquisitions, relative to the rate.
pub fn of_rate(batches: &[Batch]) -> Option<f64> {
    let rates: Vec<f64> = batches.iter().map(Batch::rate).collect();
    let centre = mean(&rates);
    half_width(&rates)
        .filter(|_| centre > 0.0)
        .map(|half| half / centre)
}

/// Half the width of the interval of the share of CPU time within lock and unlock.
pub fn of_share(batches: &[Batch]) -> Option<f64> {
    let shares: Vec<f64> = batches.iter().map(Batch::share).collect();
    half_width(&shares)
}

/// Half the width of the interval of the time that all batches together took, relative to
/// it: for batches of as many acquisitions each.
pub fn of_time(batches: &[Batch]) -> Option<f64> {
    let times: Vec<f64> = batches.iter().map(|batch| batch.ns).collect();
    let centre = mean(&times);
    half_width(&times)
        .filter(|_| centre > 0.0)
        .map(|half| half / centre)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(acquisitions: impl Fn(usize) -> u64, in_lock: impl Fn(usize) -> f64) -> Vec<Batch> {
        let batch = |i| Batch {
            ns: 1000.0,
            acquisitions: acquisitions(i),
            ns_in_lock: in_lock(i),
            ns_busy: 1000.0,
        };
        (0..BATCHES).map(batch).collect()
    }

    /// Up and down around `centre`.
    fn noisy(centre: u64, by: u64) -> impl Fn(usize) -> u64 {
        move |i| centre - by + 2 * by * (i as u64 % 2)
    }

    #[test]
    fn what_stays_has_settled() {
        let steady = batches(noisy(1000, 20), |_| 100.0);
        assert_eq!(judge(&steady, 8), Verdict::Settled);
        assert!(of_rate(&steady).is_some_and(|half| half > 0.005 && half < 0.02));
        assert!(of_share(&steady).is_some_and(|half| half < 1e-9));
    }

    #[test]
    fn a_start_that_differs_is_found() {
        let starts = batches(|i| if i < 8 { 1000 } else { 1100 }, |_| 100.0);
        assert_eq!(judge(&starts, 8), Verdict::Drifts);
        let grows = batches(|i| 1000 + 10 * i as u64, |_| 100.0);
        assert_eq!(judge(&grows, 8), Verdict::Drifts);
        // The same rate, and ever more of the time in the lock.
        let fills = batches(noisy(1000, 20), |i| 100.0 + 20.0 * i as f64);
        assert_eq!(judge(&fills, 8), Verdict::Drifts);
        // A difference of one in a hundred is none, however regular.
        let slow = batches(|i| if i < 8 { 1000 } else { 1010 }, |_| 100.0);
        assert_eq!(judge(&slow, 8), Verdict::Settled);
    }

    #[test]
    fn too_little_is_short() {
        assert_eq!(
            judge(&batches(noisy(1000, 200), |_| 1.0), 8),
            Verdict::Short
        );
        // 16 batches of 100 are one acquisition for each of 1600 threads.
        assert_eq!(judge(&batches(|_| 100, |_| 1.0), 1600), Verdict::Short);
        assert_eq!(judge(&batches(|_| 100, |_| 1.0), 400), Verdict::Settled);
        assert_eq!(judge(&batches(|_| 0, |_| 1.0), 1), Verdict::Short);
        assert_eq!(judge(&[], 1), Verdict::Short);
    }

    #[test]
    fn fixed_numbers_of_acquisitions_vary_in_time() {
        let mut some = batches(|_| 10, |_| 0.0);
        assert!(of_time(&some).is_some_and(|half| half < 1e-9));
        some[3].ns = 2000.0;
        assert!(of_time(&some).is_some_and(|half| half > 0.1));
        assert_eq!(of_time(&some[1..]), None);
    }
}
