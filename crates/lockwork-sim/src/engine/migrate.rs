// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Virtual CPUs that move to other real ones, where the hypervisor lets them.
//!
//! Three things move one:
//!
//! - it becomes ready, its own real CPU is taken, and another is idle: the nearest such;
//! - a real CPU becomes idle: it takes the first that waits in the longest queue;
//! - its slice is over, and another real CPU has fewer to run: the one with the fewest.
//!
//! What its cache had stays behind: the lines are with the real CPU that it leaves. While
//! lines are on their way to that cache, or stores wait for theirs, it is not moved.

use super::caches::ps;
use super::real::Real;
use super::state::{Engine, Parked, Timer};
use super::tree::Ps;
use std::cmp::Reverse;

/// Who may not move yet is looked at again after the time of a switch, which is so many ns
/// at least.
const AGAIN: f64 = 1000.0;

impl Real {
    /// Virtual CPUs that run on it, or wait for it.
    fn load(&self) -> usize {
        self.ready.len() + usize::from(self.runs.is_some())
    }
}

impl Engine {
    /// Whether nothing is on its way to the cache of `cpu`, or from there.
    fn is_at_rest(&self, cpu: u32) -> bool {
        let state = &self.cpus[cpu as usize];
        state.stores.is_empty() && state.requests.iter().all(Option::is_none)
    }

    /// When who is not at rest is looked at again.
    fn soon(&self, time: Ps) -> Ps {
        time + self.fixed.guest_switch.max(ps(AGAIN))
    }

    /// The real CPUs, if virtual ones may move to them.
    fn reals(&self) -> impl Iterator<Item = (u16, &Real)> {
        let guests = self.guests.iter().filter(|guests| guests.migrate);
        guests.flat_map(|guests| {
            let real = |&place: &u16| (place, &guests.real[usize::from(place)]);
            guests.used.iter().map(real)
        })
    }

    /// `cpu`, which is off its real CPU, has `place` from now on.
    fn move_to(&mut self, cpu: usize, place: u16) {
        self.tally.counts.migrations += 1;
        let state = &mut self.cpus[cpu];
        state.place = place;
        state.ahead = (0, 0);
        if state.parked != Parked::No {
            // The lines that it waits for to be taken from it are not here.
            state.wait += 1;
            state.quiet = 0;
            state.rest = Some(0);
        }
    }

    /// `cpu` wants to run: if its real CPU is taken, it moves to the nearest idle one.
    pub(super) fn move_to_idle(&mut self, cpu: usize) {
        let from = self.cpus[cpu].place;
        if self.real_at(from).runs.is_none() || !self.is_at_rest(cpu as u32) {
            return;
        }
        let idle = self.reals().filter(|(_, real)| real.load() == 0);
        let nearest = idle.min_by_key(|&(place, _)| (self.caches.distance(from, place), place));
        if let Some((place, _)) = nearest {
            self.move_to(cpu, place);
        }
    }

    /// `place` is idle from `time` on: it takes the first of the longest queue.
    pub(super) fn take_from_others(&mut self, place: u16, time: Ps) {
        let switch = self.fixed.guest_switch;
        let waits = self.reals().filter(|(_, real)| !real.ready.is_empty());
        let may = |(from, real): (u16, &Real)| {
            let mut ready = real.ready.iter().copied();
            let first = ready.find(|&cpu| self.is_at_rest(cpu));
            (first, real.ready.len(), from)
        };
        let all: Vec<(Option<u32>, usize, u16)> = waits.map(may).collect();
        let some = all
            .iter()
            .filter_map(|&(cpu, n, from)| Some((cpu?, n, from)));
        let near = |from| Reverse((self.caches.distance(place, from), from));
        match some.max_by_key(|&(_, n, from)| (n, near(from))) {
            Some((cpu, _, from)) => {
                self.real_at(from).ready.retain(|&ready| ready != cpu);
                self.move_to(cpu as usize, place);
                self.resume(cpu as usize, time + switch);
            }
            None if !all.is_empty() => {
                self.set_timer(self.soon(time), Timer::GuestIdle(place));
            }
            None => {}
        }
    }

    /// `place` could not take anybody a while ago.
    pub(super) fn take_if_idle(&mut self, place: u16) {
        if self.real_at(place).load() == 0 {
            self.take_from_others(place, self.time);
        }
    }

    /// The slice of `cpu` is over, and it waits for its next one: it does so where fewer are.
    pub(super) fn wait_elsewhere(&mut self, cpu: u32) {
        let (time, slice) = (self.time, self.fixed.guest_slice);
        let own = self.cpus[cpu as usize].place;
        let real = self.real_at(own);
        if !real.ready.contains(&cpu) {
            return;
        }
        // With the one that runs there, or is about to.
        let here = real.ready.len() + 1;
        let others = self.reals().filter(|&(place, _)| place != own);
        let near = |place| (self.caches.distance(own, place), place);
        let fewest = others.min_by_key(|&(place, real)| (real.load(), near(place)));
        let Some((to, _)) = fewest.filter(|(_, real)| real.load() < here) else {
            return;
        };
        if !self.is_at_rest(cpu) {
            self.set_timer(self.soon(time), Timer::GuestWaits(cpu));
            return;
        }
        self.real_at(own).ready.retain(|&ready| ready != cpu);
        self.move_to(cpu as usize, to);
        let switch = self.fixed.guest_switch;
        let real = self.real_at(to);
        if real.runs.is_none() {
            self.resume(cpu as usize, time + switch);
            return;
        }
        real.ready.push_back(cpu);
        // Who runs there has a slice from now on: nobody has waited for it to end.
        if !std::mem::replace(&mut real.slice, true) {
            self.set_timer(time + slice, Timer::GuestSlice(to));
        }
    }
}
