// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Plain C accesses: the compiler tells of each before the lock makes it. What the own cache
//! serves is free, because `call` is its price; all else costs what any access does.

use super::caches::Kind;
use super::request::Agent;
use super::state::{Engine, Store};
use super::steps::Step;
use crate::rules::Rule;

impl Engine {
    /// A plain access of `size` bytes at `addr`, which are in one line. The lock makes it once
    /// this is made: for a store that is early, but who looks before it is visible has a data
    /// race.
    #[inline]
    pub fn plain(&mut self, addr: usize, size: u32, kind: Kind) -> Step<()> {
        if self.direct {
            return Step::Made(());
        }
        let cpu = &mut self.cpus[self.current];
        if cpu.granted {
            cpu.granted = false;
            cpu.round_hit = false;
            return Step::Made(());
        }
        let place = cpu.place;
        if !cpu.stores.is_empty() {
            if let Some(step) = self.beside_stores(addr, size, kind) {
                return step;
            }
        }
        if !self.rules.has(Rule::PlainAccess) {
            return Step::Made(());
        }
        let line = self.caches.own_line_of(addr, place);
        if self.caches.lines[line as usize].is_private(place) {
            return Step::Made(());
        }
        self.plain_in(addr, size, line, kind)
    }

    /// One that its own stores, not visible yet, have to do with.
    fn beside_stores(&mut self, addr: usize, size: u32, kind: Kind) -> Option<Step<()>> {
        let stores = &self.cpus[self.current].stores;
        let mut over = stores
            .iter()
            .rev()
            .filter(|store| store.overlaps(addr, size));
        if over.clone().any(|store| store.value.is_some()) {
            // Memory does not have it, and the lock will read or write memory.
            self.drain_in_turn();
            return Some(Step::Wait);
        }
        let forwarded = kind == Kind::Load && over.any(|store| store.has_all(addr, size));
        forwarded.then_some(Step::Made(()))
    }

    /// The running CPU waits for its stores, once nobody else is earlier.
    fn drain_in_turn(&mut self) {
        if self.is_first() {
            self.drain(0);
        }
    }

    /// The same in a line that others may have.
    fn plain_in(&mut self, addr: usize, size: u32, line: u32, kind: Kind) -> Step<()> {
        if !self.is_first() {
            return Step::Wait;
        }
        let cpu = self.current;
        let place = self.cpus[cpu].place;
        let behind = kind == Kind::Store && !self.cpus[cpu].stores.is_empty();
        if !behind && self.caches.has(line, place, kind) {
            self.cpus[cpu].round.add(line);
            return Step::Made(());
        }
        let now = self.cpus[cpu].now;
        if kind == Kind::Load {
            self.cpus[cpu].computed = 0;
            self.ask(Agent::of(cpu, 0), line, kind, now);
            return Step::Wait;
        }
        if self.drain(self.fixed.store_buffer - 1) {
            return Step::Wait;
        }
        let state = &mut self.cpus[cpu];
        state.round_hit = false;
        state.stores.push_back(Store {
            addr,
            line,
            size,
            value: None,
        });
        self.commit_stores(cpu, now);
        Step::Made(())
    }
}
