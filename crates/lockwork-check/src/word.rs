// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One simulated word: its stores, and a loom atomic that holds the number of one.
use crate::running::{scheduled, with_view};
use crate::stores::{Number, Step, Stores, Wanted};
use loom::sync::atomic::AtomicU32;
use std::cell::{RefCell, UnsafeCell};
use std::sync::atomic::Ordering::{self, Acquire, Relaxed};

/// The number of no store.
const NONE: Number = Number::MAX;

/// A word of up to 8 bytes.
pub(crate) struct Word {
    atomic: UnsafeCell<AtomicU32>,
    stores: RefCell<Stores>,
}

impl Word {
    /// A word of `threads` threads.
    pub fn new(value: u64, threads: usize) -> Self {
        Word {
            atomic: UnsafeCell::new(AtomicU32::new(0)),
            stores: RefCell::new(Stores::new(value, threads)),
        }
    }

    fn atomic(&self) -> &AtomicU32 {
        // SAFETY: threads are coroutines of one OS thread, and only
        // `set_plain` makes a `&mut`, within which no other one runs.
        unsafe { &*self.atomic.get() }
    }

    /// Notes what the running thread's step of this order did.
    fn step(&self, order: Ordering, note: impl FnOnce(&mut Stores, &mut Step)) {
        with_view(|thread, view| {
            let mut step = Step {
                thread,
                view,
                order,
            };
            note(&mut self.stores.borrow_mut(), &mut step);
        });
    }

    /// The value that a store left.
    pub fn value(&self, store: Number) -> u64 {
        self.stores.borrow().value(store)
    }

    /// The store that ran last.
    pub fn newest(&self) -> Number {
        self.stores.borrow().newest()
    }

    /// Whether a read-modify-write made it.
    pub fn newest_is_rmw(&self) -> bool {
        self.stores.borrow().newest_is_rmw()
    }

    /// Whether the running thread's read-modify-write may have to read another
    /// store than the newest: see `Stores::offers`.
    pub fn offers(&self, wanted: &Wanted) -> bool {
        with_view(|me, view| self.stores.borrow().offers(me, view, wanted))
    }

    /// Has a read-modify-write stand right behind `store`, if none does.
    pub fn take(&self, store: Number) -> bool {
        self.stores.borrow_mut().take(store)
    }

    /// Reads any store that the thread may see.
    pub fn load(&self, order: Ordering) -> Number {
        let seen = scheduled(|| self.atomic().load(order));
        self.step(order, |stores, step| stores.read(seen, step));
        seen
    }

    /// A plain store.
    pub fn store(&self, value: u64, order: Ordering) {
        let number = self.stores.borrow_mut().number();
        scheduled(|| self.atomic().store(number, order));
        self.step(order, |stores, step| stores.plain(number, value, step));
    }

    /// Replaces the value by `f` of it; returns what was there.
    pub fn update(&self, order: Ordering, f: impl FnOnce(u64) -> u64) -> u64 {
        let number = self.stores.borrow_mut().number();
        let seen = scheduled(|| self.atomic().swap(number, order));
        let before = self.value(seen);
        let after = f(before);
        self.step(order, |stores, step| stores.rmw(number, seen, after, step));
        before
    }

    /// A read-modify-write of the store `old`, which leaves `value`. Another
    /// store is returned if that is not the newest. A compare that fails orders
    /// nothing: the contract says so for every name but the fully ordered ones,
    /// which bring fences of their own.
    pub fn replace(&self, old: Number, value: u64, order: Ordering) -> Result<(), Number> {
        let number = self.stores.borrow_mut().number();
        let replace = || {
            self.atomic()
                .compare_exchange(old, number, order, Relaxed)
                .map(drop)
        };
        let result = scheduled(replace);
        match result {
            Ok(()) => self.step(order, |stores, step| stores.rmw(number, old, value, step)),
            Err(seen) => self.step(Relaxed, |stores, step| stores.compared(seen, step)),
        }
        result
    }

    /// Reads the newest store, as a compare that fails.
    pub fn look(&self) -> Number {
        match self.replace(NONE, 0, Relaxed) {
            Ok(()) => NONE,
            Err(seen) => seen,
        }
    }

    /// A plain load of C: loom checks that it races with no store.
    pub fn get_plain(&self) -> u64 {
        // SAFETY: loom panics instead of racing.
        let seen = unsafe { self.atomic().unsync_load() };
        self.value(seen)
    }

    /// A plain store of C: loom checks that it races with nothing.
    pub fn set_plain(&self, value: u64) {
        let number = self.stores.borrow_mut().number();
        // SAFETY: see `atomic`: no other reference is in use now.
        unsafe { (*self.atomic.get()).with_mut(|newest| *newest = number) };
        self.step(Relaxed, |stores, step| stores.plain(number, value, step));
    }
}

/// `order` as a load may have it.
pub(crate) fn load_order(order: Ordering) -> Ordering {
    match order {
        Ordering::AcqRel | Ordering::SeqCst => Acquire,
        Ordering::Release => Relaxed,
        other => other,
    }
}

/// `order` as a store may have it.
pub(crate) fn store_order(order: Ordering) -> Ordering {
    match order {
        Ordering::AcqRel | Ordering::SeqCst => Ordering::Release,
        Acquire => Relaxed,
        other => other,
    }
}
