// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two threads that answer each other: by a line, and by sleeping.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::runner::{pin, Stop};

/// Round trips of one batch. So few that most batches are not interrupted.
const TRIPS: u32 = 200;
/// Looks at the line until a look at whether all is over.
const PATIENCE: u32 = 4096;
const MOST_BATCHES: usize = 1001;
const FEWEST_BATCHES: usize = 5;

/// A line of its own, and the neighbour that is fetched with it.
#[repr(align(128))]
struct Line(AtomicU32);

/// Median and spread of batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// The median, ns.
    pub(super) median: f64,
    /// From the 10th to the 90th percentile, as a share of the median.
    pub(super) spread: f64,
}

/// Sorts, and looks.
pub(super) fn spread(samples: &mut [f64]) -> Option<Spread> {
    samples.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| samples.get(((samples.len() - 1) as f64 * share).round() as usize);
    if samples.is_empty() {
        return None;
    }
    let (low, median, high) = (*at(0.1)?, *at(0.5)?, *at(0.9)?);
    Some(Spread {
        median,
        spread: (high - low) / median.max(f64::MIN_POSITIVE),
    })
}

/// Turns the line from `from` to `from + 1`; false: it is over.
fn turn(line: &AtomicU32, from: u32, over: &dyn Fn() -> bool) -> bool {
    let mut patience = PATIENCE;
    let order = Ordering::Relaxed;
    while line
        .compare_exchange(from, from.wrapping_add(1), order, order)
        .is_err()
    {
        patience -= 1;
        if patience == 0 {
            if over() {
                return false;
            }
            patience = PATIENCE;
        }
        spin_loop();
    }
    true
}

/// One way of a line between two CPUs, ns: half a round trip in which each turns
/// it by compare-and-swap. The line's home is at `a`. Without an answer only when
/// it is to stop.
pub(super) fn line_way(
    a: usize,
    b: usize,
    budget: Duration,
    stop: &Stop,
) -> Result<Option<Spread>> {
    pin(a)?;
    // First touched, and so placed, by this CPU.
    let line = Box::new(Line(AtomicU32::new(0)));
    let ended = &Stop::default();
    let line = &line.0;
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, move || {
            let pinned = pin(b);
            let mut from = 1;
            while pinned.is_ok() && turn(line, from, &|| ended.now()) {
                from = from.wrapping_add(2);
            }
            pinned
        });
        let other = other.context("this machine refused a thread")?;
        let over = || stop.now() || other.is_finished();
        let mut samples = batches(line, budget, &over);
        ended.set();
        other
            .join()
            .map_err(|_| anyhow::anyhow!("a measuring thread failed"))??;
        Ok(if stop.now() {
            None
        } else {
            spread(&mut samples)
        })
    })
}

fn batches(line: &AtomicU32, budget: Duration, over: &dyn Fn() -> bool) -> Vec<f64> {
    let mut samples = Vec::new();
    let mut from = 0_u32;
    let start = Instant::now();
    // The first batch warms up.
    for batch in 0..MOST_BATCHES {
        let begin = Instant::now();
        for _ in 0..TRIPS {
            if !turn(line, from, over) {
                return samples;
            }
            from = from.wrapping_add(2);
        }
        let ns = begin.elapsed().as_nanos() as f64;
        if batch > 0 {
            samples.push(ns / f64::from(TRIPS) / 2.0);
        }
        if start.elapsed() >= budget && samples.len() >= FEWEST_BATCHES {
            break;
        }
    }
    samples
}

/// What sleeping and waking cost, µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wake {
    /// From before the wake-up until the sleeper answers.
    pub(super) way: f64,
    /// The waker's part.
    pub(super) waker: f64,
}

/// Two threads that sleep and wake each other by futex (which is what parking
/// is), on CPUs `a` and `b`, which may be one.
pub(super) fn wake(a: usize, b: usize, budget: Duration, stop: &Stop) -> Result<Option<Wake>> {
    pin(a)?;
    let turn = &AtomicU32::new(0);
    let over = &Stop::default();
    let first = thread::current();
    let (mut ways, mut wakers) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, move || {
            let pinned = pin(b);
            let mut mine = 1;
            while pinned.is_ok() && sleep_until(turn, mine, over) {
                turn.store(mine.wrapping_add(1), Ordering::Release);
                first.unpark();
                mine = mine.wrapping_add(2);
            }
            pinned
        });
        let other = other.context("this machine refused a thread")?;
        let start = Instant::now();
        let mut next = 1_u32;
        while ways.len() < 20 || (start.elapsed() < budget && ways.len() < 10_000) {
            let begin = Instant::now();
            turn.store(next, Ordering::Release);
            other.thread().unpark();
            let woken = begin.elapsed();
            let gone = || stop.now() || other.is_finished();
            while turn.load(Ordering::Acquire) != next.wrapping_add(1) && !gone() {
                thread::park_timeout(Duration::from_millis(100));
            }
            if gone() {
                break;
            }
            ways.push(begin.elapsed().as_nanos() as f64 / 2e3);
            wakers.push(woken.as_nanos() as f64 / 1e3);
            next = next.wrapping_add(2);
        }
        over.set();
        other.thread().unpark();
        other
            .join()
            .map_err(|_| anyhow::anyhow!("a measuring thread failed"))??;
        anyhow::Ok(())
    })?;
    let (way, waker) = (spread(&mut ways), spread(&mut wakers));
    Ok(way
        .zip(waker)
        .filter(|_| !stop.now())
        .map(|(way, waker)| Wake {
            way: way.median,
            waker: waker.median,
        }))
}

/// Sleeps until it is this thread's turn; false: all is over.
fn sleep_until(turn: &AtomicU32, mine: u32, over: &Stop) -> bool {
    while turn.load(Ordering::Acquire) != mine {
        if over.now() {
            return false;
        }
        thread::park();
    }
    true
}
