// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every operation at random by many threads, then some acquisitions that each
//! thread must still get.
use crate::context::Context;
use crate::findings::Findings;
use crate::plan::{Plan, Stop};
use crate::rng::Rng;
use crate::trial::{join, Trial};
use lockwork_catalogue::LockKind;
use lockwork_report::text::counted;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::thread::{sleep, yield_now};
use std::time::Duration;

/// How long a holder sleeps.
const NAP: Duration = Duration::from_micros(50);

pub(super) fn probe(trial: &Arc<Trial>) -> Findings {
    let mut findings = match run_as(trial, &trial.plan) {
        Ok(()) => Findings::default(),
        Err(text) => return Findings::broken(text),
    };
    let (got, kept) = (updates(trial), trial.objects[0].visits());
    if got == kept {
        findings.seen.push((
            "exclusion",
            format!("{}, none lost", counted(got as usize, "update")),
        ));
    } else {
        let lost = format!("{got} exclusive acquisitions left {kept} updates");
        findings.wrong.push(("exclusion", lost));
    }
    findings.seen.push((
        "progress",
        format!(
            "{} went on to the end",
            counted(trial.plan.threads, "thread")
        ),
    ));
    if trial.kind.has_read() {
        let most = trial.objects[0].most_readers();
        findings
            .seen
            .push(("readers", format!("{most} at once in the stress")));
    }
    findings
}

/// Exclusive acquisitions of the first lock by all threads.
pub(super) fn updates(trial: &Trial) -> u64 {
    trial
        .seats
        .iter()
        .map(|seat| seat.writes.load(Relaxed))
        .sum()
}

/// Runs the threads to their end, also when one of them could not be started.
pub(super) fn run_as(trial: &Arc<Trial>, plan: &Plan) -> Result<(), String> {
    let mut threads = Vec::new();
    let mut result = Ok(());
    for seat in 1..=plan.threads {
        let (stop, least) = (plan.stop, plan.least);
        match trial.spawn(seat, move |context| work(context, seat, stop, least)) {
            Ok(thread) => threads.push(thread),
            Err(text) => {
                trial.stop.store(true, Relaxed);
                result = Err(text);
                break;
            }
        }
    }
    if let Stop::After(time) = plan.stop {
        if result.is_ok() {
            sleep(time);
        }
        trial.stop.store(true, Relaxed);
    }
    for thread in threads {
        result = result.and(join(thread));
    }
    result
}

fn work(context: Context<'_>, seat: usize, stop: Stop, least: u32) {
    let trial = context.trial();
    let mut rng = Rng::new(seat);
    let most = match stop {
        Stop::After(_) => u32::MAX,
        Stop::Operations(most) => most,
    };
    let mut done = 0;
    while done < most && !trial.stop.load(Relaxed) {
        one(context, &trial.kind, &mut rng);
        pause(&mut rng);
        done += 1;
    }
    for turn in 0..least {
        context.pass(trial.kind.has_read() && turn % 2 == 0);
    }
}

/// One operation at random among those that the lock has.
fn one(context: Context<'_>, kind: &LockKind, rng: &mut Rng) {
    let read = kind.has_read() && rng.below(3) > 0;
    let got = match (read, rng.below(8)) {
        (true, 0) if kind.has_read_try() => context.read_try(0),
        (true, 1 | 2) if kind.has_read_timed() => {
            context.read_timed(0, Duration::from_nanos(rng.below(50_000).into()))
        }
        (true, _) => {
            context.read_lock(0);
            true
        }
        (false, 0 | 1) if kind.has_try() => context.try_lock(0),
        (false, 2 | 3) if kind.has_timed() => {
            context.timed_lock(0, Duration::from_nanos(rng.below(50_000).into()))
        }
        (false, 4 | 5) if kind.has_attempt() => context.attempt(0),
        _ => {
            context.lock(0);
            true
        }
    };
    if !got {
        return;
    }
    linger(rng);
    let downgraded = !read && kind.has_downgrade() && rng.once_in(4);
    if downgraded {
        context.downgrade(0);
        linger(rng);
    }
    if read || downgraded {
        context.read_unlock(0);
    } else {
        context.unlock(0);
    }
}

/// Inside: now and then long enough to lose the CPU, or asleep: others come upon the
/// holder then, however few CPUs there are.
fn linger(rng: &mut Rng) {
    if rng.once_in(64) {
        sleep(NAP);
    } else if rng.once_in(32) {
        yield_now();
    } else if rng.once_in(4) {
        (0..rng.below(200)).for_each(|_| spin_loop());
    }
}

/// Outside: others may have the lock, too.
fn pause(rng: &mut Rng) {
    if rng.once_in(16) {
        yield_now();
    } else {
        (0..rng.below(400)).for_each(|_| spin_loop());
    }
}
