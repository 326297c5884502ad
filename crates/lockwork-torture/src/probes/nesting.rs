// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks on top of locks: two at once in a fixed order, and signal handlers
//! that take another lock of the same kind wherever a thread happens to be,
//! waiting for the first one included. Handlers interrupt handlers.
use crate::context::Context;
use crate::findings::{ensure, Findings};
use crate::rng::Rng;
use crate::trial::{join, Trial, OBJECTS};
use lockwork_catalogue::Promises;
use std::cell::Cell;
use std::os::unix::thread::JoinHandleExt;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

const THREADS: usize = 6;
/// Handlers, one on top of the other; handler n takes lock 2 + n.
const LEVELS: usize = OBJECTS - 2;
/// Rounds of the signaller.
const SIGNALS: u32 = 300;

/// What handlers work on; leaked, because a handler may come late.
struct Nest {
    trial: Arc<Trial>,
    levels: usize,
    taken: [AtomicU32; LEVELS],
}

static NEST: AtomicPtr<Nest> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    /// The seat of this thread; 0: handlers do nothing.
    static SEAT: Cell<usize> = const { Cell::new(0) };
}

fn signal(level: usize) -> i32 {
    match level {
        0 => libc::SIGUSR1,
        1 => libc::SIGUSR2,
        more => libc::SIGRTMIN() + more as i32,
    }
}

extern "C" fn handler(number: i32) {
    // SAFETY: leaked, never changed but for its atomics.
    let nest = unsafe { NEST.load(Relaxed).as_ref() };
    let seat = SEAT.get();
    let level = (0..LEVELS).find(|&level| signal(level) == number);
    let (Some(nest), Some(level)) = (nest, level) else {
        return;
    };
    if seat == 0 {
        return;
    }
    // SAFETY: the calling thread's own errno.
    let errno = unsafe { *libc::__errno_location() };
    let context = nest.trial.nested_context(seat);
    let object = 2 + level;
    let turn = nest.taken[level].fetch_add(1, Relaxed);
    let read = nest.trial.kind.has_read() && turn % 2 == 1;
    take(context, object, read);
    if level + 1 < nest.levels && turn % 3 == 0 {
        // SAFETY: a signal to the calling thread.
        unsafe { libc::pthread_kill(libc::pthread_self(), signal(level + 1)) };
    }
    give(context, object, read);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

fn take(context: Context<'_>, object: usize, read: bool) {
    if read {
        context.read_lock(object);
    } else {
        context.lock(object);
    }
}

fn give(context: Context<'_>, object: usize, read: bool) {
    if read {
        context.read_unlock(object);
    } else {
        context.unlock(object);
    }
}

/// The handlers, for as long as it lives.
struct Handlers(Vec<libc::sigaction>);

impl Handlers {
    /// Each handler lets only the ones above it interrupt. System calls are
    /// not restarted: locks that sleep must see to that.
    fn install() -> Self {
        let mut before = Vec::new();
        for level in 0..LEVELS {
            // SAFETY: plain C structs, filled in before use.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut old: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as *const () as usize;
                libc::sigemptyset(&mut action.sa_mask);
                for below in 0..=level {
                    libc::sigaddset(&mut action.sa_mask, signal(below));
                }
                libc::sigaction(signal(level), &action, &mut old);
                before.push(old);
            }
        }
        Self(before)
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        for (level, old) in self.0.iter().enumerate() {
            // SAFETY: what sigaction() returned.
            unsafe { libc::sigaction(signal(level), old, ptr::null_mut()) };
        }
    }
}

pub(super) fn probe(trial: &Arc<Trial>) -> Findings {
    Findings::of(run(trial))
}

fn run(trial: &Arc<Trial>) -> Result<String, String> {
    // Two locks of threads and two of handlers are what every lock must bear.
    let levels = if trial.kind.flags().contains(Promises::KEEPS_NODE) {
        2
    } else {
        LEVELS
    };
    let nest: &'static Nest = Box::leak(Box::new(Nest {
        trial: Arc::clone(trial),
        levels,
        taken: Default::default(),
    }));
    NEST.store(ptr::from_ref(nest).cast_mut(), Relaxed);
    let handlers = Handlers::install();

    let mut threads = Vec::new();
    for seat in 1..=THREADS {
        let spawned = trial.spawn(seat, move |context| in_order(context, seat));
        // The others would go on for ever.
        threads.push(spawned.inspect_err(|_| trial.stop.store(true, Relaxed))?);
    }
    for seat in 1..=THREADS {
        trial.wait_busy(seat); // from now on its handlers know their seat
    }
    interrupt(nest, &threads);
    trial.stop.store(true, Relaxed);
    for thread in threads {
        join(thread)?;
    }
    NEST.store(ptr::null_mut(), Relaxed);
    drop(handlers);

    let taken: Vec<u32> = nest.taken[..levels]
        .iter()
        .map(|taken| taken.load(Relaxed))
        .collect();
    ensure(taken.iter().all(|&taken| taken > 0), || {
        format!("some level of handlers never ran: {taken:?}")
    })?;
    Ok(format!(
        "two locks at once; {taken:?} acquisitions by level of signal handler"
    ))
}

/// Takes the first lock, often the second one inside it.
fn in_order(context: Context<'_>, seat: usize) {
    let mut rng = Rng::new(seat);
    let rw = context.trial().kind.has_read();
    SEAT.set(seat);
    while !context.trial().stop.load(Relaxed) {
        let (first, second) = (rw && rng.once_in(2), rw && rng.once_in(2));
        take(context, 0, first);
        if rng.once_in(2) {
            take(context, 1, second);
            if rng.once_in(8) {
                std::thread::yield_now();
            }
            give(context, 1, second);
        }
        give(context, 0, first);
    }
    SEAT.set(0);
}

/// Sends signals to threads at random; a few at once, so that they pile up.
fn interrupt(nest: &Nest, threads: &[JoinHandle<()>]) {
    let mut rng = Rng::new(0);
    for _ in 0..SIGNALS {
        for _ in 0..=rng.below(3) {
            let thread = &threads[rng.below(threads.len() as u32) as usize];
            let level = rng.below(nest.levels as u32) as usize;
            // SAFETY: not joined yet, so the handle is good.
            unsafe { libc::pthread_kill(thread.as_pthread_t(), signal(level)) };
        }
        std::thread::sleep(Duration::from_micros(rng.below(300).into()));
    }
}
