// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The interposers and the recorder live inside this executable. The dynamic linker wants a
//! file, so each is unpacked into a folder of the user, under a name made from
//! its content.
//!
//! Whoever can change that folder can run code as the user, so nobody else may
//! be able to change it or the way to it (see [`crate::trust`]), and a
//! file found there is compared with what it should be before each use.
//! Everybody may read it: a program that root starts may drop root and then
//! start other programs.

use std::ffi::{CString, OsString};
use std::fs::{OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;

use anyhow::Result;
use sha2::{Digest, Sha256};

use crate::error::{Exit, OWN_ERROR};
use crate::trust::{self, Refusal};
use lockwork_report::text;

/// Only we may write to the file, and everybody may read it.
const FILE_MODE: u32 = 0o644;
/// Where root unpacks to. Others can read it, unlike root's home as a rule.
const OF_ROOT: &str = "/var/cache/lockwork";

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

/// What `lockwork profile` loads before them.
pub const RECORD: Embedded = Embedded {
    stem: "liblockwork-record",
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/liblockwork-record.so")),
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
        for place in places() {
            match self.unpack_into(&place.dir) {
                Ok(path) => return Ok(path),
                Err(Refusal::Unsafe(why)) if place.chosen => {
                    let dir = place.dir.display();
                    let why = format!(
                        "will not load code from {dir}: {why}; set XDG_CACHE_HOME to a directory \
                         that only you can write to"
                    );
                    return Err(Exit::with(OWN_ERROR, why));
                }
                Err(Refusal::Unsafe(why) | Refusal::Unusable(why)) => why_not.push(why),
            }
        }
        Err(Exit::with(
            OWN_ERROR,
            format!(
                "cannot unpack the interposer ({}); set XDG_CACHE_HOME to a directory that only \
                 you can write to and that is not mounted noexec",
                why_not.join("; ")
            ),
        ))
    }

    fn unpack_into(&self, dir: &Path) -> Result<PathBuf, Refusal> {
        let dir = trust::folder(dir)?;
        let unusable =
            |why: &dyn std::fmt::Display| Refusal::Unusable(format!("{}: {why}", dir.display()));
        let bytes = dir.as_os_str().as_bytes();
        if bytes.iter().any(|b| b" :\n".contains(b)) {
            return Err(unusable(
                &"LD_PRELOAD cannot name a path with a space or a colon",
            ));
        }
        if is_noexec(&dir) {
            return Err(unusable(&"mounted noexec"));
        }
        let path = dir.join(self.file_name());
        if !self.is_at(&path) {
            self.write_to(&dir, &path).map_err(|e| unusable(&e))?;
        }
        warn_of_dropped_root(&dir);
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
        let ours = file.metadata().is_ok_and(|m| {
            m.is_file() && m.uid() == trust::user() && m.mode() & 0o777 == FILE_MODE
        });
        let mut found = Vec::new();
        ours && file
            .take(self.bytes.len() as u64 + 1)
            .read_to_end(&mut found)
            .is_ok()
            && found == self.bytes
    }

    /// Writes a new file and gives it its name in one step, so that nobody
    /// ever loads half of it. Until then its name is random: a process's number
    /// is not unique among containers that share a home.
    fn write_to(&self, dir: &Path, path: &Path) -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(&format!(".{}.", self.stem))
            .tempfile_in(dir)?;
        file.write_all(self.bytes)?;
        // Not at its creation, where the umask would have a say.
        file.as_file()
            .set_permissions(Permissions::from_mode(FILE_MODE))?;
        file.persist(path)?;
        Ok(())
    }
}

/// The first of our folders that can be used, and `name` in it.
pub fn folder(name: &str) -> Result<PathBuf> {
    let mut why_not = Vec::new();
    for place in places() {
        // First the place itself: a folder made on the way would be closed to others,
        // who could not load the interposer from it then.
        let found = trust::folder(&place.dir).and_then(|dir| trust::folder(&dir.join(name)));
        match found {
            Ok(dir) => return Ok(dir),
            Err(Refusal::Unsafe(why) | Refusal::Unusable(why)) => why_not.push(why),
        }
        if place.chosen {
            break;
        }
    }
    Err(Exit::with(
        OWN_ERROR,
        format!(
            "there is no cache folder ({}); set XDG_CACHE_HOME to a directory that only you can \
             write to",
            why_not.join("; ")
        ),
    ))
}

/// Where to unpack to.
struct Place {
    dir: PathBuf,
    /// By the user: there is no other place if it is not safe.
    chosen: bool,
}

/// Best first.
fn places() -> Vec<Place> {
    let place = |dir: PathBuf, chosen| Place { dir, chosen };
    if let Some(dir) = absolute("XDG_CACHE_HOME") {
        return vec![place(dir.join("lockwork"), true), of_last_resort()];
    }
    let of_root = (trust::user() == 0).then(|| place(OF_ROOT.into(), false));
    let home = absolute("HOME").map(|home| place(home.join(".cache/lockwork"), false));
    let all = [of_root, home, Some(of_last_resort())];
    all.into_iter().flatten().collect()
}

fn of_last_resort() -> Place {
    Place {
        dir: format!("/tmp/lockwork-{}", trust::user()).into(),
        chosen: false,
    }
}

/// The XDG specification has relative paths ignored.
fn absolute(variable: &str) -> Option<PathBuf> {
    let value: OsString = std::env::var_os(variable)?;
    Some(PathBuf::from(value)).filter(|p| p.is_absolute())
}

/// Programs that a daemon starts after it has dropped root could not load the
/// interposer from a folder that root alone can reach. One that Lockwork made is no exception: it
/// is private, as the XDG specification asks, so it is named with what opens it.
fn warn_of_dropped_root(dir: &Path) {
    static ONCE: Once = Once::new();
    if trust::user() != 0 {
        return;
    }
    let closed = trust::closed(dir);
    if closed.is_empty() {
        return;
    }
    ONCE.call_once(|| {
        let names: Vec<String> = closed.iter().map(|path| text::path(path)).collect();
        let folders = closed
            .iter()
            .map(|path| path.to_string_lossy().into_owned());
        let words: Vec<String> = ["chmod".to_owned(), "a+x".to_owned()]
            .into_iter()
            .chain(folders)
            .collect();
        text::complain(&format!(
            "lockwork: other users cannot pass through {}: a program that drops root starts \
             others without the lock; let them (`{}`), or unset XDG_CACHE_HOME\n",
            names.join(" and "),
            text::shell(&words)
        ));
    });
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
