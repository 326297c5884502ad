// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The files of one recording: which they are, and how each begins.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::raw::{self, RawFile};

/// Whether `file` begins as the recorder's files do.
pub fn is_profile(file: &Path) -> bool {
    let mut start = [0; 8];
    let opened = File::open(file).and_then(|mut file| file.read_exact(&mut start));
    opened.is_ok() && u64::from_le_bytes(start) == raw::MAGIC
}

/// How `file` begins, if the recorder of this version wrote it.
pub fn header(file: &Path) -> Option<RawFile> {
    let mut start = vec![0; size_of::<RawFile>()];
    let opened = File::open(file).and_then(|file| file.read_exact_at(&mut start, 0));
    let head = raw::read::<RawFile>(&start, 0).filter(|_| opened.is_ok());
    head.filter(|head| head.magic == raw::MAGIC && head.version == raw::VERSION)
}

/// The files of child processes beside `file`: `FILE.PID` and `FILE.PID.N`.
pub fn children(file: &Path) -> Vec<PathBuf> {
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let Some(name) = file.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let other = entry.file_name();
            let rest = other.to_str().and_then(|other| other.strip_prefix(name));
            let rest = rest.and_then(|rest| rest.strip_prefix('.'));
            rest.is_some_and(|rest| rest.split('.').all(is_number))
        })
        .map(|entry| entry.path())
        .filter(|path| is_profile(path))
        .collect();
    found.sort();
    found
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
