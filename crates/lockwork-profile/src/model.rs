// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is known of a process and of each of its locks, summed over its threads.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use lockwork_report::text::{counted, duration, percent, seconds};

use crate::histogram::Histogram;
use crate::modules::Modules;
use crate::rare::Rare;
use crate::raw;

/// What a call does with a lock; `enum rec_kind` of C, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    /// A mutex is locked.
    Mutex,
    /// A read/write lock is locked for reading.
    Read,
    /// It is locked for writing.
    Write,
    /// A spinlock is locked.
    Spin,
    /// A thread waits for a condition variable.
    Wait,
    /// It is signalled.
    Signal,
    /// All its waiters are woken.
    Broadcast,
    /// A thread waits by a futex call.
    Futex,
    /// A thread waits for its mutex at the end of a wait for a condition variable: no acquisition.
    Back,
}

impl Use {
    /// All, in C's order.
    pub const ALL: [Use; 9] = [
        Use::Mutex,
        Use::Read,
        Use::Write,
        Use::Spin,
        Use::Wait,
        Use::Signal,
        Use::Broadcast,
        Use::Futex,
        Use::Back,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Use::Mutex => "lock",
            Use::Read => "read",
            Use::Write => "write",
            Use::Spin => "lock",
            Use::Wait => "wait",
            Use::Signal => "signal",
            Use::Broadcast => "broadcast",
            Use::Futex => "futex wait",
            Use::Back => "take back",
        }
    }

    /// Whether it takes a lock, also one back. Waits for condition variables are not time lost: a thread
    /// waits there for work.
    pub fn acquires(self) -> bool {
        matches!(
            self,
            Use::Mutex | Use::Read | Use::Write | Use::Spin | Use::Back
        )
    }
}

/// Counts of one call site or of a whole lock. Times are in ticks.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Acquisitions; of a condition variable waits, signals or broadcasts.
    pub count: u64,
    /// Acquisitions that found the lock held and waited, [`Counts::timeouts`], and [`Counts::backs`].
    pub contended: u64,
    /// Waits for a mutex at the end of a wait for a condition variable, which are no acquisitions.
    pub backs: u64,
    /// How long those waited.
    pub waited: u64,
    /// The longest of those waits.
    pub longest_wait: u64,
    /// Tries that found it held; of signals, those that found nobody waiting.
    pub failed: u64,
    /// Waits that ended by their deadline.
    pub timeouts: u64,
    /// Sum of the other waiters that were met, by watched waits or by all broadcasts.
    pub queue: u64,
    /// Most of them at once.
    pub longest_queue: u64,
    /// How long it was held, estimated where holds were sampled.
    pub held: f64,
    /// What long holds among the samples add to that.
    pub rare: Rare,
    /// Holds, as far as `held` knows of them. A wait for a condition variable ends a hold and
    /// begins another one without an acquisition.
    pub holds: u64,
    /// Holds that were timed.
    pub timed: u64,
    /// The longest of those.
    pub longest_hold: u64,
    /// Hand-overs that were timed: from the release to a waiter's acquisition.
    pub handovers: u64,
    /// How long those took.
    pub handover: u64,
    /// Waits of which more is known than how long they took: the queue that they met, their
    /// hand-overs and their context switches.
    pub watched: u64,
    /// Voluntary context switches in those.
    pub slept: u64,
    /// Involuntary ones.
    pub preempted: u64,
    /// Holds whose context switches were counted: long ones.
    pub holds_asked: u64,
    /// Voluntary context switches in those.
    pub holds_slept: u64,
    /// Involuntary ones.
    pub holds_preempted: u64,
    /// How long those holds took.
    pub asked_held: u64,
    /// CPU time of their threads in them, ns.
    pub asked_cpu: u64,
    /// Holds in which a watched wait began.
    pub met: u64,
    /// How long those took; of one that was not timed, from the first such wait on.
    pub met_held: u64,
    /// Waits for a condition variable that were entered again at once.
    pub at_once: u64,
    /// Of waits.
    pub wait_times: Histogram,
    /// Of holds.
    pub hold_times: Histogram,
    /// Of hand-overs.
    pub handover_times: Histogram,
    /// From a timed hold's end to the same thread's next call for the lock.
    pub away_times: Histogram,
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        self.count += other.count;
        self.contended += other.contended;
        self.backs += other.backs;
        self.waited += other.waited;
        self.longest_wait = self.longest_wait.max(other.longest_wait);
        self.failed += other.failed;
        self.timeouts += other.timeouts;
        self.queue += other.queue;
        self.longest_queue = self.longest_queue.max(other.longest_queue);
        self.held += other.held;
        self.rare.add(&other.rare);
        self.holds += other.holds;
        self.timed += other.timed;
        self.longest_hold = self.longest_hold.max(other.longest_hold);
        self.handovers += other.handovers;
        self.handover += other.handover;
        self.watched += other.watched;
        self.slept += other.slept;
        self.preempted += other.preempted;
        self.holds_asked += other.holds_asked;
        self.holds_slept += other.holds_slept;
        self.holds_preempted += other.holds_preempted;
        self.asked_held += other.asked_held;
        self.asked_cpu += other.asked_cpu;
        self.met += other.met;
        self.met_held += other.met_held;
        self.at_once += other.at_once;
        self.wait_times.merge(&other.wait_times);
        self.hold_times.merge(&other.hold_times);
        self.handover_times.merge(&other.handover_times);
        self.away_times.merge(&other.away_times);
    }
}

