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
mod clocks;
mod fixed;
mod guests;
mod line;
mod measured;
mod memory;
mod order;
mod request;
mod requests;
mod sched;
mod settling;
mod state;
mod steps;
mod stuck;
mod tally;
pub(crate) mod tree;
mod turns;

pub(crate) use state::{Engine, Site};
pub(crate) use steps::{Change, Step};
pub(crate) use tree::Ps;

use crate::machine::Distance;
use crate::rules::Rule;
use crate::settle::{Batch, Verdict};
use crate::setup::{Clusters, Setup};
use caches::{ps, Caches};
use clocks::Clocks;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use fixed::Fixed;
use measured::Measured;
use request::{Agent, PARTS};
use rustc_hash::FxHashMap;
use state::{Action, Cpu, Guests, Parked, State, Thread, Timer, NOBODY};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tally::{OfThread, Tally};
use tree::{Tree, NEVER};

/// By CPU: the CPUs on other threads of its core.
fn siblings(caches: &Caches, cpus: &[Cpu]) -> Vec<Vec<u32>> {
    let others = |cpu: &Cpu| {
        let all = cpus.iter().enumerate();
        let near =
            all.filter(|(_, other)| caches.distance(cpu.place, other.place) == Distance::Smt);
        near.map(|(at, _)| at as u32).collect()
    };
    cpus.iter().map(others).collect()
}

impl Engine {
    /// Nothing has happened yet, and no thread has code to run.
    pub fn new(setup: &Setup) -> Self {
        let machine = setup.machine;
        let (caches, place_of) = Caches::new(machine);
        let copies = setup.guests.map_or(1, |guests| guests.overcommit as usize);
        let mut random = fastrand::Rng::with_seed(setup.seed ^ 0x5eed_0000);
        let order = order::order(setup, &caches, &place_of);
        let cpus = (0..order.len() * copies).map(|i| Cpu::new(place_of[order[i % order.len()]]));
        let cpus: Vec<Cpu> = cpus.collect();
        let siblings = match setup.rules.has(Rule::SmtShare) && machine.cpu.smt_slowdown > 1.0 {
            true => siblings(&caches, &cpus),
            false => Vec::new(),
        };
        let core = |cpu: &Cpu| (caches.socket(cpu.place), caches.core(cpu.place));
        let cores: Vec<(u16, u16)> = cpus.iter().map(core).collect();
        let threads = (0..setup.threads).map(|i| Thread::new((i % cpus.len()) as u32));
        let mut engine = Engine {
            tree: Tree::new(PARTS * cpus.len()),
            timers: BinaryHeap::new(),
            next_timer: NEVER,
            set_timers: 0,
            tally: Tally::new(setup, machine.socket_count()),
            measured: Measured::new(setup),
            fixed: Fixed::new(machine),
            threads: threads.collect(),
            guests: setup.guests.map(|_| Guests::new(machine.cpus())),
            caches,
            affinity: setup.workload.affinity,
            clusters: setup.clusters,
            rules: setup.rules,
            clocks: Clocks::new(setup, &cores),
            siblings,
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
        if setup.workload.loops.is_none() {
            engine.set_timer(ps(setup.workload.warmup_us * 1000.0), Timer::Measure);
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

    /// The running thread computes: slower, if at its begin another thread of the core does
    /// so too.
    pub fn work(&mut self, time: Ps) {
        let computes = |&cpu: &u32| {
            let cpu = &self.cpus[cpu as usize];
            let waits = cpu.parked != Parked::No || cpu.requests[0].is_some() || cpu.paused;
            cpu.thread != NOBODY && !waits
        };
        let shares = self.siblings.get(self.current);
        let time = match shares.is_some_and(|all| all.iter().any(computes)) {
            true => (time as f64 * self.fixed.smt_slowdown) as Ps,
            false => time,
        };
        self.cpus[self.current].now += self.clocks.scaled(self.current, time);
    }

    /// The running thread watches a clock that always runs alike until so much has passed.
    pub fn delay(&mut self, time: Ps) {
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
            Timer::Batch => self.batch_is_over(),
        }
    }

    /// The running thread begins to wait for the lock.
    pub fn waits(&mut self, shared: bool) {
        let (thread, now) = (self.thread(), self.now());
        self.tally
            .waits(&mut self.threads[thread].tally, shared, now);
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
        self.count_acquisition(now);
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

    /// What was measured in each part of the measured time, and whether that is a steady
    /// state; none for a workload that ends after a number of loops.
    pub fn measured(&self) -> (Vec<Batch>, Option<Verdict>) {
        (self.measured.batches(), self.measured.verdict)
    }

    /// The threads' tallies.
    pub fn of_threads(&mut self) -> Vec<OfThread> {
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
