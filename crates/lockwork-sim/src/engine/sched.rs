// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The operating system: who has which CPU; sleeping and waking.

use super::request::Agent;
use super::state::{Action, Asked, Engine, Parked, Site, State, Timer, NOBODY};
use super::steps::Step;
use super::tree::{Ps, NEVER};
use std::ops::Range;

/// `sleep` without a time limit.
pub(crate) const FOR_EVER: u64 = u64::MAX;

impl Engine {
    /// The thread of `cpu` goes on at `time`.
    pub(super) fn run_at(&mut self, cpu: usize, time: Ps) {
        if self.cpus[cpu].paused {
            self.cpus[cpu].rest = Some(0);
            return;
        }
        self.plan(Agent::of(cpu, 0), Action::Run, time);
    }

    /// Whether the thread of `cpu`, whose turn it is, may go on; another one may
    /// have its CPU now.
    pub(super) fn may_run(&mut self, cpu: usize) -> bool {
        let state = &self.cpus[cpu];
        if state.thread == NOBODY || state.paused {
            self.tree.set(Agent::of(cpu, 0).0.into(), NEVER);
            return false;
        }
        let keeps = self.threads[state.thread as usize].keeps_cpu();
        // A switch would have to wait for the stores.
        if !state.resched || keeps || state.ready.is_empty() || !state.stores.is_empty() {
            return true;
        }
        self.preempt(cpu, 0);
        false
    }

    /// Whether `thread` has a CPU that runs.
    pub(super) fn is_running(&self, thread: usize) -> bool {
        let thread = &self.threads[thread];
        thread.state == State::Running && !self.cpus[thread.cpu as usize].paused
    }

    /// To be called whenever what [`Engine::is_running`] says may have changed.
    pub(super) fn note(&mut self, thread: usize) {
        self.note_from(thread, self.time);
    }

    /// The same of a change that comes at `time`, after a switch.
    pub(super) fn note_from(&mut self, thread: usize, time: Ps) {
        let runs = self.is_running(thread);
        if self.threads[thread].tally.set_running(runs, time) {
            self.tally
                .holder_ran(&self.threads[thread].tally, runs, time);
            self.changed(Asked::Thread(thread as u32));
        }
    }

    /// The thread of `cpu` loses it, with `rest` left to compute.
    fn preempt(&mut self, cpu: usize, rest: Ps) {
        let thread = self.cpus[cpu].thread;
        let state = &mut self.threads[thread as usize];
        state.state = State::Ready;
        state.rest = rest;
        self.cpus[cpu].ready.push_back(thread);
        self.tally.counts.involuntary += 1;
        self.tally
            .show(&mut self.threads[thread as usize].tally, self.time);
        self.leave(cpu, self.time);
    }

    /// `cpu` has no thread from `time` on: takes the next one.
    fn leave(&mut self, cpu: usize, time: Ps) {
        let thread = self.cpus[cpu].thread;
        let state = &mut self.cpus[cpu];
        state.thread = NOBODY;
        self.clocks.idle(cpu);
        let state = &mut self.cpus[cpu];
        state.resched = false;
        state.granted = false;
        state.parked = Parked::No;
        state.wait += 1;
        state.quiet = 0;
        state.computed = 0;
        state.now = state.now.max(time);
        self.tree.set(Agent::of(cpu, 0).0.into(), NEVER);
        self.note(thread as usize);
        let state = &mut self.cpus[cpu];
        state.rested = state.rested.saturating_sub(1);
        let next = state.ready.pop_front().or_else(|| self.pull(cpu));
        match next {
            Some(next) => self.start(cpu, next, time + self.fixed.switch),
            None => self.guest_leaves(cpu),
        }
    }