/// `sum` for each of `n`; 0 of none.
pub fn mean(sum: f64, n: u64) -> f64 {
    if n == 0 {
        0.0
    } else {
        sum / n as f64
    }
}

impl Counts {
    /// A hold on average, in ticks.
    pub fn mean_hold(&self) -> f64 {
        mean(self.held, self.holds)
    }

    /// A contended acquisition's wait on average, in ticks.
    pub fn mean_wait(&self) -> f64 {
        mean(self.waited as f64, self.contended)
    }

    /// A hand-over on average, in ticks.
    pub fn mean_handover(&self) -> f64 {
        mean(self.handover as f64, self.handovers)
    }

    /// How often threads took the mutex back at the end of a wait for a condition variable, as far
    /// as they have released it since. Each such hold is timed, and else each contended one.
    pub fn taken_back(&self) -> u64 {
        let contended = self.contended.saturating_sub(self.timeouts + self.backs);
        self.timed.saturating_sub(contended)
    }

    /// The share of acquisitions, and of [`Counts::backs`], that found the lock held. A wait that timed
    /// out is no acquisition.
    pub fn contention(&self) -> f64 {
        let contended = self.contended.saturating_sub(self.timeouts);
        let all = self.count + self.backs;
        mean(contended as f64, all.max(contended))
    }

    /// How many of a lock's waits timed out, behind what is said of its acquisitions: "; 5 waits timed
    /// out". Empty: none.
    pub fn timed_out(&self) -> String {
        match self.timeouts {
            0 => String::new(),
            n => format!("; {} timed out", counted(n as usize, "wait")),
        }
    }
}

/// One way in which one call site uses a lock.
#[derive(Clone, Debug)]
pub struct Site {
    /// The call's return address.
    pub address: u64,
    /// What it does.
    pub how: Use,
    /// How often, and how long.
    pub counts: Counts,
}

/// Who held the lock when a site waited for it.
#[derive(Clone, Debug)]
pub struct Blame {
    /// The waiter's call.
    pub site: u64,
    /// The holder's call; 0: unknown.
    pub holder_site: u64,
    /// The holder's thread number; none: unknown.
    pub holder: Option<u64>,
    /// Waits.
    pub count: u64,
    /// Ticks of these.
    pub waited: u64,
}

