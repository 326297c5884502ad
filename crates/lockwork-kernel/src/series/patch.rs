// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The patches, and what they make of a kernel's files.

use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Deserialize;

use super::edit::Edit;
use super::tree::{Files, Tree};
use crate::sources::SOURCES;

/// Where our files go.
const HOME: &str = "kernel/locking/lockwork";

/// A series that stands alone: what is sent to the kernel's maintainers as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Series {
    /// A NUMA-aware queue of spinners under mutex and rw_semaphore
    Osq,
    /// Unfair queued spinlocks for guests
    Spinlock,
    /// Another queued read/write lock, and variants of two locks to compare it by
    Rwlock,
}

impl Series {
    /// All of them.
    pub(crate) const ALL: [Series; 3] = [Series::Osq, Series::Spinlock, Series::Rwlock];

    /// As in the files, and of the folder that it is written to.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Series::Osq => "osq",
            Series::Spinlock => "spinlock",
            Series::Rwlock => "rwlock",
        }
    }
}

/// One file of `kernel/series/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patch {
    /// Of which series it is.
    series: Vec<Series>,
    /// The first line of its message.
    pub(crate) subject: String,
    /// The rest of it.
    pub(crate) message: String,
    /// Files of `locks/` that it adds.
    #[serde(default)]
    locks: Vec<String>,
    /// Files of `platform/` that it adds.
    #[serde(default)]
    platform: Vec<String>,
    /// Files of `platform/kernel/` that it adds.
    #[serde(default)]
    world: Vec<String>,
    /// Files of `kernel/series/tree/` that it adds.
    #[serde(default)]
    files: Vec<String>,
    #[serde(default, rename = "edit")]
    edits: Vec<Edit>,
}

/// The patches of a series, in their order; none named: all patches.
pub(crate) fn patches(series: Option<Series>) -> Result<Vec<Patch>> {
    let mut all = every()?;
    all.retain(|patch| series.is_none_or(|series| patch.series.contains(&series)));
    Ok(all)
}

fn every() -> Result<Vec<Patch>> {
    let all = SOURCES.iter().filter_map(|(path, bytes)| {
        let name = path.strip_prefix("kernel/series/")?;
        (name.ends_with(".toml") && !name.contains('/')).then_some((path, bytes))
    });
    all.map(|(path, bytes)| {
        let text = std::str::from_utf8(bytes).with_context(|| format!("{path} is no text"))?;
        toml::from_str(text).with_context(|| format!("{path} is not a patch"))
    })
    .collect()
}

/// One of the files that this program carries.
pub(crate) fn ours(path: &str) -> Result<String> {
    let found = SOURCES.iter().find(|(name, _)| *name == path);
    let (_, bytes) = found.with_context(|| format!("there is no {path}"))?;
    String::from_utf8(bytes.to_vec()).with_context(|| format!("{path} is no text"))
}

impl Patch {
    /// All that it adds: whence, and where to.
    fn copies(&self) -> Vec<(String, String)> {
        let flat = |dir: &'static str, names: &[String]| {
            let names = names.iter();
            let pairs = names.map(move |name| (format!("{dir}/{name}"), format!("{HOME}/{name}")));
            pairs.collect::<Vec<_>>()
        };
        let mut all = flat("locks", &self.locks);
        all.extend(flat("platform", &self.platform));
        all.extend(flat("platform/kernel", &self.world));
        let files = self.files.iter();
        all.extend(files.map(|name| (format!("kernel/series/tree/{name}"), name.clone())));
        all
    }

    /// The files of a kernel that it edits. Some are ours.
    pub(crate) fn edited(&self) -> impl Iterator<Item = &str> {
        self.edits.iter().map(|edit| edit.file.as_str())
    }

    /// What it makes of `tree`, on top of what the former ones made of it (`before`).
    pub(crate) fn apply(&self, tree: &Tree, before: &Files) -> Result<Files> {
        let mut files = Files::new();
        for (from, to) in self.copies() {
            files.insert(to, ours(&from)?);
        }
        for edit in &self.edits {
            let path = &edit.file;
            let old = match files.get(path).or_else(|| before.get(path)) {
                Some(text) => Some(text.clone()),
                None => tree.original(path)?,
            };
            let new = edit
                .apply(old.as_deref())
                .with_context(|| format!("the patch '{}' does not fit", self.subject))?;
            files.insert(path.clone(), new);
        }
        Ok(files)
    }
}

/// The files of a kernel that the series edits, and that it does not add itself.
pub(crate) fn needed(patches: &[Patch]) -> Vec<String> {
    let copies = patches.iter().flat_map(Patch::copies);
    let added: Vec<String> = copies.map(|(_, to)| to).collect();
    let is_ours =
        |name: &str| Path::new(name).starts_with(HOME) || added.iter().any(|added| added == name);
    let all = patches.iter().flat_map(Patch::edited);
    let mut names: Vec<String> = all
        .filter(|name| !is_ours(name))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_limits_are_those_of_the_knobs() {
        let patches = patches(None).expect("patches");
        let controls = patches
            .iter()
            .find(|patch| patch.subject.contains("controls"));
        let lines = controls.expect("a patch").message.lines();
        let named: Vec<String> = lines
            .filter_map(|line| line.strip_prefix("  "))
            .filter(|line| !line.contains("read only"))
            .map(|line| {
                line.split_whitespace()
                    .take(4)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        let knobs = crate::plan::KNOBS.iter();
        let knobs = knobs.map(|(knob, min, max)| format!("{knob} {min} to {max}"));
        assert_eq!(named, knobs.collect::<Vec<_>>());
    }

    #[test]
    fn what_the_series_adds_is_not_asked_of_the_kernel() {
        let names = needed(&patches(None).expect("patches"));
        assert!(names.iter().any(|name| name == "kernel/locking/Makefile"));
        assert!(!names
            .iter()
            .any(|name| name.ends_with("qspinlock_unfair.h")));
    }

    #[test]
    fn each_patch_is_of_a_series_and_its_locks_are_unedited() {
        let patches = patches(None).expect("patches");
        for patch in &patches {
            assert!(!patch.series.is_empty(), "{}", patch.subject);
            assert!(patch.subject.len() <= 75, "{}", patch.subject);
            let long = patch.message.lines().find(|line| line.len() > 75);
            assert!(long.is_none(), "{}: {long:?}", patch.subject);
            for (from, to) in patch.copies() {
                ours(&from).expect("a file");
                let edited = patch.edited().any(|name| name == to);
                assert!(!edited, "{to} is to be as it is in {from}");
            }
        }
    }

    /// `#include "name.h"` of a file in our folder.
    fn includes(text: &str) -> impl Iterator<Item = &str> {
        text.lines().filter_map(|line| {
            let name = line.trim().strip_prefix("#include ")?;
            let name = name
                .trim_start_matches(['"', '<'])
                .split(['"', '>'])
                .next()?;
            (!name.contains('/')).then_some(name)
        })
    }

    #[test]
    fn each_series_has_all_files_that_its_files_include() {
        for series in Series::ALL {
            let patches = patches(Some(series)).expect("patches");
            let copies: Vec<_> = patches.iter().flat_map(Patch::copies).collect();
            let there = |name: &str| {
                copies
                    .iter()
                    .any(|(_, to)| to.ends_with(&format!("/{name}")))
            };
            for (from, to) in &copies {
                if !to.starts_with(HOME) {
                    continue;
                }
                for name in includes(&ours(from).expect("a file")) {
                    assert!(there(name), "{}: {to} includes {name}", series.name());
                }
            }
        }
    }
}
