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

use std::fmt;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use lockwork_report::interrupt::Interrupt;
use lockwork_report::{bail_usage, text};

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
before it installs anything. It keeps kernel and module in its cache folder.

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
    /// Seconds that a torture may take to end when its time is over. An emulated guest on
    /// a busy machine is slow to stop.
    #[arg(long, value_name = "N", default_value_t = 300)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86400))]
    end_seconds: u32,
    /// Open a shell in the guest instead of torturing the locks. The guest is emulated
    /// unless --accel kvm is given. `exit` ends it, or Ctrl-A X.
    #[arg(long)]
    #[arg(conflicts_with_all = ["torture", "json", "seconds", "set", "boot_seconds", "end_seconds"])]
    shell: bool,
    /// Install missing packages without asking.
    #[arg(long)]
    yes: bool,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command. `cache` makes a folder that only this user can change.
pub fn run(args: &KernelArgs, cache: impl Fn() -> Result<PathBuf>) -> Result<ExitCode> {
    let What::Module(args) = &args.what;
    let result = module(args, cache);
    match result {
        Err(error) => match error.downcast_ref::<Interrupted>() {
            Some(Interrupted(signal)) => Ok(ExitCode::from(128 + *signal as u8)),
            None => Err(error),
        },
        result => result,
    }
}

/// A signal ended the command.
#[derive(Debug)]
struct Interrupted(i32);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ended by signal {}", self.0)
    }
}

impl std::error::Error for Interrupted {}

fn module(args: &ModuleArgs, cache: impl Fn() -> Result<PathBuf>) -> Result<ExitCode> {
    let plan = plan::plan(args)?;
    plan::check_machine(args)?;
    if args.shell && !io::stdin().is_terminal() {
        bail_usage!("--shell needs a terminal");
    }
    let own = args.linux.as_deref().map(linux::built).transpose()?;
    let cache = cache()?;
    let packages = needs::missing(own.is_some());
    needs::agree(&packages, args.yes)?;
    let work = Work {
        cache,
        interrupt: Interrupt::listen()?,
        progress: Progress::new(),
    };
    let linux = needs::get(&packages, own, &work)?;
    let module = module::build(&linux, args.canaries, &work)?;
    let room = tempfile::tempdir()?;
    let initramfs = initramfs::write(room.path(), &linux, &module, &plan, args.shell)?;
    let machine = qemu::Machine {
        cpus: args.cpus,
        nodes: args.nodes,
        image: linux.image,
        initramfs,
    };
    if args.shell {
        work.progress.clear();
        return qemu::shell(&machine, args.accel, &work.interrupt);
    }
    let report = guest::run(&machine, args, &plan, &work)?;
    work.progress.clear();
    if args.json {
        text::print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
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

/// What every step of the command uses.
struct Work {
    cache: PathBuf,
    interrupt: Interrupt,
    progress: Progress,
}
