// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The clients: small C programs, one or more for each lock, in `tests/check/`.
use std::ffi::{c_char, CStr};

/// The mirror of `struct check_client` in `tests/check/frame.h`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RawClient {
    lock: *const c_char,
    name: *const c_char,
    about: *const c_char,
    pub threads: u32,
    pub acquisitions: u32,
    pub preemptions: u32,
    pub seconds: u32,
    pub fuzz_threads: u32,
    pub init: Option<unsafe extern "C-unwind" fn()>,
    pub thread: Option<unsafe extern "C-unwind" fn(u32)>,
    pub finish: Option<unsafe extern "C-unwind" fn()>,
}

// SAFETY: constant data and functions of the check world.
unsafe impl Sync for RawClient {}

#[cfg(test)]
impl RawClient {
    pub(crate) fn of_test(
        thread: unsafe extern "C-unwind" fn(u32),
        finish: unsafe extern "C-unwind" fn(),
    ) -> Self {
        RawClient {
            lock: c"litmus".as_ptr(),
            name: c"test".as_ptr(),
            about: c"".as_ptr(),
            threads: 0,
            acquisitions: 1,
            preemptions: NO_BOUND,
            seconds: 60,
            fuzz_threads: 0,
            init: None,
            thread: Some(thread),
            finish: Some(finish),
        }
    }
}

/// The mirror of `struct check_mutant`.
#[repr(C)]
struct RawMutant {
    name: *const c_char,
    place: *const c_char,
    primitive: *const c_char,
    operand: *const c_char,
    change: *const c_char,
}

/// The mirror of `struct check_file`.
#[repr(C)]
struct RawFile {
    stem: *const c_char,
    clients: *const RawClient,
    mutants: *const RawMutant,
}

extern "C" {
    /// Ended by an empty entry; see build.rs.
    static lwc_files: [RawFile; 0];
    /// The same of `tests/check/rivals/`.
    static lwc_rivals: [RawFile; 0];
    fn check_lock_name(index: u32) -> *const c_char;
}

/// The text of each file that clients run, by name, as it was compiled: those of `locks/`,
/// and those of the user world that need no system call.
pub const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The same of the user world's other files. They have tags, but no client runs them.
pub const OTHERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/others.rs"));

/// The same of the simulator's baselines, in `crates/lockwork-sim/baselines/`.
pub const RIVAL_SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/rival_sources.rs"));

/// No bound on preemptions.
const NO_BOUND: u32 = u32::MAX;

/// A client: a lock, what is asked of it, and how deep.
#[derive(Clone, Copy)]
pub struct Client {
    pub(crate) raw: &'static RawClient,
    stem: &'static str,
}

/// A mistake in logic that some client must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogicMutant {
    /// The stem of the files in `locks/` that it is about.
    pub stem: &'static str,
    /// The mistake, in words.
    pub name: &'static str,
    /// A tag, or, if there is a primitive, the function that calls it.
    pub place: &'static str,
    /// The primitive in that function.
    pub primitive: Option<&'static str>,
    /// Its operand as written; `None`: whatever it is.
    pub operand: Option<&'static str>,
    /// What the access does instead.
    pub change: crate::Change,
}

/// How far a client is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bound {
    /// Threads, 1 to [`MAX_THREADS`].
    pub threads: u32,
    /// Acquisitions of each thread.
    pub acquisitions: u32,
    /// Preemptions of all threads together; `None`: any number.
    pub preemptions: Option<u32>,
}

/// The most threads that loom follows.
pub const MAX_THREADS: u32 = loom::MAX_THREADS as u32;

fn text(pointer: *const c_char) -> &'static str {
    // SAFETY: C fills these with string literals.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("?")
}

fn optional(pointer: *const c_char) -> Option<&'static str> {
    (!pointer.is_null()).then(|| text(pointer))
}

impl Client {
    /// A client that is in no catalogue.
    #[cfg(test)]
    pub(crate) fn of_test(raw: RawClient) -> Self {
        let raw = Box::leak(Box::new(raw));
        Client {
            raw,
            stem: "litmus",
        }
    }

