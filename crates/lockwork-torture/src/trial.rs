// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One probe of one kind of lock: its locks, its threads, and what each of the
//! threads is doing, for the watchdog.
use crate::object::Object;
use crate::plan::Plan;
use crate::shares::Shares;
use lockwork_catalogue::LockKind;
use std::io;
use std::process::id;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::thread::{sleep, JoinHandle};
use std::time::{Duration, Instant};

/// Locks in a trial: two for threads, the rest for signal handlers.
pub(crate) const OBJECTS: usize = 6;
/// Seats that a probe of its own size may count on, beside the first.
pub(crate) const SEATS: usize = 24;

/// Pause of a waiting thread between two looks.
const NAP: Duration = Duration::from_micros(100);
/// Time on a CPU that takes any waiter to its place in the queue.
const SETTLED: Duration = Duration::from_millis(2);

/// What a thread is doing, for the watchdog; 0 is nothing that can stall.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Op {
    Lock = 1,
    Unlock,
    Try,
    Timed,
    Attempt,
    ReadLock,
    ReadUnlock,
    ReadTry,
    ReadTimed,
    Downgrade,
}

const OPS: [&str; 11] = [
    "nothing",
    "lock",
    "unlock",
    "trylock",
    "timedlock",
    "attempt",
    "read_lock",
    "read_unlock",
    "read_trylock",
    "read_timedlock",
    "downgrade",
];
pub(crate) const NESTED: u32 = 1 << 16;

/// One thread's place: what it does and what it got.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Seat {
    /// Completed operations.
    pub(crate) beats: AtomicU64,
    /// `Op` | object << 8 | NESTED, or 0.
    pub(crate) op: AtomicU32,
    /// The number of the thread that sits there, once it runs.
    pub(crate) thread: AtomicU32,
    /// `beats` when it was started.
    pub(crate) begun: AtomicU64,
    /// Exclusive acquisitions of the first lock.
    pub(crate) writes: AtomicU64,
    /// Shared ones.
    pub(crate) reads: AtomicU64,
    pub(crate) try_failed: AtomicU64,
    pub(crate) timed_failed: AtomicU64,
    pub(crate) attempt_failed: AtomicU64,
    pub(crate) longest_ns: AtomicU64,
}

/// One probe of one kind of lock. Threads that are stuck in a broken lock keep
/// it alive.
pub(crate) struct Trial {
    pub(crate) kind: LockKind,
    pub(crate) plan: Plan,
    pub(crate) objects: Vec<Object>,
    pub(crate) seats: Vec<Seat>,
    /// Threads that run until they are told to end.
    pub(crate) stop: AtomicBool,
}

impl Trial {
    pub(crate) fn new(kind: LockKind, plan: &Plan) -> Arc<Self> {
        let seats = plan.threads.max(SEATS) + 1;
        Arc::new(Self {
            kind,
            plan: plan.clone(),
            objects: (0..OBJECTS).map(|_| Object::new(kind)).collect(),
            seats: (0..seats).map(|_| Seat::default()).collect(),
            stop: AtomicBool::new(false),
        })
    }

    /// Waits until `child` ends; false if it did not, though it had its turns.
    pub(crate) fn wait_ended(&self, child: i32, status: &mut i32) -> bool {
        // SAFETY: a child of this process.
        let mut ended = || unsafe { libc::waitpid(child, status, libc::WNOHANG) } != 0;
        wait_for(self.plan.bound(), child as u32, &mut ended)
    }

    /// Waits until the thread of `seat` is in its first operation, and sleeps there or
    /// had the CPU for long enough to queue. True: it is through with it.
    pub(crate) fn wait_busy(&self, seat: usize) -> bool {
        let seat = &self.seats[seat];
        let through = || seat.beats.load(Relaxed) != seat.begun.load(Relaxed);
        while seat.op.load(Relaxed) == 0 && !through() {
            sleep(NAP);
        }
        let mut settled = Shares::slept_or_ran(id(), seat.thread.load(Relaxed), SETTLED);
        while !settled() && !through() {
            sleep(NAP);
        }
        through()
    }

    /// Waits until the first lock names another waiter as its last one than
    /// `before`; false if it did not, though all had their turns.
    pub(crate) fn wait_queued(&self, before: Option<u64>) -> bool {
        let lock = &self.objects[0].lock;
        // Before the watchdog says less: that the waiter waits.
        wait_for(self.plan.bound() / 2, id(), &mut || {
            let last = lock.last_waiter();
            last != before && last != Some(0)
        })
    }

    /// "thread 3 in lock of lock 0, held by thread 5".
    pub(crate) fn whereabouts(&self, seat: usize) -> String {
        let op = self.seats[seat].op.load(Relaxed);
        let object = (op >> 8 & 0xff) as usize;
        let name = OPS.get((op & 0xff) as usize).unwrap_or(&"?");
        let context = if op & NESTED == 0 {
            ""
        } else {
            " in a signal handler"
        };
        format!(
            "thread {seat} in {name}{context}, held by {}",
            self.objects[object].holder()
        )
    }
}

/// A sentence for a thread that could not be started.
pub(crate) fn no_thread(err: &io::Error) -> String {
    format!("this machine refused one more thread ({err}); use fewer --threads or raise ulimit -u")
}

/// Waits until `cond` holds; false if it did not for `limit`, nor after that while the
/// threads of `process` had their turns.
fn wait_for(limit: Duration, process: u32, cond: &mut dyn FnMut() -> bool) -> bool {
    let start = Instant::now();
    let mut shares = None;
    while !cond() {
        if start.elapsed() > limit {
            let shares = shares.get_or_insert_with(|| Shares::from_now(process));
            if shares.enough() {
                return cond();
            }
        }
        sleep(NAP);
    }
    true
}

/// The thread's result; its panic is a defect of the probe.
pub(crate) fn join<T>(thread: JoinHandle<T>) -> Result<T, String> {
    thread
        .join()
        .map_err(|_| "a thread of this probe panicked: a defect of the probe".to_owned())
}
