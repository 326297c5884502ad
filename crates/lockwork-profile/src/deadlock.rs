// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who waits for whom now, and the cycles in it: deadlocks.

use std::fmt::Write;

use lockwork_report::text::{counted, duration};

use crate::cycles::holders;
use crate::model::{Profile, Waiter};
use crate::names::Names;
use crate::verdict::deadlocks;

/// The threads that wait in this process, then its deadlocks.
pub fn render(profile: &Profile) -> String {
    let names = Names::new(profile);
    let mut text = format!(
        "process {}: {} in a lock call or a wait\n",
        profile.pid,
        counted(profile.waiters.len(), "thread")
    );
    for warning in &profile.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    for waiter in &profile.waiters {
        let _ = writeln!(text, "  {}", line(profile, &names, waiter));
    }
    let deadlocks = deadlocks(profile);
    for cycle in &deadlocks {
        let _ = writeln!(text, "deadlock of {}:", counted(cycle.len(), "thread"));
        for waiter in cycle {
            let _ = writeln!(text, "  {}", line(profile, &names, waiter));
        }
    }
    text += match (profile.warnings.is_empty(), deadlocks.is_empty()) {
        (false, _) => "nobody knows whether there is a deadlock among them\n",
        (true, true) => "no deadlock among them: no circle of waits of 100 ms or more\n",
        (true, false) => "",
    };
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
    let holder = match holders(&profile.waiters, waiter).next() {
        Some(now) => format!(", which thread {} holds", tid(profile, now.thread)),
        None => match (lock.and_then(|lock| lock.left_by), waiter.holder) {
            (Some(gone), _) => format!(", which thread {gone} held when it ended"),
            (None, Some(then)) => format!(", which thread {} held then", tid(profile, then)),
            (None, None) => String::new(),
        },
    };
    let lock = lock.map_or_else(
        || format!("{:#x}", waiter.lock),
        |lock| format!("{} {}", lock.kind(), names.lock(lock)),
    );
    format!(
        "thread {} waits in {} for {lock}{holder}; at least {}",
        tid(profile, waiter.thread),
        names.site(waiter.site),
        duration(profile.ns(waiter.since as f64))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Lock;

    /// Two threads that wait for each other for so long.
    fn pair(since: u64, warnings: Vec<String>) -> Profile {
        let waiter = |thread, lock, held| Waiter {
            thread,
            holder: None,
            lock,
            site: 0x10,
            since,
            holds: vec![held],
        };
        Profile {
            ns_per_tick: 1.0,
            waiters: vec![waiter(1, 100, 200), waiter(2, 200, 100)],
            warnings,
            ..Profile::default()
        }
    }

    #[test]
    fn a_thread_that_ended_is_named_as_the_holder() {
        let mut profile = pair(100_000_000, Vec::new());
        profile.waiters.pop();
        profile.locks = vec![Lock {
            address: 100,
            left_by: Some(77),
            ..Lock::default()
        }];
        let told = render(&profile);
        assert!(
            told.contains("which thread 77 held when it ended"),
            "{told}"
        );
    }

    #[test]
    fn a_deadlock_is_one_of_long_waits_in_a_whole_file() {
        let long = render(&pair(100_000_000, Vec::new()));
        assert!(long.contains("\ndeadlock of 2 threads:"), "{long}");
        let short = render(&pair(99_000_000, Vec::new()));
        assert!(short.contains("no deadlock among them"), "{short}");
        let damaged = render(&pair(100_000_000, vec!["it is cut short".to_owned()]));
        assert!(damaged.contains("warning: it is cut short"), "{damaged}");
        assert!(!damaged.contains("deadlock of"), "{damaged}");
    }
}
