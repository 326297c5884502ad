// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A hypervisor: virtual CPUs take turns on real ones.

use super::real::Real;
use super::request::Agent;
use super::state::{Action, Asked, Engine, State, Timer, NOBODY};
use super::steps::Step;
use super::tree::{Ps, NEVER};
use crate::machine::DirectedYield;

/// Answers of `cpus_are_short()` that a preempted neighbour accounts for.
const SHORT: u32 = 1000;

impl Engine {
    /// Whether there is a hypervisor.
    pub fn has_guests(&self) -> bool {
        self.guests.is_some()
    }

    /// A waiter has seen that the one before it is off its CPU.
    pub fn saw_preempted(&mut self) {
        let vm = self.cpus[self.current].vm;
        if let Some(guests) = &mut self.guests {
            guests.short[vm] = SHORT;
        }
    }

    /// Whether waiters had better not spin for long.
    pub fn cpus_are_short(&mut self) -> bool {
        let Some(guests) = &mut self.guests else {
            return false;
        };
        let left = &mut guests.short[self.cpus[self.current].vm];
        let short = *left > 0;
        *left = left.saturating_sub(1);
        short
    }

    fn real(&mut self, cpu: usize) -> Option<&mut Real> {
        let place = usize::from(self.cpus[cpu].place);
        self.guests.as_mut().map(|guests| &mut guests.real[place])
    }

    pub(super) fn real_at(&mut self, place: u16) -> &mut Real {
        let guests = self.guests.as_mut().expect("only guests have real CPUs");
        &mut guests.real[usize::from(place)]
    }

    /// `cpu` has a thread to run: it waits for its real CPU, if that is taken.
    pub(super) fn guest_enters(&mut self, cpu: usize) {
        let Some(real) = self.real(cpu) else {
            return;
        };
        if real.runs == Some(cpu as u32) {
            return;
        }
        self.pause(cpu);
        self.guest_is_ready(cpu);
    }

    /// `cpu` wants to run, or was kicked.
    pub(super) fn guest_is_ready(&mut self, cpu: usize) {
        let kicked = std::mem::take(&mut self.cpus[cpu].halted);
        if kicked {
            let thread = self.cpus[cpu].thread as usize;
            self.threads[thread].state = State::Running;
            // It has its CPU, though that has no real one yet.
            self.threads[thread].tally.woken_up(self.time);
            self.threads[thread].tally.runs_again(self.time);
            self.cpus[cpu].paused = true;
            self.cpus[cpu].rest = Some(0);
        }
        let yields = match kicked {
            true => self.fixed.directed_yield,
            false => DirectedYield::Off,
        };
        let (slice, time) = (self.fixed.guest_slice, self.time);
        self.move_to_idle(cpu);
        let (place, kicker) = (self.cpus[cpu].place, self.cpus[cpu].kicker);
        let real = self.real(cpu).expect("only guests get here");
        let Some(runs) = real.runs else {
            self.resume(cpu, time);
            return;
        };
        match yields {
            DirectedYield::Off => real.ready.push_back(cpu as u32),
            DirectedYield::On | DirectedYield::Donate => real.ready.push_front(cpu as u32),
        }
        match yields {
            // What is left of the slice is its own: a second timer would cut slices short.
            DirectedYield::On => return self.switch(place),
            DirectedYield::Donate if runs == kicker => return self.donate(place),
            _ => {}
        }
        let due = (real.since + slice).max(time);
        if !std::mem::replace(&mut real.slice, true) {
            self.set_timer(due, Timer::GuestSlice(place));
        }
    }

    /// The same, to one that it has kicked.
    fn donate(&mut self, place: u16) {
        self.tally.counts.donations += 1;
        self.give_slice(place);
    }

    /// The running virtual CPU asks that `to` be run, and gives its own turn up for that.
    /// True: somebody else has its real CPU now, so that it has to be suspended once.
    ///
    /// Nothing happens unless `to` waits for a real CPU. There it runs at once, in place of
    /// the one that has that CPU. If that is the asker, `to` gets the rest of its slice; if
    /// not, the next one that waits for the asker's real CPU does.
    pub fn yield_to(&mut self, to: u32) -> Step<bool> {
        if self.guests.is_none() {
            return Step::Made(false);
        }
        if !self.is_first() {
            return Step::Wait;
        }
        let (cpu, cost) = (self.current, self.fixed.kicker);
        self.cpus[cpu].now += cost;
        let Some(its) = self.cpus.get(to as usize).map(|cpu| cpu.place) else {
            return Step::Made(false);
        };
        let real = self.real_at(its);
        let Some(at) = real.ready.iter().position(|&ready| ready == to) else {
            return Step::Made(false);
        };
        real.ready.remove(at);
        real.ready.push_front(to);
        self.tally.counts.yields += 1;
        let own = self.cpus[cpu].place;
        // It may lose its CPU now, as one that goes on at once.
        let agent = Agent::of(cpu, 0).0.into();
        self.tree.set(agent, self.time);
        if its != own {
            self.switch(its);
        }
        if !self.real_at(own).ready.is_empty() {
            self.give_slice(own);
        }
        let paused = self.cpus[cpu].paused;
        if !paused {
            self.tree.set(agent, NEVER);
        }
        Step::Made(paused)
    }

