// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the module said of each torture, as a table and as JSON.

use std::collections::BTreeMap;

use lockwork_report::table;
use lockwork_report::text::grouped;
use serde::Serialize;

use crate::plan::Request;

/// The version of the JSON; it changes when a field changes its sense.
const SCHEMA: u32 = 1;

/// What threads or handlers did.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Side {
    /// Acquisitions.
    pub(crate) total: u64,
    /// Of the thread that had most, and of the one that had least.
    pub(crate) max: u64,
    pub(crate) min: u64,
    /// Variation between the threads, in thousandths of their mean.
    pub(crate) cv_permille: u64,
    /// Tries, timed and cancelled waits that did not get the lock.
    pub(crate) missed: u64,
    pub(crate) longest_ns: u64,
    /// Times that another was inside too.
    pub(crate) fail: u64,
}

/// How one torture went.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    name: String,
    request: String,
    /// As the module says it: passed, failed; or what came in its place.
    state: String,
    writes: Side,
    reads: Option<Side>,
    hardirqs: Option<Side>,
    softirqs: Option<Side>,
    /// CPUs that went off.
    off: u64,
    /// How often the mode was switched.
    switches: u64,
}

impl Outcome {
    pub(crate) fn new(request: &Request) -> Self {
        Self {
            name: request.name.clone(),
            request: request.line.clone(),
            state: "not ended".to_owned(),
            writes: Side::default(),
            reads: None,
            hardirqs: None,
            softirqs: None,
            off: 0,
            switches: 0,
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
            "hotplug" => self.off = fields(rest).remove("off").unwrap_or(0),
            "switches" => self.switches = rest.parse().unwrap_or(0),
            _ => {}
        }
    }

    pub(crate) fn refuse(&mut self) {
        self.state = "refused".to_owned();
    }

    fn passed(&self) -> bool {
        self.state == "passed"
    }

    fn row(&self) -> Vec<String> {
        let number = |n: u64| grouped(n as f64, 0);
        let of = |side: &Option<Side>| side.as_ref().map_or("-".into(), |s| number(s.total));
        let all = [&self.reads, &self.hardirqs, &self.softirqs];
        let fails = all.into_iter().flatten().map(|side| side.fail);
        vec![
            self.name.clone(),
            number(self.writes.total),
            format!("{}/{}", number(self.writes.max), number(self.writes.min)),
            format!("{:.0} %", self.writes.cv_permille as f64 / 10.0),
            of(&self.reads),
            of(&self.hardirqs),
            of(&self.softirqs),
            number(self.off),
            number(self.switches),
            number(self.writes.fail + fails.sum::<u64>()),
            self.state.clone(),
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
    let get = |name: &str| fields.get(name).copied().unwrap_or(0);
    Side {
        total: get("total"),
        max: get("max"),
        min: get("min"),
        cv_permille: get("cv_permille"),
        missed: get("missed"),
        longest_ns: get("longest_ns"),
        fail: get("fail"),
    }
}

/// What a boot came to.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) schema: u32,
    /// Of the guest's kernel; empty if it did not boot.
    pub(crate) release: String,
    pub(crate) cpus: u32,
    pub(crate) nodes: u32,
    /// "kvm" or "tcg".
    pub(crate) accel: &'static str,
    pub(crate) outcomes: Vec<Outcome>,
    /// What the locks counted in all of it.
    pub(crate) events: BTreeMap<String, u64>,
    /// What went wrong beside the locks' own results: a sentence.
    pub(crate) failure: Option<String>,
    /// What the guest's kernel said last, after a failure.
    pub(crate) console: Vec<String>,
    /// The signal that ended it.
    pub(crate) interrupted: Option<i32>,
}

impl Report {
    pub(crate) fn new(cpus: u32, nodes: u32, accel: &'static str) -> Self {
        Self {
            schema: SCHEMA,
            release: String::new(),
            cpus,
            nodes,
            accel,
            outcomes: Vec::new(),
            events: BTreeMap::new(),
            failure: None,
            console: Vec::new(),
            interrupted: None,
        }
    }

    pub(crate) fn passed(&self) -> bool {
        self.failure.is_none() && self.outcomes.iter().all(Outcome::passed)
    }

    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        if !self.console.is_empty() {
            text += "The guest's kernel said last:\n";
            for line in &self.console {
                text += &format!("  {line}\n");
            }
            text.push('\n');
        }
        if !self.release.is_empty() {
            text += &format!(
                "Linux {}, {} CPUs, {} nodes\n\n",
                self.release, self.cpus, self.nodes
            );
        }
        if !self.outcomes.is_empty() {
            let header = [
                "lock", "writes", "max/min", "CV", "reads", "hardirq", "softirq", "CPU off",
                "switched", "fail", "result",
            ];
            let rows = self.outcomes.iter().map(Outcome::row);
            text += &(table::render(header, rows) + "\n\n");
        }
        let counted: Vec<String> = self
            .events
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(name, count)| format!("{name} {}", grouped(*count as f64, 0)))
            .collect();
        if !counted.is_empty() {
            text += &format!("events: {}\n\n", counted.join(", "));
        }
        text + self.meaning()
    }

    fn meaning(&self) -> &'static str {
        match self.accel {
            "kvm" => {
                "KVM: CPUs of the guest share those of the host. Its figures compare locks on \
                 this machine at best.\n"
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
            name: "qrwlock".to_owned(),
            line: "lock=qrwlock".to_owned(),
            seconds: 1,
            knobs: Vec::new(),
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
        assert!(report.passed());
    }

    #[test]
    fn what_did_not_end_did_not_pass() {
        for lines in [&[][..], &["state failed"], &["state running"]] {
            let mut report = Report::new(8, 4, "tcg");
            report.outcomes.push(outcome(lines));
            assert!(!report.passed());
        }
    }
}
