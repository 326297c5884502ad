// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command lines of `lockwork kernel`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::patched::{Choice, Flavour};
use crate::series::patch::Series;
use crate::series::PatchesArgs;

/// What `lockwork kernel --help` says.
pub const HELP: &str = "\
Runs the locks inside the Linux kernel, from the same sources as everywhere else.

module builds them as a module for Debian's kernel, boots that kernel in QEMU with
--cpus CPUs on --nodes NUMA nodes, and tortures each lock there: kernel threads,
hardirqs and softirqs take it while CPUs go off and on and its mode changes.

patches writes three series of patches that put the locks under the kernel's own mutexes
and rw_semaphores, spinlocks, and rwlocks. patched builds that kernel from Debian's sources,
boots it, and has the kernel's own locktorture torture its locks.

A run fails if two threads were ever inside a lock together, or if the kernel reported
anything: a warning, a stall, an RCU complaint.

What it needs comes from Debian's packages. The command lists what is missing and asks
before it installs anything. It keeps what it builds in its cache folder.

QEMU uses KVM where that works, and else emulates. An emulated run shows that the
locks work. It says nothing about their speed.";

/// What follows the options of `module`.
const AFTER_MODULE: &str = "\
Exit status:
  0; or 1 if a lock failed, the kernel reported something, or the guest did not
  answer in time; 2 for a wrong command line, 125 if lockwork itself fails, 130
  after Ctrl-C.

Examples:
  lockwork kernel module
  lockwork kernel module --torture mutex,qrwlock --seconds 60 --cpus 16
  lockwork kernel module --torture mutex_numa --set pin=1,osq_lock_depth=5
  lockwork kernel module --torture mutex,mutex_lock
        Our mutex, and the kernel's own by the kernel's own torture.
  lockwork kernel module --linux ~/src/linux-debug
        A kernel of your own.
  lockwork kernel module --shell
        A shell in the guest, with the module loaded.";

/// What follows the options of `patched`.
const AFTER_PATCHED: &str = "\
Exit status:
  as that of lockwork kernel module.

Examples:
  lockwork kernel patched
  lockwork kernel patched --lockdep --torture mutex_lock,rwsem_lock --seconds 600
        --cpus 16 --set writers=64
  lockwork kernel patched --torture spin_lock,spin_lock_irq
        --append unfair_spinlock=tas
  lockwork kernel patched --load mwcm,dwom,hackbench --cpus 16
  lockwork kernel patched --here --sweep --load mwcm --seconds 10
        Measures, on a machine that has booted the patched kernel.
  lockwork kernel patched --torture mutex,numa_osq
        The module's torture of our locks, in the patched kernel.";

/// What follows the options of `patches`.
const AFTER_PATCHES: &str = "\
Examples:
  lockwork kernel patches -o series
  git am series/osq/000[1-9]*.patch
  lockwork kernel patches -o series --series osq --source ~/src/linux --signoff
  lockwork kernel patches --apply ~/src/linux";

/// Options of `lockwork kernel`.
#[derive(Debug, Args)]
pub struct KernelArgs {
    #[command(subcommand)]
    pub(crate) what: What,
}

#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Boot Debian's kernel with the locks as a module, and torture them.
    #[command(after_help = AFTER_MODULE)]
    Module(ModuleArgs),
    /// Build Debian's kernel with the patches, boot it, and torture its own locks.
    #[command(after_help = AFTER_PATCHED)]
    Patched(PatchedArgs),
    /// List the loads that a patched kernel can be given.
    Loads,
    /// Write the patches that put the locks into the kernel.
    #[command(after_help = AFTER_PATCHES)]
    Patches(PatchesArgs),
}

/// How QEMU runs the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Accel {
    /// KVM where it is and boots the guest, else emulation.
    Auto,
    /// KVM.
    Kvm,
    /// Emulation, with a host thread for each CPU.
    Tcg,
    /// KVM in an emulated host of 2 CPUs. It is slow. What a guest asks of its hypervisor,
    /// such as to halt a CPU or to wake it, is done there.
    Nested,
}

/// The guest of a command.
#[derive(Debug, Args)]
pub(crate) struct GuestArgs {
    /// CPUs of the guest.
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=255))]
    pub(crate) cpus: u32,
    /// NUMA nodes of the guest; the CPUs are divided evenly.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) nodes: u32,
    /// Seconds for each lock.
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86400))]
    pub(crate) seconds: u32,
    /// Options of the torture (writers, readers, hold_ns, think_ns, stutter_ms,
    /// hotplug_ms, switch_ms, pin, interrupts) and knobs of the locks. The option may be
    /// given several times. The kernel's own torture has writers and readers only.
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub(crate) set: Vec<String>,
    /// How QEMU runs the guest.
    #[arg(long, value_enum, default_value_t = Accel::Auto)]
    pub(crate) accel: Accel,
    /// Seconds that the guest may take to boot.
    #[arg(long, value_name = "N", default_value_t = 180)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86400))]
    pub(crate) boot_seconds: u32,
    /// Seconds that a torture may take to end when its time is over. An emulated guest on
    /// a busy machine is slow to stop.
    #[arg(long, value_name = "N", default_value_t = 300)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86400))]
    pub(crate) end_seconds: u32,
    /// Open a shell in the guest instead of torturing the locks. The guest is emulated
    /// unless --accel kvm is given. `exit` ends it, or Ctrl-A X.
    #[arg(long)]
    #[arg(conflicts_with_all = ["torture", "json", "seconds", "set", "boot_seconds", "end_seconds"])]
    pub(crate) shell: bool,
    /// Install missing packages without asking.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `lockwork kernel module`.
