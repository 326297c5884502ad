// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sections that exclude each other: no execution is explored in which a thread waits to
//! begin one.
//!
//! A section takes a lock of its object as its first store and gives it back as its
//! last one. A thread that finds that lock taken looks again until it is free, and
//! changes nothing. So it may as well begin its section later. docs/proof.md says why
//! that loses nothing, and which clients ask for it.
use super::inside::{Inside, Section};
use super::state::{fail, flush, with, Mode};
use crate::running::{current, scheduled};
use crate::verdict::Kind;
use loom::sync::{Mutex, MutexGuard};
use std::mem::{transmute, ManuallyDrop};
use std::rc::Rc;

/// Objects with sections in one execution.
const OBJECTS: usize = 4;

/// For a new execution. All before any thread runs: who makes one may be another than
/// who uses it first.
pub(super) fn sections() -> Vec<Rc<Section>> {
    (0..OBJECTS).map(|_| Rc::new(Mutex::new(()))).collect()
}

/// That of `object`, whose number is its place among those that were met so far.
fn section_of(object: usize) -> Rc<Section> {
    let section = with(|state| {
        let known = state.sections.iter().position(|&known| known == object);
        let number = known.unwrap_or_else(|| {
            state.sections.push(object);
            state.sections.len() - 1
        });
        state.excluding.get(number).cloned()
    });
    section.unwrap_or_else(|| {
        let text = format!("more than {OBJECTS} objects have sections");
        fail(Kind::Checker, text)
    })
}

/// The running thread begins a section of `object`, once no other is in one.
pub(crate) fn enter_section(object: usize) {
    if with(|state| state.mode) != Mode::Loom {
        return;
    }
    flush();
    let section = section_of(object);
    let Ok(guard) = scheduled(|| section.lock()) else {
        unreachable!("an execution in which a thread panics ends")
    };
    // SAFETY: what it borrows from outlives it: see `Inside`.
    let guard: MutexGuard<'static, ()> = unsafe { transmute(guard) };
    let guard = ManuallyDrop::new(guard);
    with(|state| {
        let inside = Inside {
            guard,
            _section: section,
        };
        state.threads[current()].inside.push(inside);
    });
}

/// The running thread ends the section that it began last.
pub(crate) fn leave_section() {
    if with(|state| state.mode) != Mode::Loom {
        return;
    }
    flush();
    if let Some(mut inside) = with(|state| state.threads[current()].inside.pop()) {
        // SAFETY: it is not used again.
        unsafe { ManuallyDrop::drop(&mut inside.guard) };
    }
}
