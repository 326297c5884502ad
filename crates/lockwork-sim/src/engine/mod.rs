// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The state of a simulation, and what happens next in it.
//!
//! Each simulated thread is a coroutine. Its calls come in through
//! [`crate::calls`]: a call makes a step, and where that has to wait, the
//! coroutine is suspended and the call makes its next step later. Nothing here
//! is borrowed while another coroutine runs.
//!
//! A CPU runs ahead of the others in what only it can see (its clock); before
//! each access it waits until it is the earliest.

pub(crate) mod caches;
mod guests;
mod requests;
mod sched;
mod steps;
mod tally;
pub(crate) mod tree;

pub(crate) use steps::{Change, Step};
pub(crate) use tree::Ps;

use crate::machine::Machine;
use crate::outcome::{Doing, Stuck};
use crate::simulate::{Clusters, Setup};
use caches::{ps, Caches};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use requests::{Agent, Request, PARTS};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tally::Tally;
use tree::{Tree, NEVER};

/// No thread.
pub(crate) const NOBODY: u32 = u32::MAX;

/// What is to happen at the time of an agent in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The thread goes on.
    Run,
    /// Its request reaches the place where requests for the line are ordered.
    Arrive,
    /// The line is free for the next request.
    Choose,
    /// The line is here.
    Done,
}

/// A wait that costs no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parked {
    No,
    /// Until a line is taken away.
    Line,
    /// The same, or what was asked of the scheduler changes.
    Relax,
}

/// A store that is not visible yet.
struct Store {
    addr: usize,
    size: u32,
    value: u64,
}

/// A CPU, virtual if there is a hypervisor.
struct Cpu {
    place: u16,
    /// Its own clock.
    now: Ps,
    thread: u32,
    /// Ready threads besides that one.
    ready: VecDeque<u32>,
    /// Its thread should leave.
    resched: bool,
    /// When its thread got it.
    since: Ps,
    /// A timer for the end of the slice is set.
    slice: bool,
    stores: VecDeque<Store>,
    /// The thread waits for its stores: until no more than so many are left.
    draining: Option<usize>,
    /// The request of the thread, and those of its oldest stores.
    requests: [Option<Request>; PARTS],
    actions: [Action; PARTS],
    /// The access that the thread waits for can be made now.
    granted: bool,
    parked: Parked,
    /// The number of its latest wait, so that old entries are known as such.
    wait: u32,
    /// What the thread loaded since its last pause, all of it from its cache?
    round: Vec<u32>,
    round_hit: bool,
    /// Rounds in which nothing changed.
    quiet: u32,
    /// The thread or CPU whose state the thread asked for in this round.
    asked: Option<Asked>,
    site: *const Site,
    /// Off the real CPU; the rest of what it was at, if it was computing.
    paused: bool,
    rest: Option<Ps>,
    halted: bool,
}

/// Whose state a spinner looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Thread(u32),
    Cpu(u32),
}

/// `struct lws_site`.
#[repr(C)]
pub(crate) struct Site {
    file: *const std::ffi::c_char,
    func: *const std::ffi::c_char,
    line: u32,
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has a CPU, which may be paused or halted.
    Running,
    /// It waits for its CPU.
    Ready,
    /// Until somebody wakes who sleeps at this address; 0: until a time.
    Asleep(usize),
    /// Woken, not ready yet.
    Waking,
    /// At its end.
    Done,
}

struct Thread {
    routine: Option<Coroutine<(), (), (), DefaultStack>>,
    yielder: *const Yielder<(), ()>,
    cpu: u32,
    state: State,
    /// Who may not be preempted; nests.
    preempt: i32,
    /// In the kernel, where nobody loses a CPU against its will; it may sleep.
    keeps: bool,
    /// What is left of a computation that was interrupted.
    rest: Ps,
    /// Which of its sleeps this is.
    sleep: u32,
    timed_out: bool,
    tally: tally::OfThread,
}

/// What happens at a time, to no CPU in particular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// A sleeper that was woken is ready.
    Wake(u32),
    /// A sleep of a thread, by number, has lasted long enough.
    Timeout(u32, u32),
    /// A thread's slice is over.
    Slice(u32),
    /// A virtual CPU's slice on this real one is over.
    GuestSlice(u16),
    /// A halted CPU, or one that has a thread now, wants to run.
    GuestReady(u32),
    /// The warm-up is over.
    Measure,
    /// All is over.
    End,
}

/// Costs that are not of caches, in ps.
struct Fixed {
    relax: Ps,
    fence: Ps,
    store_buffer: usize,
    slice: Ps,
    wake: Ps,
    waker: Ps,
    switch: Ps,
    guest_slice: Ps,
    kick: Ps,
    kicker: Ps,
    guest_switch: Ps,
    directed_yield: bool,
    hold: f64,
    hold_min: Ps,
    store_hold: f64,
    occupancy: f64,
    request: f64,
    near_bias: f64,
    respin: Ps,
}

