// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Times of a profile as the simulator's, and as text of a workload's file.

use anyhow::{anyhow, Result};
use lockwork_profile::demand::Times;
use lockwork_sim::workload::{Histogram, Time};

/// How thinking times are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// As the profile's histogram.
    Profiled,
    /// As the times between events that know nothing of each other.
    Exponential,
    /// All alike.
    Fixed,
}

impl Thinking {
    /// Those to simulate with this histogram: without one, what may be instead.
    pub fn with(classes: &[(f64, f64, u64)]) -> &'static [Thinking] {
        match classes.is_empty() {
            true => &[Thinking::Exponential, Thinking::Fixed],
            false => &[Thinking::Profiled],
        }
    }

    /// Such times.
    ///
    /// # Errors
    /// The histogram makes no sense.
    pub fn time(self, times: &Times) -> Result<Time> {
        Ok(match self {
            Thinking::Profiled => time(times)?,
            Thinking::Exponential => Time::Exponential(times.mean),
            Thinking::Fixed => Time::Fixed(times.mean),
        })
    }
}

/// The histogram with its mean; without a histogram, exponential times.
///
/// # Errors
/// The histogram makes no sense.
pub fn time(times: &Times) -> Result<Time> {
    if times.classes.is_empty() {
        return Ok(Time::Exponential(times.mean));
    }
    let histogram = Histogram::new(&times.classes);
    let histogram = histogram.map_err(|why| anyhow!("the profile's histogram {why}"))?;
    Ok(Time::Histogram(histogram.with_mean(times.mean)))
}

/// Most rounds do not sleep; the others do for up to twice the mean.
pub fn sleep_classes((share, ns): (f64, f64)) -> [(f64, f64, u64); 2] {
    let of = 1_000_000.0;
    let sleeps = (share * of).round().clamp(1.0, of) as u64;
    [(0.0, 0.0, of as u64 - sleeps), (0.0, 2.0 * ns, sleeps)]
}

/// Such times.
///
/// # Errors
/// The histogram makes no sense.
pub fn sleep(of: (f64, f64)) -> Result<Time> {
    let histogram = Histogram::new(&sleep_classes(of));
    Ok(Time::Histogram(histogram.map_err(|why| anyhow!("{why}"))?))
}

/// A time in such a file.
pub fn written(time: &Time, classes: &[(f64, f64, u64)], source: &str) -> String {
    let mean = time.mean();
    match time {
        Time::Fixed(_) => format!("{{ ns = {mean}, {source} }}"),
        Time::Exponential(_) => {
            format!("{{ ns = {mean}, distribution = \"exponential\", {source} }}")
        }
        Time::Histogram(_) => format!(
            "{{ ns = {mean}, distribution = \"histogram\", classes = {}, {source} }}",
            listed(classes)
        ),
    }
}

fn listed(classes: &[(f64, f64, u64)]) -> String {
    let one = |(from, to, count): &(f64, f64, u64)| format!("[{from:?}, {to:?}, {count}]");
    let all: Vec<String> = classes.iter().map(one).collect();
    format!("[{}]", all.join(", "))
}
