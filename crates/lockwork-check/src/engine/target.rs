// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Accesses by primitives: what they touch, and what loom makes of them.
use super::state::{check_address, flush, read_real, with, write_real, Mode, Order, Restart};
use crate::layout::{is_local, place_of, Span};
use crate::running::{current, scheduled};
use crate::site::Site;
use crate::word::{load_order, store_order, Word};
use std::rc::Rc;

/// An access by a primitive: a whole word, or a field of one.
pub(crate) struct Target {
    pub addr: usize,
    pub size: u32,
    pub(super) word: Option<(Rc<Word>, Field)>,
}

/// Where a field lies in its word.
#[derive(Clone, Copy)]
pub(super) struct Field {
    shift: u32,
    mask: u64,
    whole: bool,
    has_rmw: bool,
    /// Other accesses take a part of the word.
    pub has_fields: bool,
}

impl Field {
    pub fn of(self, word: u64) -> u64 {
        word >> self.shift & self.mask
    }

    pub fn put(self, word: u64, value: u64) -> u64 {
        word & !(self.mask << self.shift) | (value & self.mask) << self.shift
    }
}

/// Finds out what `size` bytes at `addr` are, and lets others run first.
pub(crate) fn target(addr: usize, size: u32, rmw: bool, site: &'static Site) -> Target {
    check_address(addr);
    flush();
    enum Found {
        Real,
        Switch,
        Word(Rc<Word>, Field),
        Unknown,
    }
    let found = with(|state| {
        *state.reached.entry(site).or_default() += 1;
        let place = place_of(addr, &state.stacks);
        let span = Span {
            place,
            len: size.into(),
        };
        if state.mode == Mode::Direct && is_local(addr, state.frame) {
            return Found::Real;
        }
        let new_kind = state.layout.add_field(span) | (rmw && state.layout.add_rmw(span));
        match (state.layout.word(span), state.mode) {
            (Some(_), Mode::Loom) if new_kind => Found::Unknown,
            (Some(index), Mode::Loom) => {
                let word = state.layout.words[index];
                let field = Field {
                    shift: (place - word.place) as u32 * 8,
                    mask: u64::MAX >> (64 - size * 8),
                    whole: word.len == u64::from(size),
                    has_rmw: state.layout.has_rmw[index],
                    has_fields: state.layout.has_fields[index],
                };
                Found::Word(state.words[index].clone(), field)
            }
            (None, mode) => {
                state.layout.add_atomic(span, addr);
                match mode {
                    Mode::Loom => Found::Unknown,
                    Mode::Fuzz => Found::Switch,
                    Mode::Direct => Found::Real,
                }
            }
            (Some(_), Mode::Fuzz) => Found::Switch,
            (Some(_), Mode::Direct) => Found::Real,
        }
    });
    let word = match found {
        Found::Unknown => std::panic::resume_unwind(Box::new(Restart)),
        Found::Word(word, field) => Some((word, field)),
        Found::Switch => {
            scheduled(|| shuttle::thread::sleep(std::time::Duration::ZERO));
            None
        }
        Found::Real => None,
    };
    Target { addr, size, word }
}

impl Target {
    pub fn load(&self, order: Order) -> u64 {
        match &self.word {
            None => read_real(self.addr, self.size),
            Some((word, field)) => field.of(word.value(word.load(load_order(order)))),
        }
    }

    /// Stores; returns what was the newest value before.
    pub fn store(&self, value: u64, order: Order) -> u64 {
        let order = store_order(order);
        match &self.word {
            Some((word, field)) if field.whole => {
                self.store_whole(word, *field, value, order);
                let before = self.newest();
                self.written(before, value);
                before
            }
            _ => self.update_newest(order, |_| value),
        }
    }

    /// A read-modify-write stands right behind the store that it read, so a
    /// store that comes after the one comes after the other. loom leaves the
    /// two unordered: a failed test-and-set then outlives the holder's store of
    /// 0. So a store here sees a newest value that is a read-modify-write's
    /// before it takes place. Who runs before whom is decided at the gate; what
    /// follows it is one step.
    fn store_whole(&self, word: &Word, field: Field, value: u64, order: Order) {
        if !field.has_rmw {
            return word.store(value, order);
        }
        one_step(|| {
            if word.newest_is_rmw() {
                word.look();
            }
            word.store(value, order);
        });
    }

    /// Real memory follows.
    pub(super) fn written(&self, before: u64, value: u64) {
        write_real(self.addr, self.size, value);
        if before != value {
            progress();
        }
    }

    /// The newest value, whatever this thread may see.
    pub fn newest(&self) -> u64 {
        read_real(self.addr, self.size)
    }
}

pub(super) fn progress() {
    with(|state| {
        state.quiet = 0;
        if let Some(thread) = state.threads.get_mut(current()) {
            thread.wrote = true;
            thread.old_loads.clear();
        }
    });
}

/// Lets others run, then `f` without them.
pub(super) fn one_step<R>(f: impl FnOnce() -> R) -> R {
    let gate = with(|state| state.gates[current()].clone());
    scheduled(|| gate.load(Order::Relaxed));
    alone(f)
}

/// Runs `f` as part of the step before it; what it reads is the first that loom
/// finds.
pub(super) fn alone<R>(f: impl FnOnce() -> R) -> R {
    loom::stop_exploring();
    let result = f();
    loom::explore();
    result
}
