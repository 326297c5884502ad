// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The state of one execution, and what each call of the check world does.
//!
//! C memory is real, and always holds the values of the newest stores; plain C
//! loads read it. Beside each word stands a loom atomic, which decides what an
//! access by a primitive sees. Nothing here keeps `STATE` borrowed across a call
//! into loom or shuttle: another thread may run within it.
mod old;
mod plain;
mod rmw;
mod target;
mod wait;

use old::skip;
pub(crate) use old::{before_load, begin_anew, loaded, saw_old};
pub(crate) use plain::plain;
pub(crate) use rmw::Found;
pub(crate) use target::{target, Target};
pub(crate) use wait::{round, sleep, wait_over, wake};

use crate::layout::{address_of, is_local, place_of, Layout, Part, Span};
use crate::mutant::{Change, Mutant};
use crate::past::{Steps, View};
use crate::site::Site;
use crate::trace::{Event, What};
use crate::verdict::{Failure, Kind};
use crate::word::Word;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

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

/// Queues of sleepers that loom knows.
const FUTEXES: usize = 8;

/// Unwinds out of an execution that met memory not known as words yet.
pub(crate) struct Restart;
/// Unwinds out of an execution that failed; the engine knows why.
pub(crate) struct Stop;

#[derive(Default)]
struct Thread {
    /// Fruitless rounds of the wait it is in.
    rounds: u32,
    /// That wait.
    wait: Option<*const Site>,
    /// Loads that saw an old value, since it last changed a word.
    old_loads: Vec<*const Site>,
    /// It changed a word since its last round.
    wrote: bool,
    /// Words that a plain C store has changed since its last call.
    plain: Vec<usize>,
    /// Asleep in `wait_on_value`, on this address.
    asleep: Option<usize>,
    /// Early returns it still makes.
    spurious: u32,
    finished: bool,
    /// What its next step follows.
    view: View,
}

#[derive(Default)]
pub(crate) struct State {
    pub mode: Mode,
    pub layout: Layout,
    pub words: Vec<Rc<Word>>,
    cells: Vec<Rc<loom::cell::UnsafeCell<()>>>,
    /// Queues of sleepers, by address; see `futex_step`.
    futexes: Vec<Rc<loom::sync::atomic::AtomicU64>>,
    /// One for each thread, which its wakers and it touch.
    bells: Vec<Rc<loom::sync::atomic::AtomicU64>>,
    /// One for each thread, which nobody else touches.
    gates: Vec<Rc<loom::sync::atomic::AtomicU64>>,
    /// The full fences so far, and the sleeps and wake-ups.
    fences: Steps,
    sleeps: Steps,
    threads: Vec<Thread>,
    stacks: Vec<usize>,
    /// The frame below which `init` and `finish` run.
    frame: usize,
    naps: bool,
    quiet: u32,
    total: u32,
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
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// Looks at or changes the state; `f` must not call loom or shuttle.
pub(crate) fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|state| f(&mut state.borrow_mut()))
}

/// The running thread.
pub(crate) fn current() -> usize {
    CURRENT.get()
}

/// A C11 ordering.
pub(crate) type Order = std::sync::atomic::Ordering;

/// Looks at or changes what the step of the running thread follows.
pub(crate) fn with_view<R>(f: impl FnOnce(usize, &mut View) -> R) -> R {
    let me = CURRENT.get();
    with(|state| f(me, &mut state.threads[me].view))
}

/// Calls loom or shuttle, within which other threads may run.
pub(crate) fn scheduled<R>(f: impl FnOnce() -> R) -> R {
    let me = CURRENT.get();
    let result = f();
    CURRENT.set(me);
    result
}

/// Ends the execution with a verdict.
pub(crate) fn fail(kind: Kind, text: String) -> ! {
    with(|state| {
        let thread = CURRENT.get();
        state.failure = Some(Failure { kind, text, thread });
    });
    std::panic::resume_unwind(Box::new(Stop))
}

/// A new execution of `threads` threads: memory as it was before anything ran.
pub(crate) fn begin(threads: usize, frame: usize) {
    CURRENT.set(0);
    with(|state| {
        state.mode = Mode::Direct;
        state.layout.restore();
        state.words.clear();
        state.cells.clear();
        state.stacks = vec![0; threads];
        state.threads = (0..threads).map(|_| Thread::default()).collect();
        state.frame = frame;
        (state.fences, state.sleeps) = (Steps::default(), Steps::default());
        (state.quiet, state.total, state.skipping) = (0, 0, false);
        state.events.clear();
    });
}

/// How sleeps end that nobody ends: `times` early returns for each thread, and,
/// with `naps`, one more whenever nothing else happens.
pub(crate) fn set_sleep(times: u32, naps: bool) {
    with(|state| {
        state.naps = naps;
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
    with(|state| {
        (state.futexes, state.bells, state.gates) = (futexes, bells, gates);
        state.words = words;
        state.cells = cells;
        state.mode = Mode::Loom;
    });
}

/// The calling coroutine is thread `id` from here on; `base` lies above all of
/// its C frames.
pub(crate) fn enter_thread(id: usize, base: usize) {
    CURRENT.set(id);
    with(|state| state.stacks[id] = base);
}

/// The C code of this thread is done.
pub(crate) fn leave_thread() {
    flush();
    with(|state| {
        state.threads[CURRENT.get()].finished = true;
        state.quiet = 0;
    });
}

/// All threads are joined.
pub(crate) fn end_threads() {
    CURRENT.set(0);
    with(|state| state.mode = Mode::Direct);
}

pub(crate) fn read_real(addr: usize, size: u32) -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: C accesses these bytes itself; no other OS thread does.
    unsafe { std::ptr::copy_nonoverlapping(addr as *const u8, bytes.as_mut_ptr(), size as usize) };
    u64::from_le_bytes(bytes)
}

fn write_real(addr: usize, size: u32, value: u64) {
    let bytes = value.to_le_bytes();
    // SAFETY: as in `read_real`.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), addr as *mut u8, size as usize) };
}

fn check_address(addr: usize) {
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
        let Some(thread) = threads.get_mut(CURRENT.get()) else {
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

/// A full fence.
pub(crate) fn full_fence() {
    loom::sync::atomic::fence(Order::SeqCst);
    with(|state| state.threads[CURRENT.get()].view.fence(&mut state.fences));
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
            thread: CURRENT.get(),
            site,
            what,
        });
    });
}
