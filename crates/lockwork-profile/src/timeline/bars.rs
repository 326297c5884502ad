// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The bars of one lock, from its events and from those who wait for it at the end.

use std::collections::BTreeMap;

use crate::model::{Event, Lock, Profile};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits, and gets the lock.
    Wait,
    /// It waits until its deadline.
    TimedOut,
    /// It waits when the recording ends.
    Waiting,
    /// It holds the lock.
    Hold,
    /// Another thread saw it as the holder; from when on it held it is not known.
    Seen,
}

impl State {
    /// Whether it has not got the lock.
    pub fn is_wait(self) -> bool {
        matches!(self, State::Wait | State::TimedOut | State::Waiting)
    }
}

/// A piece of time of a thread at a lock, in ticks since the recording began.
#[derive(Clone, Debug)]
pub struct Bar {
    /// In the picture.
    pub row: usize,
    /// Its number.
    pub thread: u64,
    /// What it does.
    pub state: State,
    /// When it begins.
    pub from: u64,
    /// When it ends.
    pub to: u64,
    /// The call that locks; 0: unknown.
    pub site: u64,
    /// The thread number of the holder when a wait began.
    pub holder: Option<u64>,
    /// That one's call; 0: unknown.
    pub holder_site: u64,
    /// How many were merged into this.
    pub count: usize,
    /// Ticks of these.
    pub sum: u64,
}

/// The bars of this lock, in no order.
pub fn of(profile: &Profile, lock: &Lock) -> Vec<Bar> {
    let events = profile.events.iter();
    let events: Vec<&Event> = events.filter(|e| e.lock == lock.address).collect();
    let waits = waits(profile, lock, &events);
    let mut bars = holds(profile, &events, &waits);
    let seen = seen(&waits, &bars);
    bars.extend(seen);
    bars.extend(waits);
    bars
}

fn bar(thread: u64, state: State, from: u64, to: u64, site: u64) -> Bar {
    Bar {
        row: 0,
        thread,
        state,
        from,
        to,
        site,
        holder: None,
        holder_site: 0,
        count: 1,
        sum: to - from,
    }
}

/// By the times at which they begin.
fn waits(profile: &Profile, lock: &Lock, events: &[&Event]) -> Vec<Bar> {
    let ended = events.iter().filter_map(|event| {
        let state = match event.timed_out {
            true => State::TimedOut,
            false => State::Wait,
        };
        let (from, to) = (event.since?, event.acquired?);
        Some(Bar {
            holder: event.holder,
            holder_site: event.holder_site,
            ..bar(event.thread, state, from, to, event.site)
        })
    });
    let waiters = profile.waiters.iter().filter(|w| w.lock == lock.address);
    let waiting = waiters.map(|waiter| {
        let from = profile.ticks.saturating_sub(waiter.since);
        Bar {
            holder: waiter.holder,
            ..bar(
                waiter.thread,
                State::Waiting,
                from,
                profile.ticks,
                waiter.site,
            )
        }
    });
    let mut all: Vec<Bar> = ended.chain(waiting).collect();
    all.sort_by_key(|bar| bar.from);
    all
}

/// The holds that were timed, and of others those for which somebody waited.
fn holds(profile: &Profile, events: &[&Event], waits: &[Bar]) -> Vec<Bar> {
    // When this lock changed hands: a hold whose end was not seen ends there.
    let mut taken: Vec<(u64, u64)> = events
        .iter()
        .filter_map(|e| Some((e.acquired.filter(|_| !e.timed_out)?, e.thread)))
        .collect();
    taken.sort_unstable();
    let mut named: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for wait in waits {
        if let Some(holder) = wait.holder {
            named.entry(holder).or_default().push(wait.from);
        }
    }
    let overlaps = Overlaps::new(waits);
    let events = events.iter().filter(|event| !event.timed_out);
    events
        .filter_map(|event| {
            let to = event.released.unwrap_or_else(|| {
                let at = event.acquired.unwrap_or(0);
                let next = taken.partition_point(|(time, _)| *time <= at);
                let next = taken.get(next).map(|(time, _)| *time);
                next.unwrap_or(profile.ticks).max(at)
            });
            let from = match event.acquired {
                Some(acquired) => acquired,
                None => first_named(named.get(&event.thread)?, &taken, to)?,
            };
            let asked_for = event.since.is_some() || overlaps.any(from, to);
            asked_for.then(|| bar(event.thread, State::Hold, from, to, event.site))
        })
        .collect()
}

/// The first wait that named the holder since the lock was last taken by a timed hold.
fn first_named(waits: &[u64], taken: &[(u64, u64)], released: u64) -> Option<u64> {
    let before = taken.partition_point(|(time, _)| *time < released);
    let last = before.checked_sub(1).map_or(0, |at| taken[at].0);
    let first = waits.partition_point(|since| *since < last);
    waits.get(first).copied().filter(|since| *since < released)
}

/// Whether any wait overlaps a piece of time.
struct Overlaps<'a> {
    waits: &'a [Bar],
    /// The latest end of the waits up to each.
    ends: Vec<u64>,
}

impl Overlaps<'_> {
    fn new(waits: &[Bar]) -> Overlaps<'_> {
        let mut latest = 0;
        let ends = waits.iter().map(|wait| {
            latest = latest.max(wait.to);
            latest
        });
        Overlaps {
            ends: ends.collect(),
            waits,
        }
    }

    fn any(&self, from: u64, to: u64) -> bool {
        let begun = self.waits.partition_point(|wait| wait.from < to);
        begun > 0 && self.ends[begun - 1] > from
    }
}

/// Holders that waiters saw, where no hold of theirs was recorded: until the lock is next
/// taken, or the waiter has it.
fn seen(waits: &[Bar], holds: &[Bar]) -> Vec<Bar> {
    let mut starts: Vec<u64> = holds.iter().map(|hold| hold.from).collect();
    starts.sort_unstable();
    let mut of_thread: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for hold in holds {
        let known = of_thread.entry(hold.thread).or_default();
        known.push((hold.from, hold.to));
    }
    for known in of_thread.values_mut() {
        known.sort_unstable();
    }
    let mut last: BTreeMap<u64, Bar> = BTreeMap::new();
    let mut all = Vec::new();
    for wait in waits {
        let Some(holder) = wait
            .holder
            .filter(|holder| *holder != wait.thread || wait.state == State::Waiting)
        else {
            continue;
        };
        let known = of_thread.get(&holder).map_or(&[][..], Vec::as_slice);
        let before = known.partition_point(|(from, _)| *from <= wait.from);
        if before > 0 && known[before - 1].1 > wait.from {
            continue;
        }
        let next = starts.partition_point(|start| *start <= wait.from);
        let to = starts.get(next).map_or(wait.to, |next| wait.to.min(*next));
        match last.get_mut(&holder) {
            Some(before) if wait.from <= before.to => {
                before.to = before.to.max(to);
                before.sum = before.to - before.from;
            }
            _ => {
                let new = bar(holder, State::Seen, wait.from, to, wait.holder_site);
                all.extend(last.insert(holder, new));
            }
        }
    }
    all.extend(last.into_values());
    all
}

#[cfg(test)]
#[path = "bars_tests.rs"]
mod tests;
