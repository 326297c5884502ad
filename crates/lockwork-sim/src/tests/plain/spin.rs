// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pauses, and spinners that are parked: "Spinning" of docs/sim.md.

use super::program::Op;
use super::state::{Plain, What};
use crate::engine::caches::{ps, Kind};
use crate::engine::Ps;
use std::collections::BTreeSet;

/// Quiet rounds after which a spinner is parked, and lines that a round has at most.
const QUIET: u32 = 6;
const ROUND: usize = 6;
/// Pauses after which one that counts them looks again.
const COUNTED: Ps = 64;

impl Plain<'_> {
    /// A pause. False: it is parked in it.
    pub fn pause(&mut self, cpu: usize, counted: bool) -> bool {
        let relax = self.own_time(cpu, self.relax());
        let state = &mut self.cpus[cpu];
        let before = state.clock;
        state.clock += relax;
        state.computed = 0;
        let quiet = !state.busy && (1..=ROUND).contains(&state.hits.len());
        state.quiet = if quiet { state.quiet + 1 } else { 0 };
        state.busy = false;
        let lines = std::mem::take(&mut state.hits);
        if state.quiet < QUIET || !self.park(cpu, lines) {
            return true;
        }
        let state = &mut self.cpus[cpu];
        state.paused = Some(before);
        if counted {
            let (until, wait) = (state.clock + COUNTED * relax, state.waits);
            self.plan(until, (cpu, 0), What::Counted(wait));
        }
        false
    }

    pub fn pause_is_over(&mut self, cpu: usize, pauses: u32) {
        let counts = matches!(self.op(cpu), Some(Op::Count(..)));
        let loops = counts || matches!(self.op(cpu), Some(Op::Spin(_)));
        self.cpus[cpu].rounds += match (counts, loops) {
            (true, _) => pauses,
            (_, loops) => u32::from(loops),
        };
    }

    /// In an `smp_cond_load()` that has not seen what it waits for.
    pub fn wait_for_line(&mut self, cpu: usize, line: usize) {
        self.cpus[cpu].hits.clear();
        if !self.park(cpu, [line].into()) {
            self.pay(cpu, self.relax());
            self.go_on(cpu);
        }
    }

    /// Whether it waits from now on for one of `lines` to be taken from it.
    fn park(&mut self, cpu: usize, lines: BTreeSet<usize>) -> bool {
        if !self.parks || !lines.iter().all(|&line| self.serves(line, cpu, Kind::Load)) {
            return false;
        }
        self.cpus[cpu].waits += 1;
        self.cpus[cpu].parked = Some(lines);
        true
    }

    /// A spinner that counts has waited for long enough, unless its line was taken before.
    pub fn has_counted(&mut self, cpu: usize, wait: u32) {
        let state = &self.cpus[cpu];
        let waits = state.parked.as_ref().is_some_and(|lines| !lines.is_empty());
        if waits && state.waits == wait {
            self.turn(cpu);
        }
    }

    /// `line` is taken from those who had it, or written by the CPU that has it: those that
    /// are parked go on.
    pub fn wake_spinners(&mut self, line: usize, now: Ps) {
        let again = now + ps(self.prices.machine.line.respin);
        for cpu in 0..self.cpus.len() {
            let state = &mut self.cpus[cpu];
            let parked = state.parked.as_mut();
            if let Some(lines) = parked.filter(|lines| lines.contains(&line)) {
                lines.clear();
                state.clock = state.clock.max(again);
                match self.serves(line, cpu, Kind::Load) {
                    true => self.plan(again, (cpu, 0), What::Run),
                    false => self.ask((cpu, 0), line, Kind::Load, again, again),
                }
            }
        }
    }
}
