// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From rounds to one line a lock in each case.
use crate::contender::LOCKWORK;
use crate::journal::{Data, LockInfo};
use crate::pareto::Point;
use crate::sample::{per, Case, Measured, Sample};
use crate::slow::left_out;
use crate::waits::Waits;
use crate::yardstick::{half, yardstick, Yardstick};
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

/// One lock in one case; rates and costs are medians over the rounds.
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
    /// Beside the best of the other libraries' locks, paired by round.
    pub yardstick: Option<Yardstick>,
    /// What it is judged by in the odd and in the even rounds alone.
    pub halves: [Option<Point>; 2],
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
        tail(&self.writes, &self.reads)
    }

    /// What it is judged by.
    pub fn point(&self) -> Point {
        point(self.rate, &self.writes, &self.reads)
    }

    /// Is it Lockwork's?
    pub fn is_ours(&self) -> bool {
        self.lock.library == LOCKWORK
    }
}

/// One case.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Which.
    pub case: Case,
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
    /// How many rounds of this case there are for all that.
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

    /// The locks of other libraries that `lock` is compared with.
    fn rivals(&self, lock: &LockInfo) -> Vec<&str> {
        let others = self.family(&lock.family).into_iter();
        let peers = others.filter(|l| !l.is_ours() && l.lock.name != lock.name);
        peers.map(|line| line.lock.name.as_str()).collect()
    }

    /// Is there a lock of another library to compare `lock` with?
    pub fn has_peer(&self, lock: &LockInfo) -> bool {
        !self.rivals(lock).is_empty()
    }
}

/// All cases that have samples, in the order of the plan.
pub fn summaries(data: &Data) -> Vec<Summary> {
    let cases = data.header.plan.cases.iter();
    cases.filter_map(|case| summary(data, case)).collect()
}

fn summary(data: &Data, case: &Case) -> Option<Summary> {
    let here: Vec<&Sample> = data.samples.iter().filter(|s| s.case == *case).collect();
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
        .filter_map(|lock| gone(data, case, &lock.name, &here))
        .collect();
    if lines.is_empty() && left_out.is_empty() {
        return None;
    }
    let mut summary = Summary {
        case: case.clone(),
        lines,
        left_out,
    };
    let lines = summary.lines.iter();
    let found: Vec<Option<Yardstick>> = lines
        .map(|line| yardstick(&line.lock.name, &summary.rivals(&line.lock), &here))
        .collect();
    for (line, found) in summary.lines.iter_mut().zip(found) {
        line.yardstick = found;
    }
    Some(summary)
}

/// `lock`, if it was left out here.
fn gone(data: &Data, case: &Case, lock: &str, here: &[&Sample]) -> Option<LeftOut> {
    let because = left_out(&data.samples, case, lock)?;
    let rounds = here.iter().filter(|s| s.lock == lock).count();
    (rounds < data.header.plan.rounds as usize).then(|| LeftOut {
        lock: lock.to_owned(),
        rounds,
        seconds: because.measured.overrun,
        threads: because.case.threads,
    })
}

fn tail(writes: &Waits, reads: &Waits) -> u64 {
    writes.quantile(0.999).max(reads.quantile(0.999))
}

fn point(rate: f64, writes: &Waits, reads: &Waits) -> Point {
    Point {
        throughput: rate,
        wait: tail(writes, reads) as f64,
    }
}

/// The waits of several rounds together: for exclusive acquisitions, and for shared ones.
fn waits<'a>(rounds: impl Iterator<Item = &'a Measured>) -> (Waits, Waits) {
    let (mut writes, mut reads) = (Waits::new(), Waits::new());
    for measured in rounds {
        measured.write_waits.iter().for_each(|w| writes.add(w));
        measured.read_waits.iter().for_each(|w| reads.add(w));
    }
    (writes, reads)
}

/// What a lock is judged by in one half of its rounds.
fn half_point(samples: &[&Sample], lock: &str, at: usize) -> Option<Point> {
    let here = |s: &&&Sample| s.lock == lock && half(s.round) == at;
    let rounds: Vec<&Measured> = samples.iter().filter(here).map(|s| &s.measured).collect();
    let rates: Vec<f64> = rounds.iter().map(|m| m.rate()).collect();
    let (writes, reads) = waits(rounds.iter().copied());
    (!rates.is_empty()).then(|| point(stats::median(&rates), &writes, &reads))
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
    let (writes, reads) = waits(rounds.iter().copied());
    let rates = all(&Measured::rate);
    Some(Line {
        lock: lock.clone(),
        rounds: rounds.len(),
        rate: stats::median(&rates),
        variation: stats::variation(&rates),
        read_rate: median(&|m| per(sum(&m.reads), m.seconds)),
        write_rate: median(&|m| per(sum(&m.writes), m.seconds)),
        yardstick: None,
        halves: [0, 1].map(|at| half_point(samples, &lock.name, at)),
        jain: median(&Measured::jain),
        writes,
        reads,
        cpu: median(&|m| each(m.cpu * 1e6, m)),
        voluntary: median(&|m| each(m.voluntary as f64 * 1e3, m)),
        involuntary: median(&|m| each(m.involuntary as f64 * 1e3, m)),
        overrun: rounds.iter().map(|m| m.overrun).fold(0.0, f64::max),
    })
}
