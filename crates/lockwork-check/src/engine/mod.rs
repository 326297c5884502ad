// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The state of one execution, and what each call of the check world does.
//!
//! C memory is real, and always holds the values of the newest stores; plain C
//! loads read it. Beside each word stands a loom atomic, which decides what an
//! access by a primitive sees. Nothing here keeps `STATE` borrowed across a call
//! into loom or shuttle: another thread may run within it.
mod inside;
mod old;
mod plain;
mod rmw;
mod section;
mod state;
mod target;
mod wait;

pub(crate) use crate::running::{current, scheduled};
pub(crate) use old::{before_load, begin_anew, call_begins, call_ends, loaded, saw_old};
pub(crate) use plain::plain;
pub(crate) use rmw::Found;
pub(crate) use section::{enter_section, leave_section};
pub(crate) use state::{
    change_at, fail, flush, full_fence, note, release_fence, with, Mode, Order, Restart, Stop,
};
pub(crate) use target::target;
pub(crate) use wait::{round, sleep, wait_over, wake};

use crate::layout::Span;
use crate::past::Steps;
use crate::running::{self, set_current};
use crate::word::Word;
use state::{read_real, Thread, FUTEXES};
use std::rc::Rc;

/// A new execution of `threads` threads: memory as it was before anything ran.
pub(crate) fn begin(threads: usize, frame: usize) {
    running::begin(threads);
    with(|state| {
        state.mode = Mode::Direct;
        state.layout.restore();
        state.words.clear();
        state.cells.clear();
        state.sections.clear();
        state.stacks = vec![0; threads];
        state.threads = (0..threads).map(|_| Thread::default()).collect();
        state.sleepers.clear();
        state.frame = frame;
        (state.fences, state.sleeps) = (Steps::default(), Steps::default());
        (state.quiet, state.total, state.skipping) = (0, 0, false);
        state.events.clear();
    });
}

/// How many sleeps of each thread may end early.
pub(crate) fn set_spurious(times: u32) {
    with(|state| {
        for thread in &mut state.threads {
            thread.spurious = times;
        }
    });
}

/// Hands memory over to loom, with the values that it has now.
pub(crate) fn begin_loom() {
    let (words, cells) = with(|state| (state.layout.words.clone(), state.layout.cells()));
    let values = |span: &Span| match span.place >> 56 {
        0 => read_real(span.place as usize, span.len as u32),
        _ => 0,
    };
    let threads = with(|state| state.threads.len());
    let words: Vec<_> = words
        .iter()
        .map(|span| Rc::new(Word::new(values(span), threads)))
        .collect();
    let cells = (0..cells)
        .map(|_| Rc::new(loom::cell::UnsafeCell::new(())))
        .collect();
    let new = || Rc::new(loom::sync::atomic::AtomicU64::new(0));
    let some = |count| (0..count).map(|_| new()).collect();
    let (futexes, bells, gates) = (some(FUTEXES), some(threads), some(threads));
    let fence_order = Some(new());
    let excluding = section::sections();
    with(|state| {
        (state.futexes, state.bells, state.gates) = (futexes, bells, gates);
        state.fence_order = fence_order;
        state.excluding = excluding;
        state.words = words;
        state.cells = cells;
        state.mode = Mode::Loom;
    });
}

/// The calling coroutine is thread `id` from here on; `base` lies above all of
/// its C frames.
pub(crate) fn enter_thread(id: usize, base: usize) {
    set_current(id);
    with(|state| state.stacks[id] = base);
}

/// The C code of this thread is done.
pub(crate) fn leave_thread() {
    flush();
    with(|state| {
        state.threads[current()].finished = true;
        state.quiet = 0;
    });
}

/// All threads are joined.
pub(crate) fn end_threads() {
    set_current(0);
    with(|state| state.mode = Mode::Direct);
}
