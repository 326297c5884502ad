// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks by the names that users type.

use crate::Lock;
use anyhow::Result;
use lockwork_report::bail_usage;

/// Those of these names, each once.
pub(super) fn named(names: &[String], known: &[Lock]) -> Result<Vec<Lock>> {
    let mut locks: Vec<Lock> = Vec::new();
    for name in names {
        match known.iter().find(|lock| lock.name == *name) {
            Some(lock) if locks.contains(lock) => {}
            Some(lock) => locks.push(*lock),
            None => {
                let names: Vec<&str> = known.iter().map(|lock| lock.name).collect();
                bail_usage!(
                    "there is no lock '{name}'; choose from: {}",
                    names.join(", ")
                )
            }
        }
    }
    Ok(locks)
}
