// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks that share a cache line. There threads that use one of them may slow down those that use the
//! other one: false sharing. How much that is, no call for a lock says.

use std::collections::HashSet;

use lockwork_report::text::counted;

use crate::model::{mean, Lock, Profile};
use crate::names::Names;
use crate::shards::{made_at, ARRAY};
use crate::users::ONLY_USER;

/// A cache line, and the pair of them that many CPUs fetch together: bytes.
const LINES: [u64; 2] = [64, 128];
/// A lock is used much if one in so many acquisitions is its, or its and its kin's.
const MUCH: u64 = 50;
/// Of a kind of locks, only those with one in so many.
const USED: u64 = 1_000;
/// And of these only those with one in so many of a fair share.
const FAIR: u64 = 4;
/// In a shorter recording nothing is much.
const LEAST: u64 = 50_000;

/// Two locks in one line.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// The one at the lower address.
    pub first: &'a Lock,
    /// The other one.
    pub second: &'a Lock,
    /// The length of what both lie in: 64, or else 128.
    pub bytes: u64,
    /// Whether threads use one of them that hardly use the other one.
    pub apart: bool,
}

/// Locks that share a line, each of them used much, by itself or as one of a kind, neither by one and
/// the same thread nor nearly always one inside of the other. Those in one line of 64 bytes come first,
/// and of these the ones that different threads use.
pub fn pairs(profile: &Profile) -> Vec<Pair<'_>> {
    let total = profile.sum().count.max(LEAST);
    let kin = kin(profile, total);
    let hot = |lock: &&Lock| {
        let much = lock.sum.count * MUCH >= total || kin.contains(&lock.address);
        lock.is_lock() && much
    };
    let mut hot: Vec<&Lock> = profile.locks.iter().filter(hot).collect();
    hot.sort_by_key(|lock| lock.address);
    let neighbours = hot.windows(2).filter(|pair| {
        let only = only_user(pair[0]);
        let by_one = only.is_some() && only == only_user(pair[1]);
        !by_one && !is_nested(pair[0], pair[1])
    });
    let shared = |pair: &[&Lock]| {
        let line = |bytes: &u64| pair[0].address / bytes == pair[1].address / bytes;
        LINES.into_iter().find(line)
    };
    let mut all: Vec<Pair<'_>> = neighbours
        .filter_map(|pair| {
            Some(Pair {
                first: pair[0],
                second: pair[1],
                bytes: shared(pair)?,
                apart: are_apart(pair[0], pair[1]),
            })
        })
        .collect();
    all.sort_by_key(|pair| (pair.bytes, !pair.apart));
    all
}

/// Whether nearly all acquisitions of one of them are made while the other one is held. Then the thread
/// that uses one has just used the other, and only its waiters move the line.
fn is_nested(first: &Lock, second: &Lock) -> bool {
    let within = |inner: &Lock, outer: &Lock| {
        let inside = inner.inside.iter();
        let there = inside.filter(|inside| inside.outer == outer.address);
        let count: u64 = there.map(|inside| inside.count).sum();
        mean(count as f64, inner.sum.count) >= ONLY_USER
    };
    within(first, second) || within(second, first)
}

/// Whether the threads that use one of them make nearly none of the acquisitions of the other one.
fn are_apart(first: &Lock, second: &Lock) -> bool {
    let share = |lock: &Lock, thread: u64| {
        let all: u64 = lock.by_thread.iter().map(|(_, n)| n).sum();
        let of = lock.by_thread.iter().find(|(other, _)| *other == thread);
        mean(of.map_or(0.0, |(_, n)| *n as f64), all)
    };
    let threads = first.by_thread.iter().map(|(thread, _)| *thread);
    let common = threads.map(|thread| share(first, thread).min(share(second, thread)));
    !first.by_thread.is_empty() && common.sum::<f64>() <= 1.0 - ONLY_USER
}

/// The locks that lie in a row, of one making and equally far from each other, if all in a row
/// together are used much.
fn kin(profile: &Profile, total: u64) -> HashSet<u64> {
    let used = |lock: &&Lock| lock.is_lock() && lock.sum.count * USED >= total;
    let mut all: Vec<&Lock> = profile.locks.iter().filter(used).collect();
    all.sort_by_key(|lock| lock.address);
    let mut found = HashSet::new();
    let mut from = 0;
    while from < all.len() {
        let apart = |at: usize| all[at].address - all[at - 1].address;
        let in_row = |at: &usize| {
            let near = apart(*at) == apart(from + 1) && apart(*at) < LINES[1];
            near && made_at(all[*at]) == made_at(all[from])
        };
        let row = 1 + (from + 1..all.len()).take_while(in_row).count();
        let locks = &all[from..from + row];
        let count: u64 = locks.iter().map(|lock| lock.sum.count).sum();
        if row >= ARRAY && count * MUCH >= total {
            // Beside one that has most of them the others are hardly used.
            let real = |lock: &&&Lock| lock.sum.count * row as u64 * FAIR >= count;
            found.extend(locks.iter().filter(real).map(|lock| lock.address));
        }
        from += row;
    }
    found
}

