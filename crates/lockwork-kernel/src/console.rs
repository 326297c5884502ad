// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the guest's kernel says. Some of it must never be said.

use std::collections::{BTreeMap, HashSet, VecDeque};

use regex::Regex;

use crate::sources::SOURCES;

/// Lines that are kept to be shown after a failure.
const KEPT: usize = 40;

/// What a kernel says when something is wrong: warnings and bugs; lockdep's, RCU's and
/// the watchdogs' reports; KASAN's; our torture's and locktorture's `!!!`. KCSAN's are
/// another matter.
const SPLATS: &str = r"(?x)
    WARNING:|\bBUG\b|\bOops\b|Kernel\ panic|general\ protection|Call\ Trace|
    INFO:\ (rcu|task|trying)|rcu:\ INFO|lockup|KASAN:|UBSAN:|
    circular\ locking|inconsistent\ lock|possible\ .*deadlock|held\ lock\ freed|
    scheduling\ while\ atomic|sleeping\ function|refcount_t:|list_(add|del)\ corruption|
    !!!";

/// KCSAN's report, with the functions in which it saw the race, or the one. A lock that lets two
/// in shows as a race of those who hold it, so one that does not name our functions is no proof
/// that they have no part in it.
const RACE: &str =
    r"KCSAN: (?:data-race|assert: race) in (\w+)(?:\+\S+)?(?: \[\w+\])?(?: / (\w+))?";

/// How the names of the kernel's functions begin that our locks are called by.
const UNDER_OURS: &[&str] = &[
    "mutex",
    "rwsem",
    "osq_",
    "down_read",
    "down_write",
    "up_read",
    "up_write",
];

/// The lines that came last, and the first that tells of a fault.
pub(crate) struct Console {
    splats: Regex,
    race: Regex,
    /// Our functions.
    ours: HashSet<String>,
    /// Races that KCSAN saw in other functions: between which, and how often.
    races_elsewhere: BTreeMap<String, u64>,
    last: VecDeque<String>,
    splat: Option<String>,
}

impl Console {
    pub(crate) fn new() -> Self {
        Self {
            splats: Regex::new(SPLATS).expect("a pattern that the tests compile"),
            race: Regex::new(RACE).expect("a pattern that the tests compile"),
            ours: ours(),
            races_elsewhere: BTreeMap::new(),
            last: VecDeque::new(),
            splat: None,
        }
    }

    pub(crate) fn take(&mut self, line: String) {
        let is_fault = match self.race.captures(&line) {
            Some(race) => {
                let names = race.iter().skip(1).flatten();
                let names: Vec<&str> = names.map(|name| name.as_str()).collect();
                names.iter().any(|name| self.is_ours(name)) || self.count_race(&names)
            }
            None => self.splats.is_match(&line),
        };
        if is_fault && self.splat.is_none() {
            self.splat = Some(line.clone());
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// A kernel has races that nobody minds: they are counted, and no fault.
    fn count_race(&mut self, names: &[&str]) -> bool {
        let count = self.races_elsewhere.entry(names.join(" / "));
        *count.or_default() += 1;
        false
    }

    fn is_ours(&self, function: &str) -> bool {
        let plain = function.trim_start_matches('_');
        self.ours.contains(function) || UNDER_OURS.iter().any(|begin| plain.starts_with(begin))
    }

    /// Races that KCSAN saw in functions that are not the locks'.
    pub(crate) fn races_elsewhere(&self) -> BTreeMap<String, u64> {
        self.races_elsewhere.clone()
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

/// The functions that our sources define: each begins a line.
fn ours() -> HashSet<String> {
    let definition = Regex::new(r"(?m)^[a-z][\w \t*]*?\b(\w+)\([^;]*$").expect("a pattern");
    let files = SOURCES
        .iter()
        .filter(|(path, _)| path.ends_with(".c") || path.ends_with(".h"));
    let files = files.filter(|(path, _)| !path.starts_with("kernel/loads/"));
    let texts = files.filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok());
    let names = texts.flat_map(|text| definition.captures_iter(text));
    names.map(|name| name[1].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_seen_and_a_boot_is_none() {
        for line in [
            "[   12.3] WARNING: CPU: 3 PID: 71 at kernel/x.c:12 f+0x1/0x2",
            "[   12.3] BUG: KCSAN: data-race in work_alone / work_alone",
            "[   12.3] BUG: KCSAN: data-race in tick_setup [x] / lk_numa_osq_lock",
            "[   12.3] BUG: KCSAN: data-race in __mutex_lock+0x1/0x2",
            "[   12.3] BUG: KCSAN: assert: race in head_take / lock_queued",
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
            "[    1.0] BUG: KCSAN: data-race in lapic_cal_handler / setup_boot_APIC_clock",
            "[    2.0] smpboot: CPU 7 is now offline",
            "[   12.3] lockwork: mutex-torture: Writes:  Total: 9  Max/Min: 3/1 ???  Fail: 0",
        ] {
            console.take(line.to_owned());
        }
        assert_eq!(console.splat(), None);
        let race = "lapic_cal_handler / setup_boot_APIC_clock".to_owned();
        assert_eq!(console.races_elsewhere(), BTreeMap::from([(race, 1)]));
        (0..2 * KEPT).for_each(|i| console.take(i.to_string()));
        assert_eq!(console.last().len(), KEPT);
    }
}
