// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A hypervisor: virtual CPUs take turns on real ones.

use super::request::Agent;
use super::state::{Action, Asked, Engine, Real, State, Timer, NOBODY};
use super::tree::{Ps, NEVER};

/// Answers of `cpus_are_short()` that a preempted neighbour accounts for.
const SHORT: u32 = 1000;

impl Engine {
    /// Whether there is a hypervisor.
    pub fn has_guests(&self) -> bool {
        self.guests.is_some()
    }

    /// A waiter has seen that the one before it is off its CPU.
    pub fn saw_preempted(&mut self) {
        if let Some(guests) = &mut self.guests {
            guests.short = SHORT;
        }
    }

    /// Whether waiters had better not spin for long.
    pub fn cpus_are_short(&mut self) -> bool {
        let Some(guests) = &mut self.guests else {
            return false;
        };
        let short = guests.short > 0;
        guests.short = guests.short.saturating_sub(1);
        short
    }

    fn real(&mut self, cpu: usize) -> Option<&mut Real> {
        let place = usize::from(self.cpus[cpu].place);
        self.guests.as_mut().map(|guests| &mut guests.real[place])
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
            self.threads[thread].tally.woken_up(self.time);
            self.cpus[cpu].paused = true;
            self.cpus[cpu].rest = Some(0);
        }
        let (slice, directed) = (self.fixed.guest_slice, self.fixed.directed_yield && kicked);
        let time = self.time;
        let place = self.cpus[cpu].place;
        let real = self.real(cpu).expect("only guests get here");
        if real.runs.is_none() {
            self.resume(cpu, time);
            return;
        }
        if directed {
            real.ready.push_front(cpu as u32);
        } else {
            real.ready.push_back(cpu as u32);
        }
        let due = if directed {
            time
        } else {
            (real.since + slice).max(time)
        };
        if directed || !std::mem::replace(&mut real.slice, true) {
            self.set_timer(due, Timer::GuestSlice(place));
        }
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
        if let Some(next) = next {
            self.resume(next as usize, time + switch);
        }
    }

    /// The virtual CPU on `place` had its time.
    pub(super) fn guest_slice_is_over(&mut self, place: u16) {
        let (time, switch) = (self.time, self.fixed.guest_switch);
        let guests = self.guests.as_mut().expect("only guests have such slices");
        let real = &mut guests.real[usize::from(place)];
        real.slice = false;
        let Some(next) = real.ready.pop_front() else {
            return;
        };
        if let Some(old) = real.runs.take() {
            real.ready.push_back(old);
            self.tally.counts.preemptions += 1;
            self.pause(old as usize);
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
        self.guest_changed(cpu);
    }

    /// `cpu` has its real one from `time` on.
    fn resume(&mut self, cpu: usize, time: Ps) {
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
        self.guest_changed(cpu);
    }

    fn guest_changed(&mut self, cpu: usize) {
        self.changed(Asked::Cpu(cpu as u32));
        let thread = self.cpus[cpu].thread;
        if thread != NOBODY {
            self.note(thread as usize);
        }
    }
}
