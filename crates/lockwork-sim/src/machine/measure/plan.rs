// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is measured, in which order, and for how long.

use std::time::Duration;

use anyhow::{anyhow, Result};
use lockwork_report::progress::{self, ProgressBar};

use super::alone::{alone, memory, Alone};
use super::pairs::{line_way, spread, wake, Wake};
use super::regular::Regular;
use super::runner::{Runner, Stop};
use super::sysfs::Sysfs;
use crate::machine::Distance;

/// A pair whose batches differ by more than this share is worth a warning.
const TOLERABLE: f64 = 0.5;
/// Second threads of so many cores are enough.
const SMT_PAIRS: usize = 4;
/// The least that a buffer for memory has, and the most, bytes.
const BUFFER: [usize; 2] = [64 << 20, 1 << 30];

/// What was found.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// By core, row after row: one way of a line, ns; the diagonal is 0.
    pub(super) matrix: Vec<f64>,
    /// By distance: how much the batches of the worst pair vary, as a share of its median; 0: not
    /// so much that it is worth a warning.
    pub(super) wild: [f64; Distance::COUNT],
    /// The same as [`Measured::matrix`] between two threads of one core.
    pub(super) smt: Option<f64>,
    pub(super) alone: Alone,
    /// By distance of the home: memory, ns.
    pub(super) memory: [Option<f64>; Distance::COUNT],
    /// From one CPU to another.
    pub(super) wake: Option<Wake>,
    /// The same between two threads of one CPU.
    pub(super) switch: Wake,
    pub(super) warnings: Vec<String>,
}

/// Measures all of it.
pub(super) fn measure(
    runner: &Runner,
    regular: &Regular,
    sysfs: &Sysfs,
    seconds: f64,
) -> Result<Measured> {
    let cores = regular.shape.all_cores();
    let pairs = cores * (cores - 1) / 2;
    let bar = progress::bar(pairs + 4);
    let steps = Steps {
        runner,
        regular,
        bar: &bar,
        short: Duration::from_secs_f64(seconds / 20.0),
        pair: Duration::from_secs_f64(seconds / pairs.max(1) as f64),
    };
    let measured = steps.all(sysfs);
    bar.finish_and_clear();
    measured
}

struct Steps<'a> {
    runner: &'a Runner,
    regular: &'a Regular,
    bar: &'a ProgressBar,
    /// For what is measured once.
    short: Duration,
    /// For each pair of cores.
    pair: Duration,
}

