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
//! - the halves agree for each part of it too ([`Parts`]): the rounds of each role, and the
//!   items in each queue. Where one role makes what another cannot take, the total may stand
//!   still while a queue fills;
//! - the intervals of rate and share are narrow;
//! - each thread has, on average, gone round a few times. A window in which most threads
//!   are still on their first way round says nothing of later ones;
//! - where threads share CPUs, all have had their turn ([`Threads`]). The mean does not say
//!   so: the threads that have the CPUs first may go round often while the others wait.

use lockwork_report::stats::{self, deviation, mean};

/// Parts of the measured time.
pub const BATCHES: usize = 16;
/// Of intervals.
const CONFIDENCE: f64 = 0.95;
/// Student's t for that, both sides, of a difference of two halves: 14 degrees of freedom.
const T_HALVES: f64 = 2.145;
/// Halves whose rates differ by less than this share agree.
const NEXT_TO_NOTHING: f64 = 0.02;
/// The half width of the rate's interval, relative to the rate, that is narrow enough.
const NARROW: f64 = 0.05;
/// Of shares of time: halves agree that differ by less than so many points, and by less than
/// this part of the share. Points alone would let a share of 1 % double.
const SHARE_POINTS: f64 = 0.02;
const SHARE_PART: f64 = 0.1;
/// Half the width of a share's interval that is narrow enough: so many points, or the part
/// above of the share, whichever is more.
const NARROW_POINTS: f64 = 0.005;
/// Memory operations that a run may take to come to a steady state: some ten seconds of
/// a CPU.
pub const MOST_OPERATIONS: u64 = 30_000_000;
/// Acquisitions for each thread.
pub const ROUNDS: u64 = 4;
/// Turns of the run queue that a window has.
const TURNS: u64 = 2;
/// The share of the threads that have gone round, where a window is shorter.
const MOST: f64 = 0.9;

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

/// What a workload of roles consists of, by batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// By role: rounds of its threads in each batch.
    pub rounds: Vec<Vec<f64>>,
    /// The queues.
    pub queues: Vec<Flow>,
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Items in it at the end of each batch.
    pub items: Vec<f64>,
    /// Items that came in each batch.
    pub came: Vec<f64>,
}

impl Flow {
    /// Whether it is as long in both halves: the difference is likely by chance, or one item, or
    /// next to nothing of what comes in a half.
    fn is_steady(&self) -> bool {
        let of_half = self.came.iter().sum::<f64>() / 2.0;
        agree(&self.items, (NEXT_TO_NOTHING * of_half).max(1.0))
    }
}

