// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is counted while a simulation runs.

use super::caches::{ps, Price};
use super::measured::Passed;
use super::of_lock::OfLock;
use super::of_thread::OfThread;
use super::time::starts;
use super::tree::Ps;
use crate::machine::Distance;
use crate::outcome::{Counts, Doing, Event, WaitSplit};
use crate::setup::Setup;
use crate::workload::Program;
use hdrhistogram::Histogram;

/// Operations of all without any acquisition after which nobody will get on.
const FRUITLESS: u64 = 200_000_000;

/// Of all.
pub(crate) struct Tally {
    pub counts: Counts,
    pub waits: Histogram<u64>,
    pub read_waits: Histogram<u64>,
    /// How many acquisitions by threads that came later each one had to see.
    pub overtakes: Histogram<u64>,
    pub split: WaitSplit,
    pub in_lock: Ps,
    /// Time of contended waits, of those that are not over yet too.
    pub waited: Ps,
    pub reads: u64,
    pub timeline: Vec<Event>,
    /// When measuring began, and when the last thread ended.
    pub from: Ps,
    pub last_end: Ps,
    window: Option<(Ps, Ps)>,
    sockets: usize,
    /// Operations before measuring began.
    before: u64,
    /// Operations that may be made without any acquisition.
    fruitless_left: u64,
    /// When somebody last got the lock.
    pub progress: Ps,
    /// The queues of the workload.
    pub(super) queues: Vec<Passed>,
    pub(super) locks: Vec<OfLock>,
    /// What is counted of the locks of one name, or of those of a virtual machine; nothing if
    /// there is one lock.
    named: Vec<OfName>,
    /// By lock: the place of its name.
    names: Vec<usize>,
}

impl Tally {
    pub fn new(setup: &Setup, sockets: usize) -> Self {
        let counts = Counts {
            link_bytes: vec![0; sockets * sockets],
            ..Counts::default()
        };
        let program = setup.workload.program.as_ref();
        let start = match setup.workload.loops {
            Some(_) => 0,
            None => starts(setup) + ps(setup.workload.warmup_us * 1000.0),
        };
        let window = setup.window.map(|(from, to)| {
            let at = |us: f64| start + ps(us * 1000.0);
            (at(from), at(to))
        });
        // Of one lock all that is counted is of that.
        let vms = || match setup.vms() {
            1 => Vec::new(),
            vms => (0..vms).collect(),
        };
        let names = program.map_or_else(vms, Program::names_of_locks);
        let named = names.last().map_or(0, |last| last + 1);
        Tally {
            counts,
            waits: Histogram::new(3).expect("three digits are allowed"),
            read_waits: Histogram::new(3).expect("three digits are allowed"),
            overtakes: Histogram::new(3).expect("three digits are allowed"),
            split: WaitSplit::default(),
            in_lock: 0,
            waited: 0,
            reads: 0,
            timeline: Vec::new(),
            from: 0,
            last_end: 0,
            window,
            sockets,
            before: 0,
            fruitless_left: FRUITLESS,
            progress: 0,
            queues: program.map_or_else(Vec::new, |of| vec![Passed::default(); of.queues.len()]),
            locks: (0..names.len().max(1)).map(|_| OfLock::default()).collect(),
            named: (0..named).map(|_| OfName::default()).collect(),
            names,
        }
    }

    /// All operations so far.
    pub fn operations(&self) -> u64 {
        self.before + self.counts.loads + self.counts.stores + self.counts.rmws
    }

    /// Whether somebody still gets the lock now and then.
    #[inline]
    pub fn makes_progress(&self) -> bool {
        self.fruitless_left > 0
    }

    /// An operation is made, and counted as what it is.
    #[inline]
    pub fn operation(&mut self) {
        self.fruitless_left -= 1;
    }

    /// What was counted so far was warm-up.
    pub fn restart(&mut self, time: Ps) {
        self.before = self.operations();
        self.counts = Counts {
            link_bytes: vec![0; self.sockets * self.sockets],
            ..Counts::default()
        };
        self.waits.reset();
        self.read_waits.reset();
        self.overtakes.reset();
        self.named.iter_mut().for_each(OfName::reset);
        self.split = WaitSplit::default();
        (self.in_lock, self.waited, self.reads, self.from) = (0, 0, 0, time);
    }

    /// A line moves to `socket`.
    pub fn moved(&mut self, price: &Price, socket: u16) {
        let by = price.distance as usize;
        if price.distance == Distance::Own && !price.from_memory {
            return; // it had a copy, and nobody else did
        }
        if price.from_memory {
            self.counts.from_memory[by] += 1;
        } else {
            self.counts.moved[by] += 1;
        }
        if price.from != socket {
            self.counts.link_bytes[usize::from(price.from) * self.sockets + usize::from(socket)] +=
                64;
        }
    }

    /// A thread begins to wait for `lock`.
    pub fn waits(&mut self, of: &mut OfThread, lock: usize, shared: bool, time: Ps) {
        let at = &mut self.locks[lock];
        of.begins_to_wait(time);
        of.wait_for = (lock, shared);
        of.met = at.is_held(shared);
        of.before = at.excluding(shared);
        (of.wait_holder, of.wait_next) = (at.holder_off_total(time), at.next_off);
        at.turns.comes((time, of.id));
        self.show(of, time);
    }

