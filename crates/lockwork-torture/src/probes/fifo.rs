// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Arrival order, round by round, with no race in what arrival means: a waiter
//! starts only when the lock itself names the one before it as queued.
use super::knob::Knob;
use crate::findings::{ensure, Findings};
use crate::trial::{join, Trial};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;

const ROUNDS: usize = 4;
const WAITERS: usize = 6;

pub(super) fn probe(trial: &Arc<Trial>) -> Findings {
    if !trial.kind.has_last_waiter() {
        return Findings::broken(
            "promises an order but has no last_waiter to see it by".to_owned(),
        );
    }
    // A sleeper whose nap is over may take the lock before a first that has no CPU yet; so
    // may one that leaves a spinlock's queue.
    let in_order = Knob::set("naps", "0").and_then(|naps| {
        let stall = Knob::set("stall_us", "0")?;
        Ok((naps, stall))
    });
    let in_order = match in_order {
        Ok(knobs) => knobs,
        Err(text) => return Findings::broken(text),
    };
    let mut result = Ok(());
    for number in 0..ROUNDS {
        // Every second round of a read/write lock alternates both.
        let mixed = trial.kind.has_read() && number % 2 == 1;
        result = result.and_then(|()| round(trial, mixed));
    }
    drop(in_order);
    Findings::of(result.map(|()| format!("{ROUNDS} rounds of {WAITERS} waiters in order")))
}

fn round(trial: &Arc<Trial>, mixed: bool) -> Result<(), String> {
    let context = trial.context();
    let turn = Arc::new(AtomicUsize::new(0));
    let mut threads = Vec::new();

    context.lock(0);
    for waiter in 0..WAITERS {
        let before = trial.objects[0].lock.last_waiter();
        let turn = Arc::clone(&turn);
        let read = mixed && waiter % 2 == 0;
        let spawned = trial.spawn(waiter + 1, move |context| {
            if read {
                context.read_lock(0);
            } else {
                context.lock(0);
            }
            let place = turn.fetch_add(1, Relaxed);
            if read {
                context.read_unlock(0);
            } else {
                context.unlock(0);
            }
            place
        });
        threads.push(spawned.inspect_err(|_| context.unlock(0))?);
        if !trial.wait_queued(before) {
            context.unlock(0);
            return Err(format!(
                "waiter {} was never named as queued by last_waiter",
                waiter + 1
            ));
        }
    }
    context.unlock(0);

    let mut order = vec![0; WAITERS];
    for (waiter, thread) in threads.into_iter().enumerate() {
        order[join(thread)?] = waiter + 1;
    }
    let expected: Vec<usize> = (1..=WAITERS).collect();
    ensure(order == expected, || {
        format!("waiters 1 to {WAITERS} acquired in the order {order:?}")
    })
}
