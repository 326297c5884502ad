// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A clock that costs little and a delay that lasts as long as it says, both
//! calibrated at the start; and what they are worth.
use crate::waits::Waits;
use lockwork_report::stats;
use serde::{Deserialize, Serialize};
use std::arch::asm;
use std::time::Instant;

const TRIES: usize = 101;
/// Nanoseconds of one: so short that most are not interrupted.
const TRY: u64 = 30_000;
/// A delay that shows what entering the loop costs.
const SHORT: u64 = 100;
/// Delays that are looked at again, in nanoseconds.
const DELAYS: [u64; 3] = [100, 1000, 10_000];
/// More than this is worth a warning.
const TOLERABLE: f64 = 0.05;

/// Ticks of the CPU's own counter where that is steady, else of the system's
/// monotonic clock.
#[derive(Clone, Debug)]
pub struct Clock(quanta::Clock);

impl Clock {
    /// Now, in ticks.
    #[inline]
    pub fn now(&self) -> u64 {
        self.0.raw()
    }

    /// The same, once all before it is done. The counter alone may be read while the lock's
    /// line is still on its way, and the wait for it would be missed.
    #[inline]
    pub fn now_after(&self) -> u64 {
        wait_for_it();
        self.now()
    }

    /// Nanoseconds between two such moments; 0 if they are the wrong way round.
    #[inline]
    pub fn ns(&self, from: u64, to: u64) -> u64 {
        self.0.delta_as_nanos(from, to.max(from))
    }
}

/// Computes for `rounds` rounds of a loop that touches no memory and that no
/// compiler can leave out. Each round waits for the product of the last one, so
/// that it lasts as long when another thread keeps the same core busy: a loop
/// that is bound by its branch takes twice as long then. Nothing after it begins
/// before it is over, above all no look at the clock.
#[inline(never)]
pub fn spin(rounds: u64) {
    if rounds == 0 {
        return;
    }
    let mut product = rounds;
    for _ in 0..rounds {
        product = product.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // SAFETY: does nothing; the compiler only cannot know the product.
        unsafe { asm!("/* {0} */", inout(reg) product, options(nomem, nostack, preserves_flags)) };
    }
    wait_for_it();
}

/// What comes after waits until all before it is computed.
#[inline]
fn wait_for_it() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such CPU has the instruction; it changes nothing.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        asm!("isb", options(nostack, preserves_flags));
    }
}

/// What is needed to measure.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The clock.
    pub clock: Clock,
    /// Rounds of [`spin`] in a nanosecond.
    rounds_per_ns: f64,
    /// What it takes to begin and end them, in nanoseconds.
    entry_ns: f64,
}

/// What the tools are worth on this machine, at one time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calibration {
    /// Rounds of the delay loop in a nanosecond.
    pub rounds_per_ns: f64,
    /// Nominal nanoseconds of a delay, and by what share it lasted longer,
    /// median of several tries.
    pub delay_error: Vec<(u64, f64)>,
    /// What timing one acquisition costs: two looks at the clock and one entry
    /// in a histogram, in nanoseconds.
    pub timing_ns: f64,
}

impl Tools {
    /// Calibrates both. Of many tries the fastest counts: what disturbs a try
    /// makes it slower.
    pub fn calibrate() -> Tools {
        let clock = Clock(quanta::Clock::new());
        let mut rounds: u64 = 1000;
        while clocked(|| spin(rounds)) < TRY as f64 {
            rounds *= 2;
        }
        clocked(|| spin(rounds * 1000)); // the CPU's frequency goes up
        let rounds_per_ns = rounds as f64 / fastest(|| spin(rounds));
        let tools = Tools {
            clock,
            rounds_per_ns,
            entry_ns: 0.0,
        };
        let few = tools.rounds(SHORT);
        let times = TRY / SHORT;
        let took = fastest(|| (0..times).for_each(|_| spin(few))) / times as f64;
        Tools {
            entry_ns: (took - SHORT as f64).clamp(0.0, SHORT as f64 / 4.0),
            ..tools
        }
    }

    /// Rounds of [`spin`] that last so long.
    pub fn rounds(&self, ns: u64) -> u64 {
        let looping = (ns as f64 - self.entry_ns).max(0.0);
        (looping * self.rounds_per_ns).round() as u64
    }

    /// Measures what the tools are worth now.
    pub fn calibration(&self) -> Calibration {
        let error = |ns: u64| {
            let rounds = self.rounds(ns);
            let times = (TRY / ns).max(1);
            let off = || {
                let took = clocked(|| (0..times).for_each(|_| spin(rounds)));
                took / (times * ns) as f64 - 1.0
            };
            let all: Vec<f64> = (0..TRIES).map(|_| off()).collect();
            (ns, stats::median(&all))
        };
        Calibration {
            rounds_per_ns: self.rounds_per_ns,
            delay_error: DELAYS.iter().map(|&ns| error(ns)).collect(),
            timing_ns: self.timing(),
        }
    }

    fn timing(&self) -> f64 {
        const TIMES: u32 = 500;
        let mut waits = Waits::new();
        let mut once = || {
            let took = clocked(|| {
                for _ in 0..TIMES {
                    let from = self.clock.now();
                    let to = self.clock.now_after();
                    waits.record(self.clock.ns(from, to));
                }
            });
            took / f64::from(TIMES)
        };
        let all: Vec<f64> = (0..TRIES).map(|_| once()).collect();
        stats::median(&all)
    }
}

/// Nanoseconds that `work` takes by the system's monotonic clock.
fn clocked(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// The same, and the fastest of many tries.
fn fastest(work: impl Fn()) -> f64 {
    let all = (0..TRIES).map(|_| clocked(&work));
    all.fold(f64::INFINITY, f64::min)
}

impl Calibration {
    /// One line for people.
    pub fn shown(&self) -> String {
        let errors: Vec<String> = self
            .delay_error
            .iter()
            .map(|(ns, error)| format!("{:+.1} % at {ns} ns", error * 100.0))
            .collect();
        format!(
            "delay loop off by {}; timing a wait costs {:.0} ns",
            errors.join(", "),
            self.timing_ns
        )
    }

    /// Says so if delays are far off.
    pub fn warning(&self, when: &str) -> Option<String> {
        let worst = self
            .delay_error
            .iter()
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        (worst.1.abs() > TOLERABLE).then(|| {
            format!(
                "{when} the delay of {} ns was off by {:+.0} %: times inside and outside are \
                 not what they say",
                worst.0,
                worst.1 * 100.0
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_proportional_and_the_clock_goes_on() {
        let tools = Tools::calibrate();
        assert!(tools.rounds(1000) > tools.rounds(100));
        assert_eq!(tools.rounds(0), 0);
        let from = tools.clock.now();
        spin(tools.rounds(100_000));
        let to = tools.clock.now();
        // No faster than it was ever seen to be; how much slower, who knows.
        assert!(tools.clock.ns(from, to) > 10_000);
        assert_eq!(tools.clock.ns(to, from), 0);
    }

    #[test]
    fn a_delay_that_is_far_off_is_told() {
        let mut calibration = Calibration {
            rounds_per_ns: 1.0,
            delay_error: vec![(100, 0.01), (1000, -0.02)],
            timing_ns: 20.0,
        };
        assert_eq!(calibration.warning("at the start"), None);
        calibration.delay_error[0].1 = 0.3;
        let warning = calibration.warning("at the start").expect("a warning");
        assert!(warning.contains("100 ns was off by +30 %"), "{warning}");
    }
}
