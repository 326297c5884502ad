// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How and when a recording ended. The recorder reads the clocks when it does something slow,
//! so a process that hangs, or was killed, may have read them long before its end.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::files::header;
use crate::limits::MOST_TICKS;
use crate::model::Fate;
use crate::modules::maps;
use crate::now::{since_start, with_ticks};
use crate::raw::RawFile;

/// The tick's length where nobody measured it: too short a run. Of a CPU of 2.5 GHz.
const UNKNOWN_TICK: f64 = 0.4;
/// A shorter distance between two readings of both clocks says too little.
const LEAST_NS: u64 = 1_000_000;

/// `lockwork profile` notes twice a second that a process runs. Of one that ended sooner, in seconds,
/// and was not seen to end, even the order of magnitude is not known.
const NOT_NOTED: f64 = 0.5;

/// The end of a recording.
pub struct End {
    /// How it came.
    pub fate: Fate,
    /// The process executed another program then.
    pub replaced: bool,
    /// And that one is recorded.
    pub goes_on: bool,
    /// The counter of ticks then.
    pub ticks: u64,
    /// Seconds since the start.
    pub seconds: f64,
    /// It may have come much later.
    pub at_least: bool,
    /// Length of a tick in nanoseconds.
    pub ns_per_tick: f64,
}

/// When a program that the process executed began to be recorded in one of `all`, in ticks. Its number
/// is the same, and it began later.
fn successor(head: &RawFile, all: &[RawFile]) -> Option<u64> {
    let is_later = |other: &&RawFile| {
        let later = other.start_ticks > head.start_ticks;
        other.pid == head.pid && later && other.start_unix_ns > head.start_unix_ns
    };
    let later = all.iter().filter(is_later);
    later.map(|other| other.start_ticks).min()
}

/// When the process executed another program, in ticks since the start, as it is noted in the file.
fn noted(head: &RawFile) -> Option<u64> {
    let since = head.replaced.checked_sub(head.start_ticks);
    since.filter(|ticks| *ticks < MOST_TICKS)
}

/// The end of what was recorded into `file`, in which `seen` are readings of the counter. A thread
/// waited for `waited` ticks in all. `all`: how the files of the recording begin.
pub fn end(
    file: &Path,
    head: &RawFile,
    all: &[RawFile],
    seen: impl Iterator<Item = u64>,
    waited: u64,
) -> End {
    let fate = match (head.signal, head.ended) {
        (1..=64, _) => Fate::Stopped(head.signal as u32),
        (_, 1..) => Fate::Ended,
        _ if head.seen != 0 => Fate::Ended,
        _ if is_mapped(file, head.pid) => Fate::Runs,
        _ => Fate::Gone,
    };
    let stamped = head.last_ticks.saturating_sub(head.start_ticks);
    let ns = head.last_ns.saturating_sub(head.start_ns);
    let now = match fate {
        Fate::Runs => Some(with_ticks(|| since_start(head))),
        _ => None,
    };
    let (measured, ns) = now
        .map(|(ticks, since)| (ticks.saturating_sub(head.start_ticks), since))
        .filter(|(ticks, since)| *ticks >= stamped && *since >= ns)
        .unwrap_or((stamped, ns));
    let ns_per_tick = if head.ticks_per_second > 0 {
        1e9 / head.ticks_per_second as f64
    } else if ns >= LEAST_NS && measured > 0 {
        ns as f64 / measured as f64
    } else {
        UNKNOWN_TICK
    };
    // Whoever wrote that was there then.
    let passed = seen
        .chain([head.alive])
        .map(|ticks| ticks.saturating_sub(head.start_ticks))
        .filter(|ticks| *ticks < MOST_TICKS)
        .fold(measured, u64::max);
    let is_longer = fate == Fate::Gone && waited > passed && waited < MOST_TICKS;
    let passed = if is_longer { waited } else { passed };
    let (noted, successor) = (noted(head), successor(head, all));
    // A program that is recorded began before its first lock, with which its file begins.
    let began = successor.map(|ticks| ticks - head.start_ticks);
    let replaced = noted.or(began.filter(|began| *began < passed));
    let (passed, ns) = match replaced {
        Some(replaced) => (replaced, replaced as f64 * ns_per_tick),
        None => (passed, ns as f64 + (passed - measured) as f64 * ns_per_tick),
    };
    End {
        fate,
        replaced: noted.is_some() || successor.is_some(),
        goes_on: successor.is_some(),
        ticks: head.start_ticks.saturating_add(passed),
        seconds: ns / 1e9,
        at_least: fate == Fate::Gone && replaced.is_none() && (is_longer || ns < NOT_NOTED * 1e9),
        ns_per_tick,
    }
}

/// The process that records into `file` now.
pub fn recorded_by(file: &Path) -> Option<u64> {
    let pid = header(file)?.pid;
    is_mapped(file, pid).then_some(pid)
}

/// Whether process `pid` of this machine has `file` in its memory: it is what is recorded.
pub(crate) fn is_mapped(file: &Path, pid: u64) -> bool {
    has_mapped(file, pid) == Some(true)
}

