// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a comparison leaves behind, as written by `--json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::metric::Better;
use crate::policy::BASELINE;
use lockwork_profile::Locking;
use lockwork_report::machine::Machine;

/// The version of the JSON; changes when a field changes its meaning.
pub const SCHEMA: u32 = 1;

/// Everything about one comparison.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The version of this format.
    pub schema: u32,
    /// The version of lockwork.
    pub lockwork: &'static str,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// Where it ran.
    pub machine: Machine,
    /// What ran: the program and its arguments.
    pub command: Vec<String>,
    /// Is that the embedded workload?
    pub embedded: bool,
    /// How it was measured.
    pub plan: Plan,
    /// The locks.
    pub arms: Vec<ArmReport>,
    /// Every run, in the order in which they ran.
    pub samples: Vec<Sample>,
    /// One line a lock.
    pub summary: Vec<Summary>,
    /// What can be concluded, in a sentence or two.
    pub verdict: String,
    /// What ran, where that is not the user's program; else how much it contended.
    pub note: Option<String>,
    /// What a warm-up run under glibc did with its locks; null: none was recorded.
    pub locking: Option<Locking>,
    /// What to keep in mind.
    pub warnings: Vec<String>,
    /// How the comparison ended.
    pub ended: Ended,
}

impl Report {
    /// Does any run under glibc count?
    pub fn has_baseline(&self) -> bool {
        let mut arms = self.summary.iter();
        arms.any(|lock| lock.arm == BASELINE && lock.samples > 0)
    }

    /// Why it has no numbers: it ended before a run that counts.
    pub fn ended_early(&self) -> Option<String> {
        if self.samples.iter().any(|sample| sample.counted) {
            return None;
        }
        match &self.ended {
            Ended::Completed => None,
            Ended::Failed { why, .. } => Some(why.clone()),
            Ended::Interrupted { signal } => {
                Some(format!("stopped by {signal} before a run that counts"))
            }
        }
    }

    /// What is so bad about a lock of this report that its figures are no comparison.
    pub fn fault(&self, lock: &Summary) -> Option<Fault> {
        let base = self.summary.iter().find(|s| s.arm == BASELINE)?;
        lock.fault(base, self.plan.better)
    }
}

/// How a comparison was set up.
#[derive(Debug, Serialize)]
pub struct Plan {
    /// `wall`, or the regular expression.
    pub metric: String,
    /// Which way is better.
    pub better: Better,
    /// Rounds that were asked for.
    pub rounds: u32,
    /// Rounds before them that do not count.
    pub warmup: u32,
    /// Seeds the order and the resampling.
    pub seed: u64,
    /// When runs are stopped, in times of glibc's slowest run.
    pub timeout_factor: f64,
    /// When any run is stopped, in seconds.
    pub timeout: Option<f64>,
    /// The confidence of `Summary::interval`.
    pub confidence: f64,
    /// The confidence of `Summary::verdict_interval`: adjusted for the number
    /// of comparisons with glibc, the control's among them.
    pub verdict_confidence: f64,
    /// Resamples an interval.
    pub resamples: usize,
}

/// One lock.
#[derive(Debug, Serialize)]
pub struct ArmReport {
    /// Its name in `samples` and `summary`.
    pub arm: String,
    /// The policy.
    pub policy: &'static str,
    /// The knobs that were set.
    pub settings: BTreeMap<String, String>,
    /// Was a run stopped because it took too long?
    pub stopped: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// With exit code 0 and, if one was wanted, a number.
    Ok,
    /// With another exit code, by a signal, or without the number.
    Failed,
    /// It took too long and was stopped.
    Stopped,
    /// The user stopped it.
    Interrupted,
    /// Lockwork itself was stopped meanwhile, as by Ctrl-Z; it was made again.
    Paused,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// Which lock.
    pub arm: String,
    /// Which round, from 1; 0 and below are warm-up rounds.
    pub round: i64,
    /// Its place in the round, from 1.
    pub order: usize,
    /// How it ended.
    pub outcome: Outcome,
    /// Does it count in the summary?
    pub counted: bool,
    /// Wall time in seconds.
    pub wall: f64,
    /// CPU time in user space in seconds, of the program and the children that
    /// it waited for; so are the next four.
    pub user: f64,
    /// CPU time in the kernel in seconds.
    pub sys: f64,
    /// Context switches because a thread waited.
    pub voluntary: i64,
    /// Context switches because a thread was preempted.
    pub involuntary: i64,
    /// The largest resident set in KiB; never less than lockwork's own.
    pub max_rss_kib: i64,
    /// Processes that went on in the background when it had ended, and were ended.
    pub behind: usize,
    /// The number found by a REGEX metric.
    pub metric: Option<f64>,
    /// The share of acquisitions that found their lock held, 0.01 for 1 %; only of the
    /// embedded workload, which counts them.
    pub contended: Option<f64>,
    /// The exit code, unless a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
}

