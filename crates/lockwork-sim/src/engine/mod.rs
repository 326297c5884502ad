// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The state of a simulation, and what happens next in it.
//!
//! Each simulated thread is a coroutine. Its calls come in through
//! [`crate::calls`]: a call makes a step, and where that has to wait, the
//! coroutine is suspended and the call makes its next step later. Nothing here
//! is borrowed while another coroutine runs.
//!
//! A CPU runs ahead of the others in what only it can see (its clock). Before each access it
//! waits until it is the earliest, and before it says what its thread does: that it begins to
//! wait, or gives a lock back, or sleeps.

pub(crate) mod caches;
mod clocks;
mod compute;
mod fixed;
mod guests;
mod line;
mod measured;
pub(crate) mod memory;
mod migrate;
mod of_lock;
mod of_thread;
mod order;
mod plain;
mod real;
mod request;
mod requests;
mod resources;
mod round;
mod sched;
mod settling;
mod state;
mod steps;
mod stuck;
mod tally;
mod time;
pub(crate) mod tree;
mod turns;

pub(crate) use of_thread::OfThread;
pub(crate) use order::placed_on;
pub(crate) use state::{Engine, Site};
pub(crate) use steps::{Change, Step};
pub(crate) use tree::Ps;

use crate::rules::Rule;
use crate::settle::{Batch, Verdict};
use crate::setup::{Clusters, Setup};
use caches::{ps, Caches, Price};
use clocks::Clocks;
use corosensei::Yielder;
use fixed::Fixed;
use measured::Measured;
use real::Guests;
use request::{Agent, PARTS};
use resources::Resources;
use rustc_hash::FxHashMap;
use state::{Action, Cpu, Parked, State, Thread, Timer, NOBODY};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use tally::Tally;
use tree::{Tree, NEVER};

/// So many virtual machines, each with its share of `cpus`, one after the other.
fn vms(cpus: usize, count: usize) -> Vec<Range<usize>> {
    let start = |vm: usize| vm * cpus / count;
    (0..count).map(|vm| start(vm)..start(vm + 1)).collect()
}

impl Engine {
    /// Nothing has happened yet, and no thread has code to run.
    pub fn new(setup: &Setup) -> Self {
        let machine = setup.machine;
        let (caches, place_of) = Caches::new(machine);
        let copies = setup.guests.map_or(1, |guests| guests.overcommit as usize);
        let mut random = fastrand::Rng::with_seed(setup.seed ^ 0x5eed_0000);
        let order = placed_on(machine, setup.placement, setup.cpus);
        let cpus = (0..order.len() * copies).map(|i| Cpu::new(place_of[order[i % order.len()]]));
        let mut cpus: Vec<Cpu> = cpus.collect();
        let vms = vms(cpus.len(), setup.vms());
        for (vm, own) in vms.iter().enumerate() {
            cpus[own.clone()].iter_mut().for_each(|cpu| cpu.vm = vm);
        }
        let siblings = match setup.rules.has(Rule::SmtShare) && machine.slows_siblings() {
            true => compute::siblings(&caches, place_of.len() as u16),
            false => Vec::new(),
        };
        let mut cpu_at = vec![NOBODY; place_of.len()];
        let bare = cpus.iter().enumerate().filter(|_| setup.guests.is_none());
        bare.for_each(|(at, cpu)| cpu_at[usize::from(cpu.place)] = at as u32);
        let used = order.iter().map(|&cpu| place_of[cpu]);
        let guests = setup
            .guests
            .map(|of| Guests::new(&of, place_of.len(), used.collect()));
        let core = |cpu: &Cpu| (caches.socket(cpu.place), caches.core(cpu.place));
        let cores: Vec<(u16, u16)> = cpus.iter().map(core).collect();
        let caches_nodes = caches.nodes();
        let start = |thread: usize| {
            let own = &vms[thread % vms.len()];
            Thread::new((own.start + thread / vms.len() % own.len()) as u32)
        };
        let threads = (0..setup.threads).map(start);
        let mut engine = Engine {
            tree: Tree::new(PARTS * cpus.len()),
            timers: BinaryHeap::new(),
            next_timer: NEVER,
            set_timers: 0,
            tally: Tally::new(setup, machine.socket_count()),
            measured: Measured::new(setup),
            fixed: Fixed::new(machine),
            threads: threads.collect(),
            guests,
            caches,
            affinity: setup.workload.affinity,
            clusters: setup.clusters,
            rules: setup.rules,
            clocks: Clocks::new(setup, &cores),
            siblings,
            cpu_at,
            resources: Resources::new(setup, caches_nodes),
            sleepers: FxHashMap::default(),
            askers: Vec::new(),
            ranked: Vec::new(),
            prices: vec![Price::NONE; PARTS * cpus.len()],
            current: 0,
            running: 0,
            time: 0,
            alive: setup.threads,
            over: false,
            direct: false,
            cpus,
            vms,
            random: random.fork(),
        };
        let starts = time::starts(setup);
        for thread in 0..setup.threads as u32 {
            let start = random.u64(..starts);
            engine.threads[thread as usize].state = State::Waking;
            let tally = &mut engine.threads[thread as usize].tally;
            tally.starts_off(0);
            tally.id = thread;
            engine.set_timer(start, Timer::Wake(thread));
        }
        if setup.workload.loops.is_none() {
            let warmup = ps(setup.workload.warmup_us * 1000.0);
            engine.set_timer(starts + warmup, Timer::Measure);
        }
        engine
    }