impl Fixed {
    fn new(machine: &Machine) -> Self {
        let us = |us: f64| ps(us * 1000.0);
        let (scheduler, guests) = (&machine.scheduler, &machine.hypervisor);
        Fixed {
            relax: ps(machine.cpu.relax).max(1),
            fence: ps(machine.cpu.fence),
            store_buffer: (machine.cpu.store_buffer as usize).max(1),
            slice: us(scheduler.slice_us).max(1),
            wake: us(scheduler.wake_us),
            waker: us(scheduler.waker_us),
            switch: us(scheduler.switch_us),
            guest_slice: us(guests.slice_us).max(1),
            kick: us(guests.kick_us),
            kicker: us(guests.kicker_us),
            guest_switch: us(guests.switch_us),
            directed_yield: guests.directed_yield,
            hold: machine.line.hold,
            hold_min: ps(machine.line.hold_min),
            store_hold: machine.line.store_hold,
            occupancy: machine.line.occupancy,
            request: machine.line.request,
            near_bias: machine.line.near_bias,
            respin: ps(machine.line.respin),
        }
    }
}

/// A simulation.
pub(crate) struct Engine {
    tree: Tree,
    timers: BinaryHeap<Reverse<(Ps, u64, Timer)>>,
    /// The time of the first of them.
    next_timer: Ps,
    set_timers: u64,
    pub caches: Caches,
    fixed: Fixed,
    cpus: Vec<Cpu>,
    threads: Vec<Thread>,
    affinity: bool,
    clusters: Clusters,
    sleepers: FxHashMap<usize, VecDeque<u32>>,
    /// Spinners in [`Parked::Relax`] that asked about somebody.
    askers: Vec<u32>,
    /// Room for [`Engine::choose`].
    ranked: Vec<(Ps, u16, bool)>,
    guests: Option<guests::Guests>,
    pub random: fastrand::Rng,
    pub tally: Tally,
    /// The CPU whose coroutine runs, and the thread that it is of.
    current: usize,
    running: usize,
    /// The time of what happens now.
    time: Ps,
    alive: usize,
    over: bool,
    /// Accesses take no time: nothing runs yet.
    pub direct: bool,
}

/// The share by which the cost of a transfer varies at random, up and down.
const JITTER: f64 = 0.05;

impl Engine {
    /// Nothing has happened yet, and no thread has code to run.
    pub fn new(setup: &Setup) -> Self {
        let machine = setup.machine;
        let (caches, place_of) = Caches::new(machine);
        let copies = setup.guests.map_or(1, |guests| guests.overcommit as usize);
        let mut random = fastrand::Rng::with_seed(setup.seed ^ 0x5eed_0000);
        let order = crate::simulate::order(setup, &caches, &place_of);
        let cpus = (0..order.len() * copies).map(|i| Cpu::new(place_of[order[i % order.len()]]));
        let cpus: Vec<Cpu> = cpus.collect();
        let threads = (0..setup.threads).map(|i| Thread::new((i % cpus.len()) as u32));
        let mut engine = Engine {
            tree: Tree::new(PARTS * cpus.len()),
            timers: BinaryHeap::new(),
            next_timer: NEVER,
            set_timers: 0,
            tally: Tally::new(setup, machine.socket_count()),
            fixed: Fixed::new(machine),
            threads: threads.collect(),
            guests: setup.guests.map(|_| guests::Guests::new(machine.cpus())),
            caches,
            affinity: setup.workload.affinity,
            clusters: setup.clusters,
            sleepers: FxHashMap::default(),
            askers: Vec::new(),
            ranked: Vec::new(),
            current: 0,
            running: 0,
            time: 0,
            alive: setup.threads,
            over: false,
            direct: false,
            cpus,
            random: random.fork(),
        };
        for thread in 0..setup.threads as u32 {
            // Not all at once: nobody starts in step.
            let start = random.u64(..1_000_000);
            engine.threads[thread as usize].state = State::Waking;
            let tally = &mut engine.threads[thread as usize].tally;
            tally.starts_off(0);
            tally.id = thread;
            engine.set_timer(start, Timer::Wake(thread));
        }
        let (warmup, measure) = (setup.workload.warmup_us, setup.workload.measure_us);
        if setup.workload.loops.is_none() {
            engine.set_timer(ps(warmup * 1000.0), Timer::Measure);
            engine.set_timer(ps((warmup + measure) * 1000.0), Timer::End);
        }
        engine
    }

