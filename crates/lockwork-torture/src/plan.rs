// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How hard and how long to torture.
use lockwork_report::machine::cpus;
use std::time::Duration;

/// When the stress of a lock ends.
#[derive(Debug, Clone, Copy)]
pub enum Stop {
    /// After this time.
    After(Duration),
    /// After this many operations of each thread.
    Operations(u32),
}

/// How hard and how long to torture.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Threads in the stress.
    pub threads: usize,
    /// When the stress ends.
    pub stop: Stop,
    /// How long a thread may be in one operation before that is a stall.
    pub patience: Duration,
    /// Acquisitions that every thread still makes after the stress.
    pub least: u32,
    /// Only these properties; empty: all.
    pub only: Vec<String>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            threads: 8 * cpus(),
            stop: Stop::After(Duration::from_secs(5)),
            patience: Duration::from_secs(30),
            least: 3,
            only: Vec::new(),
        }
    }
}

impl Plan {
    /// A run that is bounded by counts, for tests.
    pub fn quick() -> Self {
        Self {
            threads: 8,
            stop: Stop::Operations(150),
            ..Self::default()
        }
    }

    /// The same, for these properties only.
    #[must_use]
    pub fn only(mut self, properties: &[&str]) -> Self {
        self.only = properties.iter().map(|&name| name.to_owned()).collect();
        self
    }

    /// When a thread counts as stalled. A queue of spinning threads moves by
    /// one a time slice, so the bound grows with the square of the threads.
    pub(crate) fn bound(&self) -> Duration {
        let rotation = (self.threads / cpus()).max(1) as u64 * 5;
        self.patience + Duration::from_millis(rotation * self.threads as u64)
    }

    pub(crate) fn wants(&self, properties: &[&str]) -> bool {
        self.only.is_empty()
            || self
                .only
                .iter()
                .any(|name| properties.contains(&name.as_str()))
    }
}
