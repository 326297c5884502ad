// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the guest's kernel says. Some of it must never be said.

use std::collections::VecDeque;

use regex::Regex;

/// Lines that are kept to be shown after a failure.
const KEPT: usize = 40;

/// What a kernel says when something is wrong: warnings and bugs; lockdep's, RCU's and
/// the watchdogs' reports; KCSAN's and KASAN's; our torture's and locktorture's `!!!`.
const SPLATS: &str = r"(?x)
    WARNING:|\bBUG\b|\bOops\b|Kernel\ panic|general\ protection|Call\ Trace|
    INFO:\ (rcu|task|trying)|rcu:\ INFO|lockup|KCSAN:|KASAN:|UBSAN:|
    circular\ locking|inconsistent\ lock|possible\ .*deadlock|held\ lock\ freed|
    scheduling\ while\ atomic|sleeping\ function|refcount_t:|list_(add|del)\ corruption|
    !!!";

/// The lines that came last, and the first that tells of a fault.
pub(crate) struct Console {
    splats: Regex,
    last: VecDeque<String>,
    splat: Option<String>,
}

impl Console {
    pub(crate) fn new() -> Self {
        Self {
            splats: Regex::new(SPLATS).expect("a pattern that the tests compile"),
            last: VecDeque::new(),
            splat: None,
        }
    }

    pub(crate) fn take(&mut self, line: String) {
        if self.splat.is_none() && self.splats.is_match(&line) {
            self.splat = Some(line.clone());
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// The first line that tells of a fault.
    pub(crate) fn splat(&self) -> Option<&str> {
        self.splat.as_deref()
    }

    /// The lines that came last.
    pub(crate) fn last(&self) -> Vec<String> {
        self.last.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_seen_and_a_boot_is_none() {
        for line in [
            "[   12.3] WARNING: CPU: 3 PID: 71 at kernel/x.c:12 f+0x1/0x2",
            "[   12.3] BUG: KCSAN: data-race in a / b",
            "[   12.3] watchdog: BUG: soft lockup - CPU#1 stuck for 26s!",
            "[   12.3] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
            "[   12.3] WARNING: possible circular locking dependency detected",
            "[   12.3] INFO: task lw_writer/3:71 blocked for more than 120 seconds.",
            "[   12.3] lockwork: mutex-torture: End of test: FAILURE !!!",
        ] {
            let mut console = Console::new();
            console.take(line.to_owned());
            assert_eq!(console.splat(), Some(line));
        }
        let mut console = Console::new();
        for line in [
            "[    0.0] Linux version 6.1.0-56-amd64 (debian-kernel@lists.debian.org)",
            "[    0.1] rcu: Hierarchical RCU implementation.",
            "[    0.1] rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.",
            "[    0.1] rcu: RCU CPU stall warnings timeout set to 60 (rcu_cpu_stall_timeout).",
            "[    2.0] smpboot: CPU 7 is now offline",
            "[   12.3] lockwork: mutex-torture: Writes:  Total: 9  Max/Min: 3/1 ???  Fail: 0",
        ] {
            console.take(line.to_owned());
        }
        assert_eq!(console.splat(), None);
        (0..2 * KEPT).for_each(|i| console.take(i.to_string()));
        assert_eq!(console.last().len(), KEPT);
    }
}
