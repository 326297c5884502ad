// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The guest's files: a shell, modules, programs, the requests, and a script that makes
//! them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cpio::newc::{trailer, Builder, ModeFileType};

use crate::linux::Linux;
use crate::needs;
use crate::plan::{Kind, Request};

const INIT: &str = include_str!("init.sh");
/// Makes the requests, in a guest or here.
pub(crate) const REQUESTS: &str = include_str!("requests.sh");

/// Writes the archive into `dir`.
pub(crate) fn write(
    dir: &Path,
    linux: &Linux,
    extra: &[PathBuf],
    plan: &[Request],
    shell: bool,
) -> Result<PathBuf> {
    let path = dir.join(format!("initramfs-{}", linux.release));
    let failed = || format!("cannot write {}", path.display());
    let file = File::create(&path).with_context(failed)?;
    let mut archive = Archive {
        out: BufWriter::new(file),
        inode: 0,
    };
    archive.add("bin", ModeFileType::Directory, 0o755, &[])?;
    archive.file("bin/busybox", 0o755, &needs::busybox()?)?;
    for file in extra {
        archive.file(name_of(file)?, mode_of(file), &read(file)?)?;
    }
    archive.file("init", 0o755, INIT.as_bytes())?;
    archive.file("requests.sh", 0o644, REQUESTS.as_bytes())?;
    archive.file("requests", 0o644, requests(plan).as_bytes())?;
    if shell {
        archive.file("shell", 0o644, b"")?;
    }
    let mut out = trailer(archive.out).with_context(failed)?;
    out.flush().with_context(failed)?;
    Ok(path)
}

/// What a file is called in the guest. In the cache a name may begin with a key.
pub(crate) fn name_of(file: &Path) -> Result<&str> {
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.context("a file of the guest has no name")?;
    let known = [crate::module::NAME, "load"];
    let known = known.into_iter().find(|known| name.ends_with(known));
    Ok(known.unwrap_or(name))
}

fn mode_of(file: &Path) -> u32 {
    match file.extension() {
        Some(_) => 0o644,
        None => 0o755,
    }
}

/// For each torture a line for its start, each knob and its request, as `init.sh` reads them.
pub(crate) fn requests(plan: &[Request]) -> String {
    let mut text = String::new();
    for request in plan {
        let (knob, torture) = match request.kind {
            Kind::Ours => ("knob", "torture"),
            Kind::Stock => ("control", "stock"),
            Kind::Load(_) => ("control", "load"),
        };
        text += "start\n";
        for (name, value) in &request.knobs {
            text += &format!("{knob} {name} {value}\n");
        }
        text += &format!("{torture} {}\n", request.line);
    }
    text
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

struct Archive {
    out: BufWriter<File>,
    inode: u32,
}

impl Archive {
    fn file(&mut self, name: &str, mode: u32, bytes: &[u8]) -> Result<()> {
        self.add(name, ModeFileType::Regular, mode, bytes)
    }

    fn add(&mut self, name: &str, kind: ModeFileType, mode: u32, bytes: &[u8]) -> Result<()> {
        self.inode += 1;
        let size = u32::try_from(bytes.len()).context("a file of the guest is too large")?;
        let entry = Builder::new(name)
            .ino(self.inode)
            .mode(mode)
            .set_mode_file_type(kind);
        let mut writer = entry.write(&mut self.out, size);
        writer.write_all(bytes)?;
        writer.finish()?;
        Ok(())
    }
}
