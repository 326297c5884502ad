// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What every step of the command uses, and how it runs a program.

use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use lockwork_report::interrupt::{Interrupt, Interrupted};
use lockwork_report::machine::cpus;

use crate::progress::Progress;

/// What every step of the command uses.
pub(crate) struct Work {
    pub(crate) cache: PathBuf,
    pub(crate) interrupt: Interrupt,
    pub(crate) progress: Progress,
}

/// For make: a job for each CPU.
pub(crate) fn jobs() -> String {
    format!("-j{}", cpus())
}

/// Runs a program quietly. An error tells its errors, or what it said last. A signal
/// ends it.
pub(crate) fn run(command: &mut Command, name: &str, work: &Work) -> Result<()> {
    let mut said = tempfile::tempfile()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said.try_clone()?)
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if let Some(signal) = work.interrupt.take() {
            // SAFETY: a group whose leader was not waited for is ours.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGTERM) };
            child.wait()?;
            return Err(Interrupted(signal).into());
        }
        sleep(Duration::from_millis(20));
    };
    if status.success() {
        return Ok(());
    }
    let mut text = Vec::new();
    said.rewind()?;
    said.read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let (errors, others): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains("error:"));
    let told = match errors.is_empty() {
        true => &others[others.len().saturating_sub(3)..],
        false => &errors[..],
    };
    bail!("{name} failed ({status}): {}", told.join("; "));
}
