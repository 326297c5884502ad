// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Threads that compute, and share a core while they do.

use super::caches::Caches;
use super::state::{Engine, Parked, NOBODY};
use super::time::times;
use super::tree::Ps;
use crate::machine::Distance;

/// By place: those of the other threads of its core.
pub(super) fn siblings(caches: &Caches, places: u16) -> Vec<Vec<u16>> {
    let others = |place| {
        let all = 0..places;
        let near = all.filter(|&other| caches.distance(place, other) == Distance::Smt);
        near.collect()
    };
    (0..places).map(others).collect()
}

/// How many times as long a thread computes beside so many others.
pub(super) fn slowdown(smt: &[f64], others: usize) -> f64 {
    let last = smt.last().copied().unwrap_or(1.0);
    smt.get(others).copied().unwrap_or(last)
}

impl Engine {
    /// The running thread computes: slower, the more other threads of the core do so at its
    /// begin.
    pub fn work(&mut self, time: Ps) {
        let place = usize::from(self.cpus[self.current].place);
        let shares = self.siblings.get(place);
        let computes = |&place: &u16| self.computes(place);
        let time = match shares.map_or(0, |all| all.iter().filter(|&at| computes(at)).count()) {
            0 => time,
            others => times(time, slowdown(&self.fixed.smt, others)),
        };
        let time = self.clocks.scaled(self.current, time);
        let cpu = &mut self.cpus[self.current];
        cpu.now += time;
        cpu.computed += time;
    }

    /// Whether a thread computes at `place`.
    fn computes(&self, place: u16) -> bool {
        let place = usize::from(place);
        let cpu = match &self.guests {
            Some(guests) => guests.real[place].runs.unwrap_or(NOBODY),
            None => self.cpu_at[place],
        };
        self.cpus.get(cpu as usize).is_some_and(|cpu| {
            let waits = cpu.parked != Parked::No || cpu.requests[0].is_some() || cpu.paused;
            cpu.thread != NOBODY && !waits
        })
    }

    /// The running thread watches a clock that always runs alike until so much has passed.
    pub fn delay(&mut self, time: Ps) {
        let cpu = &mut self.cpus[self.current];
        cpu.now += time;
        cpu.computed = 0;
    }
}