/// Another lock that was held when one was taken; of several, the last that was taken.
#[derive(Clone, Copy, Debug)]
pub struct Inside {
    /// Its address.
    pub outer: u64,
    /// Acquisitions, estimated from those whose holds were timed.
    pub count: u64,
    /// Ticks of waits for the lock, estimated from watched and long ones, while the other one was held.
    pub waited: u64,
}

/// Where a thread was when it waited: a sample. With [`Profile::all_stacks`] where it was when it
/// took the lock, waiting or not.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The lock.
    pub lock: u64,
    /// Return addresses, the call of the lock first.
    pub frames: Vec<u64>,
    /// There were more than the recorder keeps.
    pub cut: bool,
    /// Calls that had it.
    pub count: u64,
    /// Ticks of the waits that were sampled here.
    pub waited: u64,
}

impl Stack {
    /// Of the call at `site`, whose callers are not known: one tick of a wait, by which it is weighed.
    pub fn alone(lock: u64, site: u64) -> Self {
        Self {
            lock,
            frames: vec![site],
            cut: false,
            count: 1,
            waited: 1,
        }
    }

    /// What stands for the callers that are missing, outside of all that are known; none: it is
    /// whole.
    pub fn rest(&self) -> Option<String> {
        self.cut
            .then(|| format!("[cut at {} frames]", self.frames.len()))
    }
}

/// A lock, or a condition variable.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    /// Where it is.
    pub address: u64,
    /// Where it was initialized; none: statically, or before it was recorded.
    pub made: Option<u64>,
    /// Return addresses, from that call outwards, as far as they were recorded.
    pub makers: Vec<u64>,
    /// What the program calls it, if it does.
    pub named: Option<String>,
    /// Why no policy replaces it, where that is so.
    pub kept: Kept,
    /// The kernel's number of the thread that ended last while it held the lock.
    pub left_by: Option<u64>,
    /// Its call sites; those that waited longest first.
    pub sites: Vec<Site>,
    /// Of its acquisitions, or of a condition variable's waits.
    pub sum: Counts,
    /// Samples said that it was held for much longer than there was time. Its holds are cut off there,
    /// and their mean says nothing.
    pub held_beyond: bool,
    /// Of a condition variable: how many threads waited for it.
    pub waited_by: usize,
    /// Who held it; those that were waited for longest first.
    pub blames: Vec<Blame>,
    /// Inside which other locks it was taken; most often first.
    pub inside: Vec<Inside>,
    /// Threads that acquired it, by their numbers, and how often each did. A mutex that is taken
    /// back at the end of a wait for a condition variable counts here, too.
    pub by_thread: Vec<(u64, u64)>,
}

/// Why a lock stays glibc's under each policy: bits of glibc's kind of mutex. 0: it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept(pub u64);

impl Kept {
    /// Whether it does.
    pub fn is_kept(self) -> bool {
        self.0 != 0
    }

    /// Whether other processes may use it, too. glibc sets the same bit for each robust mutex, so of
    /// those nothing says whether they may.
    pub fn is_shared(self) -> bool {
        self.has(raw::SHARED)
    }

    fn has(self, bit: u64) -> bool {
        self.0 & bit != 0 && (bit != raw::SHARED || self.0 & raw::ROBUST == 0)
    }

    /// The reasons, a word each.
    pub fn reasons(self) -> Vec<&'static str> {
        let all = [
            (raw::SHARED, "process-shared"),
            (raw::INHERITS, "priority-inheritance"),
            (raw::CEILING, "priority-ceiling"),
            (raw::ROBUST, "robust"),
        ];
        let such = all.iter().filter(|(bit, _)| self.has(*bit));
        such.map(|(_, word)| *word).collect()
    }

    /// What such a lock of this kind is called: "process-shared mutex with priority inheritance".
    pub fn of(self, kind: &str) -> String {
        let before = [(raw::ROBUST, "robust "), (raw::SHARED, "process-shared ")];
        let behind = [
            (raw::INHERITS, " with priority inheritance"),
            (raw::CEILING, " with a priority ceiling"),
        ];
        let words = |all: &[(u64, &'static str)]| -> String {
            let such = all.iter().filter(|(bit, _)| self.has(*bit));
            such.map(|(_, word)| *word).collect()
        };
        words(&before) + kind + &words(&behind)
    }
}

