// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The circles among the threads that wait: each waits for a lock that the next one holds.

use std::collections::{BTreeMap, VecDeque};

use crate::model::Waiter;

/// Those of the waiting threads that hold what `waiter` waits for.
pub fn holders<'a>(waiters: &'a [Waiter], waiter: &'a Waiter) -> impl Iterator<Item = &'a Waiter> {
    waiters
        .iter()
        .filter(|other| other.holds.contains(&waiter.lock))
}

/// Each circle of threads of which each waits for a lock that the next one holds. What a thread
/// holds cannot change while it waits. So none of them can go on.
pub fn cycles(waiters: &[Waiter]) -> Vec<Vec<&Waiter>> {
    let mut found: Vec<Vec<&Waiter>> = Vec::new();
    for start in waiters {
        let circle = circle(waiters, start);
        // Each once: from its lowest thread.
        let first = circle.iter().map(|waiter| waiter.thread).min();
        if first == Some(start.thread) {
            found.push(circle);
        }
    }
    found
}

/// The shortest circle from `start` back to it; empty: there is none.
fn circle<'a>(waiters: &'a [Waiter], start: &'a Waiter) -> Vec<&'a Waiter> {
    let mut before: BTreeMap<u64, &Waiter> = BTreeMap::new();
    let mut ahead = VecDeque::from([start]);
    while let Some(waiter) = ahead.pop_front() {
        for holder in holders(waiters, waiter) {
            if before.contains_key(&holder.thread) {
                continue;
            }
            before.insert(holder.thread, waiter);
            if holder.thread == start.thread {
                return path_back(&before, start);
            }
            ahead.push_back(holder);
        }
    }
    Vec::new()
}

fn path_back<'a>(before: &BTreeMap<u64, &'a Waiter>, start: &'a Waiter) -> Vec<&'a Waiter> {
    let mut path = vec![before[&start.thread]];
    while path[path.len() - 1].thread != start.thread {
        path.push(before[&path[path.len() - 1].thread]);
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It waits for the lock of that number, and holds these.
    fn waiter(thread: u64, lock: u64, holds: &[u64]) -> Waiter {
        Waiter {
            thread,
            holder: None,
            lock,
            site: 0x10,
            since: 1,
            holds: holds.to_vec(),
        }
    }

    #[test]
    fn a_cycle_is_found_once_and_a_chain_is_none() {
        let waiters = [
            waiter(1, 200, &[100, 150]),
            waiter(2, 500, &[200]),
            waiter(5, 100, &[500]),
            waiter(7, 150, &[]),
            waiter(8, 900, &[]),
        ];
        let found = cycles(&waiters);
        assert_eq!(found.len(), 1);
        let threads: Vec<u64> = found[0].iter().map(|waiter| waiter.thread).collect();
        assert_eq!(threads, [1, 2, 5]);
        assert!(cycles(&waiters[1..]).is_empty());
    }

    #[test]
    fn any_reader_may_close_a_circle() {
        // Two read lock 100; the second waits for what the writer holds.
        let waiters = [
            waiter(1, 700, &[100]),
            waiter(2, 300, &[100]),
            waiter(3, 100, &[300]),
        ];
        let threads: Vec<u64> = cycles(&waiters)[0].iter().map(|w| w.thread).collect();
        assert_eq!(threads, [2, 3]);
    }

    #[test]
    fn who_held_it_when_the_wait_began_makes_no_circle() {
        let mut waiters = [waiter(1, 200, &[100]), waiter(2, 100, &[])];
        waiters[0].holder = Some(2);
        waiters[1].holder = Some(1);
        assert!(cycles(&waiters).is_empty());
    }

    #[test]
    fn a_thread_that_waits_for_itself_is_a_deadlock() {
        assert_eq!(cycles(&[waiter(3, 100, &[100])]).len(), 1);
    }
}
