// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Simulated threads are coroutines, which a call into the engine suspends.

use crate::calls;
use crate::engine::Engine;
use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult};

/// Bytes of a simulated thread's stack.
const STACK: usize = 64 * 1024;

/// Where stacks begin in their first page: at so many places, which are so many bytes apart.
const PLACES: usize = 32;
const APART: usize = 64;

/// A stack that does not begin where its page does. The stacks of all threads are pages apart, and
/// what is at the same place of a page competes for few places of the host's cache.
pub(crate) struct Shifted {
    stack: DefaultStack,
    by: usize,
}

// SAFETY: what is left of a stack is one, and has the same limit.
unsafe impl Stack for Shifted {
    fn base(&self) -> StackPointer {
        let base = self.stack.base().get() - self.by;
        StackPointer::new(base).expect("it is within the stack")
    }

    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }
}

#[cfg(test)]
thread_local! {
    /// So many bytes lower does a stack begin, a multiple of 16: another build's frames are as
    /// far from where this one's are.
    pub(crate) static LOWER: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn lower() -> usize {
    LOWER.get()
}

#[cfg(not(test))]
fn lower() -> usize {
    0
}

/// A simulated thread.
pub(crate) type Routine = Coroutine<(), (), (), Shifted>;

/// The one of this number, which does `code`.
pub(crate) fn routine(thread: usize, code: impl FnOnce() + 'static) -> Routine {
    let stack = Shifted {
        stack: DefaultStack::new(STACK).expect("memory for a stack"),
        by: thread % PLACES * APART + lower(),
    };
    Coroutine::with_stack(stack, move |yielder: &_, ()| {
        calls::with(|engine| engine.set_yielder(yielder));
        code();
    })
}

/// Runs the threads of the engine that is set, by their numbers, until all have ended or none can
/// go on.
pub(crate) fn run(routines: &mut [Routine]) {
    while let Some(thread) = calls::with(Engine::next) {
        if let CoroutineResult::Return(()) = routines[thread].resume(()) {
            calls::with(|engine| engine.thread_ends(thread));
        }
    }
}