impl Lock {
    /// Its kind in full: "process-shared mutex".
    pub fn full_kind(&self) -> String {
        self.kept.of(self.kind())
    }

    /// The sum of all sites that use it so.
    pub fn of(&self, how: Use) -> Counts {
        let mut sum = Counts::default();
        for site in self.sites.iter().filter(|site| site.how == how) {
            sum += &site.counts;
        }
        sum
    }

    /// Whether any site uses it so.
    pub fn has(&self, how: Use) -> bool {
        self.sites.iter().any(|site| site.how == how)
    }

    /// Whether it is a lock, and no condition variable.
    pub fn is_lock(&self) -> bool {
        self.sites.iter().any(|site| site.how.acquires())
    }

    /// What it is: mutex, read/write lock, spinlock, condition variable, futex.
    pub fn kind(&self) -> &'static str {
        match self.sites.iter().map(|site| site.how).min() {
            Some(Use::Mutex | Use::Back) => "mutex",
            Some(Use::Read | Use::Write) => "rwlock",
            Some(Use::Spin) => "spinlock",
            Some(Use::Futex) => "futex",
            _ => "condvar",
        }
    }
}

/// How a recording ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// By itself.
    Ended,
    /// The process still runs.
    Runs,
    /// By this signal, or after `lockwork profile` had passed it on.
    Stopped(u32),
    /// It was killed or called `_exit()`, and nobody saw when.
    #[default]
    Gone,
}

/// A process that others came of.
#[derive(Clone, Debug)]
pub struct Started {
    /// Its command line.
    pub command: Vec<String>,
    /// How it ended.
    pub fate: Fate,
}

/// A thread that waits at the moment, or did when the process ended.
#[derive(Clone, Debug)]
pub struct Waiter {
    /// Its number.
    pub thread: u64,
    /// What it waits for.
    pub lock: u64,
    /// Where.
    pub site: u64,
    /// The thread number that was seen to hold the lock when the wait began.
    pub holder: Option<u64>,
    /// For how long, in ticks, up to the end of the recording.
    pub since: u64,
    /// The locks that it holds meanwhile; of very many the latest.
    pub holds: Vec<u64>,
}

/// How one thread waited for condition variables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Idle {
    /// Its number.
    pub thread: u64,
    /// How often.
    pub waits: u64,
    /// How long, in ticks.
    pub waited: u64,
}

/// What the timeline has of one acquisition. Times are ticks since the recording began.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Number of the thread.
    pub thread: u64,
    /// The lock.
    pub lock: u64,
    /// The call.
    pub site: u64,
    /// What it does.
    pub how: Use,
    /// The wait began; none: it did not wait.
    pub since: Option<u64>,
    /// The lock was acquired, or the wait timed out; none: not timed.
    pub acquired: Option<u64>,
    /// The hold ended; none: not yet.
    pub released: Option<u64>,
    /// The wait ended by its deadline.
    pub timed_out: bool,
    /// The thread number that was seen to hold the lock when the wait began.
    pub holder: Option<u64>,
    /// That one's call; 0: unknown.
    pub holder_site: u64,
}

impl Event {
    /// Its first known moment.
    pub fn from(&self) -> u64 {
        let first = self.since.or(self.acquired).or(self.released);
        first.unwrap_or(0)
    }

    /// Its last one.
    pub fn to(&self) -> u64 {
        self.released.or(self.acquired).unwrap_or(self.from())
    }
}

/// What all threads of a process used of CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// CPU time, seconds.
    pub cpu: f64,
    /// Voluntary context switches.
    pub slept: u64,
    /// Involuntary ones.
    pub preempted: u64,
}

