// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How long threads sleep in futex calls that are no waits for a lock or a condition variable of
//! pthread: those that the program makes itself, as Go and hand-made locks do, and those of the C
//! library for semaphores and the like. The process that has started it asks
//! the kernel now and then in which call each thread is, of that process and of its children.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::iter;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::clock::put;
use crate::end::has_mapped;
use crate::files::{children, header, header_of, open};
use crate::modules::maps;
use crate::now::ticks;
use crate::raw::{self, RawFile, RawWait};
use crate::unrecorded::Unrecorded;

/// The kernel is asked so often, and where there are more threads, once in this time for each: to ask
/// for one takes some microseconds.
const EVERY: Duration = Duration::from_millis(20);
const EACH: Duration = Duration::from_millis(1);
/// That a process runs is noted in its file so often: nobody may be there to see its end.
const ALIVE: Duration = Duration::from_millis(500);
/// Code that is unknown has the maps read again, so often at most.
const READINGS: u32 = 64;
/// Files whose futex calls the recorder knows, or whose calls are not the program's own.
const KNOWN: &[&str] = &["libc.so", "libc-", "libpthread", "ld-linux", "liblockwork-"];

/// Of x86-64.
const FUTEX: u64 = 202;
const FUTEX_WAITV: u64 = 449;
/// Beside the operation: FUTEX_CLOCK_REALTIME; and the flag that pthread_join() does not have.
const FLAGS: u64 = PRIVATE | 256;
const PRIVATE: u64 = 128;
/// FUTEX_WAIT, _LOCK_PI, _WAIT_BITSET, _WAIT_REQUEUE_PI and _LOCK_PI2.
const WAITS: &[u64] = &[0, 6, 9, 11, 13];

/// Two samples of the same waits may differ by this share, as they are not taken at one moment.
const ALIKE: f64 = 0.05;

/// New files of child processes, and children that are not recorded, are looked for in each of so
/// many looks.
const FILES: u32 = 5;

/// Looks on while a program runs.
pub struct Sampler {
    stop: Sender<()>,
    thread: JoinHandle<(Vec<Process>, Unrecorded)>,
}

/// Nanoseconds by the addresses of calls.
type Found = HashMap<u64, u64>;

impl Sampler {
    /// Of the process `pid`, which records into `file`, and of its children, into files beside it.
    /// None: there is no thread for it.
    pub fn start(file: &Path, pid: u32) -> Option<Sampler> {
        let (stop, stopped) = channel();
        let file = file.to_owned();
        let thread = std::thread::Builder::new().spawn(move || look(&file, pid, &stopped));
        let thread = thread.ok()?;
        Some(Sampler { stop, thread })
    }

    /// The program has ended: notes in the files what was seen.
    pub fn finish(self, file: &Path) {
        drop(self.stop);
        let Ok((processes, unrecorded)) = self.thread.join() else {
            return;
        };
        for process in processes {
            process.note();
        }
        let files = iter::once(file.to_owned()).chain(children(file));
        let heads = files.filter_map(|file| header(&file));
        unrecorded.note(file, &heads.map(|head| head.pid as u32).collect());
    }
}

/// A process that records; after an exec it is another one, with a file of its own.
struct Process {
    file: PathBuf,
    /// The same, open; none: the process has ended. There may be more of them than one may have open.
    open: Option<fs::File>,
    pid: u32,
    /// When its file was begun.
    ticks: u64,
    code: Code,
    found: Found,
    /// Nanoseconds of threads in calls of the C library, less those of threads that wait for what is
    /// recorded. Each look is off to either side, as both are not read at one moment.
    others: i64,
    /// The squares of what each look added to that, as a sum; and the nanoseconds of threads that wait
    /// for what is recorded.
    squares: f64,
    recorded: f64,
    /// When it was last noted that it runs.
    alive: Option<Instant>,
}

