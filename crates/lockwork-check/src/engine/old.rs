// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Looks at old values, and which of them are not explored; see docs/proof.md.
use super::state::{note, with, Look, Mode, Thread};
use crate::running::current;
use crate::site::Site;
use crate::trace::What;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The rest of this execution is not explored: it only ends.
pub(super) fn skip() {
    loom::skip_branch();
    with(|state| state.skipping = true);
}

/// The running thread is about to load at `site` from `addr`; `pc` is where it is in the
/// program. If it has done so since it last changed a word, called from the same functions,
/// and saw an old value then, that look led to nothing: another execution is the same
/// without it.
pub(crate) fn before_load(site: &'static Site, addr: usize, pc: usize) {
    let again = with(|state| {
        let Some(thread) = state.threads.get_mut(current()) else {
            return false;
        };
        let place = called_from(thread, pc);
        let look = Look { site, addr, place };
        thread.last_look = Some(look);
        thread.old_loads.contains(&look) && state.mode == Mode::Loom
    });
    if again {
        skip();
    }
}

/// The running thread has read `value` at `site`, where `newest` is.
pub(crate) fn loaded(site: &'static Site, value: u64, newest: u64) {
    if value != newest {
        saw_old();
    }
    note(Some(site), What::Load { value, newest });
}

/// The last look of the running thread has read an old value, and changed nothing.
pub(crate) fn saw_old() {
    with(|state| {
        if let Some(thread) = state.threads.get_mut(current()) {
            thread.old_loads.extend(thread.last_look);
        }
    });
}

/// A place in the program: a hash of `pc` and of the calls that led there.
fn called_from(thread: &Thread, pc: usize) -> u64 {
    FxBuildHasher.hash_one((thread.calls.last(), pc))
}

/// The running thread begins a C function that returns to `pc`.
pub(crate) fn call_begins(pc: usize) {
    with(|state| {
        if let Some(thread) = state.threads.get_mut(current()) {
            thread.calls.push(called_from(thread, pc));
        }
    });
}

/// That function ends, by its return or because the execution ends.
pub(crate) fn call_ends() {
    with(|state| {
        if let Some(thread) = state.threads.get_mut(current()) {
            thread.calls.pop();
        }
    });
}

/// A client begins anew: what it does from here on is no repetition.
pub(crate) fn begin_anew() {
    with(|state| {
        if let Some(thread) = state.threads.get_mut(current()) {
            thread.old_loads.clear();
            thread.wait = None;
        }
    });
}
