// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A machine between this one and the guest: Debian's kernel, emulated, with KVM and a QEMU of
//! its own. So the guest has a real hypervisor where this machine has none.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context, Result};

use crate::initramfs::{name_of, read, Archive};
use crate::linux;
use crate::needs;
use crate::qemu::{self, Machine, QEMU};
use crate::work::Work;

const INIT: &str = include_str!("host.sh");

/// CPUs of the host: fewer than a guest usually has, so that vCPUs lose theirs.
const CPUS: u32 = 2;

/// Memory of the host beside the guest's, in MiB.
const OWN_MIB: u32 = 768;

/// What the guest's QEMU loads at run time, in any of its folders of data.
const FIRMWARE: &[&str] = &["bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin"];

/// The CPU is the host's, but for XSAVE: what KVM says of it there does not agree with itself, and
/// the guest's kernel warns. Of the hypercalls, only the one that wakes a halted CPU is left, so
/// that their number says how often that was done.
const ACCEL: &[&str] = &[
    "-accel",
    "kvm",
    "-cpu",
    "host,xsave=off,kvm-pv-ipi=off,kvm-pv-sched-yield=off",
];

/// The host that runs `guest`. Its files are written into `room`.
pub(crate) fn machine(guest: &Machine, room: &Path, work: &Work) -> Result<Machine> {
    let (image, modules) = linux::host(work)?;
    let initramfs = room.join("initramfs-host");
    let mut archive = Archive::create(&initramfs, INIT)?;
    let mut names = String::new();
    for module in &modules {
        let name = name_of(module)?;
        archive.file(name, 0o644, &read(module)?)?;
        names += &format!("{name}\n");
    }
    archive.file("modules", 0o644, names.as_bytes())?;
    let program = needs::program(QEMU).with_context(|| format!("{QEMU} is not installed"))?;
    archive.file(&format!("bin/{QEMU}"), 0o755, &read(&program)?)?;
    for library in libraries(&program)? {
        archive.file(
            library.trim_start_matches('/'),
            0o755,
            &read(library.as_ref())?,
        )?;
    }
    for (name, path) in firmware(&program)? {
        archive.file(&format!("data/{name}"), 0o644, &read(&path)?)?;
    }
    archive.file("kernel", 0o644, &read(&guest.image)?)?;
    archive.file("initramfs", 0o644, &read(&guest.initramfs)?)?;
    archive.file("guest", 0o644, script(guest).as_bytes())?;
    archive.end()?;
    Ok(Machine {
        cpus: CPUS,
        nodes: 1,
        node_mib: guest.nodes * guest.node_mib + OWN_MIB,
        image,
        initramfs,
        is_stock: guest.is_stock,
        // Its own messages would look like the guest's.
        append: "loglevel=1".to_owned(),
    })
}

/// Runs the guest in the host, with the host's serial ports.
fn script(guest: &Machine) -> String {
    let inside = Machine {
        image: "/kernel".into(),
        initramfs: "/initramfs".into(),
        ..guest.clone()
    };
    let mut command = qemu::command(&inside, ACCEL);
    command.args(["-L", "/data", "-serial", "stdio", "-serial", "/dev/ttyS1"]);
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let words: Vec<String> = words.map(quoted).collect();
    format!("exec {}\n", words.join(" "))
}

fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}

/// The libraries of a program, by their whole paths.
fn libraries(program: &Path) -> Result<BTreeSet<String>> {
    let output = Command::new("ldd").arg(program).output();
    let output = output.context("cannot start ldd")?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("ldd cannot tell the libraries of {}", program.display());
    }
    let paths = said.lines().flat_map(str::split_whitespace);
    Ok(paths
        .filter(|word| word.starts_with('/'))
        .map(str::to_owned)
        .collect())
}

fn firmware(program: &Path) -> Result<Vec<(&'static str, PathBuf)>> {
    let output = Command::new(program).args(["-L", "help"]).output();
    let output = output.with_context(|| format!("cannot start {QEMU}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let find = |name: &&'static str| {
        let mut paths = said
            .lines()
            .map(|folder| Path::new(folder.trim()).join(name));
        let path = paths.find(|path| path.is_file());
        Ok((
            *name,
            path.with_context(|| format!("{QEMU} has no {name}"))?,
        ))
    };
    FIRMWARE.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guests_words_pass_a_shell() {
        let guest = Machine {
            cpus: 4,
            nodes: 2,
            node_mib: 256,
            image: "/elsewhere/bzImage".into(),
            initramfs: "/elsewhere/initramfs".into(),
            is_stock: false,
            append: "unfair_spinlock=pv it's".to_owned(),
        };
        let script = script(&guest);
        assert!(script.contains("'-kernel' '/kernel'"), "{script}");
        assert!(script.contains(r"unfair_spinlock=pv it'\''s'"), "{script}");
        assert!(!script.contains("elsewhere"), "{script}");
    }
}
