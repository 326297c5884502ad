// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is counted while a simulation runs.

use super::caches::{ps, Price};
use super::tree::Ps;
use super::turns::Turns;
use crate::machine::Distance;
use crate::outcome::{Counts, Doing, Event, WaitSplit};
use crate::setup::Setup;
use hdrhistogram::Histogram;

/// Operations of all without any acquisition after which nobody will get on.
const FRUITLESS: u64 = 200_000_000;

/// Of one thread.
#[derive(Clone, Debug)]
pub(crate) struct OfThread {
    doing: Doing,
    shown: (Doing, Ps),
    running: bool,
    asleep: bool,
    woken: bool,
    /// When it last lost its CPU, and got one again.
    off: (Ps, Ps),
    off_total: Ps,
    /// The wait that it is in, or was last.
    wait_from: Ps,
    /// The call that it is in: its begin, and the time off its CPU before.
    call_from: Ps,
    call_off: Ps,
    gives_back: bool,
    /// What it is after, or holds, is shared; the lock was held when it came; how many had
    /// got it that would exclude it.
    shared: bool,
    met: bool,
    before: u64,
    wait_asleep: Ps,
    wait_waking: Ps,
    wait_transfer: Ps,
    wait_holder: Ps,
    wait_next: Ps,
    sleeps_since: Ps,
    woken_at: Ps,
    from: Ps,
    from_off: Ps,
    pub id: u32,
    pub cpu: u32,
    /// Acquisitions.
    pub acquisitions: u64,
    /// CPU time, ps; set at the end.
    pub busy: Ps,
}

impl Default for OfThread {
    fn default() -> Self {
        OfThread {
            doing: Doing::Think,
            shown: (Doing::Think, 0),
            running: false,
            asleep: false,
            woken: false,
            off: (0, 0),
            off_total: 0,
            wait_from: 0,
            call_from: 0,
            call_off: 0,
            gives_back: false,
            shared: false,
            met: false,
            before: 0,
            wait_asleep: 0,
            wait_waking: 0,
            wait_transfer: 0,
            wait_holder: 0,
            wait_next: 0,
            sleeps_since: 0,
            woken_at: 0,
            from: 0,
            from_off: 0,
            id: 0,
            cpu: 0,
            acquisitions: 0,
            busy: 0,
        }
    }
}

impl OfThread {
    /// What it is at, besides sleeping.
    pub fn doing(&self) -> Doing {
        self.doing
    }

    /// It has no CPU yet.
    pub fn starts_off(&mut self, time: Ps) {
        self.off.0 = time;
        self.asleep = true;
    }

    /// It has waited for a line for so long.
    pub fn transfer(&mut self, time: Ps) {
        if self.doing == Doing::Wait {
            self.wait_transfer += time;
        }
    }

    /// It runs, or not. True if that is new.
    pub fn set_running(&mut self, running: bool, time: Ps) -> bool {
        if self.running == running {
            return false;
        }
        self.running = running;
        if running {
            self.off.1 = time;
            self.off_total += time.saturating_sub(self.off.0);
        } else {
            self.off.0 = time;
        }
        true
    }

    fn off_total(&self, time: Ps) -> Ps {
        let now = if self.running {
            0
        } else {
            time.saturating_sub(self.off.0)
        };
        self.off_total + now
    }

    pub fn falls_asleep(&mut self, time: Ps) {
        (self.asleep, self.woken) = (true, false);
        (self.sleeps_since, self.woken_at) = (time, 0);
    }

    pub fn is_woken(&mut self, time: Ps) {
        (self.woken, self.woken_at) = (true, time);
    }

    pub fn woken_up(&mut self, time: Ps) {
        if std::mem::take(&mut self.asleep) && self.doing == Doing::Wait && self.woken_at > 0 {
            self.wait_asleep += self.woken_at.saturating_sub(self.sleeps_since);
            self.wait_waking += time.saturating_sub(self.woken_at);
        }
    }