/// A process and its locks.
#[derive(Debug, Default)]
pub struct Profile {
    /// The process.
    pub pid: u64,
    /// Who started it.
    pub parent: u64,
    /// It is a child that had not called exec.
    pub from_fork: bool,
    /// Its command line.
    pub command: Vec<String>,
    /// The policy whose locks ran; empty: glibc's.
    pub policy: String,
    /// It ended by exit().
    pub ended: bool,
    /// How its recording ended.
    pub fate: Fate,
    /// It executed another program. All is up to then.
    pub replaced: bool,
    /// That one is recorded in a file of its own.
    pub goes_on: bool,
    /// What was started first, if this is another process that came of it.
    pub started: Option<Started>,
    /// From the start of the recording to its end, as far as that is known.
    pub seconds: f64,
    /// It may have run much longer: nobody saw its end.
    pub at_least: bool,
    /// What its threads used of CPUs, if it ended by exit().
    pub usage: Option<Usage>,
    /// How often its threads slept, whatever for: its own count, or else that of the process that
    /// waited for it, with its children's. None: nobody knows.
    pub slept: Option<u64>,
    /// Length of a tick.
    pub ns_per_tick: f64,
    /// Most threads that lived at the same time, of those that had used a lock or a condition
    /// variable by then.
    pub threads: u64,
    /// CPUs on which it might run when it began; none: unknown.
    pub cpus: Option<u64>,
    /// Acquisitions of locks for which there was no room in the file.
    pub dropped: u64,
    /// Unlocks by a thread that had not locked.
    pub unknown: u64,
    /// Acquisitions beyond 32 locks held at once.
    pub deep: u64,
    /// How often room for a part of the file was asked for in vain.
    pub refused: u64,
    /// Threads for which there was no memory at all: none of their calls are counted.
    pub unseen: u64,
    /// Threads without records: nothing is known of them but their acquisitions' number, a part
    /// of [`Profile::dropped`].
    pub bare: u64,
    /// The locks, those that cost most time first.
    pub locks: Vec<Lock>,
    /// Sampled stacks.
    pub stacks: Vec<Stack>,
    /// Call sites that lock by a function that returns while the lock is held, as
    /// `Mutex::Lock()` does, with the call in that function.
    pub wrappers: BTreeMap<u64, u64>,
    /// Whether each acquisition has its stack, if there was room for it.
    pub all_stacks: bool,
    /// Whether waits for a mutex at the end of a wait for a condition variable are among those for
    /// it.
    pub sees_back: bool,
    /// Whether threads locked robust mutexes, or such with a priority ceiling: of these it is not
    /// seen whether they were contended.
    pub untried: bool,
    /// How long, in ns, its threads were in futex calls that the program makes by system calls of
    /// its own, by samples; and where most of that is.
    pub own_futex: (u64, u64),
    /// Nanoseconds of threads in futex calls of the C library, for nothing that is recorded.
    pub other_futex_ns: u64,
    /// Processes with several threads that it started and that are not recorded, as far as they were
    /// seen.
    pub unrecorded: u64,
    /// What one of them is called.
    pub unrecorded_name: String,
    /// Those that have the recorder, and no recording: it saw no call, or could not record.
    pub silent: u64,
    /// Single acquisitions, by the times at which they begin.
    pub events: Vec<Event>,
    /// Those that are shorter than a window times 2 to this are of every such window only.
    pub level: u32,
    /// The same in ticks.
    pub ticks: u64,
    /// Who waits.
    pub waiters: Vec<Waiter>,
    /// Threads that waited for condition variables, by their numbers.
    pub idle: Vec<Idle>,
    /// For how many ticks each thread waited for locks, by its number.
    pub lock_waits: Vec<(u64, u64)>,
    /// For how many ticks the threads with each number lived, from their first call on.
    pub lives: Vec<(u64, u64)>,
    /// The kernel's number of the latest thread with each number.
    pub tids: Vec<(u64, u64)>,
    /// What is mapped where.
    pub modules: Modules,
    /// What is wrong with the file.
    pub warnings: Vec<String>,
}

