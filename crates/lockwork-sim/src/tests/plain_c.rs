// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Plain C accesses move lines: what threads share by such fields alone shows.

use super::{machine, setup, workload};
use crate::engine::Engine;
use crate::routine::{self, Routine};
use crate::workload::Workload;
use crate::{calls, world, Rules, Setup};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{from_ref, null_mut};

/// When both begin, ps.
const START: u64 = 100_000_000;

/// A line of memory.
#[repr(C, align(64))]
struct Line(Cell<[u64; 8]>);

impl Line {
    fn new() -> Line {
        Line(Cell::new([0; 8]))
    }

    /// A word of it.
    fn word(&self, word: usize) -> *mut c_void {
        // SAFETY: callers name one of eight.
        unsafe { self.0.as_ptr().cast::<u64>().add(word).cast() }
    }
}

/// Two threads on two sockets run `code`, each with its number: how many lines went from one CPU
/// to the other, and when the last one was done, ps.
fn moved(code: impl Fn(usize)) -> (u64, u64) {
    moved_by(Rules::default(), code)
}

/// The same by these rules.
fn moved_by(rules: Rules, code: impl Fn(usize)) -> (u64, u64) {
    let machine = machine();
    let workload = Workload {
        affinity: true,
        loops: Some(1),
        ..workload()
    };
    let mut engine = Box::new(Engine::new(&Setup {
        threads: 2,
        rules,
        ..setup(&machine, "none", &workload)
    }));
    let code: &dyn Fn(usize) = &code;
    // SAFETY: the coroutines end before `code` does.
    let code: &'static dyn Fn(usize) = unsafe { std::mem::transmute(code) };
    let last = std::rc::Rc::new(Cell::new(0));
    let routine = |thread| {
        let last = last.clone();
        routine::routine(thread, move || {
            // Both start at the same time.
            calls::delay(START - calls::with(|engine| engine.now()));
            code(thread);
            calls::fence();
            last.set(last.get().max(calls::with(|engine| engine.now())));
        })
    };
    let mut routines = [0, 1].map(routine);
    calls::set_engine(&mut *engine);
    routine::run(&mut routines);
    calls::set_engine(null_mut());
    assert!(routines.iter().all(Routine::done), "a thread is stuck");
    (engine.tally.counts.moved.iter().sum(), last.get())
}

/// What both do to a word of their own, in `lines`: a hundred times, read it and write it. The
/// fence is what a lock has between its sections: until then a thread runs ahead.
fn count_in(lines: [(&Line, usize); 2], rules: Rules) -> (u64, u64) {
    moved_by(rules, |thread| {
        let (line, word) = lines[thread];
        for _ in 0..100 {
            calls::plain(line.word(word), 8, false);
            calls::plain(line.word(word), 8, true);
            calls::work(100_000);
            calls::fence();
        }
    })
}

#[test]
fn two_plain_fields_in_one_line_cost_what_they_do_not_cost_apart() {
    let (one, other) = (Line::new(), Line::new());
    let (together, slow) = count_in([(&one, 0), (&one, 1)], Rules::default());
    let (apart, quick) = count_in([(&one, 0), (&other, 0)], Rules::default());
    assert_eq!(apart, 0);
    // What is in a thread's own line is free.
    assert_eq!(quick, START + 100 * 100_000 + 101 * fence());
    assert!(together > 50, "{together} transfers");
    assert!(slow > quick + 1_000_000, "{slow} and {quick} ps");
    let without = Rules::without(&["plain-access".to_owned()]).expect("a rule");
    assert_eq!(count_in([(&one, 0), (&one, 1)], without), (apart, quick));
}

/// What the fence at the end costs, ps.
fn fence() -> u64 {
    moved(|_| ()).1 - START
}

/// Each thread queues a hundred times for a condition variable of its own, which is so many bytes
/// into the same memory.
fn queue_at(bytes: [usize; 2]) -> (u64, u64) {
    world::with(|world| {
        world.reset();
        let of = world.condition;
        let memory = [Line::new(), Line::new()];
        let waiters: [[Line; 8]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| Line::new()));
        let lock = Line::new();
        assert!(bytes[1] + of.size as usize <= size_of_val(&memory));
        assert!(of.waiter_size as usize <= size_of_val(&waiters[0]));
        let ops = from_ref(world.named("mutex")).cast();
        moved(|thread| {
            // SAFETY: both are within the memory.
            let condition: *mut c_void = unsafe { memory[0].word(0).byte_add(bytes[thread]) };
            let waiter = waiters[thread][0].word(0);
            for _ in 0..100 {
                // Nobody waits: what was queued before is not told. All its stores are visible.
                calls::fence();
                // SAFETY: nobody else uses it.
                unsafe { condition.write_bytes(0, of.size as usize) };
                // SAFETY: the world's own call, and memory that outlives it.
                unsafe { (of.enqueue)(condition, waiter, lock.word(0), ops) };
                calls::work(100_000);
            }
        })
    })
    .expect("it loads")
}

#[test]
fn two_condition_variables_in_one_line_cost_what_they_do_not_cost_apart() {
    let size = world::with(|world| world.condition.size as usize).expect("it loads");
    assert!(2 * size <= 64, "two fit in a line");
    let (together, slow) = queue_at([0, size]);
    let (apart, quick) = queue_at([0, 64]);
    // Nothing but the lines' first uses, of which none is in another cache.
    assert_eq!(apart, 0);
    assert!(together > 50, "{together} transfers");
    assert!(slow > quick + 1_000_000, "{slow} and {quick} ps");
}

/// A second waiter is linked to the first one, whose line has to come for that: it is written.
/// Only its state is accessed otherwise, and read.
#[test]
fn the_links_of_a_wait_ring_are_memory() {
    world::with(|world| {
        world.reset();
        let of = world.condition;
        let condition = Line::new();
        let waiters: Vec<[Line; 4]> = (0..2)
            .map(|_| std::array::from_fn(|_| Line::new()))
            .collect();
        assert!(of.waiter_size as usize <= 256);
        let lock = Line::new();
        let (transfers, _) = moved(|thread| {
            calls::delay(thread as u64 * 1_000_000);
            let waiter = waiters[thread][0].word(0);
            let ops = from_ref(world.named("mutex")).cast();
            // SAFETY: the world's own call, and memory that outlives it.
            unsafe { (of.enqueue)(condition.word(0), waiter, lock.word(0), ops) };
        });
        // The condition variable's line, read and then taken for its lock; the first waiter's, to
        // read its state, and then taken to write its links.
        assert_eq!(transfers, 4);
    })
    .expect("it loads");
}
