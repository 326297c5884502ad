// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Uncontended pairs of lock and unlock, in one thread.
use crate::contender::Contender;
use crate::sample::{Calls, Case, Measured};
use crate::tools::Clock;
use lockwork_catalogue::Lock;
use lockwork_report::resources::Resources;
use std::io;
use std::sync::mpsc::{channel, Sender};
use std::thread::{Builder, JoinHandle};

/// A thread that does nothing. While there is one, the C library and others do
/// not leave their atomic instructions out.
pub(crate) struct Companion {
    leave: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Companion {
    pub(crate) fn new() -> io::Result<Companion> {
        let (leave, wait) = channel();
        let sleep = move || {
            let _ = wait.recv(); // until the other end is dropped
        };
        let thread = Builder::new().stack_size(64 * 1024).spawn(sleep)?;
        Ok(Companion {
            leave: Some(leave),
            thread: Some(thread),
        })
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.leave.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Has `lock` what the case measures?
pub(crate) fn can(lock: &Contender, case: &Case) -> bool {
    let shared = case.reads > 0;
    match (case.calls, lock.inlined) {
        (Some(Calls::Inlined), None) => false,
        (Some(Calls::Inlined), Some(loops)) => !shared || loops.read_pairs.is_some(),
        _ => !shared || lock.kind.has_read(),
    }
}

/// Locks and unlocks a free lock as often as the case says.
pub(crate) fn measure_pairs(contender: &Contender, case: &Case, clock: &Clock) -> Measured {
    let pairs = case.loops.unwrap_or(1);
    let shared = case.reads > 0;
    let lock = contender.kind.create();
    let inlined = contender
        .inlined
        .filter(|_| case.calls == Some(Calls::Inlined));
    let inlined = inlined.and_then(|loops| match shared {
        true => loops.read_pairs,
        false => Some(loops.pairs),
    });
    let run = |n| match inlined {
        // SAFETY: a free lock of the loop's kind, which nobody else uses.
        Some(pairs) => unsafe { pairs(lock.as_ptr(), n) },
        None if shared => read_by_pointer(&lock, n),
        None => write_by_pointer(&lock, n),
    };
    run(pairs / 16 + 1); // the code and the lock's line are there from now on
    let before = Resources::of_thread();
    let start = clock.now();
    run(pairs);
    let end = clock.now();
    let usage = Resources::of_thread().since(&before);
    let (writes, reads) = match shared {
        true => (vec![0], vec![pairs]),
        false => (vec![pairs], Vec::new()),
    };
    Measured {
        seconds: clock.ns(start, end) as f64 * 1e-9,
        writes,
        reads,
        cpu: usage.cpu,
        voluntary: usage.voluntary,
        involuntary: usage.involuntary,
        ..Measured::default()
    }
}

#[inline(never)]
fn write_by_pointer(lock: &Lock, n: u64) {
    for _ in 0..n {
        // SAFETY: only this thread uses the lock, and it does not hold it.
        unsafe {
            lock.lock();
            lock.unlock();
        }
    }
}

#[inline(never)]
fn read_by_pointer(lock: &Lock, n: u64) {
    for _ in 0..n {
        // SAFETY: as above.
        unsafe {
            lock.read_lock();
            lock.read_unlock();
        }
    }
}
