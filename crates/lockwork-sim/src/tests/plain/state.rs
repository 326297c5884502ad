// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a simulation consists of; the heap of events, memory, and what a core does by itself:
//! "Computing" and "Clocks" of docs/sim.md.

use super::line::{Line, Prices, Who};
use super::program::{Programs, Record, Word};
use crate::engine::caches::{ps, Kind};
use crate::engine::Ps;
use crate::machine::Distance;
use crate::rules::{Rule, Rules};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// A thread gets its CPU. Before all else at that time.
    Begin,
    /// A thread goes on.
    Run,
    /// A spinner, by the number of its wait, has counted enough rounds.
    Counted(u32),
    /// A request arrives where those for its line are ordered.
    Arrive,
    /// A line is free for the next request. This has the turn of the one that waits longest.
    Choose(usize),
    /// What was asked for is here.
    Done,
}

/// What a part of a CPU asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub line: usize,
    pub kind: Kind,
    pub asked: Ps,
    pub arrived: Ps,
    /// Whether the line is under way to it, and whether it was taken back since.
    pub granted: bool,
    pub taken_back: bool,
}

/// All of a simulation.
pub(super) struct Plain<'a> {
    pub prices: Prices<'a>,
    pub rules: Rules,
    /// Whether prices and holds vary at random.
    pub chance: bool,
    /// Whether spinners are parked; if not, they poll.
    pub parks: bool,
    pub random: fastrand::Rng,
    pub time: Ps,
    pub events: BinaryHeap<Reverse<(Ps, bool, Who, What)>>,
    pub lines: BTreeMap<usize, Line>,
    pub memory: Vec<u8>,
    pub cpus: Vec<Cpu>,
    pub requests: BTreeMap<Who, Request>,
    pub programs: &'a Programs,
}

/// A CPU, and the thread on it.
#[derive(Debug, Default)]
pub(super) struct Cpu {
    pub clock: Ps,
    /// A thread is on it.
    pub active: bool,
    /// Its operation, and of a loop: the next word of the round, the rounds, what the round
    /// and the first one saw.
    pub at: usize,
    pub word: usize,
    pub rounds: u32,
    pub seen: u64,
    pub first: Option<u64>,
    pub records: Vec<Record>,
    /// Stores that are not visible yet; without a value, those that memory has.
    pub buffer: VecDeque<(Word, Option<u64>)>,
    /// The thread waits until no more than so many are left.
    pub wants: Option<usize>,
    /// When its last read-modify-write that missed was asked for, and done.
    pub ahead: Option<(Ps, Ps)>,
    /// How long its thread has computed since it did anything else.
    pub computed: Ps,
    /// Since its last pause: lines that its own cache had, and whether something else
    /// happened.
    pub hits: BTreeSet<usize>,
    pub busy: bool,
    pub quiet: u32,
    /// Until one of these is taken from it; none of them any more if that has happened.
    pub parked: Option<BTreeSet<usize>>,
    pub waits: u32,
    /// When the pause began in which it was parked.
    pub paused: Option<Ps>,
}

impl Plain<'_> {
    /// Ties go to the lower CPU, there to the thread, then to the lower store.
    pub fn plan(&mut self, time: Ps, who: Who, what: What) {
        let event = (time, what != What::Begin, who, what);
        self.events.push(Reverse(event));
    }

    pub fn line(&mut self, line: usize, user: usize) -> &mut Line {
        let home = self.prices.place(user).node;
        self.lines
            .entry(line)
            .or_insert_with(|| Line::new(home, user))
    }

    pub fn serves(&mut self, line: usize, cpu: usize, kind: Kind) -> bool {
        self.line(line, cpu).serves(cpu, kind)
    }

    pub fn read(&self, word: Word) -> u64 {
        let bytes = &self.memory[word.at..word.at + word.size as usize];
        bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
    }

    pub fn write(&mut self, word: Word, value: u64) {
        for byte in 0..word.size as usize {
            self.memory[word.at + byte] = (value >> (8 * byte)) as u8;
        }
    }

    /// How many other threads of the core compute: they have a CPU, and do not wait.
    pub fn sharing_core(&self, cpu: usize) -> usize {
        let computes = |other: &usize| {
            let waits = self.requests.contains_key(&(*other, 0));
            let state = &self.cpus[*other];
            state.active && !waits && state.parked.is_none()
        };
        let others = 0..self.cpus.len();
        let near = others.filter(|&other| self.prices.distance(cpu, other) == Distance::Smt);
        match self.rules.has(Rule::SmtShare) {
            true => near.filter(computes).count(),
            false => 0,
        }
    }

    pub fn relax(&self) -> Ps {
        ps(self.prices.machine.cpu.relax)
    }

    pub fn pay(&mut self, cpu: usize, time: Ps) {
        self.cpus[cpu].clock += self.own_time(cpu, time);
    }

    /// What its own cache serves: a load is made beside what was computed before it.
    pub fn pay_own(&mut self, cpu: usize, kind: Kind) {
        let time = self.own_time(cpu, self.prices.own(kind));
        let beside = std::mem::take(&mut self.cpus[cpu].computed);
        let early = kind == Kind::Load && self.rules.has(Rule::EarlyLoad);
        self.cpus[cpu].clock += if early {
            time.saturating_sub(beside)
        } else {
            time
        };
    }

    /// What a core does by itself, at the clock that its socket's active cores leave it.
    pub fn own_time(&self, cpu: usize, time: Ps) -> Ps {
        let slowness = &self.prices.machine.slowness;
        if slowness.is_empty() || !self.rules.has(Rule::Boost) {
            return time;
        }
        let socket = self.prices.place(cpu).socket;
        let active = (0..self.cpus.len()).filter(|&other| self.cpus[other].active);
        let places = active.map(|other| self.prices.place(other));
        let here = places.filter(|place| place.socket == socket);
        let cores: BTreeSet<u16> = here.map(|place| place.core).collect();
        (time as f64 * slowness[cores.len()]) as Ps
    }
}
