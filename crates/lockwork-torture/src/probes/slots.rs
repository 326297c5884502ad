// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Thread slots: given back by threads that end, and missing past the last.
use super::stress;
use crate::findings::{ensure, Findings};
use crate::plan::Stop;
use crate::trial::{join, Trial};
use lockwork_catalogue::{limit_slots, slots_in_use, MAX_SLOTS};
use lockwork_report::text::counted;
use std::sync::Arc;
use std::thread::yield_now;

const BATCH: usize = 16;
const BATCHES: usize = 125;
/// Slots of threads that are not this probe's own, coming and going.
const SLACK: u32 = 4;

pub(super) fn recycle(trial: &Arc<Trial>) -> Findings {
    Findings::of(short_lives(trial))
}

/// Thousands of threads that each wait for the lock once.
fn short_lives(trial: &Arc<Trial>) -> Result<String, String> {
    let context = trial.context();
    let before = slots_in_use();
    let mut peak = before;
    for _ in 0..BATCHES {
        let mut threads = Vec::new();
        context.lock(0);
        for seat in 1..=BATCH {
            threads.push(trial.spawn(seat, |context| {
                context.lock(0);
                yield_now();
                context.unlock(0);
            })?);
        }
        yield_now();
        peak = peak.max(slots_in_use());
        context.unlock(0);
        for thread in threads {
            join(thread)?;
        }
    }
    let after = slots_in_use();
    let threads = BATCH * BATCHES;
    ensure(after <= before + SLACK, || {
        format!("{after} slots are taken after {threads} threads ended, {before} were before")
    })?;
    Ok(format!(
        "{}, {} at the peak, {after} after",
        counted(threads, "thread"),
        counted(peak as usize, "slot")
    ))
}

/// Puts the limit back.
struct Few;

impl Few {
    fn new(n: u32) -> Self {
        limit_slots(n);
        Self
    }
}

impl Drop for Few {
    fn drop(&mut self) {
        limit_slots(MAX_SLOTS);
    }
}

pub(super) fn overflow(trial: &Arc<Trial>) -> Findings {
    let limit = slots_in_use().max(2);
    let few = Few::new(limit);
    let mut plan = trial.plan.clone();
    plan.threads = plan.threads.max(12).min(trial.seats.len() - 1);
    plan.stop = Stop::Operations(60);
    let result = crowd(trial, &plan);
    drop(few);
    Findings::of(result.map(|seen| format!("{} threads on {limit} slots: {seen}", plan.threads)))
}

fn crowd(trial: &Arc<Trial>, plan: &crate::Plan) -> Result<String, String> {
    stress::run_as(trial, plan)?;
    let kept = trial.objects[0].visits();
    let got = stress::updates(trial);
    ensure(got == kept, || {
        format!("{got} exclusive acquisitions left {kept} updates")
    })?;
    Ok(format!("{got} updates, none lost"))
}
