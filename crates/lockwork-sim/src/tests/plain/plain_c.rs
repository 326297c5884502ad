// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Plain C accesses: "Plain C accesses" of docs/sim.md.

use super::line::State;
use super::program::{Op, Word};
use super::state::Plain;
use crate::engine::caches::Kind;
use crate::rules::Rule;

/// What the stores of a CPU that are not visible yet have to do with a plain access.
enum Beside {
    Nothing,
    /// They have all of it, and so does memory.
    Served,
    /// They will change memory there.
    Waits,
}

impl Plain<'_> {
    /// Whether `cpu` has made a plain access without a turn.
    pub fn goes_on_plainly(&mut self, cpu: usize) -> bool {
        let (word, value) = match self.op(cpu) {
            Some(&Op::Read(word)) => (word, None),
            Some(&Op::Write(word, value)) => (word, Some(value)),
            _ => return false,
        };
        let private = self.is_private(cpu, word, value.is_none());
        if private {
            self.plain_made(cpu, word, value);
        }
        private
    }

    fn is_private(&mut self, cpu: usize, word: Word, loads: bool) -> bool {
        match self.beside(cpu, word) {
            Beside::Waits => false,
            Beside::Served if loads => true,
            _ => !self.rules.has(Rule::PlainAccess) || self.has_alone(cpu, word),
        }
    }

    /// Whether nobody else has asked for the line so far. A new one is its first user's.
    fn has_alone(&mut self, cpu: usize, word: Word) -> bool {
        let new = !self.lines.contains_key(&word.line());
        let line = self.line(word.line(), cpu);
        if new {
            line.state = State::Alone(cpu);
        }
        line.state == State::Alone(cpu) && line.only == Some(cpu)
    }

    fn beside(&self, cpu: usize, word: Word) -> Beside {
        let buffer = self.cpus[cpu].buffer.iter();
        let over: Vec<_> = buffer.filter(|store| store.0.overlaps(word)).collect();
        if over.iter().any(|store| store.1.is_some()) {
            Beside::Waits
        } else if over.iter().any(|store| store.0.has(word)) {
            Beside::Served
        } else {
            Beside::Nothing
        }
    }

    /// A plain access, in its turn or without one: a store of `value`, or a load.
    pub fn plain(&mut self, cpu: usize, word: Word, value: Option<u64>) {
        if self.is_private(cpu, word, value.is_none()) {
            return self.plain_made(cpu, word, value);
        }
        let behind = !self.cpus[cpu].buffer.is_empty();
        let line = word.line();
        match (self.beside(cpu, word), value) {
            (Beside::Waits, _) => self.cpus[cpu].wants = Some(0),
            (_, None) if self.serves(line, cpu, Kind::Load) => {
                self.cpus[cpu].hits.insert(line);
                self.plain_made(cpu, word, value);
            }
            (_, None) => {
                self.cpus[cpu].computed = 0;
                let clock = self.cpus[cpu].clock;
                self.ask((cpu, 0), line, Kind::Load, clock, clock);
            }
            (_, Some(_)) if !behind && self.serves(line, cpu, Kind::Store) => {
                self.cpus[cpu].hits.insert(line);
                self.plain_made(cpu, word, value);
            }
            (_, Some(_)) => self.plain_store(cpu, word, value),
        }
    }

    /// A store into the buffer; memory has it at once.
    fn plain_store(&mut self, cpu: usize, word: Word, value: Option<u64>) {
        let entries = self.prices.machine.cpu.store_buffer as usize;
        if self.cpus[cpu].buffer.len() >= entries {
            self.cpus[cpu].wants = Some(entries - 1);
            return;
        }
        self.cpus[cpu].busy = true;
        self.cpus[cpu].buffer.push_back((word, None));
        self.commit(cpu, self.cpus[cpu].clock);
        self.plain_made(cpu, word, value);
    }

    fn plain_made(&mut self, cpu: usize, word: Word, value: Option<u64>) {
        match value {
            Some(value) => {
                self.write(word, value);
                self.made(cpu, 0);
            }
            None => self.made(cpu, self.read(word)),
        }
    }
}
