// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks' run-time knobs: which exist, and which values they take.

use anyhow::Result;

use crate::error::{Exit, OWN_ERROR};

/// One knob, as the locks describe it.
#[derive(Clone, Debug)]
pub struct Knob {
    /// What users type.
    pub name: String,
    /// One line, with the unit.
    pub help: String,
    /// Names for the values 0, 1, 2 …; empty if the knob is a number.
    pub words: Vec<String>,
    /// The least value.
    pub min: u32,
    /// The greatest value.
    pub max: u32,
    /// The value when nobody sets it.
    pub default: u32,
}

impl Knob {
    /// The values it takes, in words: `0 to 100` or `fair, steal`.
    pub fn range(&self) -> String {
        if self.words.is_empty() {
            format!("{} to {}", self.min, self.max)
        } else {
            self.words.join(", ")
        }
    }

    /// The default, as users would write it.
    pub fn default_text(&self) -> String {
        let word = self.words.get(self.default as usize);
        word.cloned().unwrap_or_else(|| self.default.to_string())
    }

    fn takes(&self, value: &str) -> bool {
        if self.words.iter().any(|w| w == value) {
            return true;
        }
        let number = value.bytes().all(|b| b.is_ascii_digit());
        let number = number.then(|| value.parse::<u32>().ok()).flatten();
        number.is_some_and(|n| (self.min..=self.max).contains(&n))
    }
}

/// Every knob of the locks.
pub fn knobs() -> Vec<Knob> {
    Vec::new()
}

/// Is `value` one that the knob `name` takes? If not, says what would be.
pub fn check(name: &str, value: &str) -> Result<()> {
    let knobs = knobs();
    let Some(knob) = knobs.iter().find(|k| k.name == name) else {
        let list = list(&knobs);
        let message = format!("there is no knob '{name}'; the knobs are:\n{list}");
        return Err(Exit::with(OWN_ERROR, message));
    };
    if knob.takes(value) {
        return Ok(());
    }
    let message = format!(
        "knob {name} cannot be '{value}'; it takes {}",
        knob.range()
    );
    Err(Exit::with(OWN_ERROR, message))
}

/// One indented line a knob.
pub fn list(knobs: &[Knob]) -> String {
    let width = knobs.iter().map(|k| k.name.len()).max().unwrap_or(0);
    let line = |k: &Knob| {
        let (range, default) = (k.range(), k.default_text());
        format!("  {:width$}  {} ({range}; default {default})", k.name, k.help)
    };
    knobs.iter().map(line).collect::<Vec<_>>().join("\n")
}
