// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From rounds to one line a lock in each cell.
use crate::contender::LOCKWORK;
use crate::journal::{Data, LockInfo};
use crate::pareto::Point;
use crate::sample::{per, Cell, Measured, Sample};
use crate::slow::left_out;
use crate::waits::Waits;
use lockwork_report::stats;

/// A ratio of two locks' rates, taken in each round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median over the rounds.
    pub median: f64,
    /// The lower quartile.
    pub low: f64,
    /// The upper quartile.
    pub high: f64,
}

impl Ratio {
    /// Of the ratios of all rounds; `None` if there are none.
    pub fn of(ratios: &[f64]) -> Option<Ratio> {
        (!ratios.is_empty()).then(|| Ratio {
            median: stats::median(ratios),
            low: stats::quantile(ratios, 0.25),
            high: stats::quantile(ratios, 0.75),
        })
    }
}

/// One lock in one cell; rates and costs are medians over the rounds.
#[derive(Clone, Debug)]
pub struct Line {
    /// The lock.
    pub lock: LockInfo,
    /// How many rounds there are.
    pub rounds: usize,
    /// Acquisitions a second.
    pub rate: f64,
    /// Its coefficient of variation.
    pub variation: Option<f64>,
    /// Shared acquisitions a second.
    pub read_rate: f64,
    /// Exclusive acquisitions a second.
    pub write_rate: f64,
    /// To the best peer, paired by round.
    pub ratio: Option<Ratio>,
    /// Jain's index over the threads.
    pub jain: f64,
    /// Waits for exclusive acquisitions, of all rounds.
    pub writes: Waits,
    /// Waits for shared acquisitions, of all rounds.
    pub reads: Waits,
    /// CPU seconds for a million acquisitions.
    pub cpu: f64,
    /// Voluntary context switches for 1000 acquisitions.
    pub voluntary: f64,
    /// Involuntary ones.
    pub involuntary: f64,
    /// The longest time that it took to stop, in seconds.
    pub overrun: f64,
}

impl Line {
    /// The wait at which 999 of 1000 acquisitions are over, in nanoseconds;
    /// where there are shared and exclusive ones, the longer of the two.
    pub fn tail(&self) -> u64 {
        self.writes.quantile(0.999).max(self.reads.quantile(0.999))
    }

    /// What it is judged by.
    pub fn point(&self) -> Point {
        Point {
            throughput: self.rate,
            wait: self.tail() as f64,
        }
    }

    /// Is it Lockwork's?
    pub fn is_ours(&self) -> bool {
        self.lock.library == LOCKWORK
    }
}

/// One cell.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Which.
    pub cell: Cell,
    /// The locks that were measured in it.
    pub lines: Vec<Line>,
    /// Locks that were left out of it, or of its later rounds.
    pub left_out: Vec<LeftOut>,
}

/// A lock that took so long to stop that it was not run like that again.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// Which.
    pub lock: String,
    /// How many rounds of this cell there are for all that.
    pub rounds: usize,
    /// How long stopping took, in seconds.
    pub seconds: f64,
    /// With how many threads.
    pub threads: u32,
}

impl Summary {
    /// The lines of one family.
    pub fn family(&self, family: &str) -> Vec<&Line> {
        let lines = self.lines.iter();
        lines.filter(|line| line.lock.family == family).collect()
    }

    /// The peer of that family with the highest rate.
    pub fn best_peer(&self, family: &str) -> Option<&Line> {
        let peers = self.family(family).into_iter().filter(|l| !l.is_ours());
        peers.max_by(|a, b| a.rate.total_cmp(&b.rate))
    }
}

/// All cells that have samples, in the order of the plan.
pub fn summaries(data: &Data) -> Vec<Summary> {
    let cells = data.header.plan.cells.iter();
    cells.filter_map(|cell| summary(data, cell)).collect()
}

fn summary(data: &Data, cell: &Cell) -> Option<Summary> {
    let here: Vec<&Sample> = data.samples.iter().filter(|s| s.cell == *cell).collect();
    let lines: Vec<Line> = data
        .header
        .locks
        .iter()
        .filter_map(|lock| line(lock, &here))
        .collect();
    let left_out: Vec<LeftOut> = data
        .header
        .locks
        .iter()
        .filter_map(|lock| gone(data, cell, &lock.name, &here))
        .collect();
    if lines.is_empty() && left_out.is_empty() {
        return None;
    }
    let mut summary = Summary {
        cell: cell.clone(),
        lines,
        left_out,
    };
    let ratios: Vec<Option<Ratio>> = summary
        .lines
        .iter()
        .map(|line| {
            let best = summary.best_peer(&line.lock.family)?;
            Ratio::of(&ratios(&here, &line.lock.name, &best.lock.name))
        })
        .collect();
    for (line, ratio) in summary.lines.iter_mut().zip(ratios) {
        line.ratio = ratio;
    }
    Some(summary)
}

/// `lock`, if it was left out here.
fn gone(data: &Data, cell: &Cell, lock: &str, here: &[&Sample]) -> Option<LeftOut> {
    let because = left_out(&data.samples, cell, lock)?;
    let rounds = here.iter().filter(|s| s.lock == lock).count();
    (rounds < data.header.plan.rounds as usize).then(|| LeftOut {
        lock: lock.to_owned(),
        rounds,
        seconds: because.measured.overrun,
        threads: because.cell.threads,
    })
}

/// `one`'s rate over `other`'s in each round that has both.
fn ratios(samples: &[&Sample], one: &str, other: &str) -> Vec<f64> {
    let of = |name: &str, round: u32| {
        let found = samples.iter().find(|s| s.lock == name && s.round == round);
        found.map(|s| s.measured.rate()).filter(|rate| *rate > 0.0)
    };
    let rounds = samples.iter().filter(|s| s.lock == one).map(|s| s.round);
    rounds
        .filter_map(|round| Some(of(one, round)? / of(other, round)?))
        .collect()
}

fn line(lock: &LockInfo, samples: &[&Sample]) -> Option<Line> {
    let rounds: Vec<&Measured> = samples
        .iter()
        .filter(|s| s.lock == lock.name)
        .map(|s| &s.measured)
        .collect();
    if rounds.is_empty() {
        return None;
    }
    let all =
        |of: &dyn Fn(&Measured) -> f64| -> Vec<f64> { rounds.iter().map(|m| of(m)).collect() };
    let median = |of: &dyn Fn(&Measured) -> f64| stats::median(&all(of));
    let each = |what: f64, m: &Measured| per(what, m.operations() as f64);
    let sum = |counts: &[u64]| counts.iter().sum::<u64>() as f64;
    let (mut writes, mut reads) = (Waits::new(), Waits::new());
    for measured in &rounds {
        measured.write_waits.iter().for_each(|w| writes.add(w));
        measured.read_waits.iter().for_each(|w| reads.add(w));
    }
    let rates = all(&Measured::rate);
    Some(Line {
        lock: lock.clone(),
        rounds: rounds.len(),
        rate: stats::median(&rates),
        variation: stats::variation(&rates),
        read_rate: median(&|m| per(sum(&m.reads), m.seconds)),
        write_rate: median(&|m| per(sum(&m.writes), m.seconds)),
        ratio: None,
        jain: median(&Measured::jain),
        writes,
        reads,
        cpu: median(&|m| each(m.cpu * 1e6, m)),
        voluntary: median(&|m| each(m.voluntary as f64 * 1e3, m)),
        involuntary: median(&|m| each(m.involuntary as f64 * 1e3, m)),
        overrun: rounds.iter().map(|m| m.overrun).fold(0.0, f64::max),
    })
}
