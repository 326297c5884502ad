// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One probe of one kind of lock: its locks, its threads, and what each of the
//! threads is doing, for the watchdog.
use crate::cell::Cell;
use crate::plan::Plan;
use lockwork_user::LockKind;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Locks in a trial: two for threads, the rest for signal handlers.
pub(crate) const CELLS: usize = 6;
/// Seats that a probe of its own size may count on, beside the first.
pub(crate) const SEATS: usize = 24;

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
}

const OPS: [&str; 9] = [
    "nothing", "lock", "unlock", "trylock", "timedlock", "attempt", "read_lock", "read_unlock",
    "read_trylock",
];
const NESTED: u32 = 1 << 16;

/// One thread's place: what it does and what it got.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Seat {
    /// Completed operations.
    pub(crate) beats: AtomicU64,
    /// `Op` | cell << 8 | NESTED, or 0.
    pub(crate) op: AtomicU32,
    /// Exclusive acquisitions of the first lock.
    pub(crate) writes: AtomicU64,
    /// Shared ones.
    pub(crate) reads: AtomicU64,
    pub(crate) try_failed: AtomicU64,
    pub(crate) timed_failed: AtomicU64,
    pub(crate) attempt_failed: AtomicU64,
    pub(crate) longest_ns: AtomicU64,
}

/// Only the seat's own thread adds.
fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed) + n, Relaxed);
}

/// One probe of one kind of lock. Threads that are stuck in a broken lock keep
/// it alive.
pub(crate) struct Trial {
    pub(crate) kind: LockKind,
    pub(crate) plan: Plan,
    pub(crate) cells: Vec<Cell>,
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
            cells: (0..CELLS).map(|_| Cell::new(kind)).collect(),
            seats: (0..seats).map(|_| Seat::default()).collect(),
            stop: AtomicBool::new(false),
        })
    }

    /// The probe's own hands; its thread sits in seat 0.
    pub(crate) fn hand(&self) -> Hand<'_> {
        self.hand_of(0)
    }

    pub(crate) fn hand_of(&self, seat: usize) -> Hand<'_> {
        Hand { trial: self, seat, nested: false }
    }

    /// A signal handler's hands while it interrupts the thread of `seat`.
    pub(crate) fn nested_hand(&self, seat: usize) -> Hand<'_> {
        Hand { trial: self, seat, nested: true }
    }

    /// Starts a thread in that seat.
    pub(crate) fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        seat: usize,
        work: impl FnOnce(Hand<'_>) -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, String> {
        let trial = Arc::clone(self);
        Builder::new()
            .stack_size(128 * 1024)
            .spawn(move || work(trial.hand_of(seat)))
            .map_err(|err| no_thread(&err))
    }

    /// Runs `work` in another thread and waits for it.
    pub(crate) fn elsewhere<T: Send + 'static>(
        self: &Arc<Self>,
        seat: usize,
        work: impl FnOnce(Hand<'_>) -> T + Send + 'static,
    ) -> Result<T, String> {
        join(self.spawn(seat, work)?)
    }

    /// Waits until `cond` holds; false if it did not within the bound.
    pub(crate) fn wait_until(&self, mut cond: impl FnMut() -> bool) -> bool {
        let step = Duration::from_micros(100);
        let mut left = self.plan.bound();
        while !cond() {
            if left.is_zero() {
                return false;
            }
            std::thread::sleep(step);
            left = left.saturating_sub(step);
        }
        true
    }

    /// Waits until the thread of `seat` is in an operation, and has had some
    /// time to get on in it.
    pub(crate) fn wait_busy(&self, seat: usize) -> bool {
        let busy = self.wait_until(|| self.seats[seat].op.load(Relaxed) != 0);
        std::thread::sleep(Duration::from_millis(5));
        busy
    }

    /// Waits until one more waiter of the first lock is queued than when
    /// `last_waiter` was `before`; without that operation, until it is busy.
    pub(crate) fn wait_queued(&self, seat: usize, before: Option<u64>) -> bool {
        let lock = &self.cells[0].lock;
        if before.is_none() {
            return self.wait_busy(seat);
        }
        self.wait_until(|| {
            let last = lock.last_waiter();
            last != before && last != Some(0)
        })
    }

    /// "thread 3 in lock of lock 0, held by thread 5".
    pub(crate) fn whereabouts(&self, seat: usize) -> String {
        let op = self.seats[seat].op.load(Relaxed);
        let cell = (op >> 8 & 0xff) as usize;
        let name = OPS.get((op & 0xff) as usize).unwrap_or(&"?");
        let context = if op & NESTED == 0 { "" } else { " in a signal handler" };
        format!("thread {seat} in {name}{context}, held by {}", self.cells[cell].holder())
    }
}

/// A sentence for a thread that could not be started.
pub(crate) fn no_thread(err: &io::Error) -> String {
    format!("this machine refused one more thread ({err}); use fewer --threads or raise ulimit -u")
}

