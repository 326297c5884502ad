// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Looks at old values, and which of them are not explored; see docs/proof.md.
use super::state::{note, with, Look, Mode};
use crate::running::current;
use crate::site::Site;
use crate::trace::What;

/// The rest of this execution is not explored: it only ends.
pub(super) fn skip() {
    loom::skip_branch();
    with(|state| state.skipping = true);
}

/// The running thread is about to load at `site` from `addr`. If it has done so since it
/// last changed a word, and saw an old value then, that look led to nothing:
/// another execution is the same without it.
pub(crate) fn before_load(site: &'static Site, addr: usize) {
    let look = Look { site, addr };
    let again = with(|state| {
        let Some(thread) = state.threads.get_mut(current()) else {
            return false;
        };
        thread.last_look = Some(look);
        thread.old_loads.contains(&look) && state.mode == Mode::Loom
    });
    if again {
        skip();
    }
}

/// The running thread has read `value` from `addr` at `site`, where `newest` is.
pub(crate) fn loaded(site: &'static Site, addr: usize, value: u64, newest: u64) {
    if value != newest {
        saw_old(site, addr);
    }
    note(Some(site), What::Load { value, newest });
}

/// The running thread has read an old value from `addr` at `site`, and changed nothing.
pub(crate) fn saw_old(site: &'static Site, addr: usize) {
    with(|state| {
        if let Some(thread) = state.threads.get_mut(current()) {
            thread.old_loads.push(Look { site, addr });
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