    /// It has got it, so far away from where it was last.
    pub fn holds(
        &mut self,
        of: &mut OfThread,
        (lock, shared): (usize, bool),
        distance: Option<Distance>,
        time: Ps,
    ) {
        of.doing = Doing::Hold;
        of.acquisitions += 1;
        of.held.push((lock, time));
        self.reads += u64::from(shared);
        (self.fruitless_left, self.progress) = (FRUITLESS, time);
        let at = &mut self.locks[lock];
        let contended = at.is_contended(of);
        self.counts.contended += u64::from(contended);
        self.waited += at.contended_wait(of, self.from, time);
        at.got[usize::from(shared)] += 1;
        at.holding[usize::from(shared)] += 1;
        if std::mem::take(&mut of.woken) {
            self.counts.useful_wakeups += 1;
        }
        // It was off its CPU while the lock was free: that cost all that wait.
        let from = of.off.0.max(at.released).max(of.wait_from);
        at.next_off += of.off.1.min(time).saturating_sub(from);
        let wait = time.saturating_sub(of.wait_from);
        let overtakes = at.turns.gets((of.wait_from, of.id));
        at.holder = Some(of.id as usize);
        let _ = self.overtakes.record(overtakes);
        let _ = self.waits.record(wait / 1000);
        if shared {
            let _ = self.read_waits.record(wait / 1000);
        }
        self.in_lock += of.in_call(time);
        self.divide(of, lock, wait, time);
        if let Some(distance) = distance {
            self.counts.handovers[distance as usize] += 1;
        }
        if let Some(&name) = self.names.get(lock) {
            self.named[name].got(shared, contended, wait);
        }
        self.show(of, time);
    }

    fn divide(&mut self, of: &OfThread, lock: usize, wait: Ps, time: Ps) {
        let mut left = wait;
        let mut part = |want: Ps| {
            let share = want.min(left);
            left -= share;
            share as f64 / 1000.0
        };
        let split = &mut self.split;
        let at = &self.locks[lock];
        split.asleep += part(of.wait_asleep);
        split.waking += part(of.wait_waking);
        split.transfer += part(of.wait_transfer);
        split.preempted_holder += part(at.holder_off_total(time).saturating_sub(of.wait_holder));
        split.preempted_next += part(at.next_off.saturating_sub(of.wait_next));
        split.queueing += left as f64 / 1000.0;
    }

    /// The end has come, perhaps in the middle of its call.
    pub fn ends(&mut self, of: &OfThread, end: Ps) {
        self.in_lock += of.unfinished(end);
        if of.doing == Doing::Wait {
            self.waited += self.locks[of.wait_for.0].contended_wait(of, self.from, end);
        }
    }

    /// It is about to give `lock` back.
    pub fn gives_back(&mut self, of: &mut OfThread, lock: usize, shared: bool, time: Ps) {
        let at = &mut self.locks[lock];
        at.released = time;
        at.holding[usize::from(shared)] -= 1;
        at.holder = None;
        at.holder_is_back(time);
        let held = of.gives_back(lock, time);
        if let Some(&name) = self.names.get(lock) {
            self.named[name].held += time.saturating_sub(held.max(self.from));
        }
        self.show(of, time);
    }

    /// It has given it back.
    pub fn gave_back(&mut self, of: &mut OfThread, time: Ps) {
        of.gives_back = false;
        self.in_lock += of.in_call(time);
    }

    /// A thread runs now, or no more.
    pub fn holder_ran(&mut self, of: &OfThread, runs: bool, time: Ps) {
        for &(lock, _) in &of.held {
            let at = &mut self.locks[lock];
            if at.holder != Some(of.id as usize) {
                continue;
            }
            if runs {
                at.holder_is_back(time);
            } else {
                self.counts.preempted_holders += 1;
                at.holder_is_off(time);
            }
        }
    }

    /// What was measured of the locks of each name until `end`, with what is held then.
    pub fn named<'a>(
        &mut self,
        held: impl Iterator<Item = &'a [(usize, Ps)]>,
        end: Ps,
    ) -> Vec<OfName> {
        for (lock, since) in held.flatten().copied() {
            if let Some(&name) = self.names.get(lock) {
                self.named[name].held += end.saturating_sub(since.max(self.from));
            }
        }
        std::mem::take(&mut self.named)
    }

    /// A queue has so many items now; `put`: because one came.
    pub fn passed(&mut self, queue: usize, put: bool, items: u64) {
        let passed = &mut self.queues[queue];
        passed.came += u64::from(put);
        passed.items = items;
    }

    /// A thread is at its end.
    pub fn thread_ended(&mut self, time: Ps) {
        self.last_end = self.last_end.max(time);
    }

    /// Notes what a thread was at until now, where that is to be shown.
    pub fn show(&mut self, of: &mut OfThread, time: Ps) {
        let next = (of.shows(), time);
        let (doing, since) = std::mem::replace(&mut of.shown, next);
        let Some((from, to)) = self.window else {
            return;
        };
        let (begin, end) = (since.max(from), time.min(to));
        if begin < end {
            self.timeline.push(Event {
                thread: of.id,
                cpu: of.cpu,
                doing,
                from: (begin - from) as f64 / 1000.0,
                ns: (end - begin) as f64 / 1000.0,
            });
        }
    }
}

/// Of the locks of one name in a workload of roles, or of a virtual machine's lock.
pub(crate) struct OfName {
    pub acquisitions: u64,
    pub reads: u64,
    pub contended: u64,
    /// Waits, ns.
    pub waits: Histogram<u64>,
    /// For how long they were held, all together.
    pub held: Ps,
}

impl Default for OfName {
    fn default() -> Self {
        OfName {
            acquisitions: 0,
            reads: 0,
            contended: 0,
            waits: Histogram::new(3).expect("three digits are allowed"),
            held: 0,
        }
    }
}

impl OfName {
    fn reset(&mut self) {
        *self = OfName::default();
    }

    fn got(&mut self, shared: bool, contended: bool, wait: Ps) {
        self.acquisitions += 1;
        self.reads += u64::from(shared);
        self.contended += u64::from(contended);
        let _ = self.waits.record(wait / 1000);
    }
}
