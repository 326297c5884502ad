// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waits with a limit.
use crate::context::Context;
use crate::findings::{ensure, Findings};
use crate::trial::{join, Trial};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(3600);
const FOR_EVER: Duration = Duration::from_nanos(u64::MAX);

/// A way to hold the lock that can be waited for with a limit.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    take: fn(&Context, Duration) -> bool,
    give: fn(&Context),
}

const ALONE: Way = Way {
    name: "timedlock",
    take: |context, limit| context.timed_lock(0, limit),
    give: |context| context.unlock(0),
};

const SHARED: Way = Way {
    name: "read_timedlock",
    take: |context, limit| context.read_timed(0, limit),
    give: |context| context.read_unlock(0),
};

impl Way {
    /// Takes the lock within `limit` and gives it back; whether it got it.
    fn pass(self, context: &Context, limit: Duration) -> bool {
        let got = (self.take)(context, limit);
        if got {
            (self.give)(context);
        }
        got
    }
}

pub(super) fn probe(trial: &Arc<Trial>) -> Findings {
    let parts = [free, held, many, in_time];
    let shared = trial.kind.has_read_timed().then_some(SHARED);
    let mut ways = [ALONE].into_iter().chain(shared);
    let result = ways.try_for_each(|way| parts.iter().try_for_each(|part| part(trial, way)));
    Findings::of(result.map(|()| {
        format!(
            "held: false after {} ms or more; released in time: true",
            SHORT.as_millis()
        )
    }))
}

fn free(trial: &Arc<Trial>, way: Way) -> Result<(), String> {
    let context = trial.context();
    for limit in [Duration::ZERO, SHORT, FOR_EVER] {
        ensure(way.pass(&context, limit), || {
            format!("{}({limit:?}) failed on a free lock", way.name)
        })?;
    }
    Ok(())
}

/// A wait that must time out; the elapsed time.
fn times_out(trial: &Arc<Trial>, way: Way, limit: Duration) -> Result<(), String> {
    let waited = trial.elsewhere(1, move |context| {
        let start = Instant::now();
        (!way.pass(&context, limit)).then(|| start.elapsed())
    })?;
    let Some(waited) = waited else {
        return Err(format!(
            "{} says it took a lock that another thread holds",
            way.name
        ));
    };
    ensure(waited >= limit, || {
        format!("{}({limit:?}) gave up after {waited:?} already", way.name)
    })
}

fn held(trial: &Arc<Trial>, way: Way) -> Result<(), String> {
    let context = trial.context();
    for limit in [Duration::ZERO, SHORT, SHORT] {
        context.lock(0);
        times_out(trial, way, limit)?;
        context.unlock(0);
        usable(trial)?;
    }
    Ok(())
}

/// After waits timed out nobody may hold the lock. A waiter that stayed has
/// some time here to show itself.
fn usable(trial: &Arc<Trial>) -> Result<(), String> {
    std::thread::sleep(Duration::from_millis(2));
    let got = trial.elsewhere(1, |context| ALONE.pass(&context, 50 * SHORT))?;
    ensure(got, || {
        "after a timed-out wait the lock stays held, though all unlocked".to_owned()
    })
}

/// Several time out with a waiter without a limit behind them, which must not
/// be forgotten.
fn many(trial: &Arc<Trial>, way: Way) -> Result<(), String> {
    let context = trial.context();
    context.lock(0);
    let mut waiters = Vec::new();
    for seat in 1..=4 {
        let limit = SHORT * seat as u32;
        let spawned = trial.spawn(seat, move |context| way.pass(&context, limit));
        waiters.push(spawned.inspect_err(|_| context.unlock(0))?);
    }
    let patient = trial.spawn(5, |context| context.pass(false));
    let patient = patient.inspect_err(|_| context.unlock(0))?;
    for waiter in waiters {
        ensure(!join(waiter)?, || {
            "one of several timed waits took a held lock".to_owned()
        })?;
    }
    context.unlock(0);
    join(patient)?;
    usable(trial)
}

fn in_time(trial: &Arc<Trial>, way: Way) -> Result<(), String> {
    let context = trial.context();
    for limit in [LONG, FOR_EVER, LONG] {
        context.lock(0);
        let waiter = trial.spawn(1, move |context| way.pass(&context, limit));
        let waiter = waiter.inspect_err(|_| context.unlock(0))?;
        trial.wait_busy(1);
        context.unlock(0);
        ensure(join(waiter)?, || {
            format!(
                "{}({} ns) timed out though the lock was released at once",
                way.name,
                limit.as_nanos()
            )
        })?;
    }
    Ok(())
}
