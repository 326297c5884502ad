// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a thread does when it is its turn.

use super::program::{Op, Record, Word};
use super::state::{Plain, Request, What};
use crate::engine::caches::{ps, Kind};
use crate::engine::{Change, Ps};

/// An access, which waits for its turn.
enum Access {
    Load(Word),
    Store(Word, u64),
    Rmw(Word, Change),
    Read(Word),
    Write(Word, u64),
    Fence,
}

impl Plain<'_> {
    pub fn op(&self, cpu: usize) -> Option<&Op> {
        self.programs[cpu].get(self.cpus[cpu].at)
    }

    pub fn begin(&mut self, cpu: usize) {
        self.cpus[cpu].active = true;
        self.plan(self.time, (cpu, 0), What::Run);
    }

    /// It is the turn of the thread of `cpu`.
    pub fn turn(&mut self, cpu: usize) {
        let state = &mut self.cpus[cpu];
        state.clock = state.clock.max(self.time);
        state.parked = None;
        if let Some(before) = state.paused.take() {
            let pauses = (state.clock - before) / self.own_time(cpu, self.relax());
            self.pause_is_over(cpu, pauses.max(1) as u32);
            if matches!(self.op(cpu), Some(Op::Pause)) {
                return self.op_is_over(cpu, 0);
            }
        }
        match self.access(cpu) {
            // Its line came before the pause was over in which it was parked.
            Some(_) if self.cpus[cpu].clock > self.time => self.go_on(cpu),
            Some(access) => self.try_access(cpu, access),
            None => self.go_on(cpu),
        }
    }

    fn access(&self, cpu: usize) -> Option<Access> {
        Some(match self.op(cpu)? {
            Op::Load(word) | Op::Await(word) => Access::Load(*word),
            Op::Spin(words) | Op::Count(words, _) => Access::Load(words[self.cpus[cpu].word]),
            Op::Read(word) => Access::Read(*word),
            Op::Write(word, value) => Access::Write(*word, *value),
            Op::Store(word, value) => Access::Store(*word, *value),
            Op::Rmw(word, change) => Access::Rmw(*word, *change),
            Op::Fence => Access::Fence,
            Op::Compute(_) | Op::Align(_) | Op::Pause => return None,
        })
    }

    /// Makes it, or waits.
    fn try_access(&mut self, cpu: usize, access: Access) {
        match access {
            Access::Load(word) => {
                let mut buffer = self.cpus[cpu].buffer.iter().rev();
                let over = buffer.find(|store| store.0.overlaps(word)).copied();
                let there = over.and_then(|(stored, value)| match value {
                    Some(value) => (stored == word).then_some(value),
                    None => stored.has(word).then(|| self.read(word)),
                });
                match (over, there) {
                    (_, Some(value)) => {
                        self.pay_own(cpu, Kind::Load);
                        self.cpus[cpu].busy = true;
                        self.made(cpu, value);
                    }
                    (Some(_), None) => self.cpus[cpu].wants = Some(0),
                    (None, None) => self.with_line(cpu, word, Kind::Load),
                }
            }
            Access::Store(word, value) => self.store(cpu, word, value),
            Access::Read(word) => self.plain(cpu, word, None),
            Access::Write(word, value) => self.plain(cpu, word, Some(value)),
            Access::Rmw(..) | Access::Fence if !self.cpus[cpu].buffer.is_empty() => {
                self.cpus[cpu].wants = Some(0);
            }
            Access::Rmw(word, _) => self.with_line(cpu, word, Kind::Rmw),
            Access::Fence => {
                self.pay(cpu, ps(self.prices.machine.cpu.fence));
                self.cpus[cpu].computed = 0;
                self.made(cpu, 0);
            }
        }
    }

    /// Its own cache serves it, or it asks for the line.
    fn with_line(&mut self, cpu: usize, word: Word, kind: Kind) {
        if self.serves(word.line(), cpu, kind) {
            self.pay_own(cpu, kind);
            self.cpus[cpu].hits.insert(word.line());
            self.use_line(cpu);
        } else {
            self.cpus[cpu].computed = 0;
            let clock = self.cpus[cpu].clock;
            self.ask((cpu, 0), word.line(), kind, clock, clock);
        }
    }

    /// The load or read-modify-write at hand is made.
    fn use_line(&mut self, cpu: usize) {
        let value = match self.access(cpu) {
            Some(Access::Load(word) | Access::Read(word)) => self.read(word),
            Some(Access::Rmw(word, change)) => {
                self.cpus[cpu].busy = true;
                let old = self.read(word);
                let new = match change {
                    Change::Exchange(value) => value,
                    Change::Add(value) => old.wrapping_add(value),
                    Change::Or(bits) => old | bits,
                    Change::AndNot(bits) => old & !bits,
                    Change::Compare(want, value) if old == want => value,
                    Change::Compare(..) => old,
                };
                self.write(word, new);
                if !matches!(change, Change::Compare(want, _) if old != want) {
                    self.wake_spinners(word.line(), self.time);
                }
                old
            }
            _ => unreachable!("only these wait for lines"),
        };
        self.made(cpu, value);
    }

    /// The thread's line is here.
    pub fn thread_goes_on(&mut self, cpu: usize, request: Request) {
        if request.kind == Kind::Rmw {
            self.cpus[cpu].ahead = Some((request.asked, self.time));
        }
        if self.cpus[cpu].parked.is_some() {
            return self.turn(cpu);
        }
        self.cpus[cpu].clock = self.cpus[cpu].clock.max(self.time);
        self.cpus[cpu].busy = true;
        self.use_line(cpu);
    }

    /// An access is made, and returned `value`.
    pub fn made(&mut self, cpu: usize, value: u64) {
        let state = &mut self.cpus[cpu];
        let (words, limit) = match &self.programs[cpu][state.at] {
            Op::Spin(words) => (words.len(), None),
            Op::Count(words, limit) => (words.len(), Some(*limit)),
            Op::Await(word) => {
                if *state.first.get_or_insert(value) != value {
                    return self.op_is_over(cpu, value);
                }
                state.rounds += 1;
                return self.wait_for_line(cpu, word.line());
            }
            _ => return self.op_is_over(cpu, value),
        };
        if state.word == 0 {
            state.seen = value;
        }
        state.word += 1;
        if state.word < words {
            return self.go_on(cpu);
        }
        state.word = 0;
        let changed = *state.first.get_or_insert(state.seen) != state.seen;
        if changed || limit.is_some_and(|limit| state.rounds >= limit) {
            let seen = state.seen;
            return self.op_is_over(cpu, seen);
        }
        if self.pause(cpu, limit.is_some()) {
            self.pause_is_over(cpu, 1);
            self.go_on(cpu);
        }
    }

    fn op_is_over(&mut self, cpu: usize, value: u64) {
        let state = &mut self.cpus[cpu];
        state.records.push(Record {
            value,
            rounds: std::mem::take(&mut state.rounds),
            end: state.clock,
        });
        state.first = None;
        state.at += 1;
        self.go_on(cpu);
    }

    /// What only the CPU itself sees takes no turns; then it waits for that of its next access.
    pub fn go_on(&mut self, cpu: usize) {
        if self.goes_on_plainly(cpu) {
            return;
        }
        let clock = self.cpus[cpu].clock;
        match self.op(cpu) {
            None => self.cpus[cpu].active = false,
            Some(&Op::Compute(time)) => {
                let time = match self.sharing_core(cpu) {
                    0 => time,
                    others => {
                        let slowdown = self.prices.machine.smt.get(others);
                        (time as f64 * slowdown.copied().unwrap_or(1.0)) as Ps
                    }
                };
                self.pay(cpu, time);
                self.cpus[cpu].computed += self.own_time(cpu, time);
                self.op_is_over(cpu, 0);
            }
            Some(&Op::Align(step)) => {
                self.cpus[cpu].clock = clock.next_multiple_of(step);
                self.cpus[cpu].computed = 0;
                self.op_is_over(cpu, 0);
            }
            Some(Op::Pause) => {
                if self.pause(cpu, false) {
                    self.op_is_over(cpu, 0);
                }
            }
            Some(_) => self.plan(clock, (cpu, 0), What::Run),
        }
    }
}