    /// The stem of the files in `locks/` that it is about.
    pub fn stem(self) -> &'static str {
        self.stem
    }

    /// The lock's name in the catalogue, or that of a part of the user world.
    pub fn lock(self) -> &'static str {
        text(self.raw.lock)
    }

    /// What is asked of it, in a word; unique for the lock.
    pub fn name(self) -> &'static str {
        text(self.raw.name)
    }

    /// Lock and client, as `tas_lock/pair`: unique for all.
    pub fn title(self) -> String {
        format!("{}/{}", self.lock(), self.name())
    }

    /// What is asked of it, in a line.
    pub fn about(self) -> &'static str {
        text(self.raw.about)
    }

    /// How far it is explored unless somebody asks for something else.
    pub fn bound(self) -> Bound {
        Bound {
            threads: self.raw.threads,
            acquisitions: self.raw.acquisitions,
            preemptions: Some(self.raw.preemptions).filter(|&bound| bound != NO_BOUND),
        }
    }

    /// Its threads differ, so no other number of them makes sense.
    pub fn keeps_threads(self) -> bool {
        let other = |threads| threads != self.raw.threads;
        !self.fuzz_threads().is_some_and(other)
    }

    /// Seconds of CPU time after which an exploration has failed.
    pub fn seconds(self) -> u32 {
        self.raw.seconds
    }

    /// Threads under the schedule fuzzer; `None`: this client is not fuzzed.
    pub fn fuzz_threads(self) -> Option<u32> {
        Some(self.raw.fuzz_threads).filter(|&threads| threads > 0)
    }
}

/// The entries of a C table, up to the one that `is_end` finds.
fn entries<T>(first: *const T, is_end: impl Fn(&T) -> bool) -> Vec<&'static T> {
    (0..)
        // SAFETY: constant data; the end is the last entry.
        .map(|index| unsafe { &*first.add(index) })
        .take_while(|entry| !is_end(entry))
        .collect()
}

fn files(table: *const [RawFile; 0]) -> Vec<&'static RawFile> {
    entries(table.cast::<RawFile>(), |file| file.stem.is_null())
}

/// All clients of the rivals: published locks that only the simulator has, and that
/// are right. In the order of their table.
pub fn rivals() -> Vec<Client> {
    clients_of(&raw const lwc_rivals)
}

/// All clients, in the order of [`subjects`].
pub fn clients() -> Vec<Client> {
    let mut all = clients_of(&raw const lwc_files);
    let order = subjects();
    all.sort_by_key(|client| order.iter().position(|&lock| lock == client.lock()));
    all
}

fn clients_of(table: *const [RawFile; 0]) -> Vec<Client> {
    let mut all = Vec::new();
    for file in files(table) {
        let stem = text(file.stem);
        let clients = entries(file.clients, |client| client.lock.is_null());
        all.extend(clients.into_iter().map(|raw| Client { raw, stem }));
    }
    all
}

/// All mistakes in logic that the clients' files name.
///
/// # Panics
/// If a file names a change that there is not.
pub fn logic_mutants() -> Vec<LogicMutant> {
    mutants_of(&raw const lwc_files)
}

/// The same of the rivals' clients.
///
/// # Panics
/// As [`logic_mutants`].
pub fn rival_mutants() -> Vec<LogicMutant> {
    mutants_of(&raw const lwc_rivals)
}

fn mutants_of(table: *const [RawFile; 0]) -> Vec<LogicMutant> {
    let mut all = Vec::new();
    for file in files(table) {
        let stem = text(file.stem);
        for raw in entries(file.mutants, |mutant| mutant.name.is_null()) {
            let change = text(raw.change);
            let change = serde_json::from_value(change.into()).unwrap_or_else(|_| {
                panic!("tests/check/{stem}_client.c: no change named '{change}'")
            });
            all.push(LogicMutant {
                stem,
                name: text(raw.name),
                place: text(raw.place),
                primitive: optional(raw.primitive),
                operand: optional(raw.operand),
                change,
            });
        }
    }
    all
}

/// The names of all locks in the catalogue, in its order.
pub fn locks() -> Vec<&'static str> {
    (0..)
        // SAFETY: any number up to the first null pointer.
        .map(|index| unsafe { check_lock_name(index) })
        .take_while(|name| !name.is_null())
        .map(text)
        .collect()
}

/// What clients are about: the locks of the catalogue, then the parts of the user world,
/// by name.
pub fn subjects() -> Vec<&'static str> {
    let locks = locks();
    let mut parts: Vec<&str> = clients_of(&raw const lwc_files)
        .into_iter()
        .map(Client::lock)
        .collect();
    parts.retain(|part| !locks.contains(part));
    parts.sort_unstable();
    parts.dedup();
    [locks, parts].concat()
}
