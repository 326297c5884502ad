// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a suite leaves behind, as written by `--json`.

use lockwork_report::machine::Machine;
use lockwork_report::stats;
use serde::Serialize;

use super::super::report::{Ended, Report, Summary};
use crate::policy::BASELINE;

/// The version of the JSON; changes when a field changes its meaning.
pub const SCHEMA: u32 = 1;

/// Fewer voluntary context switches for each CPU second are hardly any. A thread that
/// waits for one of glibc's mutexes sleeps, which takes tens of microseconds: 100 of them
/// are less than 1 % of the time.
const HARDLY: f64 = 100.0;

/// Everything about one run of a suite.
#[derive(Debug, Serialize)]
pub struct SuiteReport {
    /// The version of this format.
    pub schema: u32,
    /// The version of lockwork.
    pub lockwork: &'static str,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// The suite's file.
    pub suite: String,
    /// Where it ran.
    pub machine: Machine,
    /// How many comparisons with glibc the verdicts are adjusted for.
    pub comparisons: usize,
    /// How many rows were to be measured, without those of skipped programs.
    pub planned: usize,
    /// One line a lock.
    pub summary: Vec<LockScore>,
    /// Programs with their numbers of threads, in the order in which they ran.
    pub rows: Vec<Row>,
    /// Programs that are not here.
    pub skipped: Vec<Skipped>,
    /// How the suite ended.
    pub ended: Ended,
}

impl SuiteReport {
    /// The rounds that each row was to have, if these are too few to claim anything.
    pub fn too_few(&self) -> Option<usize> {
        let report = self.rows.iter().find_map(|row| row.report.as_ref())?;
        let rounds = report.plan.rounds as usize;
        (rounds < stats::MIN_ROUNDS).then_some(rounds)
    }

    /// How many rows failed.
    pub fn failed(&self) -> usize {
        self.rows.iter().filter(|row| row.failed.is_some()).count()
    }
}

/// A program with a number of threads.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The program's name in the suite.
    pub program: String,
    /// Its number of threads.
    pub threads: u32,
    /// Why it failed, if it did.
    pub failed: Option<String>,
    /// What `lockwork compare --json` would have written; nothing if the setup failed.
    pub report: Option<Report>,
}

impl Row {
    /// Voluntary context switches for each CPU second under glibc.
    pub fn switches(&self) -> Option<f64> {
        let base = self.of(BASELINE)?;
        let cpu = base.cpu.filter(|cpu| *cpu > 0.0)?;
        Some(base.voluntary? / cpu)
    }

    /// Did its threads hardly ever sleep, so that its locks cannot have mattered much?
    pub fn hardly_contended(&self) -> bool {
        self.switches().is_some_and(|n| n < HARDLY)
    }

    /// The line of a lock.
    pub fn of(&self, arm: &str) -> Option<&Summary> {
        let all = self.report.iter().flat_map(|report| &report.summary);
        all.into_iter().find(|summary| summary.arm == arm)
    }

    /// Its name in lists.
    pub fn name(&self) -> String {
        format!("{} ({})", self.program, self.threads)
    }
}

/// A program that was not measured.
#[derive(Debug, Serialize)]
pub struct Skipped {
    /// Its name in the suite.
    pub program: String,
    /// How many rows it would have had.
    pub rows: usize,
    /// Why.
    pub why: String,
    /// The Debian package that has it.
    pub package: Option<String>,
}

/// A lock in all rows.
#[derive(Debug, Serialize)]
pub struct LockScore {
    /// Which lock.
    pub arm: String,
    /// How many rows were measured with it.
    pub measured: usize,
    /// How many of them have a ratio.
    pub rows: usize,
    /// The geometric mean of the ratios to glibc; more than 1 is better.
    pub mean: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// The lowest ratio.
    pub worst: Option<Worst>,
    /// Rows in which it is shown to do better than glibc.
    pub better: usize,
    /// Rows in which it is shown to do worse.
    pub worse: usize,
    /// Rows among these in which the difference is not shown from the control as well.
    pub like_control: usize,
    /// Rows in which it was stopped because a run took too long.
    pub stopped: usize,
    /// Rows in which a signal ended runs of it, and none of glibc's.
    pub crashed: usize,
    /// Those of them that have no ratio, because no run came to its end.
    pub without: usize,
    /// Rows in which more of its runs failed than of glibc's, or gave 0 where none of glibc's did.
    pub faulty: usize,
}

/// The row with the lowest ratio.
#[derive(Debug, Serialize)]
pub struct Worst {
    /// The ratio to glibc.
    pub ratio: f64,
    /// The program.
    pub program: String,
    /// Its number of threads.
    pub threads: u32,
}
