// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the commands of a question found.

use crate::checked::Checked;
use crate::figure::{listed, Figure};
use anyhow::{anyhow, Result};
use lockwork_sim::Simulated;

/// By the commands, in their order.
#[derive(Default)]
pub(crate) struct Evidence {
    pub(crate) simulated: Vec<Vec<Simulated>>,
    pub(crate) checked: Vec<Vec<Checked>>,
}

impl Evidence {
    /// The simulation of a lock by a command.
    ///
    /// # Errors
    /// There is none: a defect of the question.
    pub(crate) fn of(&self, command: usize, lock: &str, threads: usize) -> Result<&Simulated> {
        let all = self.simulated.get(command).map_or(&[][..], Vec::as_slice);
        all.iter()
            .find(|one| one.lock == lock && one.threads == threads)
            .ok_or_else(|| anyhow!("command {command} simulates no {lock} with {threads} threads"))
    }

    /// Its rate.
    pub(crate) fn rate(&self, command: usize, lock: &str, threads: usize) -> Result<Figure> {
        Ok(Figure::rate(self.of(command, lock, threads)?))
    }

    /// How many times as fast as `base` it is.
    pub(crate) fn gain(
        &self,
        command: usize,
        lock: &str,
        base: &str,
        threads: usize,
    ) -> Result<Figure> {
        let rate = self.rate(command, lock, threads)?;
        Ok(rate.over(self.rate(command, base, threads)?))
    }

    /// The run of a client.
    ///
    /// # Errors
    /// As [`Evidence::of`].
    pub(crate) fn client(&self, lock: &str, client: &str) -> Result<&Checked> {
        let mut all = self.checked.iter().flatten();
        all.find(|one| one.lock == lock && one.client == client)
            .ok_or_else(|| anyhow!("no command checks {lock} with {client}"))
    }

    /// Whether all clients passed.
    pub(crate) fn all_hold(&self) -> bool {
        self.checked.iter().flatten().all(Checked::holds)
    }

    /// All runs of clients, as a sentence lists them.
    pub(crate) fn checked_text(&self) -> String {
        let runs: Vec<String> = self.checked.iter().flatten().map(Checked::text).collect();
        listed(&runs)
    }
}
