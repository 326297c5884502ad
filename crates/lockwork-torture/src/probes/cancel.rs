// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waiters that leave the queue, from its end and its middle.
use super::knob::Knob;
use crate::context::Context;
use crate::findings::{ensure, Findings};
use crate::rng::Rng;
use crate::trial::{join, Trial};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

/// The knob that says when a queued waiter gives up, and a small value.
const KNOB: &str = "spin_budget";
const SMALL: &str = "40";
const THREADS: usize = 8;
const ATTEMPTS: usize = 300;

pub(super) fn probe(trial: &Arc<Trial>) -> Findings {
    Findings::of(run(trial))
}

fn run(trial: &Arc<Trial>) -> Result<String, String> {
    if !trial.kind.has_attempt() {
        return Err("promises to be cancellable but has no attempt to cancel".to_owned());
    }
    let context = trial.context();
    ensure(context.attempt(0), || {
        "an attempt on a free lock failed".to_owned()
    })?;
    context.unlock(0);

    let impatient = Knob::set(KNOB, SMALL)?;
    held(trial)?;
    let got = crowd(trial)?;
    drop(impatient);
    context.pass(false);

    let failed: u64 = trial
        .seats
        .iter()
        .map(|seat| seat.attempt_failed.load(Relaxed))
        .sum();
    ensure(failed > 0, || "no attempt was ever cancelled".to_owned())?;
    ensure(got > 0, || "no attempt ever succeeded".to_owned())?;
    Ok(format!(
        "{failed} attempts left the queue, {got} got the lock"
    ))
}

/// All give up while the lock is held; it must work for each of them later.
fn held(trial: &Arc<Trial>) -> Result<(), String> {
    let context = trial.context();
    context.lock(0);
    let mut threads = Vec::new();
    for seat in 1..=4 {
        threads.push(trial.spawn(seat, |context| {
            let got = (0..20).filter(|_| context.attempt(0)).count();
            for _ in 0..got {
                context.unlock(0);
            }
            got
        })?);
    }
    for thread in threads {
        ensure(join(thread)? == 0, || {
            "an attempt took a held lock".to_owned()
        })?;
    }
    context.unlock(0);
    for seat in 1..=4 {
        trial.elsewhere(seat, |context| context.pass(false))?;
    }
    Ok(())
}

fn crowd(trial: &Arc<Trial>) -> Result<usize, String> {
    let mut threads = Vec::new();
    for seat in 1..=THREADS {
        threads.push(trial.spawn(seat, move |context| one_of_crowd(context, seat))?);
    }
    let mut got = 0;
    for thread in threads {
        got += join(thread)?;
    }
    Ok(got)
}

fn one_of_crowd(context: Context<'_>, seat: usize) -> usize {
    let mut rng = Rng::new(seat);
    let mut got = 0;
    for _ in 0..ATTEMPTS {
        if context.attempt(0) {
            got += 1;
            if rng.once_in(4) {
                std::thread::yield_now();
            }
            context.unlock(0);
        }
        if rng.once_in(8) {
            std::thread::yield_now();
        }
    }
    for _ in 0..3 {
        context.pass(false);
    }
    got
}
