// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Small programs on a few words: what they may come to in C11, and what not.
use crate::client::{Bound, Client, RawClient};
use crate::engine;
use crate::explore::{run, Method, Task};
use crate::ffi;
use crate::site::Site;
use crate::verdict::{Kind, Outcome};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Mutex;

mod cut_off;
mod holes;
mod locks;
mod loom;
mod order;
mod rmw;
mod section;
mod twice;

pub(super) const RELAXED: u32 = 0;
pub(super) const ACQUIRE: u32 = 2;
pub(super) const RELEASE: u32 = 3;
pub(super) const FULL: u32 = 4;
pub(super) const XCHG: u32 = 0;
pub(super) const ADD: u32 = 1;
pub(super) const MB: u32 = 1;

/// What a thread of a program does.
type Body = fn();
/// What a program came to: four registers.
type Registers = [u64; 4];

thread_local! {
    static BODIES: Cell<&'static [Body]> = const { Cell::new(&[]) };
    static WORDS: Cell<&'static [Cell<u32>; 16]> = Cell::new(words());
    static REGISTERS: Cell<Registers> = const { Cell::new([0; 4]) };
    static RESULTS: RefCell<BTreeSet<Registers>> = RefCell::default();
    /// loom runs it: what the fuzzer, which comes first, finds is no result of the search.
    static EXPLORES: Cell<bool> = const { Cell::new(false) };
}

/// Four words, each in the middle of 16 bytes.
fn words() -> &'static [Cell<u32>; 16] {
    Box::leak(Box::default())
}

/// The address of a word of the program.
pub(super) fn word(index: usize) -> usize {
    WORDS.get()[index * 4].as_ptr() as usize
}

/// Notes a result.
pub(super) fn set(register: usize, value: u64) {
    let mut all = REGISTERS.get();
    all[register] = value;
    REGISTERS.set(all);
}

extern "C-unwind" fn thread(id: u32) {
    EXPLORES.set(engine::with(|state| state.mode) == engine::Mode::Loom);
    BODIES.get()[id as usize]();
}

extern "C-unwind" fn finish() {
    let registers = REGISTERS.replace([0; 4]);
    if EXPLORES.get() {
        RESULTS.with_borrow_mut(|results| results.insert(registers));
    }
}

/// `run` is for one at a time in a process.
static ONE: Mutex<()> = Mutex::new(());

/// Explores the program to the end: what it came to, and the verdict.
fn explore(bodies: &'static [Body]) -> (BTreeSet<Registers>, Outcome) {
    let one = ONE.lock().unwrap_or_else(|broken| broken.into_inner());
    // The engine's state is a thread's: a new one knows of no word yet.
    let program = std::thread::spawn(move || {
        BODIES.set(bodies);
        let task = Task {
            method: Method::Exhaustive,
            bound: Bound {
                threads: bodies.len() as u32,
                acquisitions: 1,
                preemptions: None,
            },
            schedules: 0,
            seed: 1,
            seconds: 60,
            mutant: None,
            limit: None,
        };
        let client = Client::of_test(RawClient::of_test(thread, finish));
        let outcome = run(client, &task, &|_| ());
        (RESULTS.take(), outcome)
    });
    let result = program.join();
    // `run` has silenced panics.
    drop(std::panic::take_hook());
    drop(one);
    result.expect("the explorer ends")
}

/// All that the program may come to.
pub(super) fn results(bodies: &'static [Body]) -> BTreeSet<Registers> {
    let (results, outcome) = explore(bodies);
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    results
}

/// What is wrong with the program.
pub(super) fn fault(bodies: &'static [Body]) -> Option<Kind> {
    let (_, outcome) = explore(bodies);
    outcome.fault.map(|fault| fault.kind)
}

/// Where in the program an access is, beyond its site: none is inlined twice.
const HERE: usize = 0;

/// The place of an access; a static for each.
macro_rules! site {
    () => {{
        static SITE: Site = Site::of_test(c"access", line!());
        &SITE
    }};
}

/// The primitives, on a word by number.
macro_rules! load {
    ($word:expr) => {
        load!($word, RELAXED)
    };
    ($word:expr, $order:expr) => {
        ffi::lwc_load(word($word), 4, $order, site!(), HERE)
    };
}
macro_rules! store {
    ($word:expr, $value:expr) => {
        store!($word, $value, RELAXED)
    };
    ($word:expr, $value:expr, $order:expr) => {
        ffi::lwc_store(word($word), 4, $value, $order, site!())
    };
}
macro_rules! add {
    ($word:expr, $value:expr) => {
        add!($word, $value, RELAXED)
    };
    ($word:expr, $value:expr, $order:expr) => {
        ffi::lwc_rmw(word($word), 4, ADD, $value, $order, site!(), HERE)
    };
}
macro_rules! xchg {
    ($word:expr, $value:expr, $order:expr) => {
        ffi::lwc_rmw(word($word), 4, XCHG, $value, $order, site!(), HERE)
    };
}
macro_rules! cas {
    ($word:expr, $old:expr, $new:expr, $order:expr) => {
        ffi::lwc_cas(word($word), 4, $old, $new, $order, site!(), HERE)
    };
}
macro_rules! mb {
    () => {
        ffi::lwc_fence(MB, site!())
    };
}
/// Waits until `$done`.
macro_rules! wait {
    ($done:expr) => {{
        let site = site!();
        while !$done {
            ffi::lwc_round(site);
        }
        ffi::lwc_wait_over();
    }};
}
/// A plain access of C to a word that nothing else touches.
macro_rules! plain {
    ($word:expr, $write:expr) => {
        ffi::lwc_plain(word($word), 4, $write, 1)
    };
}
use {add, cas, load, mb, plain, site, store, wait, xchg};
