// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is to be measured, as the JSON keeps it: enough to go on with it, or to
//! print it again.
use crate::sample::Case;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The form of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A table for each case, and what is not on the Pareto front.
    #[default]
    #[serde(alias = "cells")]
    Cases,
    /// Milliseconds for a number of loops: tasks by locks.
    SpinMicro,
    /// Nanoseconds of an uncontended pair.
    SingleThread,
    /// Average, variation and improvement on a baseline.
    Locktorture,
}

/// What is to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// How it is printed.
    pub form: Form,
    /// The combinations, in this order.
    #[serde(alias = "cells")]
    pub cases: Vec<Case>,
    /// The locks.
    pub locks: Vec<String>,
    /// Which of them the report's last section is about.
    pub under_test: Vec<String>,
    /// Locks that the form asks for and that are not in the catalogue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What the others are compared with, where the form does that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Rounds of each lock in each case.
    pub rounds: u32,
    /// Does each thread stay on one CPU?
    pub pin: bool,
    /// Seconds without any operation that are a hang.
    pub patience: u64,
    /// Seeds the order of locks and what threads choose at random.
    pub seed: u64,
    /// The knobs that were set, as KNOB=VALUE.
    pub knobs: Vec<String>,
}

impl Plan {
    /// How long the rounds of all locks last together, where that is fixed beforehand.
    /// Starting and stopping threads takes some time on top of it.
    pub fn seconds(&self) -> Option<f64> {
        let fixed = self.form == Form::Cases && self.cases.iter().all(|c| c.loops.is_none());
        let round: u64 = self.cases.iter().map(|case| case.time_ms).sum();
        let rounds = f64::from(self.rounds) * self.locks.len() as f64;
        fixed.then(|| round as f64 / 1e3 * rounds)
    }

    /// Does it measure the same? How patient it is may differ.
    pub fn is_like(&self, other: &Plan) -> bool {
        let patience = self.patience;
        let other = Plan {
            patience,
            ..other.clone()
        };
        *self == other
    }

    /// When a lock counts as hanging in `case`. A queue of spinning threads
    /// moves by one a time slice, so this grows with the threads.
    pub fn patience(&self, case: &Case) -> Duration {
        Duration::from_secs(self.patience) + Duration::from_millis(20 * u64::from(case.threads))
    }
}
