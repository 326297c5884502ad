// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who waits for whom now, and the cycles in it: deadlocks.

use std::collections::BTreeMap;
use std::fmt::Write;

use lockwork_report::text::{counted, duration};

use crate::model::{Profile, Waiter};
use crate::names::Names;

/// The threads that wait in this process, then its deadlocks.
pub fn render(profile: &Profile) -> String {
    let names = Names::new(profile);
    let mut text = format!(
        "process {}: {} in a lock call or a wait\n",
        profile.pid,
        counted(profile.waiters.len(), "thread")
    );
    for waiter in &profile.waiters {
        let _ = writeln!(text, "  {}", line(profile, &names, waiter));
    }
    let cycles = cycles(&profile.waiters);
    for cycle in &cycles {
        let _ = writeln!(text, "deadlock of {}:", counted(cycle.len(), "thread"));
        for waiter in cycle {
            let _ = writeln!(text, "  {}", line(profile, &names, waiter));
        }
    }
    if cycles.is_empty() {
        text += "no deadlock\n";
    }
    text
}

/// The kernel's number of a thread, as text.
pub fn tid(profile: &Profile, number: u64) -> String {
    let known = profile.tid(number);
    known.map_or_else(|| format!("number {number}"), |tid| tid.to_string())
}

/// Who waits for what, where, and who held it.
pub fn line(profile: &Profile, names: &Names<'_>, waiter: &Waiter) -> String {
    let lock = profile
        .locks
        .iter()
        .find(|lock| lock.address == waiter.lock);
    let lock = lock.map_or_else(
        || format!("{:#x}", waiter.lock),
        |lock| format!("{} {}", lock.kind(), names.lock(lock)),
    );
    let holder = match waiter.holder {
        Some(holder) => format!(", which thread {} held then", tid(profile, holder)),
        None => String::new(),
    };
    format!(
        "thread {} waits in {} for {lock}{holder}; at least {}",
        tid(profile, waiter.thread),
        names.site(waiter.site),
        duration(profile.ns(waiter.since as f64))
    )
}

/// Each cycle of threads of which each waits for a lock that the next one holds.
pub fn cycles(waiters: &[Waiter]) -> Vec<Vec<&Waiter>> {
    let by_thread: BTreeMap<u64, &Waiter> = waiters.iter().map(|w| (w.thread, w)).collect();
    let mut found: Vec<Vec<&Waiter>> = Vec::new();
    for start in waiters {
        let mut path: Vec<&Waiter> = Vec::new();
        let mut at = Some(start);
        while let Some(waiter) = at {
            if path.iter().any(|seen| seen.thread == waiter.thread) {
                break;
            }
            path.push(waiter);
            at = waiter
                .holder
                .and_then(|holder| by_thread.get(&holder).copied());
        }
        let closes = at.is_some_and(|waiter| waiter.thread == start.thread);
        // Each cycle once: from its lowest thread.
        if closes && path.iter().all(|waiter| waiter.thread >= start.thread) {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiter(thread: u64, holder: Option<u64>) -> Waiter {
        Waiter {
            thread,
            holder,
            lock: 0x1000 + thread,
            site: 0x10,
            since: 1,
        }
    }

    #[test]
    fn a_cycle_is_found_once_and_a_chain_is_none() {
        let waiters = [
            waiter(1, Some(2)),
            waiter(2, Some(5)),
            waiter(5, Some(1)),
            waiter(7, Some(1)),
            waiter(8, None),
        ];
        let found = cycles(&waiters);
        assert_eq!(found.len(), 1);
        let threads: Vec<u64> = found[0].iter().map(|waiter| waiter.thread).collect();
        assert_eq!(threads, [1, 2, 5]);
        assert!(cycles(&waiters[3..]).is_empty());
    }

    #[test]
    fn a_thread_that_waits_for_itself_is_a_deadlock() {
        assert_eq!(cycles(&[waiter(3, Some(3))]).len(), 1);
    }
}
