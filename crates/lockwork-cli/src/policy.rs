// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The lock policies by name. Lockwork's own are the lines of `preload/policies.def`,
//! which the interposer is compiled with; the two that need no lock are added here.

use anyhow::Result;
use lockwork_report::usage;

/// What is loaded into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interposer {
    /// Nothing.
    None,
    /// The control arm, which forwards every call to glibc.
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
    /// The catalogue's locks that a mutex, a read/write lock and a spinlock become; none:
    /// they stay glibc's.
    pub locks: Option<[&'static str; 3]>,
}

/// The name of the arm that every other one is compared with.
pub const BASELINE: &str = "glibc";
/// The name of the arm that shows what interposition itself costs.
pub const CONTROL: &str = "glibc_passthrough";
const NOTHING: Policy = Policy {
    name: BASELINE,
    summary: "the unchanged program with glibc's locks; nothing is loaded",
    interposer: Interposer::None,
    locks: None,
};

const PASSTHROUGH: Policy = Policy {
    name: CONTROL,
    summary: "an interposer that only forwards to glibc; shows what interposition costs",
    interposer: Interposer::Passthrough,
    locks: None,
};

const fn lockwork(name: &'static str, locks: [&'static str; 3], summary: &'static str) -> Policy {
    Policy {
        name,
        summary,
        interposer: Interposer::Lockwork,
        locks: Some(locks),
    }
}

// `POLICIES`, every policy, baselines first; `DEFAULT`, what `run` uses unless told
// otherwise.
include!(concat!(env!("OUT_DIR"), "/policies.rs"));

impl Policy {
    /// The catalogue's lock that a read/write lock becomes; none: it stays glibc's.
    pub fn rwlock(&self) -> Option<&'static str> {
        self.locks.map(|[_, rwlock, _]| rwlock)
    }
}

/// The policy called `name`.
pub fn find(name: &str) -> Result<&'static Policy> {
    POLICIES.iter().find(|p| p.name == name).ok_or_else(|| {
        let list = list(POLICIES);
        usage::error(format!("there is no lock '{name}'; the locks are:\n{list}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `lockwork predict` cannot see this table.
    #[test]
    fn all_policies_are_predicted() {
        let here = POLICIES.iter().map(|policy| policy.name);
        let here: Vec<&str> = here.filter(|name| *name != CONTROL).collect();
        let mut predicted: Vec<&str> = lockwork_predict::policies().collect();
        assert_eq!(predicted.first(), Some(&BASELINE));
        predicted.sort_unstable();
        let mut sorted = here;
        sorted.sort_unstable();
        assert_eq!(sorted, predicted);
    }
}
