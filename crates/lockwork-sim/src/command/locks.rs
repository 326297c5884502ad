// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks by the names that users type.

use crate::Lock;
use anyhow::Result;
use lockwork_report::choice;

/// Those of these names, each once.
pub(super) fn named(names: &[String], known: &[Lock]) -> Result<Vec<Lock>> {
    let mut locks: Vec<Lock> = Vec::new();
    for name in names {
        let lock = choice::one("lock", name, known, |lock| lock.name)?;
        if !locks.contains(lock) {
            locks.push(*lock);
        }
    }
    Ok(locks)
}
