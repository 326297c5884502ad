// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the module said of each torture, as a table and as JSON.

use std::collections::BTreeMap;

use lockwork_report::settings::Setting;
use lockwork_report::table;
use lockwork_report::text::grouped;
use serde::Serialize;

use crate::plan::{Request, Sweep};

/// The version of the JSON; it changes when a field changes its sense.
const SCHEMA: u32 = 2;

/// What threads or handlers did.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Side {
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<u64>,
    /// Acquisitions.
    total: u64,
    /// Of the thread that had most, and of the one that had least.
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u64>,
    /// Variation between the threads, in thousandths of their mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    cv_permille: Option<u64>,
    /// Visits of handlers that interrupted a waiter.
    #[serde(skip_serializing_if = "Option::is_none")]
    nested: Option<u64>,
    /// Tries, timed and cancelled waits that did not get the lock.
    missed: u64,
    longest_ns: u64,
    /// Times that another was inside too.
    fail: u64,
}

/// How one torture went.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    name: String,
    request: String,
    knobs: Vec<Setting>,
    /// As the module says it: passed, failed; or what came in its place.
    state: String,
    writes: Side,
    reads: Option<Side>,
    hardirqs: Option<Side>,
    softirqs: Option<Side>,
    /// CPUs that went off, and changes that the kernel refused.
    off: u64,
    refused: u64,
    /// Counts that were lost because two were inside at once.
    lost: u64,
    /// How often the mode was switched.
    switches: u64,
    seconds: u32,
    #[serde(skip)]
    sweep: Option<Sweep>,
}

impl Outcome {
    pub(crate) fn new(request: &Request) -> Self {
        Self {
            name: request.name.clone(),
            request: request.line.clone(),
            knobs: request.knobs.clone(),
            state: "not ended".to_owned(),
            writes: Side::default(),
            reads: None,
            hardirqs: None,
            softirqs: None,
            off: 0,
            refused: 0,
            lost: 0,
            switches: 0,
            seconds: request.seconds,
            sweep: request.sweep.clone(),
        }
    }

    /// One line of the module's result: a word, then names with values.
    pub(crate) fn take(&mut self, line: &str) {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            "state" => self.state = rest.to_owned(),
            "writes" => self.writes = side(rest),
            "reads" => self.reads = Some(side(rest)),
            "hardirqs" => self.hardirqs = Some(side(rest)),
            "softirqs" => self.softirqs = Some(side(rest)),
            "hotplug" => {
                let fields = fields(rest);
                self.off = fields.get("off").copied().unwrap_or(0);
                self.refused = fields.get("refused").copied().unwrap_or(0);
            }
            "lost" => self.lost = rest.parse().unwrap_or(0),
            "switches" => self.switches = rest.parse().unwrap_or(0),
            "stock" => self.take_stock(rest),
            _ => {}
        }
    }

    /// A line that the kernel's own torture wrote to the kernel's log.
    fn take_stock(&mut self, line: &str) {
        if let Some(end) = line.split("End of test: ").nth(1) {
            self.state = match end.split(|c: char| !c.is_ascii_uppercase()).next() {
                // A CPU that the kernel would not take off is no fault of a lock.
                Some("SUCCESS" | "LOCK") => "passed".to_owned(),
                _ => "failed".to_owned(),
            };
            return;
        }
        let side = match line.split([':', ' ']).next() {
            Some("Writes") => &mut self.writes,
            Some("Reads") => self.reads.get_or_insert_with(Side::default),
            _ => return,
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            words.get(at + 1).copied()
        };
        let number = |word: Option<&str>| word.and_then(|word| word.parse().ok());
        side.total = number(after("Total:")).unwrap_or(0);
        let both = after("Max/Min:").and_then(|both| both.split_once('/'));
        side.max = both.and_then(|(max, _)| number(Some(max)));
        side.min = both.and_then(|(_, min)| number(Some(min)));
        side.fail = number(after("Fail:")).unwrap_or(1);
    }

    pub(crate) fn refuse(&mut self) {
        self.state = "refused".to_owned();
    }

    /// A lock that nobody got did not pass.
    fn passed(&self) -> bool {
        self.state == "passed" && !self.is_starved()
    }

    /// Writers or readers that were asked for never got it.
    fn is_starved(&self) -> bool {
        let asked = |option: &str| {
            let mut words = self.request.split(' ');
            !words.any(|word| word.strip_prefix(option) == Some("=0"))
        };
        let starves = |side: &Side| side.total == 0 && side.threads != Some(0);
        let readers = self.reads.as_ref().is_some_and(starves) && asked("nreaders_stress");
        readers || (starves(&self.writes) && asked("nwriters_stress"))
    }

    fn result(&self) -> &str {
        match self.state.as_str() {
            "passed" if self.is_starved() => "starved",
            state => state,
        }
    }

    fn row(&self) -> Vec<String> {
        let number = |n: u64| grouped(n as f64, 0);
        let of = |side: &Option<Side>| side.as_ref().map_or("-".into(), |s| number(s.total));
        let handlers = [&self.hardirqs, &self.softirqs].into_iter().flatten();
        let nested: Option<u64> = handlers.map(|side| side.nested).sum();
        let nested = nested.filter(|_| self.hardirqs.is_some());
        let all = [&self.reads, &self.hardirqs, &self.softirqs];
        let fails: u64 = all.into_iter().flatten().map(|side| side.fail).sum();
        let thread = |count: Option<u64>| number(count.unwrap_or(0));
        let cv = self.writes.cv_permille.map(|cv| cv as f64 / 10.0);
        vec![
            self.name.clone(),
            number(self.writes.total),
            format!("{}/{}", thread(self.writes.max), thread(self.writes.min)),
            cv.map_or("-".into(), |cv| format!("{cv:.0} %")),
            of(&self.reads),
            of(&self.hardirqs),
            of(&self.softirqs),
            nested.map_or("-".into(), number),
            number(self.off),
            number(self.switches),
            number(self.writes.fail + fails + self.lost),
            self.result().to_owned(),
        ]
    }
}