#[derive(Debug, Args)]
pub(crate) struct ModuleArgs {
    /// Boot a kernel that was built in this directory, with its modules, instead of
    /// Debian's.
    #[arg(long, value_name = "DIR")]
    pub(crate) linux: Option<PathBuf>,
    /// Locks to torture; LOCK+LOCK are modes that take turns on one object. `lockwork
    /// torture --list` lists our locks; mutex_lock, rwsem_lock, spin_lock and others of
    /// locktorture are the kernel's own [default: all of ours].
    #[arg(long, value_name = "LOCK,…", value_delimiter = ',')]
    pub(crate) torture: Vec<String>,
    /// Also build the canaries, which are locks that are broken on purpose, so that
    /// --torture can name them.
    #[arg(long)]
    pub(crate) canaries: bool,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

/// Options of `lockwork kernel patched`.
#[derive(Debug, Args)]
pub(crate) struct PatchedArgs {
    /// Locks to torture: the kernel's own, as locktorture names them, or ours in the
    /// module [default: mutex_lock, rwsem_lock, spin_lock, spin_lock_irq, rw_lock,
    /// rw_lock_irq].
    #[arg(long, value_name = "LOCK,…", value_delimiter = ',')]
    pub(crate) torture: Vec<String>,
    /// Build the kernel with lockdep (PROVE_LOCKING) and its relatives.
    #[arg(long, conflicts_with = "kcsan")]
    lockdep: bool,
    /// Build the kernel with KCSAN, which reports data races.
    #[arg(long)]
    kcsan: bool,
    /// Loads to run: what the published measurements ran, made again. `lockwork kernel
    /// loads` lists them.
    #[arg(long, value_name = "LOAD,…", value_delimiter = ',')]
    pub(crate) load: Vec<String>,
    /// Run each torture and load with 1, 2, 4 to 64 writers, without division of long
    /// queues and with it, instead of changing that all the while.
    #[arg(long)]
    pub(crate) sweep: bool,
    /// Run on this machine, which has booted a kernel with the patches, and not in QEMU:
    /// to measure, with --sweep. Needs root. With --off, the machine's kernel has no patches.
    #[arg(long, conflicts_with_all = ["cpus", "nodes", "accel", "boot_seconds", "append", "lockdep", "kcsan", "series", "patches", "build_only", "compile", "shell"])]
    pub(crate) here: bool,
    /// Words to add to the kernel's command line, such as unfair_spinlock=off.
    #[arg(long, value_name = "WORDS")]
    pub(crate) append: Option<String>,
    /// Only the patches of this series.
    #[arg(long, value_name = "SERIES")]
    series: Option<Series>,
    /// Only the first N patches; 0: none.
    #[arg(long, value_name = "N", value_parser = patches)]
    patches: Option<usize>,
    /// Of the options of the patches switch on only these, such as QUEUE_RWLOCK.
    #[arg(long, value_name = "OPTION,…", value_delimiter = ',')]
    options: Vec<String>,
    /// Leave the options of the patches off.
    #[arg(long, conflicts_with = "options")]
    off: bool,
    /// Build the kernel, and do not boot it.
    #[arg(long, conflicts_with_all = ["torture", "load", "sweep", "shell", "append"])]
    pub(crate) build_only: bool,
    /// Compile the files that the patches change and add, and no others.
    #[arg(long, conflicts_with_all = ["build_only", "torture", "load", "sweep", "shell", "append"])]
    pub(crate) compile: bool,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

/// The patch that adds the controls, counted from 1.
const CONTROLS: usize = 4;

impl PatchedArgs {
    pub(crate) fn choice(&self) -> Choice {
        Choice {
            flavour: match (self.lockdep, self.kcsan) {
                (true, _) => Flavour::Lockdep,
                (_, true) => Flavour::Kcsan,
                _ => Flavour::Plain,
            },
            options: self.options.clone(),
            series: self.series,
            patches: self.patches(),
            off: self.off,
        }
    }

    /// Whether the kernel has controls of its own locks.
    pub(crate) fn has_controls(&self) -> bool {
        let queue = "LOCK_SPIN_ON_OWNER_NUMA";
        let on = self.options.is_empty() || self.options.iter().any(|name| name == queue);
        let there = self.series.is_none_or(|series| series == Series::Osq);
        !self.off && on && there && self.patches() >= CONTROLS
    }

    /// How many of the patches are applied, at most.
    fn patches(&self) -> usize {
        self.patches.unwrap_or(usize::MAX)
    }
}

/// A number of patches.
fn patches(text: &str) -> Result<usize, String> {
    let most = crate::series::count();
    let number = text.parse().ok().filter(|n| *n <= most);
    number.ok_or_else(|| format!("it is not a number from 0 to {most}"))
}
