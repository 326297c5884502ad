// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A published table as data: what to simulate for each cell, and what counts
//! as good enough.

use super::cell::{Beside, Cell, Trial};
use super::target::Target;

/// A published table.
pub(crate) struct Table {
    /// What users type.
    pub name: &'static str,
    /// One line: what was measured.
    pub title: &'static str,
    /// Who measured.
    pub source: String,
    /// How many published figures its files have.
    pub figures: usize,
    /// The machine's name.
    pub machine: String,
    /// What a reader must know: what is fitted, what is assumed.
    pub notes: Vec<String>,
    pub cells: Vec<Cell>,
    /// Simulated only.
    pub beside: Vec<Beside>,
    pub trials: Vec<Trial>,
    pub targets: Vec<Target>,
    /// Published values within this share of each other count as equal.
    pub tie: f64,
}

impl Table {
    /// An empty one.
    pub fn new(name: &'static str, title: &'static str, source: String, tie: f64) -> Table {
        Table {
            name,
            title,
            source,
            figures: 0,
            machine: String::new(),
            notes: Vec::new(),
            cells: Vec::new(),
            beside: Vec::new(),
            trials: Vec::new(),
            targets: Vec::new(),
            tie,
        }
    }

    /// The trial's index; equal ones are simulated once.
    pub fn trial(&mut self, trial: Trial) -> usize {
        let known = self.trials.iter().position(|known| *known == trial);
        known.unwrap_or_else(|| {
            self.trials.push(trial);
            self.trials.len() - 1
        })
    }
}
