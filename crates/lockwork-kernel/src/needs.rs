// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Programs and files that come from Debian's packages.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, Context, Result};

use crate::linux::{self, Linux};
use crate::progress::Progress;
use crate::ModuleArgs;

/// What must be there, and the package that has it.
const NEEDS: &[(&str, &str)] = &[
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("busybox", "busybox-static"),
    ("make", "make"),
    ("dpkg-deb", "dpkg"),
];

/// Where the file of a program is.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}

/// All packages that are missing.
fn missing(own_linux: bool) -> Vec<&'static str> {
    let mut packages: Vec<&str> = NEEDS
        .iter()
        .filter(|(name, _)| program(name).is_none())
        .map(|(_, package)| *package)
        .collect();
    if !own_linux && linux::headers().is_none() {
        packages.push("linux-headers-amd64");
    }
    packages
}

/// Has everything there, after asking, and finds the kernel.
pub(crate) fn get(args: &ModuleArgs, cache: &Path, progress: &Progress) -> Result<Linux> {
    if cfg!(not(target_arch = "x86_64")) {
        bail!("the guest is an x86-64 machine; run this on one");
    }
    let own = args.linux.as_deref().map(linux::built).transpose()?;
    let packages = missing(own.is_some());
    if !packages.is_empty() {
        install(&packages, args.yes, progress)?;
    }
    if let Some(package) = missing(own.is_some()).first() {
        bail!("{package} is installed, and still something of it is missing; reinstall it");
    }
    if let Some(own) = own {
        return Ok(own);
    }
    let headers = linux::headers().context("no kernel headers are installed")?;
    linux::find(headers, cache, progress)
}

fn install(packages: &[&str], yes: bool, progress: &Progress) -> Result<()> {
    let list = packages.join(" ");
    if program("apt-get").is_none() {
        bail!("this needs Debian's packages {list}, and there is no apt-get here; install what they have by hand");
    }
    // SAFETY: cannot fail and touches no memory.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        bail!("these packages are missing: {list}; install them as root: apt-get install {list}");
    }
    if !yes {
        progress.clear();
        ask(&list)?;
    }
    progress.step(&format!("installing {list}"));
    apt(&["update", "-qq"])?;
    let mut words = vec!["install", "-y", "-qq", "--no-install-recommends"];
    words.extend(packages);
    apt(&words)
}

/// Fails unless the user agrees.
fn ask(list: &str) -> Result<()> {
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

fn apt(words: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
    run(&mut command, "apt-get")
}

/// Runs a program quietly; an error tells its errors, or what it said last.
pub(crate) fn run(command: &mut Command, name: &str) -> Result<()> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {name}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let errors: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| line.contains("error:"))
        .collect();
    let told = if errors.is_empty() {
        &lines[lines.len().saturating_sub(3)..]
    } else {
        &errors[..]
    };
    bail!("{name} failed ({}): {}", output.status, told.join("; "));
}