/// The thread that makes nearly all of its acquisitions, if one does.
fn only_user(lock: &Lock) -> Option<u64> {
    let all: u64 = lock.by_thread.iter().map(|(_, n)| n).sum();
    let nearly_all = all as f64 * ONLY_USER;
    let mut threads = lock.by_thread.iter();
    let only = threads.find(|(_, n)| *n > 0 && *n as f64 >= nearly_all);
    only.map(|(thread, _)| *thread)
}

/// What is said of them, a sentence for each kind: those in one line that different threads use,
/// others in one line, and those in a pair of lines.
pub fn sentences(profile: &Profile, names: &Names<'_>) -> Vec<String> {
    let all = pairs(profile);
    let line = |pair: &&Pair<'_>| pair.bytes == LINES[0];
    let (apart, rest): (Vec<_>, Vec<_>) = all.iter().partition(|pair| line(pair) && pair.apart);
    let (near, far): (Vec<_>, Vec<_>) = rest.into_iter().partition(line);
    let kinds = [
        (
            apart,
            "Most likely false sharing: they are in one cache line of 64 bytes, and different threads \
             use them.",
        ),
        (
            near,
            "Perhaps false sharing: they are in one cache line of 64 bytes. Threads that use one of \
             them at the same time as others use the other slow each other down.",
        ),
        (
            far,
            "Perhaps false sharing: they are in one pair of cache lines (128 bytes), which many CPUs \
             fetch together.",
        ),
    ];
    let each = kinds.into_iter().filter_map(|(of, what)| {
        let first = of.first()?;
        Some(format!(
            "{} of locks that are both used much, as {} and {}. {what} Put each lock on a line of \
             its own, and measure.",
            counted(of.len(), "pair"),
            names.lock(first.first),
            names.lock(first.second)
        ))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Inside;

    /// Locks of one making, with so many acquisitions by these threads each.
    fn profile(locks: &[(u64, &[(u64, u64)])]) -> Profile {
        let lock = |&(address, by_thread): &(u64, &[(u64, u64)])| Lock {
            made: Some(1),
            ..Lock::used_by(address, by_thread)
        };
        Profile {
            ns_per_tick: 1.0,
            seconds: 1.0,
            threads: 2,
            locks: locks.iter().map(lock).collect(),
            ..Profile::default()
        }
    }

    #[test]
    fn what_one_thread_uses_is_not_shared_falsely() {
        let near = |a: &[(u64, u64)], b: &[(u64, u64)]| pairs(&profile(&[(64, a), (72, b)])).len();
        assert_eq!(near(&[(0, 100_000)], &[(0, 100_000)]), 0);
        assert_eq!(near(&[(0, 99_000), (1, 1_000)], &[(0, 100_000)]), 0);
        assert_eq!(near(&[(0, 100_000)], &[(1, 100_000)]), 1);
        assert_eq!(near(&[(0, 50_000), (1, 50_000)], &[(0, 100_000)]), 1);
    }

    #[test]
    fn locks_that_are_taken_one_inside_the_other_are_not_shared_falsely() {
        let both: &[(u64, u64)] = &[(0, 50_000), (1, 50_000)];
        let nested = |times: u64, inner: usize| {
            let mut profile = profile(&[(64, both), (104, both)]);
            let outer = profile.locks[1 - inner].address;
            profile.locks[inner].inside.push(Inside {
                outer,
                count: times,
                waited: 0,
            });
            pairs(&profile).len()
        };
        assert_eq!(nested(100_000, 1), 0);
        assert_eq!(nested(100_000, 0), 0);
        assert_eq!(nested(50_000, 1), 1, "half of them are taken alone");
    }

    #[test]
    fn false_sharing_is_a_possibility_where_the_same_threads_use_both() {
        let said = |a: &[(u64, u64)], b: &[(u64, u64)]| {
            let profile = profile(&[(64, a), (104, b)]);
            sentences(&profile, &Names::new(&profile)).join(" ")
        };
        let both: &[(u64, u64)] = &[(0, 50_000), (1, 50_000)];
        assert!(said(both, both).contains("Perhaps false sharing"));
        let text = said(&[(0, 100_000)], &[(1, 50_000), (2, 50_000)]);
        assert!(text.contains("Most likely false sharing"), "{text}");
        assert!(said(&[(0, 100_000)], both).contains("Perhaps false"));
    }

    #[test]
    fn many_locks_in_a_row_are_used_much_together() {
        let both: &[(u64, u64)] = &[(0, 30_000), (1, 30_000)];
        let row = |n: u64, apart: u64| -> Vec<Pair<'static>> {
            let locks: Vec<_> = (0..n).map(|at| (4096 + at * apart, both)).collect();
            pairs(Box::leak(Box::new(profile(&locks))))
        };
        // 64 locks have 1.6 % of the acquisitions each.
        let found = row(64, 40);
        let in_line = found.iter().filter(|pair| pair.bytes == 64).count();
        assert_eq!((in_line, found.len()), (24, 44));
        assert!(row(64, 128).is_empty());
        // One has nearly all.
        let few: &[(u64, u64)] = &[(0, 200), (1, 200)];
        let locks: Vec<_> = (0..16)
            .map(|at| (4096 + at * 40, if at == 3 { both } else { few }))
            .collect();
        assert!(pairs(&profile(&locks)).is_empty());
        // Too many to be used much: threads do not meet there.
        assert!(row(2_000, 40).is_empty());
    }
}
