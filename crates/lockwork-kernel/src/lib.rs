// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork kernel`: builds the locks as a module for Debian's kernel, boots that kernel
//! in QEMU on a machine with several nodes, tortures the locks there, and tells what the
//! kernel said of it.

mod console;
mod guest;
mod initramfs;
mod linux;
mod module;
mod needs;
mod outcome;
mod plan;
mod progress;
mod qemu;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use lockwork_report::interrupt::Interrupt;
use lockwork_report::text;

use progress::Progress;

/// What `lockwork kernel --help` says.
pub const HELP: &str = "\
Runs the locks inside the Linux kernel, from the same sources as everywhere else.

module builds them as a module for Debian's kernel, boots that kernel in QEMU with
--cpus CPUs on --nodes NUMA nodes, and tortures each lock there: kernel threads,
hardirqs and softirqs take it while CPUs go off and on and its mode changes. The
command fails if two threads were ever inside a lock together, or if the kernel
reported anything: a warning, a stall, an RCU complaint.

What it needs comes from Debian's packages. The command lists what is missing and asks
before it installs anything; kernel, module and guest stay in its cache folder.

QEMU uses KVM where that works, and else emulates. An emulated run shows that the
locks work. It says nothing about their speed.";

/// What follows the options there.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if a lock failed, the kernel reported something, or the guest did not
  answer in time; 2 for a wrong command line, 125 if lockwork itself fails, 130
  after Ctrl-C.

Examples:
  lockwork kernel module
  lockwork kernel module --torture mutex,qrwlock --seconds 60 --cpus 16
  lockwork kernel module --torture mutex_numa --set pin=1,osq_lock_depth=5
  lockwork kernel module --linux ~/src/linux-debug
        A kernel of your own, with lockdep for example.
  lockwork kernel module --shell
        A shell in the guest, with the module loaded.";

/// Options of `lockwork kernel`.
#[derive(Debug, Args)]
pub struct KernelArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Boot Debian's kernel with the locks as a module, and torture them.
    #[command(after_help = AFTER_HELP)]
    Module(ModuleArgs),
}

/// How QEMU runs the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Accel {
    /// KVM where it is and boots the guest, else emulation.
    Auto,
    /// KVM.
    Kvm,
    /// Emulation, with a host thread for each CPU.
    Tcg,
}

/// Options of `lockwork kernel module`.
#[derive(Debug, Args)]
struct ModuleArgs {
    /// Boot a kernel that was built in this directory, with its modules, instead of
    /// Debian's.
    #[arg(long, value_name = "DIR")]
    linux: Option<PathBuf>,
    /// CPUs of the guest.
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=255))]
    cpus: u32,
    /// NUMA nodes of the guest; the CPUs are divided evenly.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=16))]
    nodes: u32,
    /// Locks to torture; LOCK+LOCK are modes that take turns on one object. `lockwork
    /// torture --list` lists the locks [default: all].
    #[arg(long, value_name = "LOCK,…", value_delimiter = ',')]
    torture: Vec<String>,
    /// Seconds for each lock.
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86400))]
    seconds: u32,
    /// Options of the torture (writers, readers, hold_ns, think_ns, stutter_ms,
    /// hotplug_ms, switch_ms, pin, interrupts) and knobs of the locks. The option may be
    /// given several times.
    #[arg(long, value_name = "NAME=VALUE,…")]
    set: Vec<String>,
    /// Also build the canaries, which are locks that are broken on purpose, so that
    /// --torture can name them.
    #[arg(long)]
    canaries: bool,
    /// How QEMU runs the guest.
    #[arg(long, value_enum, default_value_t = Accel::Auto)]
    accel: Accel,
    /// Seconds that the guest may take to boot.
    #[arg(long, value_name = "N", default_value_t = 180)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86400))]
    boot_seconds: u32,
    /// Open a shell in the guest instead of torturing the locks.
    #[arg(long, conflicts_with_all = ["torture", "json"])]
    shell: bool,
    /// Install missing packages without asking.
    #[arg(long)]
    yes: bool,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command. `cache` is a folder that only this user can change.
pub fn run(args: &KernelArgs, cache: &Path) -> Result<ExitCode> {
    match &args.what {
        What::Module(args) => module(args, cache),
    }
}

fn module(args: &ModuleArgs, cache: &Path) -> Result<ExitCode> {
    let plan = plan::plan(args)?;
    plan::check_nodes(args)?;
    let interrupt = Interrupt::listen()?;
    let progress = Progress::new();
    let linux = needs::get(args, cache, &progress)?;
    let module = module::build(&linux, args.canaries, cache, &progress)?;
    if let Some(signal) = interrupt.take() {
        return Ok(ExitCode::from(128 + signal as u8));
    }
    let room = tempfile::tempdir()?;
    let initramfs = initramfs::write(room.path(), &linux, &module, &plan, args.shell)?;
    let machine = qemu::Machine {
        cpus: args.cpus,
        nodes: args.nodes,
        image: linux.image,
        initramfs,
    };
    if args.shell {
        return qemu::shell(&machine, args.accel);
    }
    let report = guest::run(&machine, args, &plan, &interrupt, &progress)?;
    progress.clear();
    if args.json {
        text::print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    } else {
        text::print(&report.table())?;
    }
    if let Some(signal) = report.interrupted {
        return Ok(ExitCode::from(128 + signal as u8));
    }
    if let Some(why) = &report.failure {
        text::complain(&format!("lockwork: {why}\n"));
    }
    Ok(ExitCode::from(u8::from(!report.passed())))
}
