// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Builds Debian's kernel with the patches, in the cache.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};
use sha2::{Digest, Sha256};

use crate::linux::{self, Linux};
use crate::needs;
use crate::series::patch::{ours, series};
use crate::series::{self, tree::Tree};
use crate::Work;

/// What the kernel checks of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Nothing.
    Plain,
    /// The order in which locks are taken, and in what contexts.
    Lockdep,
    /// That data which several CPUs use have locks or are marked.
    Kcsan,
}

impl Flavour {
    fn name(self) -> &'static str {
        match self {
            Flavour::Plain => "plain",
            Flavour::Lockdep => "lockdep",
            Flavour::Kcsan => "kcsan",
        }
    }

    /// What its configuration is made of, over tinyconfig.
    fn fragments(self) -> Vec<String> {
        let mut names = vec!["guest", "patched"];
        if self != Flavour::Plain {
            names.push(self.name());
        }
        let names = names.into_iter();
        names
            .map(|name| format!("kernel/config/{name}.config"))
            .collect()
    }
}

/// The kernel, built if it is not yet there as it should be.
pub(crate) fn build(flavour: Flavour, work: &Work) -> Result<Linux> {
    let home = work.cache.join("linux-patched");
    let source = home.join("source");
    let build = home.join(flavour.name());
    let _one = lock(&home)?;
    let made = build.join("lockwork-made-of");
    if !source.join("Makefile").is_file() {
        work.progress.step("unpacking Debian's kernel sources");
        let part = home.join("unpacking");
        let _ = fs::remove_dir_all(&part);
        series::unpack(&part, &[], work)?;
        fs::rename(&part, &source)?;
    }
    let key = key(flavour, &source)?;
    if fs::read_to_string(&made).is_ok_and(|old| old == key) {
        return linux::built(&build);
    }
    series::install(&source, &series()?)?;
    fs::create_dir_all(&build)?;
    let _ = fs::remove_file(&made);
    configure(flavour, &source, &build, work)?;
    let version = Tree::open(&source)?.version()?;
    work.progress.step(&format!(
        "building Linux {version} with the patches, {}: many minutes the first time",
        flavour.name()
    ));
    let mut make = make(&source, &build);
    make.arg(needs::jobs()).args(["bzImage", "modules"]);
    needs::run(&mut make, "make", work)?;
    fs::write(&made, key)?;
    linux::built(&build)
}

/// One build at a time in one folder.
fn lock(home: &Path) -> Result<fs::File> {
    let failed = || format!("cannot write to {}", home.display());
    fs::create_dir_all(home).with_context(failed)?;
    let file = fs::File::create(home.join("lock")).with_context(failed)?;
    // SAFETY: the descriptor is open; no memory is touched.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        bail!(
            "another lockwork builds a kernel in {}; wait until it has ended",
            home.display()
        );
    }
    Ok(file)
}

fn make(source: &Path, build: &Path) -> Command {
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(source);
    make.arg(format!("O={}", build.display()));
    make
}

/// Writes the configuration. Each line of the fragments must be in it.
fn configure(flavour: Flavour, source: &Path, build: &Path, work: &Work) -> Result<()> {
    let mut text = String::new();
    for name in flavour.fragments() {
        text += &ours(&name)?;
    }
    let fragment = build.join("fragment.config");
    fs::write(&fragment, &text)?;
    let mut allno = make(source, build);
    allno.arg(format!("KCONFIG_ALLCONFIG={}", fragment.display()));
    needs::run(allno.arg("allnoconfig"), "make allnoconfig", work)?;
    let config = fs::read_to_string(build.join(".config"))?;
    let missing = text
        .lines()
        .filter(|line| line.starts_with("CONFIG_") && !line.ends_with("=n"))
        .find(|line| !config.lines().any(|have| have == *line));
    match missing {
        None => Ok(()),
        Some(line) => bail!("this kernel does not take {line}"),
    }
}

/// What a built kernel depends on.
fn key(flavour: Flavour, source: &Path) -> Result<String> {
    let tree = Tree::open(source)?;
    let mut hash = Sha256::new();
    hash.update(tree.version()?);
    for name in flavour.fragments() {
        hash.update(ours(&name)?);
    }
    for files in series::steps(&tree, &series()?)? {
        for (path, text) in files {
            hash.update(format!("{path} {}\n{text}", text.len()));
        }
    }
    let hash = hash.finalize();
    Ok(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}
