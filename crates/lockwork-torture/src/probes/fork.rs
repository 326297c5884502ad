// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A child that is forked while threads wait for the lock has none of these
//! threads. It must be able to unlock, and to lock again with its own.
use crate::findings::{ensure, Findings};
use crate::trial::{join, Trial};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Arc;
use std::thread::JoinHandle;

const WAITERS: usize = 4;
const CHILD_THREADS: usize = 4;
const CHILD_TURNS: usize = 40;

/// How far the child got, in memory that both processes see.
const STAGES: [&str; 7] = [
    "starting",
    "unlocking what it held at the fork",
    "trying the lock it has just released",
    "locking again",
    "starting threads of its own",
    "running threads of its own",
    "ending",
];
const ENDING: u32 = STAGES.len() as u32 - 1;

/// A word that parent and child share.
struct Stage(*mut AtomicU32);

impl Stage {
    fn new() -> Result<Self, String> {
        let (access, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a new mapping, zeroed by the kernel.
        let page = unsafe { libc::mmap(ptr::null_mut(), 4096, access, flags, -1, 0) };
        ensure(page != libc::MAP_FAILED, || {
            "no memory to share with a child".to_owned()
        })?;
        Ok(Self(page.cast()))
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: mapped until drop.
        unsafe { &*self.0 }
    }

    fn name(&self) -> &'static str {
        STAGES
            .get(self.word().load(Relaxed) as usize)
            .unwrap_or(&"?")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // SAFETY: what new() mapped.
        unsafe { libc::munmap(self.0.cast(), 4096) };
    }
}

pub(super) fn probe(trial: &Arc<Trial>) -> Findings {
    let rw = trial.kind.has_read();
    let mut result = round(trial, false, |_| false);
    if rw {
        result = result
            .and_then(|()| round(trial, false, |waiter| waiter % 2 == 0))
            .and_then(|()| round(trial, true, |waiter| waiter % 2 == 1));
    }
    Findings::of(result.map(|()| {
        format!("children forked from {WAITERS} waiters unlocked, locked and ran {CHILD_THREADS} threads")
    }))
}

/// Forks while this thread holds the lock and others queue for it.
fn round(trial: &Arc<Trial>, holder_reads: bool, reads: fn(usize) -> bool) -> Result<(), String> {
    let context = trial.context();
    let stage = Stage::new()?;
    if holder_reads {
        context.read_lock(0);
    } else {
        context.lock(0);
    }
    let waiters = queue_up(trial, reads);
    // SAFETY: the child uses locks, threads and _exit() only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child without the parent's exit handlers.
        unsafe { libc::_exit(in_child(trial, stage.word(), holder_reads)) };
    }
    if holder_reads {
        context.read_unlock(0);
    } else {
        context.unlock(0);
    }
    for waiter in waiters? {
        join(waiter)?;
    }
    ensure(child > 0, || {
        "cannot fork: this machine refused one more process".to_owned()
    })?;
    let who = if holder_reads {
        "a reader"
    } else {
        "the holder"
    };
    child_ended(trial, child, &stage).map_err(|text| format!("forked by {who}: {text}"))
}

fn queue_up(trial: &Arc<Trial>, reads: fn(usize) -> bool) -> Result<Vec<JoinHandle<()>>, String> {
    let mut waiters = Vec::new();
    for waiter in 0..WAITERS {
        let read = reads(waiter);
        waiters.push(trial.spawn(waiter + 1, move |context| context.pass(read))?);
        trial.wait_busy(waiter + 1);
    }
    Ok(waiters)
}

/// The child's life; its exit status.
fn in_child(trial: &Arc<Trial>, stage: &AtomicU32, holds_read: bool) -> i32 {
    let context = trial.context();
    let rw = trial.kind.has_read();
    // SAFETY: the child must not outlive the probe.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    stage.store(1, Relaxed);
    if holds_read {
        context.read_unlock(0);
    } else {
        context.unlock(0);
    }
    stage.store(2, Relaxed);
    if trial.kind.has_try() {
        if !context.try_lock(0) {
            return 3;
        }
        context.unlock(0);
    }
    stage.store(3, Relaxed);
    context.pass(false);
    if rw {
        context.pass(true);
    }
    stage.store(4, Relaxed);
    let before = trial.objects[0].visits();
    let mut threads = Vec::new();
    for seat in 1..=CHILD_THREADS {
        let Ok(thread) = trial.spawn(seat, move |context| {
            for turn in 0..CHILD_TURNS {
                context.pass(rw && turn % 2 == 0);
                std::thread::yield_now();
            }
        }) else {
            return 2;
        };
        threads.push(thread);
    }
    stage.store(5, Relaxed);
    for thread in threads {
        if join(thread).is_err() {
            return 2;
        }
    }
    stage.store(ENDING, Relaxed);
    let share = if rw { 2 } else { 1 };
    let lost = trial.objects[0].visits() - before != (CHILD_THREADS * CHILD_TURNS / share) as u64;
    i32::from(lost || trial.objects[0].wrong().is_some())
}

/// Waits for the child; one that hangs is ended.
fn child_ended(trial: &Trial, child: i32, stage: &Stage) -> Result<(), String> {
    let mut status = 0;
    if !trial.wait_ended(child, &mut status) {
        // SAFETY: our own child, not yet waited for.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, &mut status, 0);
        }
        return Err(format!("the child hangs while {}", stage.name()));
    }
    if libc::WIFSIGNALED(status) {
        let number = libc::WTERMSIG(status);
        return Err(format!(
            "the child died of signal {number} while {}",
            stage.name()
        ));
    }
    match libc::WEXITSTATUS(status) {
        // Its only thread may end by itself, as by a panic: then the process ends with 0, too.
        0 if stage.word().load(Relaxed) < ENDING => {
            Err(format!("the child ended while {}", stage.name()))
        }
        0 => Ok(()),
        2 => Err("the child could not start threads: a limit of this machine".to_owned()),
        3 => Err("trylock fails on the lock that the child has just released".to_owned()),
        _ => Err("the child's threads did not exclude each other".to_owned()),
    }
}
