// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a simulated thread runs: think, lock, section, unlock, and again.

use crate::calls;
use crate::engine::caches::ps;
use crate::setup::Setup;
use crate::workload::{Time, Workload};
use crate::world::Ops;
use std::ffi::c_void;

/// A page, for the lock and its data: lines of their own.
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// What all threads of a simulation share.
pub(crate) struct Code {
    ops: &'static Ops,
    workload: Workload,
    threads: f64,
    call: u64,
    /// The lock in the first page, data from the second on, entries in the last ones.
    memory: *mut Page,
    pages: usize,
    /// All from the call of lock to the end of unlock runs in the kernel, which
    /// nobody loses a CPU in; it may sleep there.
    kernel: bool,
    /// The lock does not sleep: nor may its holder lose its CPU, not even in a workload that
    /// is preemptible. Waiters that queue on their CPU's node keep theirs, and would keep a
    /// holder that is ready from it for ever: a kernel's spinlocks forbid preemption.
    spins: bool,
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: `new` made it of a boxed slice of so many pages.
        unsafe {
            drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(
                self.memory,
                self.pages,
            )))
        };
    }
}

impl Code {
    /// A lock and its data, new.
    pub fn new(setup: &Setup, ops: &'static Ops) -> Self {
        let entries = setup.threads * setup.workload.entry_bytes as usize;
        let pages = 2 + setup.workload.lines as usize / 64 + entries.div_ceil(4096);
        let memory: Box<[Page]> = (0..pages).map(|_| Page([0; 4096])).collect();
        assert!(ops.size <= 4096, "a lock fits into a page");
        Code {
            ops,
            workload: setup.workload.clone(),
            threads: setup.threads as f64,
            call: ps(setup.machine.cpu.call),
            memory: Box::into_raw(memory).cast(),
            pages,
            kernel: !ops.may_leave() && !setup.workload.preemptible,
            spins: !ops.sleeps() && !ops.may_leave(),
        }
    }

    /// Initialises the lock.
    pub fn init(&self) {
        call(self.ops.init, self.lock());
    }

    fn lock(&self) -> *mut c_void {
        self.memory.cast()
    }

    fn data(&self, line: u32) -> *mut c_void {
        // SAFETY: `new` made enough pages.
        unsafe {
            self.memory
                .add(1)
                .cast::<[u8; 64]>()
                .add(line as usize)
                .cast()
        }
    }
}

impl Code {
    /// A thread's own entry.
    fn entry(&self, thread: usize) -> *mut c_void {
        let bytes = self.workload.entry_bytes as usize;
        let first = 2 + self.workload.lines as usize / 64;
        // SAFETY: `new` made pages for as many entries as there are threads.
        unsafe {
            self.memory
                .add(first)
                .cast::<u8>()
                .add(thread * bytes)
                .cast()
        }
    }
}

fn call(op: unsafe extern "C" fn(*mut c_void), lock: *mut c_void) {
    // SAFETY: an operation of this lock, which is initialised.
    unsafe { op(lock) }
}

fn draw(random: &mut fastrand::Rng, length: &Time) -> u64 {
    ps(length.draw(random))
}

/// Runs a thread until all is over, or its loops are done.
pub(crate) fn run(code: &Code, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut loops = 0;
    while code.workload.loops.is_none_or(|limit| loops < limit) {
        once(code, &mut random);
        loops += 1;
    }
}

fn once(code: &Code, random: &mut fastrand::Rng) {
    let workload = &code.workload;
    let shared = workload.reads > 0.0 && random.f64() < workload.reads;
    calls::work(draw(random, &workload.think));
    if let Some(length) = &workload.sleep {
        // Who sleeps for no time at all does not switch.
        match draw(random, length) {
            0 => {}
            length => calls::sleep_for(length),
        }
    }
    calls::in_kernel(code.kernel);
    if code.spins {
        calls::may_preempt(1);
    }
    calls::with(|engine| engine.waits(shared));
    calls::work(code.call);
    let to_read = code.ops.read_lock.zip(code.ops.read_unlock);
    let to_write = (code.ops.lock, code.ops.unlock);
    let (lock, unlock) = to_read.filter(|_| shared).unwrap_or(to_write);
    call(lock, code.lock());
    calls::with(|engine| engine.holds(shared));
    section(code, random, shared);
    #[cfg(test)]
    if crate::tests::forgets() {
        return;
    }
    calls::with(|engine| engine.gives_back());
    call(unlock, code.lock());
    calls::with(|engine| engine.gave_back());
    if code.spins {
        calls::may_preempt(-1);
    }
    calls::in_kernel(false);
}

fn section(code: &Code, random: &mut fastrand::Rng, shared: bool) {
    let workload = &code.workload;
    for line in 0..workload.lines {
        let value = calls::load(code.data(line), 8);
        #[cfg(test)]
        crate::tests::saw(line, value, shared);
        if !shared {
            calls::store(code.data(line), 8, value + 1);
        }
    }
    if workload.entry_bytes > 0 {
        let entry = code.entry(calls::with(|engine| engine.thread()));
        let value = calls::load(entry, 8);
        calls::store(entry, 8, value + 1);
    }
    let length = if shared {
        &workload.read_section
    } else {
        &workload.section
    };
    calls::work(draw(random, length));
    for (one_in, ns) in workload.long_hold.into_iter().chain(workload.short_hold) {
        if random.f64() * one_in * code.threads < 1.0 {
            // A busy wait by a clock that always runs alike.
            calls::delay(ps(ns));
        }
    }
}
