// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The store buffer: "Stores" of docs/sim.md.

use super::program::Word;
use super::state::{Plain, What};
use crate::engine::caches::Kind;
use crate::engine::Ps;
use crate::rules::Rule;

/// How long after a read-modify-write that missed a store is asked for early.
const WINDOW: Ps = 25_000;
/// Stores whose lines are asked for at the same time.
const AT_ONCE: usize = 3;

impl Plain<'_> {
    pub fn store(&mut self, cpu: usize, word: Word, value: u64) {
        let entries = self.prices.machine.cpu.store_buffer as usize;
        if self.cpus[cpu].buffer.len() >= entries {
            self.cpus[cpu].wants = Some(entries - 1);
            return;
        }
        self.pay_own(cpu, Kind::Store);
        self.cpus[cpu].busy = true;
        if self.cpus[cpu].buffer.is_empty() && self.serves(word.line(), cpu, Kind::Store) {
            self.write(word, value);
            self.wake_spinners(word.line(), self.cpus[cpu].clock);
        } else {
            self.line(word.line(), cpu);
            self.cpus[cpu].buffer.push_back((word, Some(value)));
            self.commit(cpu, self.cpus[cpu].clock);
        }
        self.made(cpu, 0);
    }

    /// Stores become visible in their order; the oldest ones' lines are asked for.
    pub fn commit(&mut self, cpu: usize, time: Ps) {
        while let Some(&(word, value)) = self.cpus[cpu].buffer.front() {
            if !self.serves(word.line(), cpu, Kind::Store) {
                break;
            }
            self.cpus[cpu].buffer.pop_front();
            if let Some(value) = value {
                self.write(word, value);
            }
            self.wake_spinners(word.line(), time);
        }
        let oldest = self.cpus[cpu].buffer.iter().take(AT_ONCE);
        let lines: Vec<usize> = oldest.map(|store| store.0.line()).collect();
        for line in lines {
            let mut stores = (1..=AT_ONCE).map(|part| (cpu, part));
            let asked = |who| self.requests.get(&who).map(|request| request.line);
            let known = stores.clone().any(|who| asked(who) == Some(line));
            let free = stores.find(|&who| asked(who).is_none());
            if known || self.serves(line, cpu, Kind::Store) {
                continue;
            }
            let Some(who) = free else { continue };
            let ahead = self.cpus[cpu].ahead.filter(|&(_, done)| {
                self.rules.has(Rule::EarlyStore) && (done..=done + WINDOW).contains(&time)
            });
            let since = ahead.map_or(time, |(asked, done)| asked + (time - done));
            self.ask(who, line, Kind::Store, since, time);
        }
        let state = &mut self.cpus[cpu];
        if state.wants.is_some_and(|most| state.buffer.len() <= most) {
            state.wants = None;
            let clock = state.clock.max(time);
            self.plan(clock, (cpu, 0), What::Run);
        }
    }
}