    /// What was measured so far was warm-up.
    pub fn restart(&mut self, time: Ps) {
        self.acquisitions = 0;
        (self.from, self.from_off) = (time, self.off_total(time));
        // Of a call that it is in, only the rest counts.
        (self.call_from, self.call_off) = (time, self.from_off);
    }

    /// CPU time since it began its call of lock or unlock.
    fn in_call(&self, time: Ps) -> Ps {
        let off = self.off_total(time).saturating_sub(self.call_off);
        time.saturating_sub(self.call_from).saturating_sub(off)
    }

    /// CPU time in a call that it is in at the end.
    pub fn unfinished(&self, end: Ps) -> Ps {
        if self.doing == Doing::Wait || self.gives_back {
            self.in_call(end)
        } else {
            0
        }
    }

    /// CPU time since measuring began.
    pub fn busy_until(&self, time: Ps) -> Ps {
        let off = self.off_total(time).saturating_sub(self.from_off);
        time.saturating_sub(self.from).saturating_sub(off)
    }

    /// All is over.
    pub fn close(&mut self, end: Ps) -> OfThread {
        self.busy = self.busy_until(end);
        self.clone()
    }

    fn shows(&self) -> Doing {
        match (self.asleep, self.running) {
            (true, _) => Doing::Sleep,
            (_, false) => Doing::Ready,
            _ => self.doing,
        }
    }
}

/// Of all.
pub(crate) struct Tally {
    pub counts: Counts,
    pub waits: Histogram<u64>,
    pub read_waits: Histogram<u64>,
    pub line: Turns,
    pub split: WaitSplit,
    pub in_lock: Ps,
    pub reads: u64,
    pub timeline: Vec<Event>,
    /// When measuring began, and when the last thread ended.
    pub from: Ps,
    pub last_end: Ps,
    window: Option<(Ps, Ps)>,
    sockets: usize,
    /// Operations before measuring began.
    before: u64,
    fruitless: u64,
    /// When somebody last got the lock.
    pub progress: Ps,
    /// Holders now, and acquisitions so far with those of the warm-up: exclusive, shared.
    holding: [u32; 2],
    got: [u64; 2],
    holder: Option<usize>,
    holder_off: Ps,
    holder_off_since: Option<Ps>,
    next_off: Ps,
    released: Ps,
    /// Where.
    pub last_place: Option<u16>,
}

impl Tally {
    pub fn new(setup: &Setup, sockets: usize) -> Self {
        let counts = Counts {
            link_bytes: vec![0; sockets * sockets],
            ..Counts::default()
        };
        let start = if setup.workload.loops.is_some() {
            0.0
        } else {
            setup.workload.warmup_us
        };
        let window = setup.window.map(|(from, to)| {
            let at = |us: f64| ps((start + us) * 1000.0);
            (at(from), at(to))
        });
        Tally {
            counts,
            waits: Histogram::new(3).expect("three digits are allowed"),
            read_waits: Histogram::new(3).expect("three digits are allowed"),
            line: Turns::default(),
            split: WaitSplit::default(),
            in_lock: 0,
            reads: 0,
            timeline: Vec::new(),
            from: 0,
            last_end: 0,
            window,
            sockets,
            before: 0,
            fruitless: 0,
            progress: 0,
            holding: [0; 2],
            got: [0; 2],
            holder: None,
            holder_off: 0,
            holder_off_since: None,
            next_off: 0,
            released: 0,
            last_place: None,
        }
    }

    /// All operations so far.
    pub fn operations(&self) -> u64 {
        self.before + self.counts.loads + self.counts.stores + self.counts.rmws
    }

