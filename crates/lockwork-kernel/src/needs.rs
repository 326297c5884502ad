// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Programs and files that come from Debian's packages.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context, Result};
use object::elf::{FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader, ProgramHeader};
use object::Endianness;

use crate::linux;
use crate::work::{self, Work};

/// What must be there, and the package that has it.
type Need = (&'static str, &'static str);

/// What runs a guest with the module.
const GUEST: &[Need] = &[
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("make", "make"),
    ("dpkg-deb", "dpkg"),
];

/// What unpacks a kernel's sources.
const SOURCES: &[Need] = &[("dpkg-deb", "dpkg"), ("tar", "tar"), ("xz", "xz-utils")];

/// What builds a kernel.
const KERNEL: &[Need] = &[
    ("gcc", "gcc"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("perl", "perl"),
    ("/usr/include/gelf.h", "libelf-dev"),
];

/// What makes the loads and their file system.
const LOADS: &[Need] = &[
    ("/usr/lib/x86_64-linux-gnu/libc.a", "libc6-dev"),
    ("mke2fs", "e2fsprogs"),
    ("gzip", "gzip"),
];

/// What a command is going to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Boot Debian's kernel, for which a module is built.
    Debian,
    /// Boot a kernel of the user's own.
    Own,
    /// Build a kernel and boot it.
    Patched,
    /// Run loads on this machine.
    Here,
    /// And the kernel's torture.
    HereTorture,
    /// Write patches.
    Patches,
}

/// Where the file of a program is.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // Debian's users do not have the administrator's programs in theirs.
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(more)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}

/// All packages that are missing for a job. `debian`: it boots Debian's kernel, whatever it builds.
pub(crate) fn missing(job: Job, debian: bool) -> Vec<&'static str> {
    let lists: &[&[Need]] = match job {
        Job::Debian | Job::Own => &[GUEST],
        Job::Patched => &[GUEST, SOURCES, KERNEL, LOADS],
        Job::Here => &[&[("gcc", "gcc")], LOADS],
        Job::HereTorture => &[&[("make", "make"), ("insmod", "kmod")], SOURCES, LOADS],
        Job::Patches => &[SOURCES, &[("git", "git")]],
    };
    let is_here = |name: &str| match name.starts_with('/') {
        true => Path::new(name).exists(),
        false => program(name).is_some(),
    };
    let all = lists.iter().copied().flatten();
    let mut packages: Vec<&str> = all
        .filter(|(name, _)| !is_here(name))
        .map(|(_, package)| *package)
        .collect();
    let boots = matches!(job, Job::Debian | Job::Own | Job::Patched);
    if boots && busybox().is_err() {
        packages.push("busybox-static");
    }
    if debian && linux::headers().is_none() {
        packages.push("linux-headers-amd64");
    }
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// A busybox that runs without libraries.
pub(crate) fn busybox() -> Result<Vec<u8>> {
    let path = program("busybox").context("busybox is not installed")?;
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = FileHeader64::<Endianness>::parse(&*bytes)?;
    let headers = file.program_headers(Endianness::Little, &*bytes)?;
    if headers
        .iter()
        .any(|header| header.p_type(Endianness::Little) == PT_INTERP)
    {
        bail!("{} needs libraries; install busybox-static", path.display());
    }
    Ok(bytes)
}

/// Fails unless `packages` may be installed.
pub(crate) fn agree(packages: &[&str], yes: bool) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    if program("apt-get").is_none() {
        bail!("this needs Debian's packages {list}, and there is no apt-get here; install what they have by hand");
    }
    // SAFETY: cannot fail and touches no memory.
    if unsafe { libc::geteuid() } != 0 {
        bail!("these packages are missing: {list}; install them as root: apt-get install {list}");
    }
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        bail!("these packages are missing: {list}; give --yes to install them");
    }
    eprint!("lockwork: install {list} with apt-get? [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if !answer.trim().eq_ignore_ascii_case("y") {
        bail!("nothing was installed; these packages are missing: {list}");
    }
    Ok(())
}

/// Has everything there that `job` needs; `packages` are missing.
pub(crate) fn install(packages: &[&str], job: Job, debian: bool, work: &Work) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    work.progress
        .step(&format!("installing {}", packages.join(" ")));
    apt(&["update", "-qq"], work)?;
    let mut words = vec!["install", "-y", "-qq", "--no-install-recommends"];
    words.extend(packages);
    apt(&words, work)?;
    if let Some(package) = missing(job, debian).first() {
        bail!("{package} is installed, and still something of it is missing; reinstall it");
    }
    Ok(())
}

fn apt(words: &[&str], work: &Work) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
    work::run(&mut command, "apt-get", work)
}
