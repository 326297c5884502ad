// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The timeline of the hottest locks: who waits and who holds, as bars in rows, a row for
//! each thread at each lock.

mod bars;
mod merge;

use std::collections::BTreeMap;

pub use bars::{Bar, State};

use crate::model::{Lock, Profile};
use crate::raw;

/// Locks that are drawn, at most.
const LOCKS: usize = 5;
/// Threads that are drawn of each.
const THREADS: usize = 12;
/// Bars of the whole run.
const BARS: usize = 3000;
/// Windows that are drawn apart, where the whole run had to be reduced.
const WINDOWS: usize = 3;
/// Bars of each.
const IN_WINDOW: usize = 800;

/// A thread at a lock.
#[derive(Debug)]
pub struct Row {
    /// Its number.
    pub thread: u64,
    /// Waits that are seen here.
    pub waits: usize,
    /// Ticks of these.
    pub waited: u64,
    /// The longest.
    pub longest: u64,
    /// Holds that are seen here.
    pub holds: usize,
    /// Ticks of these.
    pub held: u64,
}

/// A lock and its rows.
#[derive(Debug)]
pub struct Lane<'a> {
    /// The lock.
    pub lock: &'a Lock,
    /// Those that waited and held longest, by thread number.
    pub rows: Vec<Row>,
    /// Threads for which there is no row.
    pub left_out: usize,
}

/// A part of the run that is drawn.
#[derive(Debug)]
pub struct View {
    /// Where it begins, in ticks.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
    /// By row and time.
    pub bars: Vec<Bar>,
    /// Shorter distances than this are merged; 0: none is.
    pub bin: u64,
}

/// What is drawn.
#[derive(Debug)]
pub struct Timeline<'a> {
    /// The hottest lock first.
    pub lanes: Vec<Lane<'a>>,
    /// The whole run, and then windows of it in which much was waited.
    pub views: Vec<View>,
    /// Bars before any were merged.
    pub all: usize,
}

impl<'a> Timeline<'a> {
    /// Of this process; none: there is nothing to draw.
    pub fn new(profile: &'a Profile) -> Option<Timeline<'a>> {
        let mut lanes = Vec::new();
        let mut all: Vec<Bar> = Vec::new();
        let mut first = 0;
        let locks = profile.locks.iter().filter(|lock| lock.is_lock());
        for lock in locks.filter(|lock| lock.sum.waited > 0 || is_waited_for(profile, lock)) {
            if lanes.len() == LOCKS {
                break;
            }
            let mut bars = bars::of(profile, lock);
            if bars.is_empty() {
                continue;
            }
            let lane = lane(lock, &bars);
            let row_of: BTreeMap<u64, usize> = lane.rows.iter().enumerate().map(number).collect();
            bars.retain_mut(|bar| match row_of.get(&bar.thread) {
                Some(row) => {
                    bar.row = first + row;
                    true
                }
                None => false,
            });
            first += lane.rows.len();
            lanes.push(lane);
            all.extend(bars);
        }
        all.sort_by_key(|bar| (bar.row, bar.from, bar.to));
        let end = all.iter().map(|bar| bar.to).max()?.max(profile.ticks);
        let views = views(&all, end);
        Some(Timeline {
            lanes,
            views,
            all: all.len(),
        })
    }
}

fn number((row, of): (usize, &Row)) -> (u64, usize) {
    (of.thread, row)
}

fn is_waited_for(profile: &Profile, lock: &Lock) -> bool {
    let mut waiters = profile.waiters.iter();
    waiters.any(|waiter| waiter.lock == lock.address)
}

fn lane<'a>(lock: &'a Lock, bars: &[Bar]) -> Lane<'a> {
    let mut rows: BTreeMap<u64, Row> = BTreeMap::new();
    for bar in bars {
        let row = rows.entry(bar.thread).or_insert(Row {
            thread: bar.thread,
            waits: 0,
            waited: 0,
            longest: 0,
            holds: 0,
            held: 0,
        });
        if bar.state.is_wait() {
            row.waits += 1;
            row.waited += bar.sum;
            row.longest = row.longest.max(bar.sum);
        } else {
            row.holds += 1;
            row.held += bar.sum;
        }
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| u64::MAX - row.waited - row.held);
    let left_out = rows.len().saturating_sub(THREADS);
    rows.truncate(THREADS);
    rows.sort_by_key(|row| row.thread);
    Lane {
        lock,
        rows,
        left_out,
    }
}

/// The whole run; and, if that shows less than there is, where most was waited.
fn views(all: &[Bar], end: u64) -> Vec<View> {
    let (bars, bin) = merge::reduced(all, end, BARS);
    let mut views = vec![View {
        from: 0,
        to: end.max(1),
        bars,
        bin,
    }];
    if bin == 0 {
        return views;
    }
    let mut waited: BTreeMap<u64, u64> = BTreeMap::new();
    for bar in all.iter().filter(|bar| bar.state.is_wait()) {
        *waited.entry(bar.from >> raw::WINDOW).or_default() += bar.sum.min(1 << raw::WINDOW);
    }
    let mut windows: Vec<(u64, u64)> = waited.into_iter().collect();
    windows.sort_by_key(|(window, waited)| (u64::MAX - waited, *window));
    windows.truncate(WINDOWS);
    windows.sort_unstable();
    views.extend(windows.iter().map(|(window, _)| close_up(all, *window)));
    views
}

/// A window, or the first part of it that does not have too many bars.
fn close_up(all: &[Bar], window: u64) -> View {
    let (from, mut to) = (window << raw::WINDOW, (window + 1) << raw::WINDOW);
    let mut starts: Vec<u64> = all.iter().map(|bar| bar.from).collect();
    starts.retain(|start| (from..to).contains(start));
    starts.sort_unstable();
    if let Some(start) = starts.get(IN_WINDOW) {
        to = (*start).max(from + 1);
    }
    let bars = all.iter().filter(|bar| bar.from < to && bar.to > from);
    View {
        from,
        to,
        bars: bars.cloned().collect(),
        bin: 0,
    }
}