impl Process {
    fn of(file: PathBuf) -> Option<Process> {
        let open = open(&file).ok()?;
        let head = header_of(&open)?;
        Some(Process {
            open: Some(open),
            pid: head.pid.try_into().ok()?,
            ticks: head.start_ticks,
            file,
            code: Code::default(),
            found: Found::new(),
            others: 0,
            squares: 0.0,
            recorded: 0.0,
            alive: None,
        })
    }

    /// A thread that is found in a call counts as if it had been there since the last look, `passed`
    /// nanoseconds ago. Others have left one meanwhile, and are not found. Returns how many threads
    /// it has.
    fn look(&mut self, passed: u64) -> u32 {
        let recorded = self.waits();
        let (threads, calls) = futex_calls(self.pid);
        // Twice what it is: of both, the mean is taken.
        let recorded = recorded + self.waits();
        let mut others = 0;
        for call in calls {
            if self.code.is_own(self.pid, call.at) {
                *self.found.entry(call.at).or_default() += passed;
            } else if call.private {
                others += 2;
            }
        }
        let more = (others - recorded) * (passed / 2) as i64;
        self.others += more;
        self.squares += (more as f64).powi(2);
        self.recorded += recorded as f64 * (passed / 2) as f64;
        match threads {
            0 => self.open = None,
            _ => self.runs(),
        }
        threads
    }

    /// Notes that it has neither ended nor called exec; or that it has called exec, if the new
    /// program has no recorder that has noted it.
    fn runs(&mut self) {
        let now = Instant::now();
        if self.alive.is_some_and(|last| now - last < ALIVE) {
            return;
        }
        self.alive = Some(now);
        match has_mapped(&self.file, self.pid.into()) {
            Some(true) => {
                let _ = put(&self.file, offset_of!(RawFile, alive), ticks());
            }
            Some(false) => {
                let head = header(&self.file).filter(|head| head.start_ticks == self.ticks);
                // In another namespace that number may be another process's.
                let born = fs::read(format!("/proc/{}/stat", self.pid));
                let born = born.ok().and_then(|stat| born_of(&stat));
                let head = head.filter(|head| head.born > 0 && born == Some(head.born));
                if head.is_some_and(|head| head.replaced == 0) {
                    let _ = put(&self.file, offset_of!(RawFile, replaced), ticks());
                }
            }
            None => {}
        }
    }

    /// How many of its threads wait for what is recorded.
    fn waits(&self) -> i64 {
        let Some(file) = &self.open else {
            return 0;
        };
        let threads = header_of(file).map_or(0, |head| head.threads);
        let size = size_of::<RawWait>();
        let mut table = vec![0; size * raw::MAX_WAITS.min(threads as usize)];
        let read = file.read_exact_at(&mut table, raw::WAITS as u64);
        let waits = table
            .chunks(size)
            .filter_map(|bytes| raw::read::<RawWait>(bytes, 0));
        match read {
            Ok(()) => waits.filter(|wait| wait.lock != 0).count() as i64,
            Err(_) => 0,
        }
    }

    /// Whether threads waited for something else, or the two samples only differ by chance. Of threads
    /// without a place in the table of waits it is not known what they wait for.
    fn is_sure(&self) -> bool {
        let all_seen = header(&self.file).is_some_and(|head| head.threads <= raw::MAX_WAITS as u64);
        all_seen && exceeds_error(self.others as f64, self.squares, self.recorded)
    }

    fn note(&self) {
        let most = self.found.iter().max_by_key(|(at, ns)| (**ns, **at));
        let still = header(&self.file).is_some_and(|head| head.pid == u64::from(self.pid));
        if let Some((at, _)) = most.filter(|_| still) {
            let sum = self.found.values().sum();
            let _ = put(&self.file, offset_of!(RawFile, own_futex_ns), sum);
            let _ = put(&self.file, offset_of!(RawFile, own_futex_at), *at);
        }
        if still && self.is_sure() {
            let others = self.others as u64;
            let _ = put(&self.file, offset_of!(RawFile, other_futex_ns), others);
        }
    }
}

