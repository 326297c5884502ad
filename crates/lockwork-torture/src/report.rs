// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What was found, as a table and as data.
use crate::trial::Trial;
use lockwork_catalogue::{events, LockKind, Promises};
use lockwork_report::stats::jain;
use lockwork_report::text::{counted, whole};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What was found about a property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "text", rename_all = "snake_case")]
pub enum Verdict {
    /// The lock kept its promise; what was seen.
    Pass(String),
    /// It did not; what was seen.
    Fail(String),
    /// The lock makes no such promise.
    Absent(&'static str),
    /// The property was not tested; why.
    NotRun(&'static str),
}

/// One property of one lock.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Its name.
    pub property: &'static str,
    /// What it came to.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What the stress measured.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    /// Threads that took part.
    pub threads: usize,
    /// Acquisitions of all threads, shared ones too.
    pub acquisitions: u64,
    /// The shared ones.
    pub reads: u64,
    /// Tries that failed.
    pub try_failed: u64,
    /// Waits with a limit that timed out.
    pub timed_failed: u64,
    /// Attempts that were cancelled.
    pub attempt_failed: u64,
    /// Acquisitions of the thread that got fewest.
    pub least: u64,
    /// Acquisitions of the thread that got most.
    pub most: u64,
    /// Jain's fairness index of the acquisitions: 1 is even.
    pub jain: f64,
    /// The longest wait for the lock, in microseconds.
    pub longest_wait_us: u64,
    /// The most readers that were inside at once.
    pub most_readers: u32,
}

impl Numbers {
    pub(crate) fn of(trial: &Trial) -> Self {
        let seats = &trial.seats[1..=trial.plan.threads];
        let sum = |counter: fn(&crate::trial::Seat) -> &AtomicU64| -> u64 {
            seats.iter().map(|seat| counter(seat).load(Relaxed)).sum()
        };
        let got: Vec<u64> = seats
            .iter()
            .map(|seat| seat.writes.load(Relaxed) + seat.reads.load(Relaxed))
            .collect();
        let longest = seats.iter().map(|seat| seat.longest_ns.load(Relaxed)).max();
        Self {
            threads: seats.len(),
            acquisitions: got.iter().sum(),
            reads: sum(|seat| &seat.reads),
            try_failed: sum(|seat| &seat.try_failed),
            timed_failed: sum(|seat| &seat.timed_failed),
            attempt_failed: sum(|seat| &seat.attempt_failed),
            least: got.iter().copied().min().unwrap_or(0),
            most: got.iter().copied().max().unwrap_or(0),
            jain: jain(&got.iter().map(|&n| n as f64).collect::<Vec<_>>()),
            longest_wait_us: longest.unwrap_or(0) / 1000,
            most_readers: trial.objects[0].most_readers(),
        }
    }
}

/// All properties of one lock.
#[derive(Debug, Clone, Serialize)]
pub struct LockReport {
    /// The lock's name.
    pub lock: &'static str,
    /// Bytes of one lock.
    pub size: usize,
    /// What it promises, in words.
    pub promises: Vec<&'static str>,
    /// One row a property.
    pub properties: Vec<Row>,
    /// What the stress measured, if it ran.
    pub numbers: Option<Numbers>,
    /// Events that were counted meanwhile, by name; those that were not are not
    /// here.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub events: BTreeMap<String, u64>,
}

impl LockReport {
    pub(crate) fn new(kind: LockKind, properties: Vec<Row>) -> Self {
        let words = [
            (Promises::FIFO, "fifo"),
            (Promises::RW, "readers"),
            (Promises::CANCEL, "cancel"),
            (Promises::SLEEPS, "sleeps"),
        ];
        let promised = words
            .iter()
            .filter(|(promise, _)| kind.flags().contains(*promise));
        Self {
            lock: kind.name(),
            size: kind.size(),
            promises: promised.map(|&(_, word)| word).collect(),
            properties,
            numbers: None,
            events: BTreeMap::new(),
        }
    }

    fn row(&mut self, property: &str) -> Option<&mut Row> {
        self.properties
            .iter_mut()
            .find(|row| row.property == property)
    }

