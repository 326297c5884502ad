// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The state of an execution, and what every call does with it.
use super::inside::{Inside, Section};
use crate::layout::{address_of, Layout};
use crate::mutant::{Change, Mutant};
use crate::past::Steps;
use crate::running::{current, scheduled, with_view};
use crate::site::Site;
use crate::trace::{Event, What};
use crate::verdict::{Failure, Kind};
use crate::word::Word;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Queues of sleepers that loom knows.
pub(super) const FUTEXES: usize = 8;

/// Who decides what runs next, and what loads see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nobody: `init` and `finish`, in one thread.
    #[default]
    Direct,
    /// loom, exhaustively.
    Loom,
    /// shuttle, at random; memory is sequentially consistent.
    Fuzz,
}

/// Unwinds out of an execution that met memory not known as words yet.
pub(crate) struct Restart;
/// Unwinds out of an execution that failed; the engine knows why.
pub(crate) struct Stop;

/// A look: where in the code, called from where, and at which address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    pub site: *const Site,
    pub addr: usize,
    /// See `called_from`.
    pub place: u64,
}

#[derive(Default)]
pub(super) struct Thread {
    /// Fruitless rounds of the wait it is in.
    pub(super) rounds: u32,
    /// That wait.
    pub(super) wait: Option<*const Site>,
    /// Loads that saw an old value, since it last changed a word.
    pub(super) old_loads: Vec<Look>,
    /// Its last load or read-modify-write.
    pub(super) last_look: Option<Look>,
    /// The C functions that it is in, the innermost last: each a hash of itself and of
    /// those before it. One that a long jump left stays.
    pub(super) calls: Vec<u64>,
    /// It changed a word since its last round.
    pub(super) wrote: bool,
    /// Words that a plain C store has changed since its last call.
    pub(super) plain: Vec<usize>,
    /// Asleep in `wait_on_value`, on this address.
    pub(super) asleep: Option<usize>,
    /// Early returns it still makes.
    pub(super) spurious: u32,
    pub(super) finished: bool,
    /// The sections that it is in, the innermost last.
    pub(super) inside: Vec<Inside>,
}

#[derive(Default)]
pub(crate) struct State {
    pub mode: Mode,
    pub layout: Layout,
    pub words: Vec<Rc<Word>>,
    pub(super) cells: Vec<Rc<loom::cell::UnsafeCell<()>>>,
    /// Queues of sleepers, by address; see `futex_step`.
    pub(super) futexes: Vec<Rc<loom::sync::atomic::AtomicU64>>,
    /// One for each thread, which its wakers and it touch.
    pub(super) bells: Vec<Rc<loom::sync::atomic::AtomicU64>>,
    /// One for each thread, which nobody else touches.
    pub(super) gates: Vec<Rc<loom::sync::atomic::AtomicU64>>,
    /// What every full fence adds to; see `full_fence`.
    pub(super) fence_order: Option<Rc<loom::sync::atomic::AtomicU64>>,
    /// The objects of sections so far, and what makes these exclude each other.
    pub(super) sections: Vec<usize>,
    pub(super) excluding: Vec<Rc<Section>>,
    /// The full fences so far, and the sleeps and wake-ups.
    pub(super) fences: Steps,
    pub(super) sleeps: Steps,
    pub(super) threads: Vec<Thread>,
    /// Who sleeps, at any address, in the order in which they fell asleep.
    pub(super) sleepers: Vec<usize>,
    pub(super) stacks: Vec<usize>,
    /// The frame below which `init` and `finish` run.
    pub(super) frame: usize,
    pub(super) quiet: u32,
    pub(super) total: u32,
    pub events: Vec<Event>,
    pub mutant: Option<Mutant>,
    /// How often each site was reached, in all executions.
    pub reached: FxHashMap<*const Site, u64>,
    pub failure: Option<Failure>,
    /// loom has been told to follow no more branches of this execution.
    pub skipping: bool,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Looks at or changes the state; `f` must not call loom or shuttle.
pub(crate) fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|state| f(&mut state.borrow_mut()))
}

/// A C11 ordering.
pub(crate) type Order = std::sync::atomic::Ordering;

/// Ends the execution with a verdict.
pub(crate) fn fail(kind: Kind, text: String) -> ! {
    with(|state| {
        let thread = current();
        state.failure = Some(Failure { kind, text, thread });
    });
    std::panic::resume_unwind(Box::new(Stop))
}

/// The value that C memory has there.
pub(super) fn read_real(addr: usize, size: u32) -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: C accesses these bytes itself; no other OS thread does.
    unsafe { std::ptr::copy_nonoverlapping(addr as *const u8, bytes.as_mut_ptr(), size as usize) };
    u64::from_le_bytes(bytes)
}

/// Gives C memory a value.
pub(super) fn write_real(addr: usize, size: u32, value: u64) {
    let bytes = value.to_le_bytes();
    // SAFETY: as in `read_real`.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), addr as *mut u8, size as usize) };
}

/// Fails the execution if no object can be there.
pub(super) fn check_address(addr: usize) {
    if addr < 0x10000 {
        fail(
            Kind::BadAddress,
            format!("access to address {addr:#x}, which is no object"),
        );
    }
}

/// Tells loom of the plain C stores that this thread made since its last call.
pub(crate) fn flush() {
    let todo: Vec<(Rc<Word>, usize, u64)> = with(|state| {
        let State {
            layout,
            threads,
            stacks,
            words,
            ..
        } = state;
        let Some(thread) = threads.get_mut(current()) else {
            return Vec::new();
        };
        let changed = std::mem::take(&mut thread.plain);
        changed
            .into_iter()
            .map(|word| {
                let span = layout.words[word];
                (
                    words[word].clone(),
                    address_of(span.place, stacks),
                    span.len,
                )
            })
            .collect()
    });
    for (word, addr, len) in todo {
        word.set_plain(read_real(addr, len as u32));
    }
}

/// A full fence. To loom one is no step, so it would take the order of all of them from how
/// they happen to run: that each first touches one word makes it try the others.
pub(crate) fn full_fence() {
    if let Some(order) = with(|state| state.fence_order.clone()) {
        scheduled(|| order.fetch_add(1, Order::Relaxed));
    }
    loom::sync::atomic::fence(Order::SeqCst);
    with(|state| with_view(|_, view| view.fence(&mut state.fences)));
}

/// A release fence.
pub(crate) fn release_fence() {
    loom::sync::atomic::fence(Order::Release);
    with_view(|_, view| view.release());
}

/// What the mutant, if there is one, makes of the access at `site`.
pub(crate) fn change_at(site: &Site) -> Option<Change> {
    with(|state| {
        let mutant = state.mutant.as_ref()?;
        mutant.spot.matches(site).then_some(mutant.change)
    })
}

/// Notes an access for the trace.
pub(crate) fn note(site: Option<&'static Site>, what: What) {
    with(|state| {
        if state.mode == Mode::Direct {
            return;
        }
        state.events.push(Event {
            thread: current(),
            site,
            what,
        });
    });
}
