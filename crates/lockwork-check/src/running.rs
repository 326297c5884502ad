// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The running thread, and what its step follows.
use crate::past::View;
use std::cell::{Cell, RefCell};

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
    /// By thread.
    static VIEWS: RefCell<Vec<View>> = const { RefCell::new(Vec::new()) };
}

/// A new execution of `threads` threads, of which nothing has run.
pub(crate) fn begin(threads: usize) {
    CURRENT.set(0);
    VIEWS.set((0..threads).map(|_| View::default()).collect());
}

/// The running thread.
pub(crate) fn current() -> usize {
    CURRENT.get()
}

/// The calling coroutine is `thread` from here on.
pub(crate) fn set_current(thread: usize) {
    CURRENT.set(thread);
}

/// Looks at or changes what the step of the running thread follows.
pub(crate) fn with_view<R>(f: impl FnOnce(usize, &mut View) -> R) -> R {
    let me = current();
    VIEWS.with_borrow_mut(|views| f(me, &mut views[me]))
}

/// Calls loom or shuttle, within which other threads may run.
pub(crate) fn scheduled<R>(f: impl FnOnce() -> R) -> R {
    let me = current();
    let result = f();
    CURRENT.set(me);
    result
}
