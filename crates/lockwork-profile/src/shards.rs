// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks that seem to guard parts of the same thing. One place of making says little: a wrapper
//! makes all locks of a program. So they also lie at equal distances, as in an array, or threads
//! wait for them by the same calls.

use std::collections::HashSet;

use crate::model::{Lock, Profile};

/// A lock with less than this share of another one's acquisitions is hardly used beside it.
const USED: f64 = 0.01;
/// So many locks at equal distances are no accident.
pub const ARRAY: usize = 4;

/// Locks that are alike, and by what.
pub struct Shards<'a> {
    /// With the one that was asked for.
    pub locks: Vec<&'a Lock>,
    /// What they have in common.
    pub likeness: String,
}

/// The locks that are like `lock`; none: nothing says that any are. A row of locks counts as a
/// whole, those that hardly anybody uses too, if enough of it are used.
pub fn shards<'a>(profile: &'a Profile, lock: &'a Lock) -> Option<Shards<'a>> {
    let least = lock.sum.count as f64 * USED;
    let locks = profile.locks.iter();
    let mut kin: Vec<&Lock> = locks
        .filter(|other| other.is_lock() && made_at(other) == made_at(lock))
        .collect();
    kin.sort_by_key(|other| other.address);
    let is_used = |other: &&Lock| other.sum.count as f64 >= least;
    if let Some(row) = array(&kin, lock) {
        if row.locks.iter().filter(|other| is_used(other)).count() >= ARRAY {
            return Some(row);
        }
    }
    kin.retain(is_used);
    called_alike(profile, &kin, lock)
}

/// Where it was made, or else where it is used most.
pub fn made_at(lock: &Lock) -> u64 {
    let used = lock.sites.first().map(|site| site.address);
    lock.made.or(used).unwrap_or(0)
}

/// Those of `kin`, by their addresses, that are as far from each other as `lock` is from its
/// neighbour.
fn array<'a>(kin: &[&'a Lock], lock: &Lock) -> Option<Shards<'a>> {
    let at = kin.iter().position(|k| k.address == lock.address)?;
    let find = |address| kin.binary_search_by_key(&address, |k| k.address).ok();
    let run = |distance: u64| {
        let up = |from: u64| from.checked_add(distance);
        let down = |from: u64| from.checked_sub(distance);
        let above = std::iter::successors(up(lock.address), |a| up(*a)).map_while(find);
        let below = std::iter::successors(down(lock.address), |a| down(*a)).map_while(find);
        let locks: Vec<&Lock> = below.chain([at]).chain(above).map(|n| kin[n]).collect();
        (locks, distance)
    };
    let neighbours = [at.checked_sub(1), at.checked_add(1)];
    let neighbours = neighbours.into_iter().flatten().filter_map(|n| kin.get(n));
    let runs = neighbours.map(|n| run(n.address.abs_diff(lock.address)));
    let (locks, distance) = runs.max_by_key(|(locks, _)| locks.len())?;
    (locks.len() >= ARRAY).then(|| Shards {
        locks,
        likeness: format!("they lie {distance} bytes apart"),
    })
}

/// Those for which threads waited by the same calls as for `lock`, as far as the stacks go.
fn called_alike<'a>(profile: &Profile, kin: &[&'a Lock], lock: &Lock) -> Option<Shards<'a>> {
    let stacks = || {
        let waits = profile.stacks.iter().filter(|stack| stack.waited > 0);
        waits.filter(|stack| stack.frames.len() > 1)
    };
    let own = stacks().filter(|stack| stack.lock == lock.address);
    let own: HashSet<&[u64]> = own.map(|stack| stack.frames.as_slice()).collect();
    let alike = stacks().filter(|stack| own.contains(stack.frames.as_slice()));
    let alike: HashSet<u64> = alike.map(|stack| stack.lock).collect();
    let mut locks = kin.to_vec();
    locks.retain(|other| alike.contains(&other.address));
    (!locks.is_empty()).then(|| Shards {
        locks,
        likeness: "threads wait for them by the same calls".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Stack;

    /// Locks of one making, with these addresses and numbers of acquisitions.
    fn profile(locks: &[(u64, u64)]) -> Profile {
        let lock = |&(address, count): &(u64, u64)| Lock {
            made: Some(1),
            ..Lock::used_by(address, &[(0, count)])
        };
        Profile {
            locks: locks.iter().map(lock).collect(),
            ..Profile::default()
        }
    }

    /// The addresses of those that are like the first one.
    fn like_first(profile: &Profile) -> Vec<u64> {
        let found = shards(profile, &profile.locks[0]);
        let mut found: Vec<u64> = found
            .map(|shards| shards.locks.iter().map(|lock| lock.address).collect())
            .unwrap_or_default();
        found.sort_unstable();
        found
    }

    #[test]
    fn an_array_is_one_kind_and_the_locks_of_a_wrapper_are_none() {
        let array = [(348, 1000), (300, 50), (396, 50), (444, 50), (5000, 50)];
        assert_eq!(like_first(&profile(&array)), [300, 348, 396, 444]);
        let wrapped = [(348, 1000), (300, 50), (420, 50), (600, 50), (5000, 50)];
        assert!(like_first(&profile(&wrapped)).is_empty());
        // Part of it are those that nobody has used much.
        let idle = [(348, 1000), (300, 50), (396, 50), (444, 50), (492, 1)];
        assert_eq!(like_first(&profile(&idle)), [300, 348, 396, 444, 492]);
        // They lie as in an array, but one is used.
        let unused = [(348, 1000), (300, 1), (396, 1), (444, 1)];
        assert!(like_first(&profile(&unused)).is_empty());
    }

    #[test]
    fn locks_that_are_waited_for_by_the_same_calls_are_of_one_kind() {
        let mut profile = profile(&[(100, 1000), (900, 500), (5000, 500)]);
        let stack = |lock, caller| Stack {
            lock,
            frames: vec![2, caller],
            cut: false,
            count: 1,
            waited: 1,
        };
        profile.stacks = vec![stack(100, 7), stack(900, 7), stack(5000, 8)];
        assert_eq!(like_first(&profile), [100, 900]);
    }
}