    /// The virtual CPU on `place` gives the rest of its slice to the next.
    fn give_slice(&mut self, place: u16) {
        let (slice, time) = (self.fixed.guest_slice, self.time);
        let real = self.real_at(place);
        let since = real.since;
        // While nobody waited, one slice followed the other.
        let rest = slice - time.saturating_sub(since) % slice;
        if !std::mem::replace(&mut real.slice, true) {
            self.set_timer(time + rest, Timer::GuestSlice(place));
        }
        self.switch(place);
        // What is over is the slice of the one that gave it.
        self.real_at(place).since = since;
    }

    /// `cpu` has nothing to run, or is halted: the next one gets the real CPU.
    pub(super) fn guest_leaves(&mut self, cpu: usize) {
        let time = self.time.max(self.cpus[cpu].now);
        let switch = self.fixed.guest_switch;
        let Some(real) = self.real(cpu) else {
            return;
        };
        if real.runs != Some(cpu as u32) {
            real.ready.retain(|&ready| ready != cpu as u32);
            return;
        }
        real.runs = None;
        let next = real.ready.pop_front();
        if self.cpus[cpu].halted {
            self.cpus[cpu].paused = true;
        }
        match next {
            Some(next) => self.resume(next as usize, time + switch),
            None => self.take_from_others(self.cpus[cpu].place, time),
        }
    }

    /// The virtual CPU on `place` had its time.
    pub(super) fn guest_slice_is_over(&mut self, place: u16) {
        let (time, slice) = (self.time, self.fixed.guest_slice);
        let real = self.real_at(place);
        // One that came since has its own time.
        let due = real.since + slice;
        real.slice = real.runs.is_some() && due > time;
        if real.slice {
            return self.set_timer(due, Timer::GuestSlice(place));
        }
        self.switch(place);
    }

    /// The next one gets `place`, if there is one.
    fn switch(&mut self, place: u16) {
        let (time, switch) = (self.time, self.fixed.guest_switch);
        let real = self.real_at(place);
        let Some(next) = real.ready.pop_front() else {
            return;
        };
        if let Some(old) = real.runs.take() {
            real.ready.push_back(old);
            self.tally.counts.preemptions += 1;
            self.pause(old as usize);
            self.wait_elsewhere(old);
        }
        self.resume(next as usize, time + switch);
    }

    /// `cpu` loses its real one.
    fn pause(&mut self, cpu: usize) {
        let agent = Agent::of(cpu, 0);
        let at = self.tree.time(agent.0.into());
        let state = &mut self.cpus[cpu];
        if state.paused {
            return;
        }
        state.paused = true;
        state.granted = false;
        if state.actions[0] == Action::Run && state.requests[0].is_none() && at != NEVER {
            state.rest = Some(at.saturating_sub(self.time));
            self.tree.set(agent.0.into(), NEVER);
        }
        self.guest_changed(cpu, self.time);
    }

    /// `cpu` has its real one from `time` on.
    pub(super) fn resume(&mut self, cpu: usize, time: Ps) {
        let slice = self.fixed.guest_slice;
        let place = self.cpus[cpu].place;
        let real = self.real(cpu).expect("only guests get here");
        real.runs = Some(cpu as u32);
        real.since = time;
        if !real.ready.is_empty() && !std::mem::replace(&mut real.slice, true) {
            self.set_timer(time + slice, Timer::GuestSlice(place));
        }
        let state = &mut self.cpus[cpu];
        state.paused = false;
        state.now = state.now.max(time);
        if let Some(rest) = state.rest.take() {
            let at = state.now + rest;
            self.run_at(cpu, at);
        }
        self.guest_changed(cpu, time);
    }

    /// `cpu` has a real CPU, or none, from `time` on.
    fn guest_changed(&mut self, cpu: usize, time: Ps) {
        self.changed(Asked::Cpu(cpu as u32));
        let thread = self.cpus[cpu].thread;
        if thread != NOBODY {
            self.note_from(thread as usize, time);
        }
    }
}
