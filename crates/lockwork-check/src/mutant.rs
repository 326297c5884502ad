// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A mutant: one access of the locks that does less than its source says.
//!
//! Nothing is compiled anew. The check world asks, at each access, whether it
//! is the mutated one, so a mutant is the shipped code but for that access.
use crate::site::Site;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What an access does instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// No ordering at all; a fence is left out.
    Relaxed,
    /// Only what an acquire orders.
    Acquire,
    /// Only what a release orders.
    Release,
    /// Acquire and release, but no full barrier.
    AcqRel,
    /// Does not store; a compare-and-exchange says that it did, a look
    /// whether to give up finds no reason to, a knob is 1, the time is 0.
    Drop,
    /// A compare-and-exchange that stores without comparing.
    Force,
    /// A read-modify-write in two steps: others come in between.
    Split,
    /// A wait that does not wait.
    NoWait,
    /// Stores the lowest byte only; loads the lower half only.
    Narrow,
}

impl Change {
    /// In words, for the kill table.
    pub fn text(self) -> &'static str {
        match self {
            Change::Relaxed => "relaxed",
            Change::Acquire => "acquire",
            Change::Release => "release",
            Change::AcqRel => "acq_rel",
            Change::Drop => "does not store",
            Change::Force => "stores without comparing",
            Change::Split => "is not atomic",
            Change::NoWait => "does not wait",
            Change::Narrow => "stores its lowest byte only",
        }
    }
}

/// One access, as a mutant names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// The file's name, without directories.
    pub file: String,
    /// The lines of the call, from its name to its closing parenthesis.
    pub lines: (u32, u32),
    /// The primitive's name.
    pub primitive: String,
}

impl Spot {
    /// Whether `site` is this access.
    pub(crate) fn matches(&self, site: &Site) -> bool {
        (self.lines.0..=self.lines.1).contains(&site.line)
            && site.primitive() == self.primitive
            && site.file() == self.file
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}", self.file, self.lines.0, self.primitive)
    }
}

/// A mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    /// The access that is changed.
    pub spot: Spot,
    /// What it does instead.
    pub change: Change,
}
