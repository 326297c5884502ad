// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A kernel's sources, with the series in them or without. What the series changed is
//! kept as it was, so that another series can take its place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use lockwork_report::usage;

/// Below the top: the files that were changed, as they were; and a list of those that were
/// added.
const KEPT: &str = ".lockwork";
const ADDED: &str = ".lockwork/added";

/// Files below the kernel's top, and what is in them.
pub(crate) type Files = BTreeMap<String, String>;

pub(crate) struct Tree {
    root: PathBuf,
    added: BTreeSet<String>,
}

impl Tree {
    /// The sources in `root`.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        if !root.join("kernel/locking/Makefile").is_file() {
            return Err(usage::error(format!(
                "{} holds no kernel sources: there is no kernel/locking/Makefile",
                root.display()
            )));
        }
        let added = read(&root.join(ADDED))?.unwrap_or_default();
        Ok(Self {
            root: root.to_owned(),
            added: added.lines().map(str::to_owned).collect(),
        })
    }

    /// A file as it was before any series.
    pub(crate) fn original(&self, path: &str) -> Result<Option<String>> {
        if self.added.contains(path) {
            return Ok(None);
        }
        match read(&self.root.join(KEPT).join(path))? {
            Some(text) => Ok(Some(text)),
            None => read(&self.root.join(path)),
        }
    }

    /// The kernel's version, such as 6.1.192.
    pub(crate) fn version(&self) -> Result<String> {
        let makefile = self.original("Makefile")?.context("no Makefile there")?;
        let value = |name: &str| {
            let mut lines = makefile.lines();
            let line = lines.find_map(|line| line.strip_prefix(name)?.trim().strip_prefix('='));
            line.map(|value| value.trim().to_owned())
        };
        match (value("VERSION"), value("PATCHLEVEL"), value("SUBLEVEL")) {
            (Some(a), Some(b), Some(c)) => Ok(format!("{a}.{b}.{c}")),
            _ => bail!("{} is no kernel's", self.root.join("Makefile").display()),
        }
    }

    /// Gives all `files` to the tree, and takes back what former ones changed. A file that is
    /// right already is not touched, so that make builds no more than it must.
    pub(crate) fn install(&mut self, files: &Files) -> Result<()> {
        for path in self.changed()? {
            if files.contains_key(&path) {
                continue;
            }
            match self.original(&path)? {
                Some(text) => write(&self.root.join(&path), &text)?,
                None => fs::remove_file(self.root.join(&path))?,
            }
        }
        for path in files.keys() {
            match self.original(path)? {
                Some(old) => write(&self.root.join(KEPT).join(path), &old)?,
                None => {
                    self.added.insert(path.clone());
                }
            }
        }
        let added: Vec<&str> = self.added.iter().map(String::as_str).collect();
        write(&self.root.join(ADDED), &added.join("\n"))?;
        for (path, text) in files {
            write(&self.root.join(path), text)?;
        }
        Ok(())
    }

    /// What former series changed or added.
    fn changed(&self) -> Result<Vec<String>> {
        let mut all: Vec<String> = self.added.iter().cloned().collect();
        let kept = self.root.join(KEPT);
        let mut folders = vec![kept.clone()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(name) = path.strip_prefix(&kept) {
                    all.push(name.to_string_lossy().into_owned());
                }
            }
        }
        all.retain(|path| path != "added" && self.root.join(path).exists());
        Ok(all)
    }
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        bytes => {
            let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
            let text = String::from_utf8(bytes);
            Ok(Some(text.with_context(|| {
                format!("{} is not UTF-8", path.display())
            })?))
        }
    }
}

/// Makes the file and its folder. A file that has this text already is not touched.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().context("a file has no folder")?).with_context(failed)?;
    fs::write(path, text).with_context(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_can_be_had_as_it_was() {
        let room = tempfile::tempdir().expect("a folder");
        let root = room.path();
        let files = |list: &[(&str, &str)]| -> Files {
            let pairs = list.iter();
            pairs
                .map(|(name, text)| ((*name).into(), (*text).into()))
                .collect()
        };
        fs::create_dir_all(root.join("kernel/locking")).expect("folders");
        fs::write(root.join("kernel/locking/Makefile"), "old").expect("a file");
        fs::write(root.join("a.c"), "old").expect("a file");
        let text = |name: &str| fs::read_to_string(root.join(name)).ok();

        for _ in 0..2 {
            let mut tree = Tree::open(root).expect("a tree");
            let first = files(&[("a.c", "new"), ("new/b.c", "ours")]);
            tree.install(&first).expect("installs");
            assert_eq!(text("a.c").as_deref(), Some("new"));
            assert_eq!(text("new/b.c").as_deref(), Some("ours"));
            assert_eq!(tree.original("a.c").expect("reads").as_deref(), Some("old"));
            assert_eq!(tree.original("new/b.c").expect("reads"), None);

            let mut tree = Tree::open(root).expect("a tree");
            tree.install(&Files::new()).expect("installs");
            assert_eq!(text("a.c").as_deref(), Some("old"));
            assert_eq!(text("new/b.c"), None);
        }
    }
}
