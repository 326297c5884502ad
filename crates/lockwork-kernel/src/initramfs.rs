// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The guest's files: a shell, modules, programs, the requests, and a script that makes
//! them.

use std::collections::HashSet;
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
    let mut archive = Archive::create(&path, INIT)?;
    for file in extra {
        archive.file(name_of(file)?, mode_of(file), &read(file)?)?;
    }
    archive.file("requests.sh", 0o644, REQUESTS.as_bytes())?;
    archive.file("requests", 0o644, requests(plan).as_bytes())?;
    if shell {
        archive.file("shell", 0o644, b"")?;
    }
    archive.end()?;
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

pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The archive, while it is written.
pub(crate) struct Archive {
    out: BufWriter<File>,
    inode: u32,
    folders: HashSet<String>,
}

impl Archive {
    /// With busybox, and a first process that it runs.
    pub(crate) fn create(path: &Path, init: &str) -> Result<Self> {
        let file = File::create(path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        let mut archive = Self {
            out: BufWriter::new(file),
            inode: 0,
            folders: HashSet::new(),
        };
        archive.file("bin/busybox", 0o755, &needs::busybox()?)?;
        archive.file("init", 0o755, init.as_bytes())?;
        Ok(archive)
    }

    /// A file in folders that are made if they are not there. `name` begins without `/`.
    pub(crate) fn file(&mut self, name: &str, mode: u32, bytes: &[u8]) -> Result<()> {
        for (at, _) in name.match_indices('/') {
            let folder = &name[..at];
            if self.folders.insert(folder.to_owned()) {
                self.add(folder, ModeFileType::Directory, 0o755, &[])?;
            }
        }
        self.add(name, ModeFileType::Regular, mode, bytes)
    }

    pub(crate) fn end(self) -> Result<()> {
        let mut out = trailer(self.out).context("cannot write the guest's files")?;
        out.flush().context("cannot write the guest's files")
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
