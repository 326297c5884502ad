// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The share of the threads' time that they wait for locks: `report` and `predict` both print it.

use std::collections::BTreeMap;

use crate::model::Profile;
use crate::users::{by_thread, lock_waiters, users};

/// A thread that waits for locks for this share of its time counts in full.
const WAITS: f64 = 0.01;

/// The sums over all threads that count, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// In waits for locks.
    pub waited: f64,
    /// Of the threads, without their waits for condition variables.
    pub time: f64,
    /// How many threads that is, on average.
    pub threads: f64,
    /// Threads waited longer than they lived, as far as the file says, or the process was short: its end
    /// is not known.
    pub beyond: bool,
}

/// So many times as long as there was time is no error of a clock.
pub const FAR: f64 = 1.1;

/// What one thread did.
#[derive(Default)]
struct Thread {
    acquired: u64,
    /// In waits for locks, ticks.
    waited: f64,
    /// In waits for condition variables, ticks.
    idle: f64,
    /// From its first call on, ticks; none: as long as the process.
    lived: Option<f64>,
}

impl Share {
    /// Of the waits that have ended.
    pub fn ended(profile: &Profile) -> Share {
        sum(profile, threads(profile))
    }

    /// Also of those that had not ended when the recording did.
    pub fn all(profile: &Profile) -> Share {
        let mut threads = threads(profile);
        for waiter in lock_waiters(profile) {
            threads.entry(waiter.thread).or_default().waited += waiter.since as f64;
        }
        sum(profile, threads)
    }

    /// So many ticks of waiting as a share of the time; at most all of it.
    pub fn of(&self, waited: f64) -> f64 {
        match self.time > 0.0 {
            true => (waited / self.time).min(1.0),
            false => 0.0,
        }
    }

    /// All waiting as a share of the time.
    pub fn waiting(&self) -> f64 {
        self.of(self.waited)
    }
}

fn threads(profile: &Profile) -> BTreeMap<u64, Thread> {
    let mut all: BTreeMap<u64, Thread> = BTreeMap::new();
    for (thread, acquired) in by_thread(profile) {
        all.entry(thread).or_default().acquired = acquired;
    }
    for (thread, waited) in &profile.lock_waits {
        all.entry(*thread).or_default().waited = *waited as f64;
    }
    for idle in &profile.idle {
        all.entry(idle.thread).or_default().idle = idle.waited as f64;
    }
    for (thread, lived) in &profile.lives {
        if let Some(known) = all.get_mut(thread) {
            known.lived = Some(*lived as f64);
        }
    }
    let locks = lock_waiters(profile);
    for waiter in &profile.waiters {
        let is_lock = locks.iter().any(|w| w.thread == waiter.thread);
        if !is_lock {
            all.entry(waiter.thread).or_default().idle += waiter.since as f64;
        }
    }
    all
}

/// A thread counts in full if it acquires locks as often as the others do, or waits for locks for
/// [`WAITS`] of its time. Any other counts in part: one that only starts threads and joins them
/// hardly counts.
fn sum(profile: &Profile, threads: BTreeMap<u64, Thread>) -> Share {
    let run = profile.seconds * 1e9 / profile.ns_per_tick.max(1e-9);
    let acquired = threads.values().map(|thread| thread.acquired);
    let all: u64 = acquired.clone().sum();
    let each = all as f64 / users(acquired).max(1.0);
    let mut share = Share {
        beyond: profile.at_least,
        ..Share::default()
    };
    for thread in threads.values() {
        let life = thread.lived.unwrap_or(run).min(run);
        let acquires = thread.acquired as f64 / each.max(1.0);
        let waits = thread.waited / (WAITS * life).max(1.0);
        let counts = acquires.max(waits).min(1.0);
        share.waited += thread.waited;
        share.time += thread.waited.max((life - thread.idle) * counts);
        share.beyond |= thread.waited > FAR * life;
    }
    share.threads = share.time / run.max(1.0);
    share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Idle, Lock};

    /// Of a second; a tick is a nanosecond. Each thread: acquisitions, ms that it waited for locks,
    /// and for condition variables.
    fn share(threads: &[(u64, u64, u64)]) -> f64 {
        let numbered = || (0u64..).zip(threads);
        let used: Vec<(u64, u64)> = numbered().map(|(n, t)| (n, t.0)).collect();
        let idle = |(thread, t): (u64, &(u64, u64, u64))| Idle {
            thread,
            waits: 1,
            waited: t.2 * 1_000_000,
        };
        let profile = Profile {
            ns_per_tick: 1.0,
            seconds: 1.0,
            threads: threads.len() as u64,
            locks: vec![Lock::used_by(64, &used)],
            lock_waits: numbered().map(|(n, t)| (n, t.1 * 1_000_000)).collect(),
            idle: numbered().map(idle).collect(),
            ..Profile::default()
        };
        Share::ended(&profile).waiting()
    }

    #[test]
    fn idle_threads_do_not_hide_a_hot_lock() {
        let mut threads = vec![(3_000, 400, 0); 4];
        threads.resize(804, (1, 0, 999));
        let share = share(&threads);
        assert!(share > 0.38, "{share}");
    }

    #[test]
    fn a_thread_that_waits_counts_however_seldom_it_acquires() {
        // One has a lock for itself; the others wait for another one.
        let mut threads = vec![(38_000_000, 0, 0)];
        threads.resize(7, (58, 800, 0));
        let share = share(&threads);
        assert!((share - 4.8 / 7.0).abs() < 0.01, "{share}");
    }

    #[test]
    fn a_thread_that_joins_the_others_does_not_count() {
        let share = share(&[(1_000, 500, 0), (1_000, 500, 0), (1, 0, 0)]);
        assert!((share - 0.5).abs() < 0.01, "{share}");
    }

    #[test]
    fn a_short_lived_thread_counts_for_as_long_as_it_lived() {
        let profile = Profile {
            ns_per_tick: 1.0,
            seconds: 1.0,
            threads: 2,
            locks: vec![Lock::used_by(64, &[(0, 100), (1, 100)])],
            lock_waits: vec![(0, 100), (1, 50_000_000)],
            lives: vec![(0, 1_000_000_000), (1, 100_000_000)],
            ..Profile::default()
        };
        let share = Share::ended(&profile);
        assert!((share.time - 1.1e9).abs() < 1e6, "{share:?}");
        assert!(!share.beyond);
    }

    #[test]
    fn no_more_than_all_time_is_waited() {
        assert_eq!(share(&[(8, 1_200, 0)]), 1.0);
        assert_eq!(share(&[]), 0.0);
    }
}
