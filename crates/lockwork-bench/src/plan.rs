// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is to be measured, as the JSON keeps it: enough to go on with it, or to
//! print it again.
use crate::sample::Cell;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The form of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A table for each cell, and what is not on the front.
    #[default]
    Cells,
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
    pub cells: Vec<Cell>,
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
    /// Rounds of each lock in each cell.
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
    /// When a lock counts as hanging in `cell`. A queue of spinning threads
    /// moves by one a time slice, so this grows with the threads.
    pub fn patience(&self, cell: &Cell) -> Duration {
        Duration::from_secs(self.patience) + Duration::from_millis(20 * u64::from(cell.threads))
    }
}