/// The sum of differences between two samples is more than chance if it is three times its standard
/// error, and more than [`ALIKE`] of the one that is taken off.
fn exceeds_error(sum: f64, squares: f64, taken_off: f64) -> bool {
    sum > 3.0 * squares.sqrt() && sum > ALIKE * taken_off
}

fn look(file: &Path, pid: u32, stopped: &Receiver<()>) -> (Vec<Process>, Unrecorded) {
    let mut processes = Vec::new();
    let mut unrecorded = Unrecorded::below(pid);
    let (mut last, mut pause) = (Instant::now(), EVERY);
    let mut looks = 0;
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let mut others = 0;
        if looks % FILES == 0 {
            find_new(file, &mut processes);
            let known: HashSet<u32> = processes.iter().map(|process| process.pid).collect();
            others = unrecorded.look(&known);
        }
        looks += 1;
        let now = Instant::now();
        let passed = now.duration_since(last).as_nanos() as u64;
        last = now;
        let running = processes
            .iter_mut()
            .filter(|process| process.open.is_some());
        let threads: u32 = running.map(|process| process.look(passed)).sum();
        pause = EVERY.max(EACH * threads.max(others));
    }
    (processes, unrecorded)
}

/// Adds those whose files are new. One that has called exec ends that way.
fn find_new(file: &Path, processes: &mut Vec<Process>) {
    for file in iter::once(file.to_owned()).chain(children(file)) {
        if processes.iter().any(|process| process.file == file) {
            continue;
        }
        let Some(mut new) = Process::of(file) else {
            continue;
        };
        let pid = new.pid;
        for other in processes.iter_mut().filter(|other| other.pid == pid) {
            match other.ticks < new.ticks {
                true => other.open = None,
                false => new.open = None,
            }
        }
        processes.push(new);
    }
}

/// When a process was started, by the kernel's clock, from its `/proc/PID/stat`.
fn born_of(stat: &[u8]) -> Option<u64> {
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let words = std::str::from_utf8(&stat[name_ends + 1..]).ok()?;
    words.split_whitespace().nth(19)?.parse().ok()
}

/// A call in which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    /// Where it returns to.
    at: u64,
    /// No other process wakes it.
    private: bool,
}

/// How many threads it has, and the futex calls in which they wait. Where that cannot be read for
/// another reason than that it has ended, it has one.
fn futex_calls(pid: u32) -> (u32, Vec<Call>) {
    let tasks = match fs::read_dir(format!("/proc/{pid}/task")) {
        Ok(tasks) => tasks,
        Err(error) if error.kind() == ErrorKind::NotFound => return (0, Vec::new()),
        Err(_) => return (1, Vec::new()),
    };
    let call = |task: fs::DirEntry| fs::read_to_string(task.path().join("syscall")).ok();
    let all: Vec<Option<String>> = tasks.flatten().map(call).collect();
    let calls = all.iter().flatten();
    let waits = calls.filter_map(|call| waits_at(call)).collect();
    (all.len() as u32, waits)
}

/// `number argument… stack code`, or `running`, or `-1 stack code`.
fn waits_at(call: &str) -> Option<Call> {
    let words: Vec<&str> = call.split_whitespace().collect();
    let [number, _, operation, _, _, _, _, _, code] = words[..] else {
        return None;
    };
    let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    let waits = match number.parse().ok()? {
        FUTEX => WAITS.contains(&(hex(operation)? & !FLAGS)),
        FUTEX_WAITV => true,
        _ => false,
    };
    waits.then_some(Call {
        at: hex(code)?,
        private: hex(operation)? & PRIVATE != 0,
    })
}

/// What is mapped where.
#[derive(Default)]
struct Code {
    /// From, to, and whether its calls are the program's own.
    ranges: Vec<(u64, u64, bool)>,
    readings: u32,
}

