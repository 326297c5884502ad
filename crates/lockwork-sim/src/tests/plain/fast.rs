// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The programs on the engine that simulations use.

use super::case::Case;
use super::program::{Op, Programs, Record, Word};
use crate::calls;
use crate::engine::{memory, Change, Engine, Ps};
use crate::routine;
use std::cell::RefCell;
use std::ptr::null;
use std::rc::Rc;

/// Lines of memory, all zero.
#[repr(C, align(64))]
#[derive(Clone)]
struct Lines([u8; 64]);

/// What came of it.
pub(super) struct Found {
    pub records: Vec<Vec<Record>>,
    /// When each thread got its CPU.
    pub starts: Vec<Ps>,
    /// All that was random after that came from it.
    pub random: fastrand::Rng,
}

type Records = Rc<RefCell<Vec<Record>>>;

/// Runs each program on its CPU until all are done, or nobody will go on.
pub(super) fn run(case: &Case, programs: &Programs) -> Found {
    let mut engine = Box::new(Engine::new(&case.setup()));
    let mut routines = Vec::new();
    if !case.chance {
        engine.leave_out_chance();
    }
    let random = engine.random.clone();
    let mut memory = vec![Lines([0; 64]); 8];
    let base = memory.as_mut_ptr() as usize;
    let starts = Rc::new(RefCell::new(vec![0; programs.len()]));
    let records: Vec<Records> = programs.iter().map(|_| Records::default()).collect();
    for (thread, program) in programs.iter().enumerate() {
        let (program, records) = (program.clone(), records[thread].clone());
        let starts = starts.clone();
        routines.push(routine::routine(thread, move || {
            starts.borrow_mut()[thread] = now();
            for op in &program {
                let record = make(op, base);
                records.borrow_mut().push(record);
            }
        }));
    }
    let engine = Box::into_raw(engine);
    calls::set_engine(engine);
    routine::run(&mut routines);
    calls::set_engine(std::ptr::null_mut());
    // SAFETY: it was made above, and no call goes to it any more.
    drop(unsafe { Box::from_raw(engine) });
    for mut routine in routines {
        // SAFETY: what is on the stack of one that is stuck is never used again.
        unsafe { routine.force_reset() };
    }
    let starts = starts.borrow().clone();
    Found {
        records: records.iter().map(|of| of.borrow().clone()).collect(),
        starts,
        random,
    }
}

fn now() -> Ps {
    calls::with(|engine| engine.now())
}

/// Does what `op` says, as the locks' C would.
fn make(op: &Op, base: usize) -> Record {
    let load = |word: Word| calls::load((base + word.at) as *const _, word.size);
    let mut rounds = 0;
    let value = match op {
        Op::Load(word) => load(*word),
        Op::Store(word, value) => {
            calls::store((base + word.at) as *mut _, word.size, *value);
            0
        }
        Op::Read(word) => {
            let p = base + word.at;
            calls::plain(p as *const _, word.size as usize, false);
            memory::read(p, word.size)
        }
        Op::Write(word, value) => {
            let p = base + word.at;
            calls::plain(p as *const _, word.size as usize, true);
            memory::write(p, word.size, *value);
            0
        }
        Op::Rmw(word, change) => change_by(*change, (base + word.at) as *mut _, word.size),
        Op::Fence => {
            calls::fence();
            0
        }
        Op::Compute(time) => {
            calls::work(*time);
            0
        }
        Op::Align(step) => {
            calls::delay(now().next_multiple_of(*step) - now());
            0
        }
        Op::Pause => {
            calls::relax(false, null());
            0
        }
        Op::Await(word) => {
            let first = load(*word);
            loop {
                calls::wait_line((base + word.at) as *const _, null());
                rounds += 1;
                let value = load(*word);
                if value != first {
                    break value;
                }
            }
        }
        Op::Spin(words) => spin(words, None, base, &mut rounds),
        Op::Count(words, limit) => spin(words, Some(*limit), base, &mut rounds),
    };
    Record {
        value,
        rounds,
        end: now(),
    }
}

fn spin(words: &[Word], limit: Option<u32>, base: usize, rounds: &mut u32) -> u64 {
    let mut first = None;
    loop {
        let load = |word: &Word| calls::load((base + word.at) as *const _, word.size);
        let values: Vec<u64> = words.iter().map(load).collect();
        let changed = *first.get_or_insert(values[0]) != values[0];
        if changed || limit.is_some_and(|limit| *rounds >= limit) {
            return values[0];
        }
        *rounds += calls::relax(limit.is_some(), null());
    }
}

fn change_by(change: Change, p: *mut std::ffi::c_void, size: u32) -> u64 {
    match change {
        Change::Exchange(value) => calls::rmw(p, size, 0, value),
        Change::Add(value) => calls::rmw(p, size, 1, value),
        Change::Or(bits) => calls::rmw(p, size, 2, bits),
        Change::AndNot(bits) => calls::rmw(p, size, 3, bits),
        Change::Compare(want, value) => calls::cas(p, size, want, value),
    }
}