    /// Nothing but the threads' starts is random from now on.
    #[cfg(test)]
    pub fn leave_out_chance(&mut self) {
        (self.fixed.price_varies, self.fixed.hold_varies) = (0.0, 0.0);
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

    /// Makes things happen until a thread's coroutine has to run: which. `None`: it is over, or
    /// nobody will run.
    pub fn next(&mut self) -> Option<usize> {
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
                Action::Arrive => {
                    self.arrive(agent);
                    continue;
                }
                Action::Choose => {
                    self.choose(agent);
                    continue;
                }
                Action::Done if agent.part() > 0 => {
                    self.store_done(agent);
                    continue;
                }
                Action::Done => self.line_is_here(cpu),
                Action::Run => {}
            }
            if self.tree.first() != (agent.0 as usize, time) || !self.may_run(cpu) {
                continue;
            }
            self.current = cpu;
            let state = &mut self.cpus[cpu];
            state.now = state.now.max(time);
            state.parked = Parked::No;
            self.running = state.thread as usize;
            // While it runs it is not in the tree, so that the first there is the first of the others.
            self.tree.set(agent.0.into(), NEVER);
            return Some(self.running);
        }
        None
    }

    /// The running thread.
    pub fn thread(&self) -> usize {
        self.running
    }

    /// The running CPU.
    pub fn cpu(&self) -> usize {
        self.current
    }

    /// The running CPU's cluster; if it is virtual, as its guest knows it.
    pub fn cluster(&self) -> usize {
        let place = self.cpus[self.current].told;
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
            Timer::GuestIdle(place) => self.take_if_idle(place),
            Timer::GuestWaits(cpu) => self.wait_elsewhere(cpu),
            Timer::Measure => self.begin_measuring(),
            Timer::Batch => self.batch_is_over(),
        }
    }

    /// The running thread begins to wait for `lock`.
    pub fn waits(&mut self, lock: usize, shared: bool) {
        let (thread, now) = (self.thread(), self.now());
        self.tally
            .waits(&mut self.threads[thread].tally, lock, shared, now);
    }

    /// It has got it.
    pub fn holds(&mut self, lock: usize, shared: bool) {
        let (thread, now) = (self.thread(), self.now());
        let place = self.cpus[self.current].place;
        let last = self.tally.locks[lock].last_place.replace(place);
        let distance = last.map(|last| self.caches.distance(last, place));
        let of = &mut self.threads[thread].tally;
        of.cpu = self.current as u32;
        self.tally.holds(of, (lock, shared), distance, now);
        self.count_acquisition(now);
    }

    /// It is about to give it back.
    pub fn gives_back(&mut self, lock: usize, shared: bool) {
        let (thread, now) = (self.thread(), self.now());
        self.tally
            .gives_back(&mut self.threads[thread].tally, lock, shared, now);
    }

    /// It has given it back.
    pub fn gave_back(&mut self) {
        let (thread, now) = (self.thread(), self.now());
        self.tally.gave_back(&mut self.threads[thread].tally, now);
    }

    /// The running thread has done a round of its role's steps.
    pub fn count_round(&mut self) {
        let thread = self.thread();
        self.threads[thread].tally.rounds += 1;
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
            self.tally.ends(&thread.tally, end);
        }
        let threads = self.threads.iter_mut();
        threads.map(|thread| thread.tally.close(end)).collect()
    }
}
