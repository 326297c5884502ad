// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How many threads use a program's locks, weighted by how much each does.

use std::collections::{HashMap, HashSet};

use crate::model::{Profile, Waiter};

/// A thread with so large a share of a lock's acquisitions is its only user.
pub const ONLY_USER: f64 = 0.95;

/// How many threads do as much as these do, if all do alike: the inverse of Simpson's index.
pub fn users(counts: impl Iterator<Item = u64>) -> f64 {
    let (sum, squares) = counts.fold((0.0, 0.0), |(sum, squares), n| {
        (sum + n as f64, squares + (n as f64).powi(2))
    });
    match squares > 0.0 {
        true => sum * sum / squares,
        false => 0.0,
    }
}

/// How often each thread acquired a lock, by its number.
pub fn by_thread(profile: &Profile) -> HashMap<u64, u64> {
    let mut all: HashMap<u64, u64> = HashMap::new();
    for (thread, count) in profile.locks.iter().flat_map(|lock| &lock.by_thread) {
        *all.entry(*thread).or_default() += count;
    }
    all
}

/// How many threads acquire locks as much as the others do, about. One that starts them and waits
/// is none.
pub fn at_work(profile: &Profile) -> u64 {
    users(by_thread(profile).into_values()).round() as u64
}

/// The threads that wait for a lock at the end of the recording, not for a condition variable.
pub fn lock_waiters(profile: &Profile) -> Vec<Waiter> {
    if profile.waiters.is_empty() {
        return Vec::new();
    }
    let others = profile.locks.iter().filter(|lock| !lock.is_lock());
    let others: HashSet<u64> = others.map(|lock| lock.address).collect();
    let waiters = profile.waiters.iter();
    waiters
        .filter(|w| !others.contains(&w.lock))
        .cloned()
        .collect()
}

/// How long, in ticks, the waits for locks have lasted that have not ended.
pub fn still_waited(profile: &Profile) -> u64 {
    lock_waiters(profile).iter().map(|w| w.since).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_by_what_they_do() {
        assert!((users([1000, 1000, 1].into_iter()) - 2.0).abs() < 0.01);
        assert_eq!(users([5].into_iter()), 1.0);
        assert_eq!(users([].into_iter()), 0.0);
    }
}