impl Code {
    fn is_own(&mut self, pid: u32, at: u64) -> bool {
        if let Some(own) = self.find(at) {
            return own;
        }
        if self.readings < READINGS {
            self.readings += 1;
            self.ranges = maps(pid.into()).map_or_else(|_| Vec::new(), |maps| ranges(&maps));
        }
        self.find(at).unwrap_or(false)
    }

    fn find(&self, at: u64) -> Option<bool> {
        let mut ranges = self.ranges.iter();
        let found = ranges.find(|(from, to, _)| (*from..*to).contains(&at));
        found.map(|(_, _, own)| *own)
    }
}

/// Code in the lines of `/proc/PID/maps`: `from-to perms offset device inode path`. What has no
/// file may be made by the program as it runs.
fn ranges(maps: &str) -> Vec<(u64, u64, bool)> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let range = |line: &str| {
        let mut words = line.split_whitespace();
        let (from, to) = words.next()?.split_once('-')?;
        words
            .next()
            .filter(|permissions| permissions.contains('x'))?;
        let file = line.rsplit('/').next().filter(|_| line.contains('/'));
        let known = file.is_some_and(|name| KNOWN.iter().any(|known| name.starts_with(known)));
        Some((hex(from)?, hex(to)?, !known))
    };
    maps.lines().filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waits_on_a_futex_count() {
        let call = |number, operation| {
            format!("{number} 0x7f00 {operation} 0x2 0x0 0x0 0x0 0x7ffe 0x55aa\n")
        };
        let waits = |private| {
            Some(Call {
                at: 0x55aa,
                private,
            })
        };
        assert_eq!(waits_at(&call("202", "0x80")), waits(true));
        assert_eq!(waits_at(&call("202", "0x189")), waits(true));
        // Until a thread ends, say.
        assert_eq!(waits_at(&call("202", "0x109")), waits(false));
        assert_eq!(waits_at(&call("449", "0x1")), waits(false));
        // It wakes others; it sleeps for a time; it runs.
        assert_eq!(waits_at(&call("202", "0x81")), None);
        assert_eq!(waits_at(&call("230", "0x0")), None);
        assert_eq!(waits_at("running\n"), None);
        assert_eq!(waits_at("-1 0x7ffe 0x55aa\n"), None);
    }

    #[test]
    fn two_samples_that_differ_by_chance_are_no_waiting() {
        // A hundred looks, 20 ms apart, at one thread that waits all the time.
        let squares = 100.0 * 20e6_f64.powi(2);
        assert!(exceeds_error(100.0 * 20e6, squares, 0.0));
        // As often one too few and one too many, and a little more of the latter.
        assert!(!exceeds_error(10.0 * 20e6, squares, 0.0));
        // Of fifty threads that wait for locks, 4 % more.
        assert!(!exceeds_error(200.0 * 20e6, squares, 50.0 * 100.0 * 20e6));
    }

    #[test]
    fn a_process_is_known_by_when_it_was_started() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 999 0\n";
        assert_eq!(born_of(stat.as_bytes()), Some(4711));
        assert_eq!(born_of(b"7 (a) S 1"), None);
        assert_eq!(born_of(b""), None);
    }

    #[test]
    fn calls_of_the_c_library_are_not_the_programs_own() {
        let maps = "1000-2000 r-xp 0 fe:00 1 /bin/program\n2000-3000 rw-p 0 fe:00 1 /bin/program\n\
                    3000-4000 r-xp 0 fe:00 1 /lib/x86_64-linux-gnu/libc.so.6\n\
                    5000-6000 rwxp 0 00:00 0\n\
                    7000-8000 r-xp 0 fe:00 1 /var/cache/lockwork/liblockwork-preload-1.so\n";
        let code = Code {
            ranges: ranges(maps),
            readings: 0,
        };
        let found = [0x1800, 0x2800, 0x3800, 0x5800, 0x7800].map(|at| code.find(at));
        assert_eq!(
            found,
            [Some(true), None, Some(false), Some(true), Some(false)]
        );
    }
}