    /// Whether somebody still gets the lock now and then.
    pub fn makes_progress(&self) -> bool {
        self.operations() - self.fruitless < FRUITLESS
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
        self.line.overtakes.reset();
        self.split = WaitSplit::default();
        (self.in_lock, self.reads, self.from) = (0, 0, time);
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

    /// A thread begins to wait for the lock.
    pub fn waits(&mut self, of: &mut OfThread, shared: bool, time: Ps) {
        of.doing = Doing::Wait;
        of.shared = shared;
        let [writers, readers] = self.holding;
        of.met = writers > 0 || (readers > 0 && !shared);
        of.before = self.excluding(shared);
        of.wait_from = time;
        self.line.comes((time, of.id));
        (of.call_from, of.call_off) = (time, of.off_total(time));
        (of.wait_asleep, of.wait_waking, of.wait_transfer) = (0, 0, 0);
        (of.wait_holder, of.wait_next) = (self.holder_off_total(time), self.next_off);
        self.show(of, time);
    }

    /// It has got it.
    pub fn holds(&mut self, of: &mut OfThread, distance: Option<Distance>, shared: bool, time: Ps) {
        of.doing = Doing::Hold;
        of.acquisitions += 1;
        self.reads += u64::from(shared);
        (self.fruitless, self.progress) = (self.operations(), time);
        let passed = self.excluding(shared) > of.before;
        self.counts.contended += u64::from(of.met || passed);
        self.got[usize::from(shared)] += 1;
        self.holding[usize::from(shared)] += 1;
        if std::mem::take(&mut of.woken) {
            self.counts.useful_wakeups += 1;
        }
        // It was off its CPU while the lock was free: that cost all that wait.
        let from = of.off.0.max(self.released).max(of.wait_from);
        self.next_off += of.off.1.min(time).saturating_sub(from);
        let wait = time.saturating_sub(of.wait_from);
        let _ = self.waits.record(wait / 1000);
        if shared {
            let _ = self.read_waits.record(wait / 1000);
        }
        self.line.gets((of.wait_from, of.id));
        self.in_lock += of.in_call(time);
        self.divide(of, wait, time);
        if let Some(distance) = distance {
            self.counts.handovers[distance as usize] += 1;
        }
        self.holder = Some(of.id as usize);
        self.show(of, time);
    }

    /// Acquisitions so far that exclude a shared one, or any.
    fn excluding(&self, shared: bool) -> u64 {
        match shared {
            true => self.got[0],
            false => self.got.iter().sum(),
        }
    }

    fn divide(&mut self, of: &OfThread, wait: Ps, time: Ps) {
        let mut left = wait;
        let mut part = |want: Ps| {
            let share = want.min(left);
            left -= share;
            share as f64 / 1000.0
        };
        let split = &mut self.split;
        split.asleep += part(of.wait_asleep);
        split.waking += part(of.wait_waking);
        split.transfer += part(of.wait_transfer);
        let holder = self.holder_off
            + self
                .holder_off_since
                .map_or(0, |since| time.saturating_sub(since));
        split.preempted_holder += part(holder.saturating_sub(of.wait_holder));
        split.preempted_next += part(self.next_off.saturating_sub(of.wait_next));
        split.queueing += left as f64 / 1000.0;
    }

    /// It is about to give it back.
    pub fn gives_back(&mut self, of: &mut OfThread, time: Ps) {
        self.released = time;
        self.holding[usize::from(of.shared)] -= 1;
        self.holder = None;
        if let Some(since) = self.holder_off_since.take() {
            self.holder_off += time.saturating_sub(since);
        }
        of.doing = Doing::Think;
        of.gives_back = true;
        (of.call_from, of.call_off) = (time, of.off_total(time));
        self.show(of, time);
    }

    /// It has given it back.
    pub fn gave_back(&mut self, of: &mut OfThread, time: Ps) {
        of.gives_back = false;
        self.in_lock += of.in_call(time);
    }

    fn holder_off_total(&self, time: Ps) -> Ps {
        let now = self
            .holder_off_since
            .map_or(0, |since| time.saturating_sub(since));
        self.holder_off + now
    }

    /// `thread` runs now, or no more.
    pub fn holder_ran(&mut self, thread: usize, runs: bool, time: Ps) {
        if self.holder != Some(thread) {
            return;
        }
        if runs {
            if let Some(since) = self.holder_off_since.take() {
                self.holder_off += time.saturating_sub(since);
            }
        } else {
            self.counts.preempted_holders += 1;
            self.holder_off_since = Some(time);
        }
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
