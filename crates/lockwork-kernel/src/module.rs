// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Builds the module from the sources that this program carries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context, Result};

use crate::key::Key;
use crate::linux::Linux;
use crate::needs;
use crate::sources::SOURCES;
use crate::work::{self, Work};

/// The module's file.
pub(crate) const NAME: &str = "lockwork_locks.ko";

/// The module for `linux`: the one in the cache, if it was built from the same sources.
pub(crate) fn build(linux: &Linux, canaries: bool, work: &Work) -> Result<PathBuf> {
    let cache = &work.cache;
    let compiler = compiler(&linux.headers)?;
    let file = cache.join(format!("{}-{NAME}", key(linux, canaries, &compiler)?));
    if file.is_file() {
        return Ok(file);
    }
    if cache.to_string_lossy().contains([' ', ':']) {
        bail!(
            "make cannot build in {}; set XDG_CACHE_HOME to a path without spaces and colons",
            cache.display()
        );
    }
    let what = format!("building the module for Linux {}", linux.release);
    work.progress.step(&what);
    let room = tempfile::tempdir_in(cache)
        .with_context(|| format!("cannot write to {}", cache.display()))?;
    write_sources(room.path())
        .with_context(|| format!("cannot write the sources to {}", cache.display()))?;
    let mut make = Command::new("make");
    make.arg("-C").arg(&linux.headers);
    make.arg(format!("M={}", room.path().display()));
    make.arg(format!("CC={compiler}"));
    if canaries {
        make.arg("LKM_CANARIES=y");
    }
    make.arg(work::jobs()).arg("modules");
    work::run(&mut make, "make", work)?;
    fs::rename(room.path().join(NAME), &file)
        .with_context(|| format!("cannot write to {}", cache.display()))?;
    Ok(file)
}

/// What the module is made of: not what patched kernels are.
fn sources() -> impl Iterator<Item = &'static (&'static str, &'static [u8])> {
    let others = ["kernel/series/", "kernel/config/"];
    let all = SOURCES.iter();
    all.filter(move |(path, _)| !others.iter().any(|other| path.starts_with(other)))
}

/// Kbuild wants its file on top.
fn write_sources(dir: &Path) -> Result<()> {
    for (path, bytes) in sources() {
        let path = match *path {
            "kernel/Kbuild" => dir.join("Kbuild"),
            path => dir.join(path),
        };
        fs::create_dir_all(path.parent().context("a source has no folder")?)?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// What the module depends on, as a name.
fn key(linux: &Linux, canaries: bool, compiler: &str) -> Result<String> {
    let mut key = key_of(linux, &format!("{canaries} {compiler}"))?;
    for (path, bytes) in sources() {
        key.file(path, bytes);
    }
    Ok(key.name())
}

/// What each module for this kernel depends on, and `what` it depends on itself. Kernels of
/// one release may be configured in different ways.
pub(crate) fn key_of(linux: &Linux, what: &str) -> Result<Key> {
    let mut key = Key::of(&format!("{} {what}", linux.release));
    for name in ["include/config/auto.conf", "Module.symvers"] {
        let file = linux.headers.join(name);
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        key.file(name, &bytes);
    }
    Ok(key)
}

/// The compiler that built the kernel: others may not know its flags.
pub(crate) fn compiler(headers: &Path) -> Result<String> {
    let config = headers.join("include/config/auto.conf");
    let config =
        fs::read_to_string(&config).with_context(|| format!("cannot read {}", config.display()))?;
    let value = |name: &str| {
        let line = config.lines().find_map(|line| line.strip_prefix(name));
        Some(line?.trim_matches('"').to_owned())
    };
    let text = value("CONFIG_CC_VERSION_TEXT=");
    let name = text.as_deref().and_then(|text| text.split(' ').next());
    let name = name.context("the kernel's headers do not say which compiler built it")?;
    if needs::program(name).is_none() {
        bail!(
            "the kernel was built by {name}, which is not here; install it: apt-get install {name}"
        );
    }
    Ok(name.to_owned())
}