impl Steps<'_> {
    fn one<T: Send>(
        &self,
        what: String,
        job: impl FnOnce(&Stop) -> Result<Option<T>> + Send,
    ) -> Result<T> {
        self.bar.set_message(what);
        let found = self.runner.run(job)?;
        self.bar.inc(1);
        found.ok_or_else(|| anyhow!("a measurement ended early"))
    }

    fn all(&self, sysfs: &Sysfs) -> Result<Measured> {
        let cpus = &self.regular.cpus;
        let first = cpus[0];
        let own = self.one("steps of one CPU".into(), |stop| alone(first, stop))?;
        let mut warnings = Vec::new();
        let memory = self.memory(sysfs, &mut warnings)?;
        let short = self.short;
        let switch = self.one("switching threads".into(), |stop| {
            wake(first, first, short, stop)
        })?;
        let other = cpus.get(1).copied();
        let waking = |other| self.one("waking".into(), |stop| wake(first, other, short, stop));
        let wake = other.map(waking).transpose()?;
        let mut wild = [0.0; Distance::COUNT];
        let smt = self.smt(&mut wild[Distance::Smt as usize])?;
        let matrix = self.matrix(&mut wild, &mut warnings)?;
        Ok(Measured {
            matrix,
            wild,
            smt,
            alone: own,
            memory,
            wake,
            switch,
            warnings,
        })
    }

    fn matrix(
        &self,
        by_distance: &mut [f64; Distance::COUNT],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<f64>> {
        let (cores, pair) = (self.regular.shape.all_cores(), self.pair);
        let mut matrix = vec![0.0; cores * cores];
        let mut wild: Vec<(f64, String)> = Vec::new();
        for a in 0..cores {
            for b in a + 1..cores {
                let (x, y) = (self.regular.cpus[a], self.regular.cpus[b]);
                let what = format!("CPUs {x} and {y}");
                let way = self.one(what.clone(), move |stop| line_way(x, y, pair, stop))?;
                matrix[a * cores + b] = way.median;
                matrix[b * cores + a] = way.median;
                if way.spread > TOLERABLE {
                    let worst = &mut by_distance[self.regular.distance(a, b) as usize];
                    *worst = worst.max(way.spread);
                    wild.push((way.spread, what));
                }
            }
        }
        wild.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        if let Some((spread, what)) = wild.first() {
            warnings.push(format!(
                "{} of {} pairs of cores vary by more than {:.0} %; the worst, {what}, by {:.0} %",
                wild.len(),
                cores * (cores - 1) / 2,
                TOLERABLE * 100.0,
                spread * 100.0
            ));
        }
        if cores == 1 {
            warnings.push("there is one core only: no line could be seen to move".into());
        }
        Ok(matrix)
    }

    fn smt(&self, wild: &mut f64) -> Result<Option<f64>> {
        let (cores, pair) = (self.regular.shape.all_cores(), self.pair);
        if self.regular.shape.threads < 2 {
            return Ok(None);
        }
        let mut ways = Vec::new();
        for core in 0..cores.min(SMT_PAIRS) {
            let [x, y] = [core, cores + core].map(|cpu| self.regular.cpus[cpu]);
            let what = format!("CPUs {x} and {y}");
            let way = self.one(what, move |stop| line_way(x, y, pair, stop))?;
            if way.spread > TOLERABLE {
                *wild = wild.max(way.spread);
            }
            ways.push(way.median);
        }
        Ok(spread(&mut ways).map(|spread| spread.median))
    }

    /// The CPU's own node, and one node at each distance that leaves it.
    fn memory(
        &self,
        sysfs: &Sysfs,
        warnings: &mut Vec<String>,
    ) -> Result<[Option<f64>; Distance::COUNT]> {
        let first = self.regular.cpus[0];
        let mut found = [None; Distance::COUNT];
        let Some(bytes) = buffer(sysfs.largest_cache, free_bytes()) else {
            warnings.push(
                "too little memory is free for a buffer that no cache holds: what memory costs \
                 was not measured"
                    .to_owned(),
            );
            return Ok(found);
        };
        for (cpu, distance, same_node) in self.regular.seen_from_first() {
            let slot = if same_node { Distance::Own } else { distance };
            if found[slot as usize].is_some() {
                continue;
            }
            let home = self.regular.cpus[cpu];
            let what = format!("memory of CPU {home}'s node");
            let short = self.short;
            let ns = self.one(what, |stop| memory(first, home, bytes, short, stop))?;
            found[slot as usize] = Some(ns);
        }
        Ok(found)
    }
}

/// Bytes of a buffer that mostly misses a cache of `cache` bytes; `None`: there is no room for it.
fn buffer(cache: usize, free: usize) -> Option<usize> {
    let wanted = (4 * cache).clamp(BUFFER[0], BUFFER[1]);
    // It takes a quarter of the free memory at most, so that other programs keep the rest.
    let bytes = wanted.min(free / 4);
    (bytes >= 2 * cache && bytes >= BUFFER[0] / 4).then_some(bytes)
}

/// Bytes of memory that can be had. Most of it may hold copies of files until then.
fn free_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.map_or(usize::MAX, |kib: usize| kib.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_for_memory_does_not_fit_into_the_cache() {
        let mib = |n: usize| n << 20;
        assert_eq!(buffer(mib(32), mib(4096)), Some(mib(128)));
        assert_eq!(buffer(mib(1), mib(4096)), Some(mib(64)));
        assert_eq!(buffer(mib(32), mib(300)), Some(mib(75)));
        assert_eq!(buffer(mib(32), mib(200)), None);
        assert_eq!(buffer(0, mib(10)), None);
    }
}