    /// A ready thread for `cpu` from the longest queue of another one.
    fn pull(&mut self, cpu: usize) -> Option<u32> {
        if self.affinity {
            return None;
        }
        let longest = self
            .neighbours(cpu)
            .max_by_key(|&cpu| self.cpus[cpu].ready.len())?;
        let thread = self.cpus[longest].ready.pop_back();
        let state = &mut self.cpus[longest];
        state.rested = state.rested.min(state.ready.len());
        // Nobody is left to leave the CPU for.
        state.resched &= !state.ready.is_empty();
        thread
    }

    /// `thread` gets `cpu` at `time`.
    fn start(&mut self, cpu: usize, thread: u32, time: Ps) {
        self.tally.counts.switches += 1;
        let state = &mut self.threads[thread as usize];
        state.state = State::Running;
        state.cpu = cpu as u32;
        let rest = std::mem::take(&mut state.rest);
        self.clocks.active(cpu);
        let state = &mut self.cpus[cpu];
        state.thread = thread;
        state.since = time;
        state.slice_ends = NEVER;
        state.now = state.now.max(time);
        let at = state.now + rest;
        if state.paused {
            state.rest = Some(rest);
        } else {
            self.run_at(cpu, at);
        }
        self.note_from(thread as usize, time);
        self.threads[thread as usize].tally.runs_again(time);
        self.tally
            .show(&mut self.threads[thread as usize].tally, time);
        self.end_slice_at(cpu, time + self.fixed.slice);
    }

    /// Has the slice of the thread of `cpu` end at `time`, or before, if others are ready.
    fn end_slice_at(&mut self, cpu: usize, time: Ps) {
        let state = &mut self.cpus[cpu];
        if !state.ready.is_empty() && time < state.slice_ends {
            state.slice_ends = time;
            self.set_timer(time, Timer::Slice(cpu as u32));
        }
    }

    /// The thread of `cpu` had its time.
    pub(super) fn slice_is_over(&mut self, cpu: usize) {
        let state = &mut self.cpus[cpu];
        // It may be the timer of a thread before, or of a later end.
        if state.slice_ends != self.time {
            return;
        }
        state.slice_ends = NEVER;
        if state.thread == NOBODY || state.ready.is_empty() {
            return;
        }
        state.resched = true;
        // A spinner that leaves its CPU when asked to has to see that before it is parked.
        state.quiet = 0;
        let keeps = self.threads[state.thread as usize].keeps_cpu();
        let agent = Agent::of(cpu, 0);
        let computes = state.requests[0].is_none() && state.stores.is_empty() && !state.paused;
        if state.parked != Parked::No {
            self.look_again(cpu);
        } else if computes && !keeps {
            let at = self.tree.time(agent.0.into());
            let rest = if at == NEVER { 0 } else { at - self.time };
            self.cpus[cpu].now = self.time;
            self.preempt(cpu, rest);
        }
    }

    /// `thread` can run: on its CPU, or, if it is free, on an idle one near it.
    pub(super) fn becomes_ready(&mut self, thread: u32) {
        let last = self.threads[thread as usize].cpu as usize;
        let idle = |cpu: usize| self.cpus[cpu].thread == NOBODY && self.cpus[cpu].ready.is_empty();
        let cpu = if self.affinity || idle(last) {
            last
        } else {
            self.nearest_idle(last).unwrap_or(last)
        };
        let time = self.time;
        self.threads[thread as usize].cpu = cpu as u32;
        self.threads[thread as usize].tally.woken_up(time);
        if self.cpus[cpu].thread == NOBODY {
            self.start(cpu, thread, time);
            self.guest_enters(cpu);
            return;
        }
        self.threads[thread as usize].state = State::Ready;
        self.tally
            .show(&mut self.threads[thread as usize].tally, time);
        // Who slept goes before those that compute all the time, behind others that slept.
        let state = &mut self.cpus[cpu];
        state.ready.insert(state.rested, thread);
        state.rested += 1;
        let due = self.cpus[cpu].since + self.fixed.slice / 4;
        self.end_slice_at(cpu, due.max(time));
    }

    /// The CPUs that the operating system of `cpu` has.
    fn neighbours(&self, cpu: usize) -> Range<usize> {
        self.vms[self.cpus[cpu].vm].clone()
    }

