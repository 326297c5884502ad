// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! May code be loaded from a folder? Whoever can change a folder on the way to it can
//! put another one in its place, so that each of them counts, and each symbolic link.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// As many symbolic links as the kernel follows.
const MOST_LINKS: usize = 40;
/// The mode bits by which the group and others may write.
const OTHERS_WRITE: u32 = 0o022;
/// In a folder with this bit, only an entry's owner may remove or rename it.
const STICKY: u32 = 0o1000;
/// New parents are private, as the XDG specification asks.
const PARENT: u32 = 0o700;
/// The folder itself holds no secret, and a program that drops root must read it.
const FOLDER: u32 = 0o755;

/// Why a folder is not used.
#[derive(Debug)]
pub enum Refusal {
    /// Somebody else could change what is in it: says who and where.
    Unsafe(String),
    /// It does not work.
    Unusable(String),
}

/// The user that this process acts as.
pub fn user() -> u32 {
    // SAFETY: cannot fail and touches no memory.
    unsafe { libc::geteuid() }
}

/// Makes the folder `path`, with the parents that are missing, and makes sure that
/// nobody but us and root can change it or the way to it. Returns its path without
/// symbolic links.
///
/// It goes from the root on. Nobody else can change what a name means that it has
/// passed, so that the answer stays true.
pub fn folder(path: &Path) -> Result<PathBuf, Refusal> {
    let mut place = PathBuf::from("/");
    let mut left: Vec<OsString> = names(path);
    let mut links = 0;
    safe(&place, &look(&place)?)?;
    while let Some(name) = left.pop() {
        if name == ".." {
            place.pop();
            continue;
        }
        let next = place.join(&name);
        let found = look_or_make(&next, left.is_empty())?;
        safe(&next, &found)?;
        if !found.is_symlink() {
            place = next;
            continue;
        }
        links += 1;
        if links > MOST_LINKS {
            return Err(unusable(&next, &"too many symbolic links"));
        }
        let target = fs::read_link(&next).map_err(|e| unusable(&next, &e))?;
        if target.is_absolute() {
            place = PathBuf::from("/");
        }
        left.extend(names(&target));
    }
    let found = look(&place)?;
    if found.uid() != user() {
        return Err(belongs(&place, &found));
    }
    if found.mode() & OTHERS_WRITE != 0 {
        return Err(writable(&place, &found));
    }
    Ok(place)
}

/// What keeps other users from what is in this folder, which has no symbolic links in its path: the
/// folder itself, or ones above it, the outermost first.
pub fn closed(folder: &Path) -> Vec<PathBuf> {
    let may_search = |path: &Path| fs::metadata(path).is_ok_and(|m| m.mode() & 0o001 != 0);
    let closed = folder.ancestors().filter(|path| !may_search(path));
    let mut closed: Vec<PathBuf> = closed.map(Path::to_owned).collect();
    closed.reverse();
    closed
}

/// The names in `path`, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let name = |component: Component| match component {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some(OsStr::new("..").to_os_string()),
        _ => None,
    };
    path.components().rev().filter_map(name).collect()
}

fn look(path: &Path) -> Result<Metadata, Refusal> {
    fs::symlink_metadata(path).map_err(|e| unusable(path, &e))
}

/// What is at `path`; if nothing is, a new folder, the last one or a parent.
fn look_or_make(path: &Path, is_last: bool) -> Result<Metadata, Refusal> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        found => return found.map_err(|e| unusable(path, &e)),
    }
    match DirBuilder::new().mode(PARENT).create(path) {
        // The umask has no say in the last one.
        Ok(()) if is_last => fs::set_permissions(path, Permissions::from_mode(FOLDER))
            .map_err(|e| unusable(path, &e))?,
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {} // made by another lockwork
        Err(e) => return Err(unusable(path, &e)),
    }
    look(path)
}

/// Is it a folder or a link that only we and root can change?
fn safe(path: &Path, found: &Metadata) -> Result<(), Refusal> {
    if found.uid() != 0 && found.uid() != user() {
        return Err(belongs(path, found));
    }
    if found.is_symlink() {
        return Ok(());
    }
    if !found.is_dir() {
        return Err(Refusal::Unsafe(format!(
            "{} is not a directory",
            path.display()
        )));
    }
    if found.mode() & OTHERS_WRITE != 0 && found.mode() & STICKY == 0 {
        return Err(writable(path, found));
    }
    Ok(())
}

fn belongs(path: &Path, found: &Metadata) -> Refusal {
    Refusal::Unsafe(format!(
        "{} belongs to user {}, who could put other code there",
        path.display(),
        found.uid()
    ))
}

fn writable(path: &Path, found: &Metadata) -> Refusal {
    let path = path.display();
    Refusal::Unsafe(format!(
        "others can write to {path} (mode {:03o}; `chmod go-w {path}` ends that) and could put \
         other code there",
        found.mode() & 0o777
    ))
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Refusal {
    Refusal::Unusable(format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn goes_through_links_and_makes_what_is_missing() {
        let room = tempfile::tempdir().expect("a directory");
        let real = room.path().canonicalize().expect("its name");
        symlink(&real, real.join("absolute")).expect("symlink");
        symlink("absolute/x/../y", real.join("relative")).expect("symlink");
        let made = folder(&real.join("relative/./z")).expect("safe");
        assert_eq!(made, real.join("y/z"));
        let mode = |path: &Path| fs::metadata(path).expect("it").mode() & 0o7777;
        assert_eq!(mode(&made), FOLDER);
        assert_eq!(mode(&real.join("y")) & !PARENT, 0);
        let closed_ones = closed(&made);
        assert_eq!(closed_ones.last(), Some(&real.join("y")), "it is private");
        assert!(!closed_ones.contains(&made));
        assert!(closed(Path::new("/")).is_empty());

        symlink("y/z/..", real.join("up")).expect("symlink");
        fs::set_permissions(real.join("y"), Permissions::from_mode(0o1777)).expect("chmod");
        let up = folder(&real.join("up"));
        assert!(matches!(up, Err(Refusal::Unsafe(_))), "{up:?}");
    }

    #[test]
    fn does_not_run_in_circles() {
        let room = tempfile::tempdir().expect("a directory");
        symlink("b", room.path().join("a")).expect("symlink");
        symlink("a", room.path().join("b")).expect("symlink");
        let found = folder(&room.path().join("a"));
        assert!(matches!(found, Err(Refusal::Unusable(_))), "{found:?}");
    }
}
