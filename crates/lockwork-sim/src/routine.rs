// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Simulated threads are coroutines, which a call into the engine suspends.

use crate::calls;
use crate::engine::Engine;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

/// Bytes of a simulated thread's stack.
const STACK: usize = 64 * 1024;

/// A simulated thread.
pub(crate) type Routine = Coroutine<(), (), (), DefaultStack>;

/// One that does `code`.
pub(crate) fn routine(code: impl FnOnce() + 'static) -> Routine {
    let stack = DefaultStack::new(STACK).expect("memory for a stack");
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
