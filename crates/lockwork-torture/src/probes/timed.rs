// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waits with a limit.
use crate::findings::{ensure, Findings};
use crate::trial::{join, Trial};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(3600);
const FOR_EVER: Duration = Duration::from_nanos(u64::MAX);

pub(super) fn probe(trial: &Arc<Trial>) -> Findings {
    let parts = [free, held, many, in_time];
    let result = parts.iter().try_for_each(|part| part(trial));
    Findings::of(result.map(|()| {
        format!(
            "held: false after {} ms or more; released in time: true",
            SHORT.as_millis()
        )
    }))
}

fn free(trial: &Arc<Trial>) -> Result<(), String> {
    let context = trial.context();
    for limit in [Duration::ZERO, SHORT, FOR_EVER] {
        ensure(context.timed_lock(0, limit), || {
            format!("timedlock({limit:?}) failed on a free lock")
        })?;
        context.unlock(0);
    }
    Ok(())
}

/// A wait that must time out; the elapsed time.
fn times_out(trial: &Arc<Trial>, limit: Duration) -> Result<(), String> {
    let waited = trial.elsewhere(1, move |context| {
        let start = Instant::now();
        if context.timed_lock(0, limit) {
            context.unlock(0);
            return None;
        }
        Some(start.elapsed())
    })?;
    let Some(waited) = waited else {
        return Err("timedlock says it took a lock that another thread holds".to_owned());
    };
    ensure(waited >= limit, || {
        format!("timedlock({limit:?}) gave up after {waited:?} already")
    })
}

fn held(trial: &Arc<Trial>) -> Result<(), String> {
    let context = trial.context();
    for limit in [Duration::ZERO, SHORT, SHORT] {
        context.lock(0);
        times_out(trial, limit)?;
        context.unlock(0);
        usable(trial)?;
    }
    Ok(())
}

/// After waits timed out nobody may hold the lock. A waiter that stayed has
/// some time here to show itself.
fn usable(trial: &Arc<Trial>) -> Result<(), String> {
    std::thread::sleep(Duration::from_millis(2));
    let got = trial.elsewhere(1, |context| {
        let got = context.timed_lock(0, 50 * SHORT);
        if got {
            context.unlock(0);
        }
        got
    })?;
    ensure(got, || {
        "after a timed-out wait the lock stays held, though all unlocked".to_owned()
    })
}

/// Several time out with a waiter without a limit behind them, which must not
/// be forgotten.
fn many(trial: &Arc<Trial>) -> Result<(), String> {
    let context = trial.context();
    context.lock(0);
    let mut waiters = Vec::new();
    for seat in 1..=4 {
        waiters.push(trial.spawn(seat, move |context| {
            let got = context.timed_lock(0, SHORT * seat as u32);
            if got {
                context.unlock(0);
            }
            got
        })?);
    }
    let patient = trial.spawn(5, |context| context.pass(false))?;
    for waiter in waiters {
        ensure(!join(waiter)?, || {
            "one of several timed waits took a held lock".to_owned()
        })?;
    }
    context.unlock(0);
    join(patient)?;
    usable(trial)
}

fn in_time(trial: &Arc<Trial>) -> Result<(), String> {
    let context = trial.context();
    for limit in [LONG, FOR_EVER, LONG] {
        context.lock(0);
        let waiter = trial.spawn(1, move |context| {
            let got = context.timed_lock(0, limit);
            if got {
                context.unlock(0);
            }
            got
        })?;
        trial.wait_busy(1);
        context.unlock(0);
        ensure(join(waiter)?, || {
            format!(
                "timedlock({} ns) timed out though the lock was released at once",
                limit.as_nanos()
            )
        })?;
    }
    Ok(())
}
