// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One event after another.

use super::case::Case;
use super::line::Prices;
use super::program::{Programs, Record};
use super::state::{Cpu, Plain, What};
use crate::engine::Ps;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Runs each program on its CPU until all are done, or nobody will go on. Threads get their
/// CPUs at `starts`.
pub(super) fn run(
    case: &Case,
    programs: &Programs,
    starts: &[Ps],
    random: fastrand::Rng,
    parks: bool,
) -> Vec<Vec<Record>> {
    let mut plain = Plain {
        prices: Prices {
            machine: &case.machine,
            cpus: case.cpus(),
        },
        rules: case.rules,
        chance: case.chance,
        parks,
        random,
        time: 0,
        events: BinaryHeap::new(),
        lines: BTreeMap::new(),
        memory: vec![0; 8 * 64],
        cpus: programs.iter().map(|_| Cpu::default()).collect(),
        requests: BTreeMap::new(),
        programs,
    };
    for (cpu, &start) in starts.iter().enumerate() {
        plain.plan(start, (cpu, 0), What::Begin);
    }
    plain.go();
    plain.cpus.into_iter().map(|cpu| cpu.records).collect()
}

impl Plain<'_> {
    fn go(&mut self) {
        while let Some(Reverse((time, _, who, what))) = self.events.pop() {
            self.time = time;
            match what {
                What::Begin => self.begin(who.0),
                What::Run => self.turn(who.0),
                What::Counted(wait) => self.has_counted(who.0, wait),
                What::Arrive => self.arrive(who),
                What::Choose(line) => self.choose(line),
                What::Done => self.done(who),
            }
        }
    }
}