    fn nearest_idle(&self, near: usize) -> Option<usize> {
        let place = self.cpus[near].told;
        let all = self.neighbours(near);
        let idle = all.filter(|&cpu| self.cpus[cpu].thread == NOBODY);
        idle.min_by_key(|&cpu| (self.caches.distance(place, self.cpus[cpu].told), cpu))
    }

    /// The code of `thread` is at its end.
    pub fn thread_ends(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        state.state = State::Done;
        let cpu = state.cpu as usize;
        let time = self.cpus[cpu].now;
        self.alive -= 1;
        self.tally.thread_ended(time);
        self.time = self.time.max(time);
        self.leave(cpu, time);
        self.over |= self.alive == 0;
    }

    /// May the thread lose its CPU? `change` of +1 forbids it, -1 takes that back.
    /// True: it has to be suspended once, for somebody else has waited for that.
    pub fn may_preempt(&mut self, change: i32) -> bool {
        let cpu = self.current;
        let thread = self.thread();
        self.threads[thread].preempt += change;
        self.has_to_leave(cpu, thread)
    }

    /// Is the running thread in the kernel? Returns as [`Engine::may_preempt`].
    pub fn in_kernel(&mut self, keeps: bool) -> bool {
        let (cpu, thread) = (self.current, self.thread());
        self.threads[thread].keeps = keeps;
        self.has_to_leave(cpu, thread)
    }

    fn has_to_leave(&mut self, cpu: usize, thread: usize) -> bool {
        let state = &self.cpus[cpu];
        if self.threads[thread].keeps_cpu() || !state.resched || state.ready.is_empty() {
            return false;
        }
        let now = state.now;
        self.run_at(cpu, now);
        true
    }

    /// What a thread that is to wait for `addr` pays until its word is looked at. A program
    /// has a system call to make; who is in the kernel, or halts, is there already.
    fn way_in(&self) -> Ps {
        match self.threads[self.running].keeps_cpu() {
            true => 0,
            false => self.fixed.wait_enter,
        }
    }

    /// The running thread begins a call that looks at a word, and then sleeps.
    pub fn enter_wait(&mut self) {
        self.cpus[self.current].now += self.way_in();
    }

    /// The word has changed meanwhile: it does not sleep.
    pub fn leave_wait(&mut self) {
        self.cpus[self.current].now += self.way_in();
        self.tally.counts.refused_sleeps += 1;
    }

    /// Goes to sleep at `addr`, until somebody wakes or `deadline`, ns. To be
    /// called right after a load of the word.
    pub fn sleep(&mut self, addr: usize, deadline: u64, site: *const Site) -> Step<()> {
        let (cpu, thread) = (self.current, self.thread());
        self.cpus[cpu].site = site;
        if self.threads[thread].preempt > 0 && self.guests.is_none() {
            // Who may not be preempted cannot sleep, and has no CPU to halt.
            self.cpus[cpu].now += self.fixed.relax;
            return Step::Made(());
        }
        self.sleepers
            .entry(addr)
            .or_default()
            .push_back(thread as u32);
        if deadline != FOR_EVER {
            let sleep = self.threads[thread].sleep;
            self.set_timer(
                deadline.saturating_mul(1000).min(NEVER - 1),
                Timer::Timeout(thread as u32, sleep),
            );
        }
        self.threads[thread].timed_out = false;
        self.tally.counts.sleeps += 1;
        // The way in is a part of what it costs to leave the CPU.
        let paid = self.way_in();
        self.fall_asleep(cpu, State::Asleep(addr), paid);
        Step::Wait
    }

    /// The running thread sleeps for `time`. A clock wakes it, which costs nobody else anything;
    /// then it is ready as late as any other that is woken. It cannot be back before it has left
    /// its CPU.
    pub fn sleep_for(&mut self, time: Ps) {
        let (cpu, thread) = (self.current, self.thread());
        let at = self.cpus[cpu].now + time.max(self.fixed.switch) + self.fixed.wake;
        self.fall_asleep(cpu, State::Asleep(0), 0);
        self.threads[thread].state = State::Waking;
        self.set_timer(at, Timer::Wake(thread as u32));
    }