    /// Gives `thread` its code.
    pub fn set_routine(&mut self, thread: usize, routine: Coroutine<(), (), (), DefaultStack>) {
        self.threads[thread].routine = Some(routine);
    }

    /// The running thread is suspended through this from now on.
    pub fn set_yielder(&mut self, yielder: &Yielder<(), ()>) {
        let thread = self.thread();
        self.threads[thread].yielder = yielder;
    }

    /// Through which the running thread is suspended.
    pub fn yielder(&self) -> *const Yielder<(), ()> {
        self.threads[self.thread()].yielder
    }

    /// Makes things happen until a coroutine has to run: takes it out, to be put
    /// back by [`Engine::suspended`]. `None`: it is over, or nobody will run.
    pub fn next(&mut self) -> Option<Coroutine<(), (), (), DefaultStack>> {
        while !self.over && self.tally.makes_progress() {
            let (agent, time) = self.tree.first();
            if self.next_timer <= time {
                let Reverse((time, _, timer)) = self.timers.pop()?;
                self.next_timer = self.timers.peek().map_or(NEVER, |next| next.0 .0);
                self.time = time;
                self.fire(timer);
                continue;
            }
            self.time = time;
            let agent = Agent(agent as u16);
            let cpu = agent.cpu();
            match self.cpus[cpu].actions[agent.part()] {
                Action::Arrive => self.arrive(agent),
                Action::Choose => self.choose(agent),
                Action::Done if agent.part() > 0 => self.store_done(agent),
                Action::Done => self.line_is_here(cpu),
                Action::Run => {}
            }
            if agent.part() > 0 || self.cpus[cpu].actions[0] != Action::Run {
                continue;
            }
            if self.tree.first() != (agent.0 as usize, time) || !self.may_run(cpu) {
                continue;
            }
            self.current = cpu;
            let state = &mut self.cpus[cpu];
            state.now = state.now.max(time);
            state.parked = Parked::No;
            self.running = state.thread as usize;
            return self.threads[self.running].routine.take();
        }
        None
    }

    /// The coroutine that ran last is suspended, or at its end.
    pub fn suspended(&mut self, routine: Coroutine<(), (), (), DefaultStack>, thread: u32) {
        let done = routine.done();
        self.threads[thread as usize].routine = Some(routine);
        if done {
            self.thread_ends(thread);
        }
    }

    /// The running thread.
    pub fn thread(&self) -> usize {
        self.running
    }

    /// The running CPU.
    pub fn cpu(&self) -> usize {
        self.current
    }

    /// The running CPU's cluster.
    pub fn cluster(&self) -> usize {
        let place = self.cpus[self.current].place;
        usize::from(match self.clusters {
            Clusters::Llc => self.caches.cluster(place),
            Clusters::Node => self.caches.node(place),
        })
    }

    /// How many clusters the machine has.
    pub fn clusters(&self) -> usize {
        match self.clusters {
            Clusters::Llc => self.caches.clusters(),
            Clusters::Node => self.caches.nodes(),
        }
    }

    /// A lock counts an event.
    pub fn count_event(&mut self, event: usize) {
        let events = &mut self.tally.counts.events;
        if events.len() <= event {
            events.resize(event + 1, 0);
        }
        events[event] += 1;
    }

    /// The running CPU's clock.
    pub fn now(&self) -> Ps {
        self.cpus[self.current].now
    }

    /// The running thread computes.
    pub fn work(&mut self, time: Ps) {
        self.cpus[self.current].now += time;
    }

    /// Whether the measured time, or all loops, are over.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// When it ended.
    pub fn end(&self) -> Ps {
        self.time
    }

    fn set_timer(&mut self, at: Ps, timer: Timer) {
        self.set_timers += 1;
        self.timers.push(Reverse((at, self.set_timers, timer)));
        self.next_timer = self.next_timer.min(at);
    }

    fn fire(&mut self, timer: Timer) {
        match timer {
            Timer::Wake(thread) => self.becomes_ready(thread),
            Timer::Timeout(thread, sleep) => self.time_is_up(thread, sleep),
            Timer::Slice(cpu) => self.slice_is_over(cpu as usize),
            Timer::GuestSlice(place) => self.guest_slice_is_over(place),
            Timer::GuestReady(cpu) => self.guest_is_ready(cpu as usize),
            Timer::Measure => self.begin_measuring(),
            // Where nobody will run again it is not the time that ends it.
            Timer::End => self.over = self.tree.first().1 < NEVER || !self.timers.is_empty(),
        }
    }

    fn begin_measuring(&mut self) {
        self.tally.restart(self.time);
        for thread in &mut self.threads {
            thread.tally.restart(self.time);
        }
    }

