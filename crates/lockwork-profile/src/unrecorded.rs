// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Processes that a recorded program starts and that are not recorded: static ones, setuid ones, and
//! those with another environment. One with a single thread contends for no lock of its own, so
//! only those with several count.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::mem::offset_of;
use std::path::{Path, PathBuf};

use crate::clock::put;
use crate::files::header;
use crate::modules::maps;
use crate::raw::RawFile;

/// How the name of the recorder's file begins.
const RECORDER: &str = "liblockwork-record-";
/// Bytes of a name that are kept.
const NAME: usize = 15;

/// What is known of a process and of the program that it executes.
#[derive(Clone, Copy)]
enum Known {
    /// It had no recorder when it was seen first. It may have been about to load it.
    NotYet,
    /// It has it.
    Recorded,
    /// It never loads it.
    Unrecorded,
}

/// The processes that come of one, as they are seen now and then.
pub struct Unrecorded {
    root: u32,
    known: HashMap<(u32, PathBuf), Known>,
    /// By their numbers.
    names: BTreeMap<u32, String>,
    /// Those that had the recorder, several threads and no file when they were seen last.
    silent: HashSet<u32>,
}

impl Unrecorded {
    /// Of this process, and those that come of it.
    pub fn below(root: u32) -> Unrecorded {
        Unrecorded {
            root,
            known: HashMap::new(),
            names: BTreeMap::new(),
            silent: HashSet::new(),
        }
    }

    /// Looks at them all; of those in `recorded` there are files. One that begins and ends between
    /// two looks is missed. Returns how many threads they have.
    pub fn look(&mut self, recorded: &HashSet<u32>) -> u32 {
        let (mut rest, mut all) = (vec![self.root], 0);
        while let Some(pid) = rest.pop() {
            let threads = threads(pid);
            all += threads.len() as u32;
            rest.extend(threads.iter().flat_map(|thread| children(thread)));
            if threads.len() > 1 {
                self.look_at(pid, recorded.contains(&pid));
            }
        }
        all
    }

    fn look_at(&mut self, pid: u32, is_recorded: bool) {
        // Of a setuid program it cannot be read.
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        let key = (pid, program);
        let known = self.known.get(&key).copied();
        if is_recorded {
            self.silent.remove(&pid);
        } else if matches!(known, Some(Known::Recorded)) {
            self.silent.insert(pid);
        }
        if matches!(known, Some(Known::Recorded | Known::Unrecorded)) {
            return;
        }
        let now = match has_recorder(pid) {
            Recorder::Gone => return,
            Recorder::There => Known::Recorded,
            // It made itself unreadable, as those do that keep secrets.
            Recorder::Secret if is_recorded => Known::Recorded,
            Recorder::Secret | Recorder::None => match known {
                None => Known::NotYet,
                Some(_) => Known::Unrecorded,
            },
        };
        if matches!(now, Known::Unrecorded) {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            self.names.insert(pid, name.trim().to_owned());
        }
        self.known.insert(key, now);
    }

    /// Notes in `file`, which is the first process's, how many there were, and a name; and how many had
    /// the recorder and no file. `recorded` have one by now.
    pub fn note(&self, file: &Path, recorded: &HashSet<u32>) {
        let silent = self.silent.difference(recorded).count() as u64;
        if silent > 0 && header(file).is_some() {
            let _ = put(file, offset_of!(RawFile, silent), silent);
        }
        let Some(name) = self.names.values().next() else {
            return;
        };
        if header(file).is_none() {
            return;
        }
        let mut bytes = [0; 16];
        let used = name.len().min(NAME);
        bytes[..used].copy_from_slice(&name.as_bytes()[..used]);
        let (first, second) = bytes.split_at(8);
        let at = offset_of!(RawFile, unrecorded_name);
        for (at, word) in [(at, first), (at + 8, second)] {
            let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
            let _ = put(file, at, word);
        }
        let number = self.names.len() as u64;
        let _ = put(file, offset_of!(RawFile, unrecorded), number);
    }
}

/// The folders of its threads.
fn threads(pid: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let entries = entries.into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Those that this thread started.
fn children(thread: &Path) -> Vec<u32> {
    let line = fs::read_to_string(thread.join("children")).unwrap_or_default();
    let numbers = line.split_whitespace().map(|word| word.parse().ok());
    numbers.flatten().collect()
}

/// Whether the recorder is in a process's memory.
enum Recorder {
    There,
    None,
    /// It may not be read.
    Secret,
    /// The process has ended.
    Gone,
}

fn has_recorder(pid: u32) -> Recorder {
    match maps(pid.into()) {
        Ok(maps) if maps.is_empty() => Recorder::Gone,
        Ok(maps) if maps.contains(RECORDER) => Recorder::There,
        Ok(_) => Recorder::None,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Recorder::Secret,
        Err(_) => Recorder::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{raw, read};

    /// This process has the test's thread beside its first one, and no recorder.
    #[test]
    fn who_has_threads_and_no_recorder_is_not_recorded() {
        let own = std::process::id();
        let mut all = Unrecorded::below(own);
        all.look(&HashSet::new());
        assert!(all.names.is_empty(), "it may be about to load it");
        all.look(&HashSet::new());
        let name = all.names.get(&own).expect("it is found").clone();
        assert!(!name.is_empty());
        all.names.retain(|pid, _| *pid == own);

        let room = tempfile::tempdir().expect("a folder");
        let file = room.path().join("p.prof");
        all.note(&file, &HashSet::new());
        assert!(!file.exists(), "the program was not recorded");
        let mut bytes = vec![0; raw::BLOCKS];
        for (at, value) in [
            (offset_of!(RawFile, magic), raw::MAGIC),
            (offset_of!(RawFile, version), raw::VERSION),
            (offset_of!(RawFile, used), raw::BLOCKS as u64),
        ] {
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        fs::write(&file, bytes).expect("written");
        all.note(&file, &HashSet::new());
        let profile = read::profile(&file, &[]).expect("a profile");
        assert_eq!(profile.unrecorded, 1);
        assert_eq!(profile.unrecorded_name, name);
        assert_eq!(profile.silent, 0);

        let program = fs::read_link(format!("/proc/{own}/exe")).expect("it is known");
        all.known.insert((own, program), Known::Recorded);
        all.look(&HashSet::new());
        all.note(&file, &HashSet::new());
        let profile = read::profile(&file, &[]).expect("a profile");
        assert_eq!(profile.silent, 1, "it has a recorder, and no file");
        // It has made a call since.
        all.look(&HashSet::from([own]));
        assert!(!all.silent.contains(&own));
    }
}