    /// `paid`: of the switch.
    fn fall_asleep(&mut self, cpu: usize, state: State, paid: Ps) {
        let thread = self.cpus[cpu].thread as usize;
        let now = self.cpus[cpu].now;
        self.threads[thread].sleep += 1;
        self.threads[thread].tally.falls_asleep(now);
        self.tally.show(&mut self.threads[thread].tally, now);
        if self.threads[thread].preempt > 0 && state != State::Asleep(0) {
            // A virtual CPU halts, with the thread on it.
            self.cpus[cpu].halted = true;
            self.tree.set(Agent::of(cpu, 0).0.into(), NEVER);
            self.threads[thread].state = state;
            self.note(thread);
            self.guest_leaves(cpu);
            return;
        }
        self.threads[thread].state = state;
        self.tally.counts.voluntary += 1;
        self.leave(cpu, now + self.fixed.switch - paid);
    }

    /// Whether the running thread's last sleep ended by its deadline.
    pub fn timed_out(&self) -> bool {
        self.threads[self.thread()].timed_out
    }

    /// Wakes the first that sleeps at `addr`. Whether there was one.
    pub fn wake(&mut self, addr: usize) -> bool {
        let now = self.now();
        self.tally.counts.wakeups += 1;
        let Some(thread) = self.first_sleeper(addr) else {
            self.tally.counts.futile_wakeups += 1;
            let called = !self.threads[self.running].keeps_cpu();
            self.cpus[self.current].now += self.fixed.wake_call * Ps::from(called);
            return false;
        };
        let fixed = &self.fixed;
        let (cost, delay) = match self.halts(thread) {
            true => (fixed.kicker, fixed.kick),
            false => (fixed.waker, fixed.wake),
        };
        self.cpus[self.current].now += cost;
        let kicked = self.threads[thread as usize].cpu as usize;
        self.cpus[kicked].kicker = self.current as u32;
        self.rouse(thread, now, now + delay);
        true
    }

    fn first_sleeper(&mut self, addr: usize) -> Option<u32> {
        let sleepers = self.sleepers.get_mut(&addr)?;
        let thread = sleepers.pop_front();
        if sleepers.is_empty() {
            self.sleepers.remove(&addr);
        }
        thread
    }

    /// Whether `thread` sleeps on a halted CPU of its own.
    fn halts(&self, thread: u32) -> bool {
        let cpu = &self.cpus[self.threads[thread as usize].cpu as usize];
        cpu.halted && cpu.thread == thread
    }

    /// `thread` is woken at `now`, and ready at `at`.
    fn rouse(&mut self, thread: u32, now: Ps, at: Ps) {
        let halts = self.halts(thread);
        let state = &mut self.threads[thread as usize];
        state.state = State::Waking;
        state.tally.is_woken(now);
        let timer = match halts {
            true => Timer::GuestReady(state.cpu),
            false => Timer::Wake(thread),
        };
        self.set_timer(at, timer);
    }

    /// A sleep with a time limit: over, unless it ended before.
    pub(super) fn time_is_up(&mut self, thread: u32, sleep: u32) {
        let state = &mut self.threads[thread as usize];
        let State::Asleep(addr) = state.state else {
            return;
        };
        if state.sleep != sleep + 1 {
            return;
        }
        state.timed_out = true;
        if let Some(sleepers) = self.sleepers.get_mut(&addr) {
            sleepers.retain(|&sleeper| sleeper != thread);
        }
        let cpu = state.cpu as usize;
        self.cpus[cpu].kicker = NOBODY;
        let delay = match self.halts(thread) {
            true => self.fixed.kick,
            false => self.fixed.wake,
        };
        self.rouse(thread, self.time, self.time + delay);
    }
}
