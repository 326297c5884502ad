// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks that can be simulated: those of the catalogue.

use anyhow::{bail, Result};

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lock {
    pub(super) name: String,
    pub(super) summary: String,
    readers: bool,
}

impl Lock {
    /// Can acquisitions be shared?
    pub(super) fn has_readers(&self) -> bool {
        self.readers
    }
}

/// All, in the order of the catalogue.
///
/// # Errors
/// They cannot be loaded.
pub(super) fn all() -> Result<Vec<Lock>> {
    let lock = |lock: crate::Lock| Lock {
        name: lock.name.to_owned(),
        summary: lock.summary.to_owned(),
        readers: lock.is_rw,
    };
    Ok(crate::locks()?.into_iter().map(lock).collect())
}

/// Those of these names, each once.
pub(super) fn named(names: &[String], known: &[Lock]) -> Result<Vec<Lock>> {
    let mut locks: Vec<Lock> = Vec::new();
    for name in names {
        match known.iter().find(|lock| lock.name == *name) {
            Some(lock) if locks.contains(lock) => {}
            Some(lock) => locks.push(lock.clone()),
            None => {
                let names: Vec<&str> = known.iter().map(|lock| lock.name.as_str()).collect();
                let names = names.join(", ");
                bail!("there is no lock '{name}'; choose from: {names}")
            }
        }
    }
    Ok(locks)
}

#[cfg(test)]
pub(super) fn fake(name: &str, readers: bool) -> Lock {
    Lock {
        name: name.to_owned(),
        summary: format!("what {name} is"),
        readers,
    }
}