impl Sample {
    /// What the run is judged by.
    pub fn value(&self) -> f64 {
        self.metric.unwrap_or(self.wall)
    }
}

/// What the counted samples of one lock come to.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Which lock.
    pub arm: String,
    /// How many samples count.
    pub samples: usize,
    /// Their mean.
    pub average: Option<f64>,
    /// The lowest of them.
    pub min: Option<f64>,
    /// The one in the middle.
    pub median: Option<f64>,
    /// The highest of them.
    pub max: Option<f64>,
    /// Their coefficient of variation, 0.01 for 1 %.
    pub variation: Option<f64>,
    /// How much better than glibc, 0.01 for 1 %; over rounds that have both.
    pub improve: Option<f64>,
    /// The interval of `improve`.
    pub interval: Option<(f64, f64)>,
    /// The wider one that the verdict uses.
    pub verdict_interval: Option<(f64, f64)>,
    /// How much better than the control, which only forwards calls to glibc: an interval of the
    /// same confidence.
    pub control_interval: Option<(f64, f64)>,
    /// Is it shown to differ from glibc, and not shown to differ from the control in the same
    /// direction? Then the difference need not be the lock's doing.
    pub like_control: bool,
    /// Mean CPU seconds a run.
    pub cpu: Option<f64>,
    /// Mean context switches a run, voluntary ones.
    pub voluntary: Option<f64>,
    /// Mean context switches a run, involuntary ones.
    pub involuntary: Option<f64>,
    /// Was the lock given up because a run took too long?
    pub stopped: bool,
    /// After so many seconds.
    pub limit: Option<f64>,
    /// Runs that a signal ended; they do not count.
    pub crashed: usize,
    /// Runs that failed otherwise, those without a number included.
    pub failed: usize,
    /// Counted runs whose number was 0 or less.
    pub zeros: usize,
}

/// What a program does under a lock, and not, or not as often, under glibc's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A signal ended so many runs.
    Crashed(usize),
    /// So many runs failed otherwise: by their exit code, or without a number.
    Failed(usize),
    /// So many runs gave 0 where more is better.
    Zero(usize),
}

impl Summary {
    /// What is so bad about the lock that its figures are no comparison.
    pub fn fault(&self, baseline: &Summary, better: Better) -> Option<Fault> {
        if self.crashed > baseline.crashed && baseline.samples > 0 {
            Some(Fault::Crashed(self.crashed))
        } else if self.failed > baseline.failed {
            Some(Fault::Failed(self.failed))
        } else if self.zeros > 0 && baseline.zeros == 0 && better == Better::Higher {
            Some(Fault::Zero(self.zeros))
        } else {
            None
        }
    }

    /// The ratio to glibc; more than 1 is better.
    pub fn ratio(&self) -> Option<f64> {
        self.improve.map(|improve| 1.0 + improve)
    }

    /// Its interval.
    pub fn ratio_interval(&self) -> Option<(f64, f64)> {
        self.interval.map(|(low, high)| (1.0 + low, 1.0 + high))
    }
}

/// What of a comparison can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// The command before the first run.
    Setup,
    /// The command before a run.
    Prepare,
    /// A run of the program.
    Run,
    /// The command after the last run.
    Cleanup,
}

/// How a comparison ended.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "how", rename_all = "lowercase")]
pub enum Ended {
    /// Every round was run.
    Completed,
    /// Something failed.
    Failed {
        /// What.
        what: Step,
        /// How, and under which lock.
        why: String,
    },
    /// A signal came.
    Interrupted {
        /// Its name.
        signal: String,
    },
}

impl Ended {
    /// Of an interrupted session: 128 and the signal's number, as shells have it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Ended::Interrupted { signal } if signal == "SIGTERM" => 143,
            Ended::Interrupted { signal } if signal == "SIGHUP" => 129,
            Ended::Interrupted { signal } if signal == "SIGQUIT" => 131,
            _ => 130,
        }
    }
}
