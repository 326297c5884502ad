// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs tortures and loads on this machine, by the script that does it in a guest.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, Context, Result};

use crate::args::{GuestArgs, PatchedArgs};
use crate::guest;
use crate::initramfs::{name_of, requests, REQUESTS};
use crate::outcome::Report;
use crate::plan::{Kind, Request};
use crate::work::Work;

/// Fails if this machine cannot do what `plan` asks for.
pub(crate) fn validate(args: &PatchedArgs, plan: &[Request]) -> Result<()> {
    // SAFETY: cannot fail and touches no memory.
    if unsafe { libc::geteuid() } != 0 {
        bail!("--here changes controls of the kernel and mounts file systems; run it as root");
    }
    let control = "/sys/kernel/debug/lockwork_osq/dynamic_enable";
    if args.has_controls() && !Path::new(control).exists() {
        bail!(
            "this kernel has no {control}; mount debugfs, boot a kernel with \
             CONFIG_LOCK_SPIN_ON_OWNER_NUMA and CONFIG_DEBUG_FS, or give --off to measure this one"
        );
    }
    if plan.iter().any(|request| request.kind == Kind::Ours) {
        bail!("--here runs the kernel's own locks; our module's are tortured in a guest");
    }
    Ok(())
}

/// Does what `plan` asks for. `files` are what it needs; `room` is a folder for it.
pub(crate) fn run(
    files: &[PathBuf],
    plan: &[Request],
    args: &GuestArgs,
    room: &Path,
    work: &Work,
) -> Result<Report> {
    for file in files {
        let target = room.join(name_of(file)?);
        if *file != target {
            fs::copy(file, &target).with_context(|| format!("cannot copy {}", file.display()))?;
        }
    }
    fs::create_dir(room.join("mnt"))?;
    fs::write(room.join("requests.sh"), REQUESTS)?;
    fs::write(room.join("requests"), requests(plan))?;
    let mut script = Command::new("sh");
    script
        .arg(room.join("requests.sh"))
        .arg(room)
        .arg("here")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let child = script.spawn().context("cannot start sh")?;
    guest::follow_here(child, args, plan, work)
}
