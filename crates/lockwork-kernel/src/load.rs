// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Loads: what the published measurements ran, made again in `kernel/loads/`. A load is a
//! file there that says what runs, and where.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use lockwork_report::choice;
use serde::Deserialize;

use crate::key::Key;
use crate::needs;
use crate::sources::SOURCES;
use crate::work::{self, Work};

const FOLDER: &str = "kernel/loads/";
/// Size of the RAM disk, in MiB.
pub(crate) const DISK_MIB: u32 = 64;

/// One load.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    /// What it does, in a sentence.
    pub(crate) about: String,
    /// What it was made after.
    pub(crate) source: String,
    /// The operation, as `load.c` calls it.
    pub(crate) kind: String,
    /// What file system it needs.
    pub(crate) fs: Fs,
    pub(crate) workers_per_cpu: u32,
}

/// Where a load has its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fs {
    None,
    Tmpfs,
    Ext4,
}

impl Fs {
    /// As `requests.sh` reads it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Fs::None => "none",
            Fs::Tmpfs => "tmpfs",
            Fs::Ext4 => "ext4",
        }
    }
}

/// All of them, by name.
pub(crate) fn all() -> Result<Vec<(&'static str, Load)>> {
    let files = SOURCES.iter().filter_map(|(path, bytes)| {
        let name = path.strip_prefix(FOLDER)?.strip_suffix(".toml")?;
        Some((name, bytes))
    });
    files
        .map(|(name, bytes)| {
            let text = std::str::from_utf8(bytes)?;
            let load = toml::from_str(text).with_context(|| format!("{name} is not a load"))?;
            Ok((name, load))
        })
        .collect()
}

/// Two lines for each load.
pub(crate) fn table() -> Result<String> {
    let lines = all()?.into_iter().map(|(name, load)| {
        let Load { about, source, .. } = load;
        format!(
            "{name:18}  {about}\n{:18}  After {source}; files: {}.\n",
            "",
            load.fs.name()
        )
    });
    Ok(lines.collect())
}

/// The load of that name.
pub(crate) fn by_name(name: &str) -> Result<Load> {
    let all = all()?;
    let (_, load) = choice::one("load", name, &all, |(known, _)| known)?;
    Ok(load.clone())
}

/// The program that does them: one file that needs no library.
pub(crate) fn program(work: &Work) -> Result<PathBuf> {
    let sources = || {
        let all = SOURCES.iter();
        all.filter(|(path, _)| path.starts_with(FOLDER) && !path.ends_with(".toml"))
    };
    let mut key = Key::of("load");
    for (path, bytes) in sources() {
        key.file(path, bytes);
    }
    let file = work.cache.join(format!("{}-load", key.name()));
    if file.is_file() {
        return Ok(file);
    }
    work.progress.step("building the loads");
    let room = tempfile::tempdir_in(&work.cache)
        .with_context(|| format!("cannot write to {}", work.cache.display()))?;
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-static", "-pthread", "-o"])
        .arg(room.path().join("load"));
    for (path, bytes) in sources() {
        let target = room.path().join(&path[FOLDER.len()..]);
        fs::write(&target, bytes)?;
        if path.ends_with(".c") {
            gcc.arg(target);
        }
    }
    work::run(gcc.arg("-lm"), "gcc", work)?;
    fs::rename(room.path().join("load"), &file)
        .with_context(|| format!("cannot write to {}", work.cache.display()))?;
    Ok(file)
}

/// An empty ext4 with a journal, compressed. Written into `dir`.
pub(crate) fn disk(dir: &Path, work: &Work) -> Result<PathBuf> {
    let image = dir.join("ext4");
    let mut mke2fs = Command::new(needs::program("mke2fs").context("mke2fs is not installed")?);
    mke2fs
        .args(["-q", "-t", "ext4", "-F"])
        .arg(&image)
        .arg(format!("{DISK_MIB}M"));
    work::run(&mut mke2fs, "mke2fs", work)?;
    let mut gzip = Command::new("gzip");
    work::run(gzip.arg("-1").arg(&image), "gzip", work)?;
    Ok(dir.join("ext4.gz"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_has_its_operation() {
        let all = all().expect("loads");
        assert!(all.len() >= 10);
        let text: Vec<&str> = SOURCES
            .iter()
            .filter(|(path, _)| path.starts_with(FOLDER) && path.ends_with(".c"))
            .filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok())
            .collect();
        for (name, load) in &all {
            let kind = format!("{{ \"{}\"", load.kind);
            assert!(text.iter().any(|text| text.contains(&kind)), "{name}");
            assert!(
                load.workers_per_cpu > 0 && load.about.ends_with('.'),
                "{name}"
            );
        }
        let error = by_name("mwcn").expect_err("refused").to_string();
        assert!(error.contains("mwcm"), "{error}");
    }
}
