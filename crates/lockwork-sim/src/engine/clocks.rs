// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The clocks of the cores: fewer active ones of a socket run faster.
//!
//! A core is active while a thread is on one of its CPUs: it computes, waits for a line or
//! spins. It changes at once: how long a real one takes is left out. One that computes
//! and then sleeps is active only until it begins to compute, because a CPU runs ahead of
//! the others in what only it can see.

use super::time::times;
use super::tree::Ps;
use crate::rules::Rule;
use crate::setup::Setup;

/// By socket and by core, who is active; nothing if the clock is always the same.
pub(super) struct Clocks {
    /// By CPU: its socket and its core.
    places: Vec<(u16, u16)>,
    /// By core: its CPUs that have a thread.
    busy: Vec<u16>,
    /// By socket: its active cores.
    cores: Vec<u16>,
    /// By socket: how many times as long steps take now.
    now: Vec<f64>,
    /// By number of active cores.
    slowness: Vec<f64>,
}

impl Clocks {
    /// Nobody is active. Virtual CPUs share the cores with others that nobody sees: there,
    /// the clock is that of all cores.
    pub fn new(setup: &Setup, places: &[(u16, u16)]) -> Clocks {
        let slowness = &setup.machine.slowness;
        let varies = setup.rules.has(Rule::Boost) && setup.guests.is_none();
        let most = |of: &dyn Fn(&(u16, u16)) -> u16| {
            let most = places.iter().map(of).max();
            most.map_or(0, |most| usize::from(most) + 1)
        };
        let first = slowness.first().filter(|_| varies);
        Clocks {
            places: first.map_or_else(Vec::new, |_| places.to_vec()),
            busy: vec![0; most(&|place| place.1)],
            cores: vec![0; most(&|place| place.0)],
            now: vec![first.copied().unwrap_or(1.0); most(&|place| place.0)],
            slowness: slowness.clone(),
        }
    }

    /// What takes `time` with all cores active takes so long on `cpu`.
    #[inline]
    pub fn scaled(&self, cpu: usize, time: Ps) -> Ps {
        match self.places.get(cpu) {
            None => time,
            Some(place) => times(time, self.now[usize::from(place.0)]),
        }
    }

    /// `cpu` has a thread from now on.
    pub fn active(&mut self, cpu: usize) {
        self.change(cpu, 0, 1);
    }

    /// It has none.
    pub fn idle(&mut self, cpu: usize) {
        self.change(cpu, 1, -1);
    }

    /// A core that has so many busy CPUs, and one more or less, may begin or end to be active.
    fn change(&mut self, cpu: usize, edge: u16, by: i16) {
        let Some(&(socket, core)) = self.places.get(cpu) else {
            return;
        };
        let (socket, busy) = (usize::from(socket), &mut self.busy[usize::from(core)]);
        let at_edge = *busy == edge;
        *busy = busy.saturating_add_signed(by);
        if at_edge {
            let cores = &mut self.cores[socket];
            *cores = cores.saturating_add_signed(by);
            self.now[socket] = self.slowness[usize::from(*cores)];
        }
    }
}
