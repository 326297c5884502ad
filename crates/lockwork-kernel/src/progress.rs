// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is being done: a line that changes on a terminal, else a line for each step.

use std::io::{self, IsTerminal};
use std::time::Duration;

use lockwork_report::progress::{self, ProgressBar};
use lockwork_report::text;

pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = progress::spinner();
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar }
    }

    /// A new step begins.
    pub(crate) fn step(&self, what: &str) {
        match &self.bar {
            Some(bar) => {
                bar.reset_elapsed();
                bar.set_message(what.to_owned());
            }
            None => text::complain(&format!("lockwork: {what}\n")),
        }
    }

    /// A line that stays.
    pub(crate) fn note(&self, what: &str) {
        let line = || text::complain(&format!("lockwork: {what}\n"));
        match &self.bar {
            Some(bar) => bar.suspend(line),
            None => line(),
        }
    }

    /// Leaves the terminal to others, for a question or a result.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
