// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork kernel`: boots Linux in QEMU on a machine with several nodes, and tortures the
//! locks there: as a module for Debian's kernel, or under the locks of a patched one. And
//! writes the patches.

mod args;
mod console;
mod guest;
mod here;
mod host;
mod initramfs;
mod key;
mod linux;
mod load;
mod module;
mod needs;
mod outcome;
mod patched;
mod plan;
mod progress;
mod qemu;
mod series;
mod sources;
mod stock;
mod work;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{bail, Result};
use lockwork_report::interrupt::{Interrupt, Interrupted};
use lockwork_report::{bail_usage, text};

use args::{Accel, GuestArgs, ModuleArgs, PatchedArgs, What};
pub use args::{KernelArgs, HELP};
use linux::Linux;
use load::Fs;
use needs::Job;
use outcome::Report;
use plan::{Kind, Request};
use progress::Progress;
use work::Work;

/// Runs the command. `cache` makes a folder that only this user can change.
pub fn run(args: &KernelArgs, cache: impl Fn() -> Result<PathBuf>) -> Result<ExitCode> {
    let result = match &args.what {
        What::Module(args) => module(args, cache),
        What::Patched(args) => patched(args, cache),
        What::Loads => {
            text::print(&load::table()?)?;
            Ok(ExitCode::SUCCESS)
        }
        What::Patches(args) => {
            let work = prepare(Job::Patches, args.yes, cache)?;
            series::run(args, &work)
        }
    };
    match result {
        Err(error) => match error.downcast_ref::<Interrupted>() {
            Some(signal) => Ok((*signal).into()),
            None => Err(error),
        },
        result => result,
    }
}

/// Has all packages there that `job` needs.
fn prepare(job: Job, yes: bool, cache: impl Fn() -> Result<PathBuf>) -> Result<Work> {
    prepare_with(job, job == Job::Debian, yes, cache)
}

/// The same, for a guest: its host may be Debian's kernel.
fn prepare_guest(job: Job, args: &GuestArgs, cache: impl Fn() -> Result<PathBuf>) -> Result<Work> {
    let debian = job == Job::Debian || args.accel == Accel::Nested;
    prepare_with(job, debian, args.yes, cache)
}

fn prepare_with(
    job: Job,
    debian: bool,
    yes: bool,
    cache: impl Fn() -> Result<PathBuf>,
) -> Result<Work> {
    let cache = cache()?;
    let packages = needs::missing(job, debian);
    needs::agree(&packages, yes)?;
    let work = Work {
        cache,
        interrupt: Interrupt::listen()?,
        progress: Progress::new(),
    };
    needs::install(&packages, job, debian, &work)?;
    Ok(work)
}

fn validate(args: &GuestArgs) -> Result<()> {
    plan::validate_machine(args)?;
    if args.shell && !io::stdin().is_terminal() {
        bail_usage!("--shell needs a terminal");
    }
    if args.shell && args.accel == Accel::Nested {
        bail_usage!("--shell does not go with --accel nested; leave one of them out");
    }
    if cfg!(not(target_arch = "x86_64")) {
        bail!("the guest is an x86-64 machine; run this on one");
    }
    Ok(())
}

fn module(args: &ModuleArgs, cache: impl Fn() -> Result<PathBuf>) -> Result<ExitCode> {
    let plan = plan::of_module(args)?;
    validate(&args.guest)?;
    let own = args.linux.as_deref().map(linux::built).transpose()?;
    let job = if own.is_some() { Job::Own } else { Job::Debian };
    let work = prepare_guest(job, &args.guest, cache)?;
    let linux = match own {
        Some(own) => own,
        None => linux::find(&work)?,
    };
    boot(&linux, &args.guest, &plan, args.canaries, "", &work)
}

fn patched(args: &PatchedArgs, cache: impl Fn() -> Result<PathBuf>) -> Result<ExitCode> {
    let plan = plan::of_patched(args)?;
    if args.here {
        here::validate(args, &plan)?;
        let job = match plan.iter().any(Request::is_stock) {
            true => Job::HereTorture,
            false => Job::Here,
        };
        let work = prepare(job, args.guest.yes, cache)?;
        let linux = linux::running()?;
        let room = tempfile::tempdir()?;
        let files = files(&linux, &plan, false, false, room.path(), &work)?;
        let report = here::run(&files, &plan, &args.guest, room.path(), &work)?;
        return tell(&report, args.guest.json, &work);
    }
    validate(&args.guest)?;
    let work = prepare_guest(Job::Patched, &args.guest, cache)?;
    if args.compile {
        let said = patched::compile(&args.choice(), &work)?;
        work.progress.clear();
        text::print(&said)?;
        return Ok(ExitCode::SUCCESS);
    }
    let linux = patched::build(&args.choice(), &work)?;
    if args.build_only {
        work.progress.clear();
        text::print(&format!("built in {}\n", linux.headers.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let append = args.append.as_deref().unwrap_or_default();
    boot(&linux, &args.guest, &plan, false, append, &work)
}

/// Boots `linux` and does what `plan` asks for.
fn boot(
    linux: &Linux,
    args: &GuestArgs,
    plan: &[Request],
    canaries: bool,
    append: &str,
    work: &Work,
) -> Result<ExitCode> {
    let room = tempfile::tempdir()?;
    let files = files(linux, plan, canaries, args.shell, room.path(), work)?;
    let initramfs = initramfs::write(room.path(), linux, &files, plan, args.shell)?;
    let machine = qemu::Machine {
        cpus: args.cpus,
        nodes: args.nodes,
        node_mib: qemu::NODE_MIB,
        image: linux.image.clone(),
        initramfs,
        is_stock: linux.is_stock,
        append: append.to_owned(),
    };
    if args.shell {
        work.progress.clear();
        return qemu::shell(&machine, args.accel, &work.interrupt);
    }
    let machine = match args.accel {
        Accel::Nested => host::machine(&machine, room.path(), work)?,
        _ => machine,
    };
    let report = guest::run(&machine, args, plan, work)?;
    tell(&report, args.json, work)
}

/// What `plan` needs beside a shell: modules, programs, a disk. `room`: where what is not
/// kept in the cache may be made.
fn files(
    linux: &Linux,
    plan: &[Request],
    canaries: bool,
    shell: bool,
    room: &Path,
    work: &Work,
) -> Result<Vec<PathBuf>> {
    let loads = |fs: Option<Fs>| {
        let mut kinds = plan.iter().map(|request| request.kind);
        kinds.any(|kind| matches!(kind, Kind::Load(of) if fs.is_none_or(|fs| fs == of)))
    };
    let mut files = Vec::new();
    if shell || plan.iter().any(|request| request.kind == Kind::Ours) {
        files.push(module::build(linux, canaries, work)?);
    }
    if plan.iter().any(Request::is_stock) {
        files.extend(stock::modules(linux, work)?);
    }
    if loads(None) {
        files.push(load::program(work)?);
    }
    if loads(Some(Fs::Ext4)) {
        files.push(load::disk(room, work)?);
    }
    Ok(files)
}

/// Prints what a run came to.
fn tell(report: &Report, json: bool, work: &Work) -> Result<ExitCode> {
    work.progress.clear();
    if json {
        text::print(&(serde_json::to_string_pretty(report)? + "\n"))?;
    } else {
        text::print(&report.table())?;
    }
    if let Some(signal) = report.interrupted {
        return Err(Interrupted(signal).into());
    }
    if let Some(why) = &report.failure {
        text::complain(&format!("lockwork: {why}\n"));
    }
    Ok(ExitCode::from(u8::from(!report.passed)))
}