    /// The running thread begins to wait for the lock.
    pub fn waits(&mut self) {
        let (thread, now) = (self.thread(), self.now());
        self.tally.waits(&mut self.threads[thread].tally, now);
    }

    /// It has got it.
    pub fn holds(&mut self, shared: bool) {
        let (thread, now) = (self.thread(), self.now());
        let place = self.cpus[self.current].place;
        let distance = self
            .tally
            .last_place
            .map(|last| self.caches.distance(last, place));
        self.tally.last_place = Some(place);
        let of = &mut self.threads[thread].tally;
        of.cpu = self.current as u32;
        self.tally.holds(of, distance, shared, now);
    }

    /// It is about to give it back.
    pub fn gives_back(&mut self) {
        let (thread, now) = (self.thread(), self.now());
        self.tally.gives_back(&mut self.threads[thread].tally, now);
    }

    /// It has given it back.
    pub fn gave_back(&mut self) {
        let (thread, now) = (self.thread(), self.now());
        self.tally.gave_back(&mut self.threads[thread].tally, now);
    }

    /// Why it does not go on.
    pub fn stuck(&self) -> Stuck {
        let us = |time: Ps| time as f64 / 1e6;
        let what = if self.tally.makes_progress() {
            format!(
                "deadlock after {:.1} µs: no thread will ever run again",
                us(self.time)
            )
        } else {
            format!(
                "livelock: at {:.1} µs the CPUs are busy, and the last acquisition was at {:.1} µs",
                us(self.time),
                us(self.tally.progress)
            )
        };
        let threads = self.describe();
        Stuck { what, threads }
    }

    /// What each thread is at, for a report.
    fn describe(&self) -> Vec<String> {
        let describe = |(id, thread): (usize, &Thread)| {
            let cpu = &self.cpus[thread.cpu as usize];
            // SAFETY: sites are static objects of the world, which stays loaded.
            let site = unsafe { cpu.site.as_ref() }.map(Site::describe);
            let at = site.unwrap_or_else(|| "no wait yet".to_owned());
            let state = match thread.state {
                State::Running if cpu.halted => "halted",
                State::Running if cpu.paused => "its virtual CPU is off its CPU",
                State::Running if cpu.parked != Parked::No => "spins",
                State::Running => "runs",
                State::Ready => "ready",
                State::Asleep(_) => "asleep",
                State::Waking => "waking",
                State::Done => "done",
            };
            let doing = match thread.tally.doing() {
                Doing::Wait => "waits for the lock",
                Doing::Hold => "holds the lock",
                _ => "outside of the lock",
            };
            let number = thread.cpu;
            format!("thread {id} on CPU {number}: {state}, {doing}; last wait at {at}")
        };
        self.threads.iter().enumerate().map(describe).collect()
    }

    /// The threads' tallies.
    pub fn of_threads(&mut self) -> Vec<tally::OfThread> {
        let end = self.time;
        for thread in &self.threads {
            self.tally.in_lock += thread.tally.unfinished(end);
        }
        let threads = self.threads.iter_mut();
        threads.map(|thread| thread.tally.close(end)).collect()
    }

    /// All coroutines, to be thrown away.
    pub fn take_routines(&mut self) -> Vec<Coroutine<(), (), (), DefaultStack>> {
        let threads = self.threads.iter_mut();
        threads.filter_map(|thread| thread.routine.take()).collect()
    }
}

impl Cpu {
    fn new(place: u16) -> Self {
        Cpu {
            place,
            now: 0,
            thread: NOBODY,
            ready: VecDeque::new(),
            resched: false,
            since: 0,
            slice: false,
            stores: VecDeque::new(),
            draining: None,
            requests: [None; PARTS],
            actions: [Action::Run; PARTS],
            granted: false,
            parked: Parked::No,
            wait: 0,
            round: Vec::new(),
            round_hit: true,
            quiet: 0,
            asked: None,
            site: std::ptr::null(),
            paused: false,
            rest: None,
            halted: false,
        }
    }
}

impl Thread {
    fn new(cpu: u32) -> Self {
        Thread {
            routine: None,
            yielder: std::ptr::null(),
            cpu,
            state: State::Ready,
            preempt: 0,
            keeps: false,
            rest: 0,
            sleep: 0,
            timed_out: false,
            tally: tally::OfThread::default(),
        }
    }

    /// Whether it may not lose its CPU now.
    fn keeps_cpu(&self) -> bool {
        self.preempt > 0 || self.keeps
    }
}

impl Site {
    fn describe(&self) -> String {
        // SAFETY: the compiler made both texts.
        let text = |text| unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy();
        format!("{}:{} ({})", text(self.file), self.line, text(self.func))
    }
}
