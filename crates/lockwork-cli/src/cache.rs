// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The interposers live inside this executable. The dynamic linker wants a
//! file, so each is unpacked into a private directory of the user, under a
//! name made from its content.
//!
//! Whoever can write there can run code as the user, so the directory must be
//! a real directory, owned by the user and closed to everyone else, and a file
//! found there is compared with what it should be before each use.

use std::ffi::{CString, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Result;
use sha2::{Digest, Sha256};

use crate::error::{Exit, OWN_ERROR};

/// An interposer carried inside this executable.
pub struct Embedded {
    /// The file name, up to the hash.
    stem: &'static str,
    bytes: &'static [u8],
}

/// Lockwork's locks.
pub const PRELOAD: Embedded = Embedded {
    stem: "liblockwork-preload",
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/liblockwork-preload.so")),
};

/// The control arm.
pub const PASSTHROUGH: Embedded = Embedded {
    stem: "liblockwork-passthrough",
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/liblockwork-passthrough.so")),
};

impl Embedded {
    fn file_name(&self) -> String {
        let hash = Sha256::digest(self.bytes);
        let hex: String = hash.iter().take(12).map(|b| format!("{b:02x}")).collect();
        format!("{}-{hex}.so", self.stem)
    }

    /// Is `name` the file name of any version of this interposer?
    pub fn owns(&self, name: &[u8]) -> bool {
        name.starts_with(self.stem.as_bytes()) && name.ends_with(b".so")
    }

    /// The path of the unpacked file, which holds exactly the right bytes.
    pub fn unpack(&self) -> Result<PathBuf> {
        let mut why_not = Vec::new();
        for dir in candidates() {
            match self.unpack_into(&dir) {
                Ok(path) => return Ok(path),
                Err(Refusal::Unsafe(why)) => return Err(Exit::with(OWN_ERROR, why)),
                Err(Refusal::Unusable(why)) => why_not.push(why),
            }
        }
        Err(Exit::with(
            OWN_ERROR,
            format!(
                "cannot unpack the interposer ({}); set XDG_CACHE_HOME to a directory that you \
                 can write to and that is not mounted noexec",
                why_not.join("; ")
            ),
        ))
    }

    fn unpack_into(&self, dir: &Path) -> Result<PathBuf, Refusal> {
        let unusable = |e: io::Error| Refusal::Unusable(format!("{}: {e}", dir.display()));
        if dir
            .as_os_str()
            .as_bytes()
            .iter()
            .any(|b| b" :\n".contains(b))
        {
            let why = "LD_PRELOAD cannot name a path with a space or a colon";
            return Err(Refusal::Unusable(format!("{}: {why}", dir.display())));
        }
        private_dir(dir)?;
        if is_noexec(dir) {
            let why = format!("{}: mounted noexec", dir.display());
            return Err(Refusal::Unusable(why));
        }
        let path = dir.join(self.file_name());
        if !self.is_at(&path) {
            self.write_to(dir, &path).map_err(unusable)?;
        }
        Ok(path)
    }

    /// Does `path` hold exactly our bytes, in a plain file of ours?
    fn is_at(&self, path: &Path) -> bool {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let Ok(file) = options.open(path) else {
            return false;
        };
        let ours = file
            .metadata()
            .is_ok_and(|m| m.is_file() && m.uid() == uid() && m.len() == self.bytes.len() as u64);
        let mut found = Vec::new();
        ours && file
            .take(self.bytes.len() as u64 + 1)
            .read_to_end(&mut found)
            .is_ok()
            && found == self.bytes
    }

    /// Writes a new file and gives it its name in one step, so that nobody
    /// ever loads half of it.
    fn write_to(&self, dir: &Path, path: &Path) -> io::Result<()> {
        let temporary = dir.join(format!(".{}.{}", self.stem, std::process::id()));
        let _ = fs::remove_file(&temporary);
        let mut file: File = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)?;
        let done = file
            .write_all(self.bytes)
            .and_then(|()| fs::rename(&temporary, path));
        if done.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        done
    }
}

/// Why a directory is not used.
enum Refusal {
    /// It could be somebody's trap: stop.
    Unsafe(String),
    /// It does not work: try the next.
    Unusable(String),
}

fn uid() -> u32 {
    // SAFETY: cannot fail and touches no memory.
    unsafe { libc::geteuid() }
}

fn absolute(variable: &str) -> Option<PathBuf> {
    let value: OsString = std::env::var_os(variable)?;
    Some(PathBuf::from(value)).filter(|p| p.is_absolute())
}

/// Where to unpack, best first. A home that is not ours (sudo keeps HOME) is
/// passed over: files left there would be in its owner's way.
fn candidates() -> Vec<PathBuf> {
    let own_home = |p: &PathBuf| fs::metadata(p).is_ok_and(|m| m.uid() == uid());
    let xdg = absolute("XDG_CACHE_HOME").map(|p| p.join("lockwork"));
    let home = absolute("HOME")
        .filter(own_home)
        .map(|p| p.join(".cache/lockwork"));
    let temporary = PathBuf::from(format!("/tmp/lockwork-{}", uid()));
    xdg.or(home).into_iter().chain([temporary]).collect()
}

/// Makes `dir`, if need be, and makes sure that only we can write to it.
fn private_dir(dir: &Path) -> Result<(), Refusal> {
    let unusable = |e: io::Error| Refusal::Unusable(format!("{}: {e}", dir.display()));
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    if let Some(parent) = dir.parent().filter(|p| !p.exists()) {
        builder.recursive(true).create(parent).map_err(unusable)?;
    }
    match builder.recursive(false).create(dir) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(unusable(e)),
        _ => {}
    }
    let found = fs::symlink_metadata(dir).map_err(unusable)?;
    let problem = if found.file_type().is_symlink() {
        "is a symbolic link".to_string()
    } else if !found.is_dir() {
        "is not a directory".to_string()
    } else if found.uid() != uid() {
        format!("belongs to user {}, not to you", found.uid())
    } else if found.mode() & 0o077 != 0 {
        format!("is open to others (mode {:03o})", found.mode() & 0o777)
    } else {
        return Ok(());
    };
    Err(Refusal::Unsafe(format!(
        "will not load code from {}, because it {problem}; remove it, or set XDG_CACHE_HOME \
         to another directory",
        dir.display()
    )))
}

fn is_noexec(dir: &Path) -> bool {
    let Ok(path) = CString::new(dir.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: path is a C string, and statvfs fills the struct on success.
    unsafe {
        let mut facts: libc::statvfs = std::mem::zeroed();
        libc::statvfs(path.as_ptr(), &mut facts) == 0 && facts.f_flag & libc::ST_NOEXEC != 0
    }
}