/// The same; none: nobody knows, as of a process that has just ended and has no memory any more.
pub(crate) fn has_mapped(file: &Path, pid: u64) -> Option<bool> {
    let facts = fs::metadata(file).ok()?;
    let path = fs::canonicalize(file).ok()?;
    let maps = maps(pid).ok().filter(|maps| !maps.is_empty())?;
    // stat() and /proc/PID/maps may show different inode numbers (btrfs, overlayfs).
    let is_it = |line: &str| {
        let inode = line.split_whitespace().nth(4);
        let is_it = inode.is_some_and(|inode| inode.parse() == Ok(facts.ino()));
        is_it || path.to_str().is_some_and(|path| line.ends_with(path))
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match maps.lines().any(is_it) {
        // The same file by another path, perhaps.
        false if maps.lines().any(|line| line.ends_with(&*name)) => None,
        found => Some(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::read;

    /// How the file of process 7 begins, which `lockwork profile` saw end after ten seconds.
    fn head(start: u64) -> RawFile {
        let zeros = vec![0; size_of::<RawFile>()];
        let head: RawFile = read(&zeros, 0).expect("it is as long");
        RawFile {
            pid: 7,
            start_ticks: start,
            start_ns: start,
            start_unix_ns: start,
            last_ticks: 10_000_000_000,
            last_ns: 10_000_000_000,
            seen: 1,
            ..head
        }
    }

    #[test]
    fn a_program_ends_where_the_process_executes_another_one() {
        let (old, new) = (head(1_000), head(4_000_001_000));
        let other = RawFile { pid: 8, ..new };
        let all = [old, other, new];
        let of = |head: &RawFile, all: &[RawFile]| {
            let end = end(Path::new("/nothing"), head, all, std::iter::empty(), 0);
            (end.replaced, end.ticks, end.seconds.round())
        };
        assert_eq!(of(&old, &all), (true, 4_000_001_000, 4.0));
        assert_eq!(of(&new, &all), (false, 10_000_000_000, 6.0));
        assert_eq!(of(&old, &all[..2]), (false, 10_000_000_000, 10.0));
    }

    #[test]
    fn a_program_that_was_replaced_by_one_without_locks_ends_there() {
        let of = |head: &RawFile, all: &[RawFile]| {
            let end = end(Path::new("/nothing"), head, all, std::iter::empty(), 0);
            (end.replaced, end.goes_on, end.ticks, end.seconds.round())
        };
        let mut old = head(1_000);
        old.replaced = 3_000_001_000;
        assert_eq!(of(&old, &[old]), (true, false, 3_000_001_000, 3.0));
        // It used its first lock a second later.
        let new = head(4_000_001_000);
        assert_eq!(of(&old, &[old, new]), (true, true, 3_000_001_000, 3.0));
        // The old one had done nothing slow for long, and nobody else looked.
        (old.last_ticks, old.last_ns, old.seen) = (2_000, 2_000, 0);
        old.ticks_per_second = 1_000_000_000;
        assert_eq!(of(&old, &[old]), (true, false, 3_000_001_000, 3.0));
        // A damaged file.
        old.replaced = u64::MAX;
        assert!(!of(&old, &[old]).0);
        old.replaced = 999;
        assert!(!of(&old, &[old]).0);
    }

    /// This process has the file in its memory, and so is taken for the one that is recorded.
    #[test]
    fn the_clock_of_the_day_may_be_set_while_a_program_runs() {
        let file = std::env::current_exe().expect("this program");
        let (ticks, _) = with_ticks(|| ());
        let mut head = RawFile {
            pid: u64::from(std::process::id()),
            start_ticks: ticks,
            start_unix_ns: 1, // a clock that was decades behind
            start_ns: 0,
            last_ticks: ticks,
            last_ns: 0,
            seen: 0,
            ticks_per_second: 1_000_000_000,
            ..head(0)
        };
        head.start_ns = since_start(&head);
        head.last_ns = head.start_ns;
        let end = end(&file, &head, &[], std::iter::empty(), 0);
        assert_eq!(end.fate, Fate::Runs);
        let by_ticks = (end.ticks - ticks) as f64 / 1e9;
        assert!(end.seconds < 1e6, "{} s, {by_ticks} by ticks", end.seconds);
    }

    #[test]
    fn a_process_whose_end_nobody_saw_ran_until_it_was_last_seen() {
        let mut head = RawFile {
            pid: 0,
            seen: 0,
            last_ticks: 2_000,
            last_ns: 2_000,
            ticks_per_second: 1_000_000_000,
            ..head(1_000)
        };
        let after = |head: &RawFile, waited| {
            end(
                Path::new("/nowhere"),
                head,
                &[],
                [3_000].into_iter(),
                waited,
            )
        };
        let of = |head: &RawFile| after(head, 0);
        assert_eq!((of(&head).ticks, of(&head).fate), (3_000, Fate::Gone));
        assert!(of(&head).at_least);
        let waited = after(&head, 89_000_000);
        assert_eq!((waited.seconds, waited.at_least), (0.089, true));
        head.alive = 4_000_001_000;
        assert_eq!(of(&head).ticks, 4_000_001_000);
        assert_eq!((of(&head).seconds, of(&head).at_least), (4.0, false));
        let waited = after(&head, 5_000_000_000);
        assert_eq!((waited.seconds, waited.at_least), (5.0, true));
        // Where the end was seen, it is known.
        head.seen = 1;
        let waited = after(&head, 5_000_000_000);
        assert_eq!((waited.seconds, waited.at_least), (4.0, false));
    }
}
