// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The files of one recording: which they are, and how each begins.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::raw::{self, RawFile};

/// Opens `file`, which is a file of a file system: another one may have no end, or wait for ever.
///
/// # Errors
/// It is none, or cannot be opened.
pub fn open(file: &Path) -> io::Result<File> {
    match fs::metadata(file)?.is_file() {
        true => File::open(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Whether `file` begins as the recorder's files do.
pub fn is_profile(file: &Path) -> bool {
    let mut start = [0; 8];
    let opened = open(file).and_then(|mut file| file.read_exact(&mut start));
    opened.is_ok() && u64::from_le_bytes(start) == raw::MAGIC
}

/// How `file` begins, if the recorder of this version wrote it.
pub fn header(file: &Path) -> Option<RawFile> {
    header_of(&open(file).ok()?)
}

/// The same of an open file.
pub fn header_of(file: &File) -> Option<RawFile> {
    let mut start = vec![0; size_of::<RawFile>()];
    let read = file.read_exact_at(&mut start, 0);
    let head = raw::read::<RawFile>(&start, 0).filter(|_| read.is_ok());
    head.filter(|head| head.magic == raw::MAGIC && head.version == raw::VERSION)
}

/// The process that `file` is of, if it is a profile.
fn process(file: &Path) -> Option<u64> {
    let mut start = [0; 40];
    let opened = open(file).and_then(|file| file.read_exact_at(&mut start, 0));
    let word = |at: usize| raw::read::<u64>(&start, at).filter(|_| opened.is_ok());
    // It has stood there in every version.
    word(0).filter(|magic| *magic == raw::MAGIC).and(word(32))
}

/// The files of child processes beside `file`: `FILE.PID` and `FILE.PID.N`. A profile that
/// somebody has given such a name is of another process.
pub fn children(file: &Path) -> Vec<PathBuf> {
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let Some(name) = file.file_name().map(OsStr::as_bytes) else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = |other: &OsStr| {
        let rest = other.as_bytes().strip_prefix(name)?.strip_prefix(b".")?;
        let rest = std::str::from_utf8(rest).ok()?;
        let mut numbers = rest.split('.').map(|number| number.parse::<u64>().ok());
        let pid = numbers.next()?;
        numbers.all(|number| number.is_some()).then_some(pid)?
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| {
            let pid = named(&entry.file_name())?;
            let path = entry.path();
            (process(&path) == Some(pid)).then_some(path)
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_of_the_process_that_its_name_has() {
        let room = tempfile::tempdir().expect("a folder");
        let file = room.path().join("p.prof");
        let other = OsStr::from_bytes(b"p\xff.prof");
        let put = |name: &str, pid: u64| {
            let words = [raw::MAGIC, raw::VERSION, 0, 0, pid];
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            fs::write(room.path().join(name), bytes).expect("written");
        };
        put("p.prof", 7);
        put("p.prof.8", 8);
        put("p.prof.9.2", 9);
        // Somebody's earlier ones.
        put("p.prof.1", 7);
        put("p.prof.20261128", 7);
        put("p.prof.old", 8);
        fs::write(room.path().join("p.prof.10"), "10").expect("written");
        let children = children(&file);
        let names = children
            .iter()
            .map(|path| path.file_name().expect("a name"));
        assert_eq!(names.collect::<Vec<_>>(), ["p.prof.8", "p.prof.9.2"]);
        let mut child = other.to_owned();
        child.push(".8");
        fs::rename(room.path().join("p.prof.8"), room.path().join(&child)).expect("renamed");
        let found = super::children(&room.path().join(other));
        assert_eq!(found, [room.path().join(child)]);
    }
}