impl Parts {
    fn are_steady(&self) -> bool {
        let is_steady = |rounds: &Vec<f64>| agree(rounds, NEXT_TO_NOTHING * mean(rounds));
        self.rounds.iter().all(is_steady) && self.queues.iter().all(Flow::is_steady)
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

/// The threads of a window.
///
/// Threads that compute all the time have the CPUs in turn: in two turns of all, each has been
/// there, and not only at the start. Threads that mostly sleep are rarely in a
/// run queue, and a window without two such turns will do for them: most have gone round
/// anyhow. Some locks let single threads starve, and a queue of threads that each spin for
/// a whole slice may take for ever until most have gone round: two turns will do for those.
/// So one of the two is asked for, and not both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threads {
    /// How many there are.
    pub all: usize,
    /// How many have gone round [`ROUNDS`] times, or more.
    pub went_round: usize,
    /// What two turns of all threads on their CPUs take, ns; 0 if each has a CPU.
    pub two_turns: f64,
}

impl Threads {
    /// Whether they have had their turn in a window of so many ns.
    fn had_their_turn(&self, ns: f64) -> bool {
        ns >= self.two_turns || self.went_round as f64 >= MOST * self.all as f64
    }
}

/// What two turns of so many threads take on so many CPUs; 0 if each has a CPU.
pub fn two_turns(threads: usize, cpus: usize, slice: u64) -> u64 {
    match threads > cpus {
        true => TURNS * threads.div_ceil(cpus.max(1)) as u64 * slice,
        false => 0,
    }
}

/// Judges the batches of a window in which `threads` ran, with what its `parts` did.
pub fn judge(batches: &[Batch], threads: &Threads, parts: &Parts) -> Verdict {
    let rates: Vec<f64> = batches.iter().map(Batch::rate).collect();
    let shares: Vec<f64> = batches.iter().map(Batch::share).collect();
    let share = mean(&shares);
    if !agree(&rates, NEXT_TO_NOTHING * mean(&rates))
        || !agree(&shares, SHARE_POINTS.min(SHARE_PART * share))
        || !parts.are_steady()
    {
        return Verdict::Drifts;
    }
    let acquisitions: u64 = batches.iter().map(|batch| batch.acquisitions).sum();
    let ns: f64 = batches.iter().map(|batch| batch.ns).sum();
    let narrow = of_rate(batches).is_some_and(|half| half <= NARROW)
        && of_share(batches).is_some_and(|half| half <= NARROW_POINTS.max(SHARE_PART * share));
    let often = acquisitions >= ROUNDS * threads.all as u64;
    match narrow && often && threads.had_their_turn(ns) {
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

    /// Without parts.
    fn judge(batches: &[Batch], threads: &Threads) -> Verdict {
        super::judge(batches, threads, &Parts::default())
    }

    /// So many threads, each of which has a CPU.
    fn each(threads: usize) -> Threads {
        Threads {
            all: threads,
            went_round: 0,
            two_turns: 0.0,
        }
    }

    /// Up and down around `centre`.
    fn noisy(centre: u64, by: u64) -> impl Fn(usize) -> u64 {
        move |i| centre - by + 2 * by * (i as u64 % 2)
    }

    #[test]
    fn what_stays_has_settled() {
        let steady = batches(noisy(1000, 20), |_| 100.0);
        assert_eq!(judge(&steady, &each(8)), Verdict::Settled);
        assert!(of_rate(&steady).is_some_and(|half| half > 0.005 && half < 0.02));
        assert!(of_share(&steady).is_some_and(|half| half < 1e-9));
    }

    #[test]
    fn a_start_that_differs_is_found() {
        let starts = batches(|i| if i < 8 { 1000 } else { 1100 }, |_| 100.0);
        assert_eq!(judge(&starts, &each(8)), Verdict::Drifts);
        let grows = batches(|i| 1000 + 10 * i as u64, |_| 100.0);
        assert_eq!(judge(&grows, &each(8)), Verdict::Drifts);
        // The same rate, and ever more of the time in the lock.
        let fills = batches(noisy(1000, 20), |i| 100.0 + 20.0 * i as f64);
        assert_eq!(judge(&fills, &each(8)), Verdict::Drifts);
        // A difference of one in a hundred is none, however regular.
        let slow = batches(|i| if i < 8 { 1000 } else { 1010 }, |_| 100.0);
        assert_eq!(judge(&slow, &each(8)), Verdict::Settled);
    }

    /// A share of 1 % that doubles is within 2 points.
    #[test]
    fn a_small_share_that_doubles_drifts_and_one_that_varies_is_short() {
        let doubles = batches(|_| 1000, |i| if i < 8 { 10.0 } else { 20.0 });
        assert_eq!(judge(&doubles, &each(8)), Verdict::Drifts);
        let stays = batches(|_| 1000, |i| if i < 8 { 10.0 } else { 10.5 });
        assert_eq!(judge(&stays, &each(8)), Verdict::Settled);
        // 4 % on average: 0.5 points are enough, 1.1 are not.
        let varies = |by: f64| batches(|_| 1000, move |i| 40.0 - by + 2.0 * by * (i % 2) as f64);
        assert_eq!(judge(&varies(8.0), &each(8)), Verdict::Settled);
        assert_eq!(judge(&varies(20.0), &each(8)), Verdict::Short);
    }

    /// 1,500 threads on 80 CPUs: 19 slices of 3 ms are one turn.
    #[test]
    fn threads_that_share_cpus_have_two_turns_or_most_have_gone_round() {
        let turns = two_turns(1500, 80, 3_000_000);
        assert_eq!(turns, 114_000_000);
        assert_eq!((two_turns(80, 80, 3), two_turns(81, 80, 3)), (0, 12));
        let window = |ms: f64, went_round| {
            let steady = batches(|_| 1000, |_| 1.0);
            let batch = |batch: &Batch| Batch {
                ns: ms * 1e6 / BATCHES as f64,
                ..*batch
            };
            let steady: Vec<Batch> = steady.iter().map(batch).collect();
            let threads = Threads {
                all: 1500,
                went_round,
                two_turns: turns as f64,
            };
            judge(&steady, &threads)
        };
        // 16,000 acquisitions, but by a tenth of the threads.
        assert_eq!(window(4.0, 150), Verdict::Short);
        assert_eq!(window(113.0, 1300), Verdict::Short);
        assert_eq!(window(115.0, 150), Verdict::Settled);
        assert_eq!(window(4.0, 1350), Verdict::Settled);
    }

    /// Acquisitions and shares are steady in all of these.
    fn judge_parts(parts: &Parts) -> Verdict {
        super::judge(&batches(|_| 1000, |_| 100.0), &each(8), parts)
    }

    fn by_batch(of: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..BATCHES).map(of).collect()
    }

    #[test]
    fn a_role_that_gets_slower_drifts_though_the_total_stands_still() {
        let rounds = |second: f64| Parts {
            rounds: vec![
                by_batch(|i| if i < 8 { 500.0 } else { second }),
                by_batch(|i| if i < 8 { 500.0 } else { 1000.0 - second }),
            ],
            queues: Vec::new(),
        };
        assert_eq!(judge_parts(&rounds(500.0)), Verdict::Settled);
        assert_eq!(judge_parts(&rounds(495.0)), Verdict::Settled);
        assert_eq!(judge_parts(&rounds(400.0)), Verdict::Drifts);
        // One that has a round now and then, by chance.
        let rare = Parts {
            rounds: vec![by_batch(|i| f64::from(u8::from(i % 3 == 0)))],
            queues: Vec::new(),
        };
        assert_eq!(judge_parts(&rare), Verdict::Settled);
    }

    #[test]
    fn a_queue_that_fills_drifts() {
        let queue = |items: &dyn Fn(usize) -> f64| Parts {
            rounds: Vec::new(),
            queues: vec![Flow {
                items: by_batch(items),
                came: by_batch(|_| 100.0),
            }],
        };
        assert_eq!(judge_parts(&queue(&|i| 50.0 * i as f64)), Verdict::Drifts);
        // A long one that still gets longer by half of what comes.
        let long = queue(&|i| 1e6 + 50.0 * i as f64);
        assert_eq!(judge_parts(&long), Verdict::Drifts);
        // By 1 % of what comes, by one item, or up and down.
        assert_eq!(judge_parts(&queue(&|i| 1.0 * i as f64)), Verdict::Settled);
        let one = queue(&|i| if i < 8 { 3.0 } else { 4.0 });
        assert_eq!(judge_parts(&one), Verdict::Settled);
        assert_eq!(
            judge_parts(&queue(&|i| 30.0 * (i % 2) as f64)),
            Verdict::Settled
        );
    }

    #[test]
    fn too_little_is_short() {
        assert_eq!(
            judge(&batches(noisy(1000, 200), |_| 1.0), &each(8)),
            Verdict::Short
        );
        // 16 batches of 100 are one acquisition for each of 1600 threads.
        assert_eq!(
            judge(&batches(|_| 100, |_| 1.0), &each(1600)),
            Verdict::Short
        );
        assert_eq!(
            judge(&batches(|_| 100, |_| 1.0), &each(400)),
            Verdict::Settled
        );
        assert_eq!(judge(&batches(|_| 0, |_| 1.0), &each(1)), Verdict::Short);
        assert_eq!(judge(&[], &each(1)), Verdict::Short);
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