/// "total 12 max 3", as a map.
fn fields(text: &str) -> BTreeMap<&str, u64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pairs = words.chunks_exact(2);
    pairs
        .filter_map(|pair| Some((pair[0], pair[1].parse().ok()?)))
        .collect()
}

fn side(text: &str) -> Side {
    let fields = fields(text);
    let maybe = |name: &str| fields.get(name).copied();
    let get = |name: &str| maybe(name).unwrap_or(0);
    Side {
        threads: maybe("threads"),
        total: get("total"),
        max: maybe("max"),
        min: maybe("min"),
        cv_permille: maybe("cv_permille"),
        nested: maybe("nested"),
        missed: get("missed"),
        longest_ns: get("longest_ns"),
        fail: get("fail"),
    }
}

/// What a boot came to.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) schema: u32,
    /// Everything that was asked for was done, and nothing failed.
    pub(crate) passed: bool,
    /// Of the guest's kernel; empty if it did not boot.
    pub(crate) release: String,
    pub(crate) cpus: u32,
    pub(crate) nodes: u32,
    /// What the patches make of the guest's spinlocks; none: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spinlocks: Option<String>,
    /// "kvm", "tcg" or "nested"; "here": no guest.
    pub(crate) accel: &'static str,
    /// What the guest asked of its hypervisor, if that is nested: "hypercalls 5 halts 9".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    pub(crate) outcomes: Vec<Outcome>,
    /// What the locks counted in all of it.
    pub(crate) events: BTreeMap<String, u64>,
    /// What went wrong beside the locks' own results: a sentence.
    pub(crate) failure: Option<String>,
    /// Races that KCSAN saw in functions that are not the locks': between which, and how often.
    pub(crate) races_elsewhere: BTreeMap<String, u64>,
    /// What the guest's kernel said last, after a failure.
    pub(crate) console: Vec<String>,
    /// The signal that ended it.
    pub(crate) interrupted: Option<i32>,
}

impl Report {
    pub(crate) fn new(cpus: u32, nodes: u32, accel: &'static str) -> Self {
        Self {
            schema: SCHEMA,
            passed: false,
            release: String::new(),
            cpus,
            nodes,
            spinlocks: None,
            accel,
            host: None,
            outcomes: Vec::new(),
            events: BTreeMap::new(),
            failure: None,
            races_elsewhere: BTreeMap::new(),
            console: Vec::new(),
            interrupted: None,
        }
    }

