// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The lock policies by name. This table is the only place that knows them.

use anyhow::Result;

use crate::error::{Exit, OWN_ERROR};

/// What is loaded into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interposer {
    /// Nothing.
    None,
    /// The control arm, which hands every call on to glibc.
    Passthrough,
    /// Lockwork's locks.
    Lockwork,
}

/// One policy.
#[derive(Debug)]
pub struct Policy {
    /// What users type, and what the interposer reads.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// What carries it into the program.
    pub interposer: Interposer,
}

/// The name of the arm that every other one is compared with.
pub const BASELINE: &str = "glibc";
/// The name of the arm that shows what interposition itself costs.
pub const CONTROL: &str = "glibc_passthrough";
/// What `run` uses unless told otherwise.
pub const DEFAULT: &str = "mutex";

/// Every policy, baselines first.
pub const POLICIES: &[Policy] = &[
    Policy {
        name: BASELINE,
        summary: "the program as it is, with nothing loaded",
        interposer: Interposer::None,
    },
    Policy {
        name: CONTROL,
        summary: "glibc's own locks through an interposer: shows what interposition costs",
        interposer: Interposer::Passthrough,
    },
    Policy {
        name: DEFAULT,
        summary: "sleeping mutex that spins in a queue while the owner runs",
        interposer: Interposer::Lockwork,
    },
    Policy {
        name: "mutex_numa",
        summary: "the same; a queue that stays long is divided by clusters of CPUs",
        interposer: Interposer::Lockwork,
    },
    Policy {
        name: "qspinlock_fair",
        summary: "queued spinlock, first come first served; needs a CPU for each thread",
        interposer: Interposer::Lockwork,
    },
    Policy {
        name: "qspinlock_steal",
        summary: "queued spinlock whose new arrivals may take a free lock past the queue",
        interposer: Interposer::Lockwork,
    },
    Policy {
        name: "qspinlock_tas",
        summary: "test-and-set spinlock without a queue, unfair",
        interposer: Interposer::Lockwork,
    },
];

/// The policy called `name`.
pub fn find(name: &str) -> Result<&'static Policy> {
    POLICIES.iter().find(|p| p.name == name).ok_or_else(|| {
        let list = list(POLICIES);
        Exit::with(
            OWN_ERROR,
            format!("there is no lock '{name}'; the locks are:\n{list}"),
        )
    })
}

/// One indented line a policy.
pub fn list(policies: &[Policy]) -> String {
    let width = policies.iter().map(|p| p.name.len()).max().unwrap_or(0);
    let lines: Vec<String> = policies
        .iter()
        .map(|p| format!("  {:width$}  {}", p.name, p.summary))
        .collect();
    lines.join("\n")
}
