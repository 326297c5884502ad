// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The loop that every lock is measured by, in every thread.
use crate::object::{self, Line, Object};
use crate::seats::Round;
use crate::tools::spin;
use crate::waits::Waits;
use crate::work::Work;
use lockwork_report::resources::Resources;
use std::sync::atomic::Ordering::Relaxed;

/// What one thread did in a round.
pub(crate) struct Outcome {
    pub(crate) seat: usize,
    /// Ticks at which it began its first operation, and after its last one.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// What the thread took.
    pub(crate) usage: Resources,
    /// Exclusive and shared acquisitions.
    pub(crate) counts: (u64, u64),
    pub(crate) writes: Waits,
    pub(crate) reads: Waits,
}

/// A thread at work.
pub(crate) struct Worker<'a> {
    round: &'a Round,
    seat: usize,
    random: fastrand::Rng,
    /// Lines that nobody else touches, for work outside.
    own: Vec<Line>,
    writes: Waits,
    reads: Waits,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(round: &'a Round, seat: usize) -> Worker<'a> {
        let own = match round.case.outside {
            Work::Lines(n) => n,
            _ => 0,
        };
        let seed = round.seed ^ (seat as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Worker {
            round,
            seat,
            random: fastrand::Rng::with_seed(seed),
            own: object::lines(own),
            writes: Waits::new(),
            reads: Waits::new(),
        }
    }

    /// Acquires and releases until it is told to stop, or often enough.
    pub(crate) fn run(mut self) -> Outcome {
        let round = self.round;
        let beats = &round.seats[self.seat].beats;
        let most = round.case.loops.unwrap_or(u64::MAX);
        let (mut done, mut reads) = (0, 0);
        let before = Resources::of_thread();
        let start = round.tools.clock.now();
        while done < most && !round.stop.load(Relaxed) {
            let object = self.pick();
            let read = round.case.reads > 0 && self.random.u32(0..100) < round.case.reads;
            if round.case.loops.is_some() {
                self.untimed(object, read);
            } else if read {
                self.read(object);
            } else {
                self.write(object);
            }
            reads += u64::from(read);
            done += 1;
            beats.store(done, Relaxed);
            self.pause();
        }
        Outcome {
            seat: self.seat,
            start,
            end: round.tools.clock.now(),
            usage: Resources::of_thread().since(&before),
            counts: (done - reads, reads),
            writes: self.writes,
            reads: self.reads,
        }
    }

    #[inline]
    fn pick(&mut self) -> &'a Object {
        let objects = &self.round.objects;
        match objects.len() {
            1 => &objects[0],
            n => &objects[self.random.usize(0..n)],
        }
    }

    #[inline]
    fn write(&mut self, object: &Object) {
        let clock = &self.round.tools.clock;
        let from = clock.now();
        // SAFETY: the thread holds no lock.
        unsafe { object.lock.lock() };
        let to = clock.now_after();
        let entered = object.enter();
        self.hold();
        object.leave(entered);
        // SAFETY: it holds this one.
        unsafe { object.lock.unlock() };
        self.writes.record(clock.ns(from, to));
    }

    #[inline]
    fn read(&mut self, object: &Object) {
        let clock = &self.round.tools.clock;
        let from = clock.now();
        // SAFETY: the thread holds no lock.
        unsafe { object.lock.read_lock() };
        let to = clock.now_after();
        object.read();
        self.hold();
        // SAFETY: it holds this one, shared.
        unsafe { object.lock.read_unlock() };
        self.reads.record(clock.ns(from, to));
    }

    /// Without a look at the clock, for what is measured as a whole.
    #[inline]
    fn untimed(&mut self, object: &Object, read: bool) {
        // SAFETY: the thread holds no lock, and then this one.
        unsafe {
            if read {
                object.lock.read_lock();
                object.read();
                self.hold();
                object.lock.read_unlock();
            } else {
                object.lock.lock();
                let entered = object.enter();
                self.hold();
                object.leave(entered);
                object.lock.unlock();
            }
        }
    }

    /// What a holder does beside touching the data.
    #[inline]
    fn hold(&mut self) {
        match self.round.case.inside {
            Work::Ns(_) => spin(self.round.inside_rounds),
            Work::Lines(_) => {}
            Work::Torture => self.torture(),
        }
    }

    #[inline]
    fn pause(&mut self) {
        match self.round.case.outside {
            Work::Ns(_) => spin(self.round.outside_rounds),
            Work::Lines(_) => object::touch(&self.own),
            Work::Torture => self.torture(),
        }
    }

    /// Mostly nothing, at times a short delay, rarely one that has everybody
    /// wait: either takes half a microsecond an operation on average, shared
    /// among the threads.
    fn torture(&mut self) {
        let (clock, threads) = (&self.round.tools, self.round.case.threads);
        if self.random.u32(0..20_000 * threads) == 0 {
            spin(clock.rounds(10_000_000));
        } else if self.random.u32(0..4 * threads) == 0 {
            spin(clock.rounds(2000));
        }
    }
}
