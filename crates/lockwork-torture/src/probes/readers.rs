// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Readers and writers, one situation at a time.
use crate::findings::{ensure, Findings};
use crate::trial::{join, Trial};
use lockwork_report::text::counted;
use std::sync::Arc;

pub(super) fn probe(trial: &Arc<Trial>) -> Findings {
    let result = together(trial)
        .and_then(|()| kept_out(trial, false, true))
        .and_then(|()| kept_out(trial, true, false))
        .and_then(|()| kept_out(trial, false, false))
        .and_then(|()| downgraded(trial));
    Findings::of(result.map(|()| {
        let most = trial.objects[0].most_readers() as usize;
        format!("{} at once", counted(most, "reader"))
    }))
}

/// Readers that each stay until all are in.
fn together(trial: &Arc<Trial>) -> Result<(), String> {
    let context = trial.context();
    context.read_lock(0);
    for seat in 1..=3 {
        trial.elsewhere(seat, |context| {
            context.read_lock(0);
            context.read_unlock(0);
        })?;
    }
    context.read_unlock(0);
    let most = trial.objects[0].most_readers();
    ensure(most > 1, || {
        format!("{most} reader at once was the most, though several were let in")
    })
}

/// While this thread holds the lock, another one must not get in.
fn kept_out(trial: &Arc<Trial>, holder_reads: bool, other_reads: bool) -> Result<(), String> {
    let context = trial.context();
    let (holder, other) = (role(holder_reads), role(other_reads));

    if holder_reads {
        context.read_lock(0);
    } else {
        context.lock(0);
    }
    let thread = trial.spawn(1, move |context| context.pass(other_reads))?;
    let got_in = trial.wait_busy(1);
    if holder_reads {
        context.read_unlock(0);
    } else {
        context.unlock(0);
    }
    join(thread)?;
    ensure(!got_in, || {
        format!("a {other} got in while a {holder} was inside")
    })
}

/// After a downgrade a reader gets in and a writer does not.
fn downgraded(trial: &Arc<Trial>) -> Result<(), String> {
    if !trial.kind.has_downgrade() {
        return Ok(());
    }
    let context = trial.context();
    context.lock(0);
    let reader = trial.spawn(1, |context| context.pass(true))?;
    let early = trial.wait_busy(1);
    context.downgrade(0);
    join(reader)?;
    let writer = trial.spawn(2, |context| context.pass(false))?;
    let got_in = trial.wait_busy(2);
    context.read_unlock(0);
    join(writer)?;
    ensure(!early, || {
        "a reader got in while a writer was inside".to_owned()
    })?;
    ensure(!got_in, || {
        "a writer got in to a reader that was a writer".to_owned()
    })
}

fn role(reads: bool) -> &'static str {
    if reads {
        "reader"
    } else {
        "writer"
    }
}
