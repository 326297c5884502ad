// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Guards between a table's lock and its unlock, which knows the lock only.
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::process::abort;
use std::ptr;
use std::thread::LocalKey;

/// As deep as the shims in C go, see `PEER_DEPTH`.
const DEPTH: usize = 8;

/// A thread's guards, the last one on top.
///
/// Beside the lock there would be room for one guard, and readers have many; so
/// they are the thread's, all of them, and a lock has the size that it has in a
/// program. Nothing is dropped with the thread: what it holds stays locked.
pub(crate) struct Guards<G> {
    depth: Cell<usize>,
    locks: [Cell<*const c_void>; DEPTH],
    memory: UnsafeCell<[MaybeUninit<G>; DEPTH]>,
}

/// The stack that each thread has of its own.
pub(crate) type Stack<G> = &'static LocalKey<Guards<G>>;

impl<G> Guards<G> {
    pub(crate) const fn new() -> Self {
        Self {
            depth: Cell::new(0),
            locks: [const { Cell::new(ptr::null()) }; DEPTH],
            memory: UnsafeCell::new([const { MaybeUninit::uninit() }; DEPTH]),
        }
    }
}

/// Keeps the guard of `lock` in this thread's `stack`.
///
/// The guard stays out of the closure: captured, it went through memory once
/// more, which cost more than all the rest of this.
#[inline(always)]
pub(crate) fn push<G>(stack: Stack<G>, name: &str, lock: *const c_void, guard: G) {
    // SAFETY: this thread's, for as long as this call.
    let guards = unsafe { &*stack.with(ptr::from_ref) };
    let depth = guards.depth.get();
    let Some(place) = guards.locks.get(depth) else {
        fatal(
            name,
            "a thread holds at most 8 locks of this kind; hold fewer at once",
        );
    };
    place.set(lock);
    // SAFETY: one thread only, and no reference outlives this line.
    unsafe { (*guards.memory.get())[depth].write(guard) };
    guards.depth.set(depth + 1);
}

/// Gives back the guard of `lock`, the last one kept.
#[inline(always)]
pub(crate) fn pop<G>(stack: Stack<G>, name: &str, lock: *const c_void) -> G {
    // SAFETY: as in push().
    let guards = unsafe { &*stack.with(ptr::from_ref) };
    let depth = guards.depth.get().wrapping_sub(1);
    if guards.locks.get(depth).is_none_or(|of| of.get() != lock) {
        fatal(
            name,
            "not the lock that this thread took last; unlock in reverse order",
        );
    }
    guards.depth.set(depth);
    // SAFETY: written by push(), and by lowering the depth read only once.
    unsafe { (*guards.memory.get())[depth].assume_init_read() }
}

/// Ends the process with one sentence, as the shims in C do.
#[cold]
#[inline(never)]
fn fatal(name: &str, what: &str) -> ! {
    eprintln!("lockwork: {name}: {what}");
    abort()
}
