// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs of the model checker.

use anyhow::{Context, Result};
use serde::Deserialize;

/// One run, as `lockwork check --json` has it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(crate) struct Checked {
    pub(crate) lock: String,
    pub(crate) client: String,
    pub(crate) bound: String,
    pub(crate) executions: u64,
    pub(crate) verdict: String,
}

impl Checked {
    /// Those of the lines that are runs.
    pub(crate) fn read(json: &str) -> Result<Vec<Checked>> {
        let lines = json.lines().filter(|line| line.contains("\"executions\""));
        let read = |line| serde_json::from_str(line).context("lockwork check printed no run");
        lines.map(read).collect()
    }

    /// Its promises hold.
    pub(crate) fn holds(&self) -> bool {
        self.verdict == "pass"
    }

    /// "`stop` (3x2@2, 3,434 executions, pass)".
    pub(crate) fn text(&self) -> String {
        let executions = lockwork_report::text::whole(self.executions);
        format!(
            "`{}` of {} ({}, {executions} executions, {})",
            self.client,
            lockwork_report::page::escaped(&self.lock),
            self.bound,
            self.verdict
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_and_other_lines_are_not() {
        let json = "{\"lock\":\"a\",\"client\":\"b\",\"method\":\"loom\",\"bound\":\"3x1@1\",\
                    \"executions\":1234,\"verdict\":\"pass\"}\n{\"lock\":\"a\",\"verdict\":\"unchecked\"}\n";
        let runs = Checked::read(json).expect("runs");
        assert_eq!(runs.len(), 1);
        assert!(runs[0].holds());
        assert_eq!(runs[0].text(), "`b` of a (3x1@1, 1,234 executions, pass)");
        assert!(Checked::read("\"executions\"").is_err());
    }
}
