// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks' run-time knobs: which exist, and which values they take. The
//! locks' own C sources say both.

use anyhow::Result;
use lockwork_catalogue::{Knob, KnobError};
use lockwork_report::usage;

/// Is `value` one that the knob `name` takes? If not, says what would be.
pub fn validate(name: &str, value: &str) -> Result<()> {
    // Sets it here, where no lock runs; what counts is that it can be set.
    lockwork_catalogue::set_knob(name, value).map_err(|error| {
        let message = match error {
            KnobError::Unknown { .. } => {
                format!(
                    "there is no knob named '{name}'; the knobs are:\n{}\nand those for \
                     measurements only, which `lockwork locks --expert` lists",
                    list(false)
                )
            }
            KnobError::Range { .. } => error.to_string(),
        };
        usage::error(message)
    })
}

/// One indented line a knob; with `expert`, also of those that few need.
pub fn list(expert: bool) -> String {
    let mut knobs = lockwork_catalogue::knobs();
    knobs.retain(|knob| expert || !knob.is_for_experts());
    let width = knobs.iter().map(|k| k.name().len()).max().unwrap_or(0);
    let line = |k: &Knob| {
        let word = k.words().get(k.default() as usize).map(|w| w.to_string());
        let default = word.unwrap_or_else(|| k.default().to_string());
        let (name, help, range) = (k.name(), k.help(), k.range());
        format!("  {name:width$}  {help} ({range}; default {default})")
    };
    knobs.iter().map(line).collect::<Vec<_>>().join("\n")
}
