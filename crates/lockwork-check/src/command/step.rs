// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A step of an interleaving.
use crate::{Line, Spot};

/// Steps of one thread in a row that look the same. Others may have looked, and
/// changed nothing, in between.
pub(crate) struct Step<'a> {
    pub number: usize,
    pub line: &'a Line,
    /// How often it was made.
    pub times: usize,
}

impl Step<'_> {
    /// What happened, and how often.
    pub fn text(&self) -> String {
        match self.times {
            1 => self.line.text.clone(),
            times => format!("{} (×{times})", self.line.text),
        }
    }
}

/// Whether this is the access that a mutant changes.
pub(crate) fn is_at(line: &Line, spot: &Spot) -> bool {
    line.file == spot.file
        && line.primitive == spot.primitive
        && (spot.lines.0..=spot.lines.1).contains(&line.line)
}
