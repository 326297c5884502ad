// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Read-modify-writes.
//!
//! loom's read the newest store. C11 lets one read any store that coherence lets
//! its thread read, if no other read-modify-write has read that one: it then
//! stands right behind it, before the stores that ran since. Such an *older* one
//! is made of loom's load, which knows what coherence allows. Its own store is
//! read by nobody. docs/proof.md says when that is tried, and what it loses.
use super::old::skip;
use super::state::{full_fence, read_real, Order};
use super::target::{alone, one_step, progress, Field, Target};
use crate::stores::{Number, Wanted};
use crate::word::{load_order, Word};

/// What a read-modify-write found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub value: u64,
    /// Not in the newest store.
    pub older: bool,
}

impl Found {
    pub fn newest(value: u64) -> Self {
        Found {
            value,
            older: false,
        }
    }

    fn older(value: u64) -> Self {
        Found { value, older: true }
    }
}

/// A compare-and-exchange.
#[derive(Clone, Copy)]
struct Compare {
    old: u64,
    new: u64,
    order: Order,
    /// With two full fences where it succeeds.
    fenced: bool,
}

impl Target {
    /// Replaces the value by `f` of it; returns what was there.
    pub fn update(&self, order: Order, f: impl Fn(u64) -> u64) -> Found {
        // One that changes nothing is a look, which changes nothing for others.
        let changes = |value, free| free && f(value) != value;
        let Some((word, field)) = self.offered(true, changes) else {
            return Found::newest(self.update_newest(order, f));
        };
        let seen = word.load(load_order(order));
        if seen != word.newest() && may_stand_behind(word, seen) {
            let before = field.of(word.value(seen));
            return stand_behind(word, before, f(before));
        }
        Found::newest(alone(|| self.update_newest(order, f)))
    }

    /// The same of the newest store.
    pub fn update_newest(&self, order: Order, f: impl Fn(u64) -> u64) -> u64 {
        let before = match &self.word {
            None => read_real(self.addr, self.size),
            Some((word, field)) => {
                field.of(word.update(order, |all| field.put(all, f(field.of(all)))))
            }
        };
        self.written(before, f(before));
        before
    }

    /// Returns what was there; stored if that is `old`.
    pub fn cas(&self, old: u64, new: u64, order: Order) -> Found {
        let fenced = false;
        self.compare(Compare {
            old,
            new,
            order,
            fenced,
        })
    }

    /// The same with two full barriers where it succeeds, and no order where it
    /// fails, as the kernel has it.
    pub fn full_cas(&self, old: u64, new: u64) -> Found {
        let (order, fenced) = (Order::Relaxed, true);
        self.compare(Compare {
            old,
            new,
            order,
            fenced,
        })
    }

    fn compare(&self, compare: Compare) -> Found {
        // One that fails on either store may as well read the newest.
        let old = compare.old;
        let succeeds = self.newest() == old;
        let matters = |value, free| match value == old {
            true => free,
            false => succeeds,
        };
        if let Some((word, field)) = self.offered(false, matters) {
            let older = compare_older(word, *field, compare);
            return older.unwrap_or_else(|| alone(|| self.compare_newest(compare)));
        }
        // The gate lets others run; what follows it is one step, so the outcome
        // is known before the fence.
        match compare.fenced && self.word.is_some() {
            true => one_step(|| self.compare_newest(compare)),
            false => self.compare_newest(compare),
        }
    }

    fn compare_newest(&self, compare: Compare) -> Found {
        let Compare { old, new, .. } = compare;
        let seen = match &self.word {
            None => read_real(self.addr, self.size),
            Some((word, field)) => {
                if compare.fenced && self.newest() == old {
                    full_fence();
                }
                let seen = replace(word, *field, compare);
                if compare.fenced && seen == old {
                    full_fence();
                }
                seen
            }
        };
        if seen == old {
            self.written(old, new);
        }
        Found::newest(seen)
    }

    /// The word, if loom is to say which of its stores is read. One with fields
    /// it is not: there a plain store to a field is a read-modify-write as well.
    fn offered(&self, place: bool, value: impl Fn(u64, bool) -> bool) -> Option<(&Word, &Field)> {
        let (word, field) = self.word.as_ref()?;
        let value = &|all, free| value(field.of(all), free);
        (!field.has_fields && word.offers(&Wanted { place, value })).then_some((word, field))
    }
}

/// Whether a read-modify-write may stand right behind the store `seen`. If none
/// may, this execution is cut: it has one more look at an old value than one in
/// which the newest is read at once.
fn may_stand_behind(word: &Word, seen: Number) -> bool {
    let free = word.take(seen);
    if !free {
        skip();
    }
    free
}

/// The running thread's read-modify-write stands right behind a store that is
/// not the newest. From here on the thread sees the newest, which is further
/// behind. So do those that this step happens before.
fn stand_behind(word: &Word, before: u64, after: u64) -> Found {
    alone(|| word.look());
    if before != after {
        progress();
    }
    Found::older(before)
}

/// A compare-and-exchange, if loom says that it reads an older store.
fn compare_older(word: &Word, field: Field, compare: Compare) -> Option<Found> {
    let seen = word.load(Order::Relaxed);
    if seen == word.newest() {
        return None;
    }
    let value = field.of(word.value(seen));
    if value != compare.old {
        return Some(Found::older(value));
    }
    // One that fails orders nothing, so what a success orders comes now: a look
    // in that order, which has to find the same.
    if compare.fenced {
        full_fence();
    }
    let order = load_order(compare.order);
    if (compare.fenced || order != Order::Relaxed) && word.load(order) != seen {
        skip();
        return None;
    }
    if !may_stand_behind(word, seen) {
        return None;
    }
    let found = stand_behind(word, value, compare.new);
    if compare.fenced {
        full_fence();
    }
    Some(found)
}

/// A compare-and-exchange of the newest store; returns what was there. Which
/// store that is may change before loom's step, so it is tried until it fails
/// by its value.
fn replace(word: &Word, field: Field, compare: Compare) -> u64 {
    let Compare {
        old, new, order, ..
    } = compare;
    let mut guess = word.newest();
    loop {
        let all = word.value(guess);
        let seen = match field.of(all) == old {
            true => word.replace(guess, field.put(all, new), order),
            false => Err(word.look()),
        };
        match seen {
            Ok(()) => return old,
            Err(seen) if field.of(word.value(seen)) == old => guess = seen,
            Err(seen) => return field.of(word.value(seen)),
        }
    }
}
