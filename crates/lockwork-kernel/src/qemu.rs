// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! QEMU's command line, and a QEMU that never outlives us.

use std::fs::OpenOptions;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use lockwork_report::child::die_with_us;
use lockwork_report::interrupt::{Interrupt, Interrupted};

use crate::args::Accel;

/// Memory of each node of a guest, in MiB.
pub(crate) const NODE_MIB: u32 = 256;

/// The guest's command line. Mitigations warn on some CPUs, and are not what is tested; nor are
/// algorithms for cryptography, whose tests at boot take long. A CPU is said to hang after two
/// minutes: on a busy host an emulated one may not run for long.
const APPEND: &str = "console=ttyS0 panic=-1 oops=panic mitigations=off cryptomgr.notests \
                      watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 ramdisk_size=65536";

/// The guest's machine and what it boots.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) cpus: u32,
    pub(crate) nodes: u32,
    pub(crate) node_mib: u32,
    pub(crate) image: PathBuf,
    pub(crate) initramfs: PathBuf,
    /// The kernel has nothing of ours until a module is loaded.
    pub(crate) is_stock: bool,
    /// Words for the kernel, after our own.
    pub(crate) append: String,
}

/// Whether KVM can be opened here. It may fail to boot the guest all the same.
pub(crate) fn has_kvm() -> bool {
    let kvm = OpenOptions::new().read(true).write(true).open("/dev/kvm");
    kvm.is_ok()
}

/// The program.
pub(crate) const QEMU: &str = "qemu-system-x86_64";

/// The command, but for the serial ports.
pub(crate) fn command(machine: &Machine, accel: &[&str]) -> Command {
    let mut command = Command::new(QEMU);
    command.args(accel);
    let Machine {
        cpus,
        nodes,
        node_mib,
        ..
    } = machine;
    let cores = cpus / nodes;
    command
        .args(["-machine", "q35", "-nodefaults", "-no-reboot"])
        .args(["-display", "none"])
        .args(["-m", &format!("{}M", nodes * node_mib)])
        .args(["-smp", &format!("{cpus},sockets={nodes},cores={cores}")]);
    for node in 0..*nodes {
        let (first, last) = (node * cores, (node + 1) * cores - 1);
        command.args([
            "-object".to_owned(),
            format!("memory-backend-ram,id=memory{node},size={node_mib}M"),
            "-numa".to_owned(),
            format!("node,nodeid={node},cpus={first}-{last},memdev=memory{node}"),
        ]);
    }
    command.arg("-kernel").arg(&machine.image);
    command.arg("-initrd").arg(&machine.initramfs);
    command.arg("-append");
    command.arg(format!("{APPEND} {}", machine.append).trim_end());
    command
}

fn accel(kvm: bool) -> &'static [&'static str] {
    match kvm {
        true => &["-accel", "kvm", "-cpu", "host"],
        false => &["-accel", "tcg,thread=multi", "-cpu", "max"],
    }
}

/// A running QEMU. It is killed when this goes.
pub(crate) struct Qemu {
    child: Child,
}

impl Qemu {
    /// Starts the guest. Its console is the child's standard output; its second serial
    /// port connects to `results`, where somebody listens.
    pub(crate) fn start(machine: &Machine, kvm: bool, results: &Path) -> Result<Self> {
        let mut command = command(machine, accel(kvm));
        command
            .args(["-serial", "stdio", "-serial"])
            .arg(format!("unix:{}", results.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A Ctrl-C of the terminal is ours to handle.
            .process_group(0);
        die_with_us(&mut command);
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {QEMU}"))?;
        Ok(Self { child })
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The guest's console on this terminal, until it ends.
pub(crate) fn shell(machine: &Machine, accel: Accel, interrupt: &Interrupt) -> Result<ExitCode> {
    let mut command = command(machine, self::accel(accel == Accel::Kvm));
    command.args(["-serial", "mon:stdio"]);
    die_with_us(&mut command);
    let child = command
        .spawn()
        .with_context(|| format!("cannot start {QEMU}"))?;
    let mut qemu = Qemu { child };
    loop {
        if let Some(status) = qemu.child().try_wait()? {
            return Ok(ExitCode::from(u8::from(!status.success())));
        }
        if let Some(signal) = interrupt.take() {
            return Err(Interrupted(signal).into());
        }
        sleep(Duration::from_millis(50));
    }
}
