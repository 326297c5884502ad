// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The state of one execution, and what each call of the check world does.
//!
//! C memory is real, and always holds the values of the newest stores; plain C
//! loads read it. Beside each word stands a loom atomic, which decides what an
//! access by a primitive sees. Nothing here keeps `STATE` borrowed across a call
//! into loom or shuttle: another thread may run within it.
use crate::layout::{address_of, is_local, place_of, Layout, Part, Span};
use crate::mutant::{Change, Mutant};
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

/// Fruitless rounds of one wait that are explored; see docs/proof.md.
const ROUNDS_EXPLORED: u32 = 1;
/// Queues of sleepers that loom knows.
const FUTEXES: usize = 8;
/// Fruitless rounds of all threads in a row, per thread, with no word changed.
const QUIET_ROUNDS: u32 = 300;
/// The same after which a sleeper that only naps looks again.
const NAP_ROUNDS: u32 = 20;
/// Fruitless rounds of an execution after which nobody will get on any more.
const TOTAL_ROUNDS: u32 = 50_000;

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
}

#[derive(Default)]
pub(crate) struct State {
    pub mode: Mode,
    pub layout: Layout,
    pub words: Vec<Rc<Word>>,
    /// For each word whether its newest store is a read-modify-write.
    newest_is_rmw: Vec<bool>,
    cells: Vec<Rc<loom::cell::UnsafeCell<()>>>,
    /// Queues of sleepers, by address; see `futex_step`.
    futexes: Vec<Rc<loom::sync::atomic::AtomicU64>>,
    /// One for each thread, which its wakers and it touch.
    bells: Vec<Rc<loom::sync::atomic::AtomicU64>>,
    /// One for each thread, which nobody else touches.
    gates: Vec<Rc<loom::sync::atomic::AtomicU64>>,
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
    let words: Vec<_> = words
        .iter()
        .map(|span| Rc::new(Word::new(span.len, values(span))))
        .collect();
    let cells = (0..cells)
        .map(|_| Rc::new(loom::cell::UnsafeCell::new(())))
        .collect();
    let new = || Rc::new(loom::sync::atomic::AtomicU64::new(0));
    let some = |count| (0..count).map(|_| new()).collect();
    let threads = with(|state| state.threads.len());
    let (futexes, bells, gates) = (some(FUTEXES), some(threads), some(threads));
    with(|state| {
        (state.futexes, state.bells, state.gates) = (futexes, bells, gates);
        state.newest_is_rmw = vec![false; words.len()];
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

/// An access by a primitive: a whole word, or a field of one.
pub(crate) struct Target {
    pub addr: usize,
    pub size: u32,
    word: Option<(Rc<Word>, Field)>,
}

/// Where a field lies in its word.
#[derive(Clone, Copy)]
struct Field {
    index: usize,
    shift: u32,
    mask: u64,
    whole: bool,
    has_rmw: bool,
    word_addr: usize,
    word_len: u32,
}

impl Field {
    fn of(self, word: u64) -> u64 {
        word >> self.shift & self.mask
    }

    fn put(self, word: u64, value: u64) -> u64 {
        word & !(self.mask << self.shift) | (value & self.mask) << self.shift
    }
}

/// Finds out what `size` bytes at `addr` are, and lets others run first.
pub(crate) fn target(addr: usize, size: u32, rmw: bool, site: &'static Site) -> Target {
    check_address(addr);
    flush();
    enum Found {
        Real,
        Switch,
        Word(Rc<Word>, Field),
        Unknown,
    }
    let found = with(|state| {
        *state.reached.entry(site).or_default() += 1;
        let place = place_of(addr, &state.stacks);
        let span = Span {
            place,
            len: size.into(),
        };
        if state.mode == Mode::Direct && is_local(addr, state.frame) {
            return Found::Real;
        }
        let new_rmw = rmw && state.layout.add_rmw(span);
        match (state.layout.word(span), state.mode) {
            (Some(_), Mode::Loom) if new_rmw => Found::Unknown,
            (Some(index), Mode::Loom) => {
                let word = state.layout.words[index];
                let field = Field {
                    index,
                    shift: (place - word.place) as u32 * 8,
                    mask: u64::MAX >> (64 - size * 8),
                    whole: word.len == u64::from(size),
                    has_rmw: state.layout.has_rmw[index],
                    word_addr: address_of(word.place, &state.stacks),
                    word_len: word.len as u32,
                };
                Found::Word(state.words[index].clone(), field)
            }
            (None, mode) => {
                state.layout.add_atomic(span, addr);
                match mode {
                    Mode::Loom => Found::Unknown,
                    Mode::Fuzz => Found::Switch,
                    Mode::Direct => Found::Real,
                }
            }
            (Some(_), Mode::Fuzz) => Found::Switch,
            (Some(_), Mode::Direct) => Found::Real,
        }
    });
    let word = match found {
        Found::Unknown => std::panic::resume_unwind(Box::new(Restart)),
        Found::Word(word, field) => Some((word, field)),
        Found::Switch => {
            scheduled(|| shuttle::thread::sleep(std::time::Duration::ZERO));
            None
        }
        Found::Real => None,
    };
    Target { addr, size, word }
}

pub(crate) type Order = std::sync::atomic::Ordering;

impl Target {
    pub fn load(&self, order: Order) -> u64 {
        match &self.word {
            None => read_real(self.addr, self.size),
            Some((word, field)) => {
                field.of(scheduled(|| word.load(crate::word::load_order(order))))
            }
        }
    }

    /// Stores; returns what was the newest value before.
    pub fn store(&self, value: u64, order: Order) -> u64 {
        let order = crate::word::store_order(order);
        match &self.word {
            Some((word, field)) if field.whole => {
                self.store_whole(word, *field, value, order);
                let before = self.newest();
                self.written(before, value);
                before
            }
            _ => self.update(order, |_| value),
        }
    }

    /// A read-modify-write stands right behind the store that it read, so a
    /// store that comes after the one comes after the other. loom leaves the
    /// two unordered: a failed test-and-set then outlives the holder's store of
    /// 0. So a store here sees a newest value that is a read-modify-write's
    /// before it takes place. Who runs before whom is decided at the gate; what
    /// follows it is one step.
    fn store_whole(&self, word: &Word, field: Field, value: u64, order: Order) {
        if field.has_rmw {
            let gate = with(|state| state.gates[CURRENT.get()].clone());
            scheduled(|| gate.load(Order::Relaxed));
            loom::stop_exploring();
            if with(|state| state.newest_is_rmw[field.index]) {
                let newest = self.newest();
                // A compare that fails reads the newest value, stores nothing.
                let _ = scheduled(|| word.cas(!newest, newest, Order::Relaxed));
            }
        }
        scheduled(|| word.store(value, order));
        if field.has_rmw {
            loom::explore();
        }
        stored(field.index, false);
    }

    /// Replaces the value by `f` of it; returns what was there.
    pub fn update(&self, order: Order, f: impl Fn(u64) -> u64) -> u64 {
        let before = match &self.word {
            None => read_real(self.addr, self.size),
            // Every store to a word with fields is an RMW, so that the newest
            // value is the only one that can be found.
            Some((word, field)) => {
                let mut guess = read_real(field.word_addr, field.word_len);
                loop {
                    let new = field.put(guess, f(field.of(guess)));
                    match scheduled(|| word.cas(guess, new, order)) {
                        Ok(_) => {
                            stored(field.index, true);
                            break field.of(guess);
                        }
                        Err(seen) => guess = seen,
                    }
                }
            }
        };
        self.written(before, f(before));
        before
    }

    /// The same by an operation that a whole word has.
    pub fn update_whole(
        &self,
        order: Order,
        whole: impl Fn(&Word, Order) -> u64,
        f: impl Fn(u64) -> u64,
    ) -> u64 {
        match &self.word {
            Some((word, field)) if field.whole => {
                let before = scheduled(|| whole(word, order));
                stored(field.index, true);
                self.written(before, f(before));
                before
            }
            _ => self.update(order, f),
        }
    }

    /// Returns what was there; stored if that is `old`.
    pub fn cas(&self, old: u64, new: u64, order: Order) -> u64 {
        let seen = match &self.word {
            None => read_real(self.addr, self.size),
            Some((word, field)) => {
                let mut guess = read_real(field.word_addr, field.word_len);
                loop {
                    let (from, to) = (field.put(guess, old), field.put(guess, new));
                    match scheduled(|| word.cas(from, to, order)) {
                        Ok(_) => {
                            stored(field.index, true);
                            break old;
                        }
                        Err(seen) if field.of(seen) == old && seen != from => guess = seen,
                        Err(seen) => break field.of(seen),
                    }
                }
            }
        };
        if seen == old {
            self.written(old, new);
        }
        seen
    }

    /// A fully ordered compare: two full barriers where it succeeds, and no
    /// order where it fails, as the kernel has it. The gate lets others run;
    /// what follows it is one step, so the outcome is known before the fence.
    pub fn full_cas(&self, old: u64, new: u64) -> u64 {
        let fence = || loom::sync::atomic::fence(Order::SeqCst);
        if self.word.is_none() {
            return self.cas(old, new, Order::SeqCst);
        }
        let gate = with(|state| state.gates[CURRENT.get()].clone());
        scheduled(|| gate.load(Order::Relaxed));
        loom::stop_exploring();
        if self.newest() == old {
            fence();
        }
        let seen = self.cas(old, new, Order::Relaxed);
        if seen == old {
            fence();
        }
        loom::explore();
        seen
    }

    /// Real memory follows.
    fn written(&self, before: u64, value: u64) {
        write_real(self.addr, self.size, value);
        if before != value {
            progress();
        }
    }

    /// The newest value, whatever this thread may see.
    pub fn newest(&self) -> u64 {
        read_real(self.addr, self.size)
    }
}

fn stored(word: usize, rmw: bool) {
    with(|state| state.newest_is_rmw[word] = rmw);
}

fn progress() {
    with(|state| {
        state.quiet = 0;
        if let Some(thread) = state.threads.get_mut(CURRENT.get()) {
            thread.wrote = true;
            thread.old_loads.clear();
        }
    });
}

/// The rest of this execution is not explored: it only ends.
fn skip() {
    loom::skip_branch();
    with(|state| state.skipping = true);
}

/// The running thread is about to load at `site`. If it has been there since it
/// last changed a word, and saw an old value then, that look led to nothing:
/// another execution is the same without it.
pub(crate) fn before_load(site: &'static Site) {
    let again = with(|state| {
        let thread = state.threads.get(CURRENT.get());
        let again = thread.is_some_and(|thread| thread.old_loads.contains(&(site as *const Site)));
        again && state.mode == Mode::Loom
    });
    if again {
        skip();
    }
}

/// The running thread has read `value` at `site`, where `newest` is.
pub(crate) fn loaded(site: &'static Site, value: u64, newest: u64) {
    with(|state| {
        if let Some(thread) = state.threads.get_mut(CURRENT.get()) {
            if value != newest {
                thread.old_loads.push(site);
            }
        }
    });
    note(Some(site), What::Load { value, newest });
}

/// A client begins anew: what it does from here on is no repetition.
pub(crate) fn begin_anew() {
    with(|state| {
        if let Some(thread) = state.threads.get_mut(CURRENT.get()) {
            thread.old_loads.clear();
            thread.wait = None;
        }
    });
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

/// A plain C access, which the compiler reports before it happens.
pub(crate) fn plain(addr: usize, size: usize, write: bool, pc: usize) {
    check_address(addr);
    flush();
    let mode = with(|state| state.mode);
    let known = with(|state| {
        let place = place_of(addr, &state.stacks);
        let span = Span {
            place,
            len: size as u64,
        };
        if state.mode == Mode::Direct && is_local(addr, state.frame) {
            return None;
        }
        let me = CURRENT.get();
        match state.layout.parts(span, me) {
            Some(parts) => Some(parts.to_vec()),
            None => {
                state.layout.add_plain(span, addr, me);
                None
            }
        }
    });
    match (mode, known) {
        (Mode::Loom, None) => std::panic::resume_unwind(Box::new(Restart)),
        (Mode::Loom, Some(parts)) => {
            note(None, What::Plain { write, pc });
            for part in parts {
                plain_part(part, write);
            }
        }
        _ => {}
    }
}

fn plain_part(part: Part, write: bool) {
    match part {
        Part::Cell(cell) => {
            let cell = with(|state| state.cells[cell].clone());
            if write {
                cell.with_mut(|_| ());
            } else {
                cell.with(|_| ());
            }
        }
        Part::Word(word) if write => with(|state| state.threads[CURRENT.get()].plain.push(word)),
        Part::Word(index) => {
            let (word, addr, len) = with(|state| {
                let span = state.layout.words[index];
                let addr = address_of(span.place, &state.stacks);
                (state.words[index].clone(), addr, span.len)
            });
            write_real(addr, len as u32, word.get_plain());
        }
    }
}

/// One more fruitless round of the wait at `site`.
pub(crate) fn round(site: &'static Site) {
    flush();
    let (mode, prune, stuck) = with(|state| {
        let count = state.threads.len() as u32;
        let thread = &mut state.threads[CURRENT.get()];
        if thread.wrote || thread.wait != Some(site as *const Site) {
            thread.rounds = 0;
        }
        thread.wait = Some(site);
        thread.wrote = false;
        thread.rounds += 1;
        state.quiet += 1;
        state.total += 1;
        let stuck = state.quiet > QUIET_ROUNDS * count || state.total > TOTAL_ROUNDS;
        // To look in vain at an old value is to look later.
        let old = thread.old_loads.contains(&(site as *const Site));
        (state.mode, thread.rounds > ROUNDS_EXPLORED || old, stuck)
    });
    if stuck || mode == Mode::Direct {
        report_stuck(site);
    }
    match mode {
        Mode::Loom => {
            if prune {
                skip();
            }
            scheduled(loom::thread::yield_now);
        }
        _ => scheduled(shuttle::thread::yield_now),
    }
}

/// A wait is over: the next one counts anew.
pub(crate) fn wait_over() {
    with(|state| {
        if let Some(thread) = state.threads.get_mut(CURRENT.get()) {
            thread.wait = None;
        }
    });
}

fn report_stuck(site: &Site) -> ! {
    let (kind, text) = with(|state| {
        let sleeper = state
            .threads
            .iter()
            .position(|thread| thread.asleep.is_some());
        let waiting = state
            .threads
            .iter()
            .filter(|thread| !thread.finished)
            .count();
        let place = format!("{}:{} ({})", site.file(), site.line, site.function());
        if state.quiet <= QUIET_ROUNDS * state.threads.len() as u32 && state.mode != Mode::Direct {
            let text = format!("words change, but no thread gets on; one waits at {place}");
            (Kind::Livelock, text)
        } else if let Some(sleeper) = sleeper {
            let text = format!("T{sleeper} sleeps, and nobody will wake it");
            (Kind::LostWakeup, text)
        } else {
            let text = format!("{waiting} waiting and nothing changes any more; one at {place}");
            (Kind::Deadlock, text)
        }
    });
    fail(kind, text)
}

/// Makes loom explore the order of sleeps and wake-ups at `addr`. Two addresses
/// may share a queue: that costs executions, nothing else.
fn futex_step(addr: usize) {
    let futex = with(|state| {
        let place = place_of(addr, &state.stacks) as usize;
        state.futexes.get(place / 4 % FUTEXES).cloned()
    });
    explored_step(futex);
}

/// The same for `thread` being woken and it looking whether it was.
fn bell_step(thread: usize) {
    explored_step(with(|state| state.bells.get(thread).cloned()));
}

/// A step whose order against others on `object` is explored; relaxed, so that
/// it orders no memory of the locks.
fn explored_step(object: Option<Rc<loom::sync::atomic::AtomicU64>>) {
    match (with(|state| state.mode), object) {
        (Mode::Loom, Some(object)) => {
            scheduled(|| object.fetch_add(1, Order::Relaxed));
        }
        (Mode::Fuzz, _) => scheduled(|| shuttle::thread::sleep(std::time::Duration::ZERO)),
        _ => {}
    }
}

/// `wait_on_value`. False: the time is up.
pub(crate) fn sleep(addr: usize, value: u32, timed: bool, site: &'static Site) -> bool {
    let word = target(addr, 4, true, site);
    futex_step(addr);
    let me = CURRENT.get();
    // On the queue first, then the look at the value: a wake-up that comes
    // between the two is not lost, as under the kernel's bucket lock.
    with(|state| state.threads[me].asleep = Some(addr));
    let seen = word.update(Order::Relaxed, |seen| seen) as u32;
    if seen != value {
        with(|state| state.threads[me].asleep = None);
        note(Some(site), What::NoSleep { seen });
        return true;
    }
    note(Some(site), What::Sleep);
    let mut early = with(|state| state.threads[me].spurious > 0);
    loop {
        if with(|state| state.threads[me].asleep.is_none()) {
            note(Some(site), What::Woken);
            wait_over();
            return true;
        }
        round(site);
        bell_step(me);
        let (asleep, nap) = with(|state| {
            let quiet = state.quiet > NAP_ROUNDS * state.threads.len() as u32;
            (state.threads[me].asleep.is_some(), state.naps && quiet)
        });
        if asleep && (timed || early || nap) {
            with(|state| {
                state.threads[me].asleep = None;
                if early {
                    state.threads[me].spurious -= 1;
                }
            });
            note(Some(site), What::Timeout { early: !timed });
            wait_over();
            return !timed;
        }
        early = false;
    }
}

/// `wake_value`: the one that sleeps there.
pub(crate) fn wake(addr: usize, site: &'static Site) {
    flush();
    with(|state| *state.reached.entry(site).or_default() += 1);
    futex_step(addr);
    let woken = with(|state| {
        let sleeper = state
            .threads
            .iter()
            .position(|thread| thread.asleep == Some(addr))?;
        Some(sleeper)
    });
    if let Some(sleeper) = woken {
        bell_step(sleeper);
        with(|state| {
            state.threads[sleeper].asleep = None;
            state.quiet = 0;
        });
    }
    note(Some(site), What::Wake { woken });
}