impl Profile {
    /// Ticks as nanoseconds.
    pub fn ns(&self, ticks: f64) -> u64 {
        (ticks * self.ns_per_tick).round() as u64
    }

    /// How long it ran, as reports say it.
    pub fn length(&self) -> String {
        match self.at_least {
            true => format!(
                "{} or longer",
                duration((self.seconds * 1e9).round() as u64)
            ),
            false => seconds(self.seconds),
        }
    }

    /// The kernel's number of the latest thread with this number.
    pub fn tid(&self, number: u64) -> Option<u64> {
        let found = self.tids.iter().find(|(thread, _)| *thread == number);
        found.map(|(_, tid)| *tid)
    }

    /// The share of all acquisitions that are in no lock's figures.
    pub fn dropped_share(&self) -> f64 {
        self.dropped as f64 / (self.dropped + self.sum().count).max(1) as f64
    }

    /// What the file had no room for, as a sentence; none: it had room for all.
    pub fn no_room(&self) -> Option<String> {
        let unseen = (self.unseen > 0).then(|| {
            format!(
                "there was no memory to record {}, of whose calls none are counted",
                counted(self.unseen as usize, "thread")
            )
        });
        let all: Vec<String> = unseen.into_iter().chain(self.file_full()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn file_full(&self) -> Option<String> {
        if self.dropped == 0 && self.bare == 0 {
            return (self.refused > 0).then(|| {
                "the file had no room for more: all acquisitions are counted, but some details, \
                 such as stacks and times, are missing"
                    .to_owned()
            });
        }
        let threads = match self.bare {
            0 => String::new(),
            n => format!(
                ", among them all of {} that began when the file was full",
                counted(n as usize, "thread")
            ),
        };
        Some(format!(
            "the file had no room for more, or could not be opened again: {}, {} of all, are in \
             no lock's figures{threads}",
            counted(self.dropped as usize, "acquisition"),
            percent(self.dropped_share())
        ))
    }

    /// The sum of all acquisitions.
    pub fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        for lock in self.locks.iter().filter(|lock| lock.is_lock()) {
            sum += &lock.sum;
        }
        sum
    }
}

#[cfg(test)]
impl Lock {
    /// A mutex that these threads acquired so often, from one call site.
    pub(crate) fn used_by(address: u64, by_thread: &[(u64, u64)]) -> Lock {
        let sum = Counts {
            count: by_thread.iter().map(|(_, n)| n).sum(),
            ..Counts::default()
        };
        Lock {
            address,
            sites: vec![Site {
                address: 2,
                how: Use::Mutex,
                counts: sum.clone(),
            }],
            sum,
            by_thread: by_thread.to_vec(),
            ..Lock::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_robust_mutex_is_not_called_process_shared() {
        let robust = Kept(raw::ROBUST | raw::SHARED);
        assert_eq!(robust.of("mutex"), "robust mutex");
        assert_eq!(robust.reasons(), ["robust"]);
        assert!(robust.is_kept() && !robust.is_shared());
        let shared = Kept(raw::SHARED | raw::INHERITS);
        assert_eq!(shared.reasons(), ["process-shared", "priority-inheritance"]);
        assert!(shared.is_shared());
    }

    #[test]
    fn a_wait_that_timed_out_is_no_contended_acquisition() {
        let counts = Counts {
            count: 219,
            contended: 200 + 581,
            timeouts: 581,
            ..Counts::default()
        };
        assert_eq!(percent(counts.contention()), "91.3 %");
        assert_eq!(counts.timed_out(), "; 581 waits timed out");
        let none = Counts {
            contended: 581,
            timeouts: 581,
            ..Counts::default()
        };
        assert_eq!(none.contention(), 0.0);
        assert_eq!(Counts::default().timed_out(), "");
    }
}
