// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Accesses by primitives: what they touch, and what loom makes of them.
use super::*;
use crate::word::{load_order, store_order};

/// An access by a primitive: a whole word, or a field of one.
pub(crate) struct Target {
    pub addr: usize,
    pub size: u32,
    word: Option<(Rc<Word>, Field)>,
}

/// Where a field lies in its word.
#[derive(Clone, Copy)]
struct Field {
    index: usize,
    shift: u32,
    mask: u64,
    whole: bool,
    has_rmw: bool,
    word_addr: usize,
    word_len: u32,
}

impl Field {
    fn of(self, word: u64) -> u64 {
        word >> self.shift & self.mask
    }

    fn put(self, word: u64, value: u64) -> u64 {
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
        let new_rmw = rmw && state.layout.add_rmw(span);
        match (state.layout.word(span), state.mode) {
            (Some(_), Mode::Loom) if new_rmw => Found::Unknown,
            (Some(index), Mode::Loom) => {
                let word = state.layout.words[index];
                let field = Field {
                    index,
                    shift: (place - word.place) as u32 * 8,
                    mask: u64::MAX >> (64 - size * 8),
                    whole: word.len == u64::from(size),
                    has_rmw: state.layout.has_rmw[index],
                    word_addr: address_of(word.place, &state.stacks),
                    word_len: word.len as u32,
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
            Some((word, field)) => field.of(scheduled(|| word.load(load_order(order)))),
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
            _ => self.update(order, |_| value),
        }
    }

    /// A read-modify-write stands right behind the store that it read, so a
    /// store that comes after the one comes after the other. loom leaves the
    /// two unordered: a failed test-and-set then outlives the holder's store of
    /// 0. So a store here sees a newest value that is a read-modify-write's
    /// before it takes place. Who runs before whom is decided at the gate; what
    /// follows it is one step.
    fn store_whole(&self, word: &Word, field: Field, value: u64, order: Order) {
        if field.has_rmw {
            let gate = with(|state| state.gates[CURRENT.get()].clone());
            scheduled(|| gate.load(Order::Relaxed));
            loom::stop_exploring();
            if with(|state| state.newest_is_rmw[field.index]) {
                let newest = self.newest();
                // A compare that fails reads the newest value, stores nothing.
                let _ = scheduled(|| word.cas(!newest, newest, Order::Relaxed));
            }
        }
        scheduled(|| word.store(value, order));
        if field.has_rmw {
            loom::explore();
        }
        stored(field.index, false);
    }

    /// Replaces the value by `f` of it; returns what was there.
    pub fn update(&self, order: Order, f: impl Fn(u64) -> u64) -> u64 {
        let before = match &self.word {
            None => read_real(self.addr, self.size),
            // Every store to a word with fields is an RMW, so that the newest
            // value is the only one that can be found.
            Some((word, field)) => {
                let mut guess = read_real(field.word_addr, field.word_len);
                loop {
                    let new = field.put(guess, f(field.of(guess)));
                    match scheduled(|| word.cas(guess, new, order)) {
                        Ok(_) => {
                            stored(field.index, true);
                            break field.of(guess);
                        }
                        Err(seen) => guess = seen,
                    }
                }
            }
        };
        self.written(before, f(before));
        before
    }

    /// The same by an operation that a whole word has.
    pub fn update_whole(
        &self,
        order: Order,
        whole: impl Fn(&Word, Order) -> u64,
        f: impl Fn(u64) -> u64,
    ) -> u64 {
        match &self.word {
            Some((word, field)) if field.whole => {
                let before = scheduled(|| whole(word, order));
                stored(field.index, true);
                self.written(before, f(before));
                before
            }
            _ => self.update(order, f),
        }
    }

    /// Returns what was there; stored if that is `old`.
    pub fn cas(&self, old: u64, new: u64, order: Order) -> u64 {
        let seen = match &self.word {
            None => read_real(self.addr, self.size),
            Some((word, field)) => {
                let mut guess = read_real(field.word_addr, field.word_len);
                loop {
                    let (from, to) = (field.put(guess, old), field.put(guess, new));
                    match scheduled(|| word.cas(from, to, order)) {
                        Ok(_) => {
                            stored(field.index, true);
                            break old;
                        }
                        Err(seen) if field.of(seen) == old && seen != from => guess = seen,
                        Err(seen) => break field.of(seen),
                    }
                }
            }
        };
        if seen == old {
            self.written(old, new);
        }
        seen
    }

    /// A fully ordered compare: two full barriers where it succeeds, and no
    /// order where it fails, as the kernel has it. The gate lets others run;
    /// what follows it is one step, so the outcome is known before the fence.
    pub fn full_cas(&self, old: u64, new: u64) -> u64 {
        let fence = || loom::sync::atomic::fence(Order::SeqCst);
        if self.word.is_none() {
            return self.cas(old, new, Order::SeqCst);
        }
        let gate = with(|state| state.gates[CURRENT.get()].clone());
        scheduled(|| gate.load(Order::Relaxed));
        loom::stop_exploring();
        if self.newest() == old {
            fence();
        }
        let seen = self.cas(old, new, Order::Relaxed);
        if seen == old {
            fence();
        }
        loom::explore();
        seen
    }

    /// Real memory follows.
    fn written(&self, before: u64, value: u64) {
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

fn stored(word: usize, rmw: bool) {
    with(|state| state.newest_is_rmw[word] = rmw);
}

fn progress() {
    with(|state| {
        state.quiet = 0;
        if let Some(thread) = state.threads.get_mut(CURRENT.get()) {
            thread.wrote = true;
            thread.old_loads.clear();
        }
    });
}