/// The thread's result; its panic is a defect of the check.
pub(crate) fn join<T>(thread: JoinHandle<T>) -> Result<T, String> {
    thread.join().map_err(|_| "a thread of this check panicked: a defect of the check".to_owned())
}

/// A thread's way to the locks: says what it does, and checks each visit.
#[derive(Clone, Copy)]
pub(crate) struct Hand<'a> {
    trial: &'a Trial,
    seat: usize,
    nested: bool,
}

impl<'a> Hand<'a> {
    pub(crate) fn trial(&self) -> &'a Trial {
        self.trial
    }

    fn me(&self) -> u32 {
        self.seat as u32 + 1
    }

    fn seat(&self) -> &Seat {
        &self.trial.seats[self.seat]
    }

    fn cell(&self, cell: usize) -> &Cell {
        &self.trial.cells[cell]
    }

    /// Runs one operation of a lock under the watchdog's eyes.
    fn during<T>(&self, op: Op, cell: usize, work: impl FnOnce() -> T) -> T {
        let seat = self.seat();
        let before = seat.op.load(Relaxed);
        let context = if self.nested { NESTED } else { 0 };
        seat.op.store(op as u32 | (cell as u32) << 8 | context, Relaxed);
        let out = work();
        seat.op.store(before, Relaxed);
        if !self.nested {
            add(&seat.beats, 1);
        }
        out
    }

    fn entered(&self, cell: usize) {
        self.cell(cell).enter(self.me());
        if !self.nested && cell == 0 {
            add(&self.seat().writes, 1);
        }
    }

    fn entered_shared(&self, cell: usize) {
        self.cell(cell).enter_shared(self.me());
        if !self.nested && cell == 0 {
            add(&self.seat().reads, 1);
        }
    }

    fn waited(&self, since: Instant) {
        let ns = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if !self.nested && ns > self.seat().longest_ns.load(Relaxed) {
            self.seat().longest_ns.store(ns, Relaxed);
        }
    }

    pub(crate) fn lock(&self, cell: usize) {
        let since = Instant::now();
        // SAFETY: the probes never lock what they hold.
        self.during(Op::Lock, cell, || unsafe { self.cell(cell).lock.lock() });
        self.entered(cell);
        self.waited(since);
    }

    pub(crate) fn unlock(&self, cell: usize) {
        self.cell(cell).leave(self.me());
        // SAFETY: the probes unlock what they hold.
        self.during(Op::Unlock, cell, || unsafe { self.cell(cell).lock.unlock() });
    }

    fn counted(&self, got: bool, cell: usize, failed: &AtomicU64) -> bool {
        if got {
            self.entered(cell);
        } else if !self.nested {
            add(failed, 1);
        }
        got
    }

    pub(crate) fn try_lock(&self, cell: usize) -> bool {
        // SAFETY: the probes never try what they hold.
        let got = self.during(Op::Try, cell, || unsafe { self.cell(cell).lock.try_lock() });
        self.counted(got.unwrap_or(false), cell, &self.seat().try_failed)
    }

    pub(crate) fn timed_lock(&self, cell: usize, limit: Duration) -> bool {
        let lock = &self.cell(cell).lock;
        // SAFETY: the probes never lock what they hold.
        let got = self.during(Op::Timed, cell, || unsafe { lock.timed_lock(limit) });
        self.counted(got.unwrap_or(false), cell, &self.seat().timed_failed)
    }

    pub(crate) fn attempt(&self, cell: usize) -> bool {
        // SAFETY: the probes never lock what they hold.
        let got = self.during(Op::Attempt, cell, || unsafe { self.cell(cell).lock.attempt() });
        self.counted(got.unwrap_or(false), cell, &self.seat().attempt_failed)
    }

    pub(crate) fn read_lock(&self, cell: usize) {
        let since = Instant::now();
        // SAFETY: the probes never lock what they hold.
        self.during(Op::ReadLock, cell, || unsafe { self.cell(cell).lock.read_lock() });
        self.entered_shared(cell);
        self.waited(since);
    }

    pub(crate) fn read_try(&self, cell: usize) -> bool {
        let lock = &self.cell(cell).lock;
        // SAFETY: the probes never lock what they hold.
        let got = self.during(Op::ReadTry, cell, || unsafe { lock.read_try_lock() });
        let got = got.unwrap_or(false);
        if got {
            self.entered_shared(cell);
        } else if !self.nested {
            add(&self.seat().try_failed, 1);
        }
        got
    }

    pub(crate) fn read_unlock(&self, cell: usize) {
        self.cell(cell).leave_shared(self.me());
        // SAFETY: the probes unlock what they hold.
        self.during(Op::ReadUnlock, cell, || unsafe { self.cell(cell).lock.read_unlock() });
    }

    /// Locks and unlocks the first lock, to write or to read.
    pub(crate) fn pass(&self, read: bool) {
        if read {
            self.read_lock(0);
            self.read_unlock(0);
        } else {
            self.lock(0);
            self.unlock(0);
        }
    }
}