    /// There is no guest.
    pub(crate) fn is_here(&self) -> bool {
        self.accel == "here"
    }

    /// Nothing more comes.
    pub(crate) fn conclude(&mut self) {
        let stopped = self.failure.is_some() || self.interrupted.is_some();
        self.passed = !stopped && self.outcomes.iter().all(Outcome::passed);
    }

    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        if !self.console.is_empty() {
            text += match self.is_here() {
                true => "What was said last:\n",
                false => "The guest's kernel said last:\n",
            };
            for line in &self.console {
                text += &format!("  {line}\n");
            }
            text.push('\n');
        }
        if !self.release.is_empty() {
            text += &format!(
                "Linux {}, {} CPUs, {} nodes",
                self.release, self.cpus, self.nodes
            );
            if let Some(spinlocks) = &self.spinlocks {
                text += &format!(", spinlocks: {spinlocks}");
            }
            text += "\n\n";
        }
        if !self.outcomes.is_empty() {
            let header = [
                "lock", "writes", "max/min", "CV", "reads", "hardirq", "softirq", "nested",
                "CPU off", "switched", "fail", "result",
            ];
            let rows = self.outcomes.iter().map(Outcome::row);
            text += &(table::render(header, rows) + "\n\n");
        }
        text += &self.sweeps();
        let counted: Vec<String> = self
            .events
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(name, count)| format!("{name} {}", grouped(*count as f64, 0)))
            .collect();
        if !counted.is_empty() {
            text += &format!("events: {}\n\n", counted.join(", "));
        }
        if let Some(counts) = &self.host {
            text += &format!("the guest's hypervisor: {counts}\n\n");
        }
        if !self.races_elsewhere.is_empty() {
            text += "KCSAN reported races between functions that are not the locks'. The kernel has such \
                     races without them (--off shows which); a lock that lets two in would add some:\n";
            for (names, count) in &self.races_elsewhere {
                text += &format!("  {names} {count}\n");
            }
            text.push('\n');
        }
        if !self.outcomes.is_empty() {
            text += self.meaning();
        }
        text
    }

    /// For each torture or load of a sweep: acquisitions a second by writers, without
    /// division and with it.
    fn sweeps(&self) -> String {
        let mut text = String::new();
        let swept = || {
            let all = self.outcomes.iter();
            all.filter_map(|outcome| Some((outcome.sweep.as_ref()?, outcome)))
        };
        let mut names: Vec<&str> = swept().map(|(sweep, _)| sweep.of.as_str()).collect();
        names.dedup();
        for name in names {
            let rate = |writers: u32, divides: bool| {
                let mut all = swept().filter(|(sweep, _)| sweep.of == name);
                let found = all.find(|(s, _)| (s.writers, s.divides) == (writers, divides));
                found.map(|(_, o)| o.writes.total as f64 / f64::from(o.seconds.max(1)))
            };
            let of_name = swept().filter(|(sweep, _)| sweep.of == name);
            let mut writers: Vec<u32> = of_name.map(|(sweep, _)| sweep.writers).collect();
            writers.dedup();
            let rows = writers.into_iter().map(|writers| {
                let (off, on) = (rate(writers, false), rate(writers, true));
                let change = match (off, on) {
                    (Some(off), Some(on)) if off > 0.0 => {
                        format!("{:+.1} %", (on / off - 1.0) * 100.0)
                    }
                    _ => "-".to_owned(),
                };
                let number = |rate: Option<f64>| rate.map_or("-".into(), |n| grouped(n, 0));
                vec![writers.to_string(), number(off), number(on), change]
            });
            let header = ["writers", "whole, 1/s", "divided, 1/s", "change"];
            text += &format!("{name}\n{}\n\n", table::render(header, rows));
        }
        text
    }

    fn meaning(&self) -> &'static str {
        match self.accel {
            "kvm" => {
                "KVM: CPUs of the guest share those of the host. Its figures compare locks on \
                 this machine at best.\n"
            }
            "here" => {
                "Measured on this machine, one run each: repeat it before you believe a \
                 difference.\n"
            }
            "nested" => {
                "KVM in a host that QEMU emulates: this shows whether the locks work, also where they \
                 ask the hypervisor to halt a CPU or to wake it. No time, rate or ratio in it means \
                 anything. QEMU's KVM fails at times, also with the kernel's own locks: run again \
                 what has failed, and with unfair_spinlock=off.\n"
            }
            _ => {
                "Emulated by QEMU: this shows whether the locks work in the kernel. No time, \
                 rate or ratio in it means anything.\n"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lines: &[&str]) -> Outcome {
        let request = Request {
            kind: crate::plan::Kind::Ours,
            name: "qrwlock".to_owned(),
            line: "lock=qrwlock".to_owned(),
            seconds: 1,
            knobs: Vec::new(),
            sweep: None,
        };
        let mut outcome = Outcome::new(&request);
        lines.iter().for_each(|line| outcome.take(line));
        outcome
    }

    #[test]
    fn a_result_is_read_and_shown() {
        let lines = [
            "state passed",
            "lock qrwlock",
            "writes threads 2 total 3000 max 2000 min 1000 cv_permille 333 missed 1 longest_ns 5 fail 0",
            "reads threads 2 total 7 max 4 min 3 cv_permille 5 missed 0 longest_ns 5 fail 2",
            "hotplug off 3 on 3 refused 0",
            "switches 10",
        ];
        let mut report = Report::new(8, 4, "tcg");
        report.outcomes.push(outcome(&lines));
        let table = report.table();
        for words in ["3,000", "2,000/1,000", "33 %", "passed", "means anything"] {
            assert!(table.contains(words), "{words}: {table}");
        }
        report.conclude();
        assert!(report.passed);
    }

    #[test]
    fn the_kernels_own_torture_is_read() {
        let lines = [
            "stock rwsem_lock-torture:--- Start of test: nwriters_stress=16 onoff_interval=1",
            "stock Writes:  Total: 5120  Max/Min: 400/250   Fail: 0 ",
            "stock Reads :  Total: 77  Max/Min: 9/1 ???  Fail: 0 ",
            "stock rwsem_lock-torture:--- End of test: SUCCESS: nwriters_stress=16",
            "hotplug off 4 refused 0",
        ];
        let good = outcome(&lines);
        assert!(good.passed());
        assert_eq!((good.writes.total, good.writes.min), (5120, Some(250)));
        assert_eq!(good.reads.as_ref().map(|reads| reads.total), Some(77));
        assert_eq!(good.off, 4);
        let failed = outcome(&["stock x-torture:--- End of test: FAILURE: nwriters"]);
        assert_eq!(failed.state, "failed");
        assert!(!outcome(&lines[3..]).passed());
    }

    #[test]
    fn a_side_that_never_got_the_lock_did_not_pass() {
        let none = "reads threads 2 total 0 max 0 min 0 missed 0 longest_ns 0 fail 0";
        let starved = outcome(&["state passed", "writes threads 2 total 3 fail 0", none]);
        assert!(!starved.passed());
        assert_eq!(starved.row().last().map(String::as_str), Some("starved"));
        let readers = "reads threads 2 total 7 fail 0";
        let no_writers = outcome(&["state passed", "writes threads 0 total 0 fail 0", readers]);
        assert!(no_writers.passed());
        let stock = [
            "stock Writes:  Total: 0  Max/Min: 0/0   Fail: 0 ",
            "stock Reads :  Total: 7  Max/Min: 9/1   Fail: 0 ",
            "stock x-torture:--- End of test: SUCCESS: nwriters_stress=0",
        ];
        let mut readers_only = outcome(&stock);
        assert!(!readers_only.passed());
        readers_only.request = "rwsem_lock 5 nwriters_stress=0 verbose=0".to_owned();
        assert!(readers_only.passed());
    }

    #[test]
    fn what_did_not_end_did_not_pass() {
        for lines in [&[][..], &["state failed"], &["state running"]] {
            let mut report = Report::new(8, 4, "tcg");
            report.outcomes.push(outcome(lines));
            report.conclude();
            assert!(!report.passed);
        }
    }
}
