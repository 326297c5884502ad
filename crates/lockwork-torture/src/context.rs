// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Execution contexts: a thread, or a signal handler that interrupts one. Every operation
//! on a lock goes through a context. And the threads of a trial, each started with its own.
use crate::object::Object;
use crate::trial::{join, no_thread, Op, Seat, Trial, NESTED};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Only the seat's own thread adds.
fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed) + n, Relaxed);
}

/// Who operates on the locks: it records each operation, and verifies each visit.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    trial: &'a Trial,
    seat: usize,
    nested: bool,
}

impl Trial {
    /// The context of the probe's own thread, in seat 0.
    pub(crate) fn context(&self) -> Context<'_> {
        self.context_of(0)
    }

    pub(crate) fn context_of(&self, seat: usize) -> Context<'_> {
        Context::new(self, seat, false)
    }

    /// A signal handler's context while it interrupts the thread of `seat`.
    pub(crate) fn nested_context(&self, seat: usize) -> Context<'_> {
        Context::new(self, seat, true)
    }

    /// Starts a thread in that seat.
    pub(crate) fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        seat: usize,
        work: impl FnOnce(Context<'_>) -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, String> {
        let trial = Arc::clone(self);
        let Seat { beats, begun, .. } = &self.seats[seat];
        begun.store(beats.load(Relaxed), Relaxed);
        Builder::new()
            .stack_size(128 * 1024)
            .spawn(move || {
                // SAFETY: takes nothing, and always succeeds.
                let number = unsafe { libc::gettid() } as u32;
                trial.seats[seat].thread.store(number, Relaxed);
                work(trial.context_of(seat))
            })
            .map_err(|err| no_thread(&err))
    }

    /// Runs `work` in another thread and waits for it.
    pub(crate) fn elsewhere<T: Send + 'static>(
        self: &Arc<Self>,
        seat: usize,
        work: impl FnOnce(Context<'_>) -> T + Send + 'static,
    ) -> Result<T, String> {
        join(self.spawn(seat, work)?)
    }
}

impl<'a> Context<'a> {
    /// `nested`: it is a signal handler's, on top of the thread's own.
    fn new(trial: &'a Trial, seat: usize, nested: bool) -> Self {
        Self {
            trial,
            seat,
            nested,
        }
    }

    pub(crate) fn trial(&self) -> &'a Trial {
        self.trial
    }

    fn me(&self) -> u32 {
        self.seat as u32 + 1
    }

    fn seat(&self) -> &Seat {
        &self.trial.seats[self.seat]
    }

    fn object(&self, object: usize) -> &Object {
        &self.trial.objects[object]
    }

    /// Runs one operation of a lock under the watchdog's eyes.
    fn during<T>(&self, op: Op, object: usize, work: impl FnOnce() -> T) -> T {
        let seat = self.seat();
        let before = seat.op.load(Relaxed);
        let nested = if self.nested { NESTED } else { 0 };
        seat.op
            .store(op as u32 | (object as u32) << 8 | nested, Relaxed);
        let out = work();
        seat.op.store(before, Relaxed);
        if !self.nested {
            add(&seat.beats, 1);
        }
        out
    }

    fn entered(&self, object: usize) {
        self.object(object).enter(self.me());
        if !self.nested && object == 0 {
            add(&self.seat().writes, 1);
        }
    }

    fn entered_shared(&self, object: usize) {
        self.object(object).enter_shared(self.me());
        if !self.nested && object == 0 {
            add(&self.seat().reads, 1);
        }
    }

    fn waited(&self, since: Instant) {
        let ns = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if !self.nested && ns > self.seat().longest_ns.load(Relaxed) {
            self.seat().longest_ns.store(ns, Relaxed);
        }
    }

    pub(crate) fn lock(&self, object: usize) {
        let since = Instant::now();
        // SAFETY: the probes never lock what they hold.
        self.during(Op::Lock, object, || unsafe {
            self.object(object).lock.lock()
        });
        self.entered(object);
        self.waited(since);
    }

    pub(crate) fn unlock(&self, object: usize) {
        self.object(object).leave(self.me());
        // SAFETY: the probes unlock what they hold.
        self.during(Op::Unlock, object, || unsafe {
            self.object(object).lock.unlock()
        });
    }

    fn counted(&self, got: bool, object: usize, failed: &AtomicU64) -> bool {
        if got {
            self.entered(object);
        } else if !self.nested {
            add(failed, 1);
        }
        got
    }

    pub(crate) fn try_lock(&self, object: usize) -> bool {
        // SAFETY: the probes never try what they hold.
        let got = self.during(Op::Try, object, || unsafe {
            self.object(object).lock.try_lock()
        });
        self.counted(got.unwrap_or(false), object, &self.seat().try_failed)
    }

    pub(crate) fn timed_lock(&self, object: usize, limit: Duration) -> bool {
        let lock = &self.object(object).lock;
        // SAFETY: the probes never lock what they hold.
        let got = self.during(Op::Timed, object, || unsafe { lock.timed_lock(limit) });
        self.counted(got.unwrap_or(false), object, &self.seat().timed_failed)
    }

    pub(crate) fn attempt(&self, object: usize) -> bool {
        // SAFETY: the probes never lock what they hold.
        let got = self.during(Op::Attempt, object, || unsafe {
            self.object(object).lock.attempt()
        });
        self.counted(got.unwrap_or(false), object, &self.seat().attempt_failed)
    }

    pub(crate) fn read_lock(&self, object: usize) {
        let since = Instant::now();
        // SAFETY: the probes never lock what they hold.
        self.during(Op::ReadLock, object, || unsafe {
            self.object(object).lock.read_lock()
        });
        self.entered_shared(object);
        self.waited(since);
    }

    pub(crate) fn read_try(&self, object: usize) -> bool {
        let lock = &self.object(object).lock;
        // SAFETY: the probes never lock what they hold.
        let got = self.during(Op::ReadTry, object, || unsafe { lock.read_try_lock() });
        self.counted_shared(got.unwrap_or(false), object, &self.seat().try_failed)
    }

    pub(crate) fn read_timed(&self, object: usize, limit: Duration) -> bool {
        let lock = &self.object(object).lock;
        // SAFETY: the probes never lock what they hold.
        let got = self.during(Op::ReadTimed, object, || unsafe {
            lock.read_timed_lock(limit)
        });
        self.counted_shared(got.unwrap_or(false), object, &self.seat().timed_failed)
    }

    fn counted_shared(&self, got: bool, object: usize, failed: &AtomicU64) -> bool {
        if got {
            self.entered_shared(object);
        } else if !self.nested {
            add(failed, 1);
        }
        got
    }

    /// From here on this thread holds the lock shared. Nobody is in between.
    pub(crate) fn downgrade(&self, object: usize) {
        let left = self.object(object).leave_to_read(self.me());
        // SAFETY: the probes downgrade what they hold.
        self.during(Op::Downgrade, object, || unsafe {
            self.object(object).lock.downgrade()
        });
        self.object(object).enter_shared_after(self.me(), left);
    }

    pub(crate) fn read_unlock(&self, object: usize) {
        self.object(object).leave_shared(self.me());
        // SAFETY: the probes unlock what they hold.
        self.during(Op::ReadUnlock, object, || unsafe {
            self.object(object).lock.read_unlock()
        });
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