    /// A failure stays one.
    pub(crate) fn pass(&mut self, property: &str, seen: String) {
        let Some(row) = self.row(property) else {
            return;
        };
        match &mut row.verdict {
            Verdict::Fail(_) | Verdict::Absent(_) => {}
            Verdict::Pass(before) => *before = format!("{before}; {seen}"),
            Verdict::NotRun(_) => row.verdict = Verdict::Pass(seen),
        }
    }

    /// The first failure is kept.
    pub(crate) fn fail(&mut self, property: &str, wrong: String) {
        let Some(row) = self.row(property) else {
            return;
        };
        if !matches!(row.verdict, Verdict::Fail(_)) {
            row.verdict = Verdict::Fail(wrong);
        }
    }

    /// Some thread does not get on: nothing more can be asked of this lock.
    pub(crate) fn stalled(&self) -> bool {
        self.failure("progress").is_some()
    }

    /// What was seen where the lock lacks `property`.
    pub fn failure(&self, property: &str) -> Option<&str> {
        self.failures()
            .find(|(name, _)| *name == property)
            .map(|(_, text)| text)
    }

    /// Each property that the lock lacks, and what was seen.
    pub fn failures(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.properties.iter().filter_map(|row| match &row.verdict {
            Verdict::Fail(text) => Some((row.property, text.as_str())),
            _ => None,
        })
    }

    /// Nothing failed.
    pub fn passed(&self) -> bool {
        self.failures().next().is_none()
    }
}

impl fmt::Display for LockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.lock, counted(self.size, "byte"))?;
        for word in &self.promises {
            write!(f, ", {word}")?;
        }
        writeln!(f, ")")?;
        for row in &self.properties {
            let (verdict, text) = match &row.verdict {
                Verdict::Pass(text) => ("pass", text.as_str()),
                Verdict::Fail(text) => ("FAIL", text.as_str()),
                Verdict::Absent(text) => ("-", *text),
                Verdict::NotRun(text) => ("not run", *text),
            };
            writeln!(f, "  {:<10} {verdict:<8} {text}", row.property)?;
        }
        if let Some(numbers) = &self.numbers {
            write!(f, "{numbers}")?;
        }
        if !self.events.is_empty() {
            writeln!(f, "  events:")?;
        }
        for event in events() {
            if let Some(sum) = self.events.get(event.name) {
                writeln!(f, "    {:<20} {sum:>10}  {}", event.name, event.help)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  {}, {} ({} shared), {} to {} a thread, Jain {:.3}, longest wait {} us",
            counted(self.threads, "thread"),
            counted(self.acquisitions as usize, "acquisition"),
            whole(self.reads),
            whole(self.least),
            whole(self.most),
            self.jain,
            whole(self.longest_wait_us)
        )?;
        writeln!(
            f,
            "  failed: {} {}, {} timed, {}",
            whole(self.try_failed),
            if self.try_failed == 1 { "try" } else { "tries" },
            whole(self.timed_failed),
            counted(self.attempt_failed as usize, "attempt")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_kind_is_singular() {
        let numbers = |n: usize| Numbers {
            threads: n,
            acquisitions: n as u64,
            reads: 0,
            try_failed: n as u64,
            timed_failed: 0,
            attempt_failed: n as u64,
            least: 0,
            most: 0,
            jain: 1.0,
            longest_wait_us: 0,
            most_readers: 0,
        };
        let report = |n: usize| LockReport {
            lock: "x",
            size: n,
            promises: Vec::new(),
            properties: Vec::new(),
            numbers: Some(numbers(n)),
            events: BTreeMap::new(),
        };
        let one = report(1).to_string();
        assert!(
            one.starts_with("x (1 byte)\n  1 thread, 1 acquisition (0 shared), "),
            "{one}"
        );
        assert!(
            one.ends_with("failed: 1 try, 0 timed, 1 attempt\n"),
            "{one}"
        );
        let more = report(2000).to_string();
        assert!(
            more.starts_with("x (2,000 bytes)\n  2,000 threads, "),
            "{more}"
        );
        assert!(
            more.ends_with("failed: 2,000 tries, 0 timed, 2,000 attempts\n"),
            "{more}"
        );
    }
}
