// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How long a tick is, measured over the whole run by the process that starts the program.

use std::fs::OpenOptions;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use crate::files::{children, header, is_profile};
use crate::now::{ticks, with_ticks};
use crate::raw::{self, RawFile};

/// Both clocks at one moment.
pub struct Clock {
    ticks: u64,
    at: Instant,
}

impl Clock {
    /// Now.
    pub fn start() -> Clock {
        let (ticks, at) = with_ticks(Instant::now);
        Clock { ticks, at }
    }

    /// Notes in `file` that the program has ended, and which signal ended it; and there and in
    /// its children's files the length of a tick. Where that is not possible the reader goes
    /// by what the program itself measured.
    pub fn finish(&self, file: &Path, signal: Option<i32>) {
        let now = Clock::start();
        let ns = now.at.duration_since(self.at).as_nanos().max(1) as f64;
        let passed = now.ticks.saturating_sub(self.ticks) as f64;
        let per_second = (passed / ns * 1e9).round() as u64;
        if let Some(head) = header(file) {
            let _ = note_end(file, &head, signal, per_second);
        }
        for file in children(file).iter().map(|child| &**child).chain([file]) {
            if is_profile(file) {
                let _ = put(file, offset_of!(RawFile, ticks_per_second), per_second);
            }
        }
    }
}

/// Notes in `file` how often threads of its process and of that one's children slept, as the kernel
/// told who waited for it. A process that called exit() knows its own threads' sum, which stays.
pub fn note_sleeps(file: &Path, slept: u64) {
    if header(file).is_some_and(|head| head.ended == 0) {
        let _ = put(file, offset_of!(RawFile, slept), slept);
    }
}

/// It has ended just now. By exit() it said so itself.
fn note_end(
    file: &Path,
    head: &RawFile,
    signal: Option<i32>,
    per_second: u64,
) -> std::io::Result<()> {
    put(file, offset_of!(RawFile, seen), 1)?;
    put(
        file,
        offset_of!(RawFile, signal),
        signal.unwrap_or(0) as u64,
    )?;
    if head.ended == 0 {
        let now = ticks();
        let passed = now.saturating_sub(head.start_ticks) as f64;
        // Not by the clock of the day, which may have been set meanwhile.
        let ns = (passed * 1e9 / per_second.max(1) as f64) as u64;
        put(file, offset_of!(RawFile, last_ticks), now)?;
        put(
            file,
            offset_of!(RawFile, last_ns),
            head.start_ns.saturating_add(ns),
        )?;
    }
    Ok(())
}

/// Writes into the header of a profile.
pub fn put(file: &Path, at: usize, value: u64) -> std::io::Result<()> {
    let file = OpenOptions::new().write(true).open(file)?;
    debug_assert!(at < raw::WAITS);
    file.write_all_at(&value.to_le_bytes(), at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn sleeps_are_noted_of_a_process_that_did_not_count_them() {
        let room = tempfile::tempdir().expect("a folder");
        let file = room.path().join("p.prof");
        let of = |ended: u64| {
            let mut bytes = vec![0; raw::BLOCKS];
            for (at, value) in [
                (offset_of!(RawFile, magic), raw::MAGIC),
                (offset_of!(RawFile, version), raw::VERSION),
                (offset_of!(RawFile, used), raw::BLOCKS as u64),
                (offset_of!(RawFile, ended), ended),
                (offset_of!(RawFile, slept), 7 * ended),
            ] {
                bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            std::fs::write(&file, bytes).expect("a file");
            let before = read::profile(&file, &[]).expect("a profile").slept;
            note_sleeps(&file, 500);
            (before, read::profile(&file, &[]).expect("a profile").slept)
        };
        assert_eq!(of(0), (None, Some(500)));
        assert_eq!(of(1), (Some(7), Some(7)));
    }
}
