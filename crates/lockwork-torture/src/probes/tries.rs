// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tries: what they do depends on the lock's state alone.
use crate::findings::{ensure, Findings};
use crate::trial::Trial;
use std::sync::Arc;

pub(super) fn probe(trial: &Arc<Trial>) -> Findings {
    Findings::of(
        exclusive(trial)
            .and_then(|()| shared(trial))
            .map(|()| "free: taken; held: refused, by another thread too".to_owned()),
    )
}

/// One try by another thread, given back at once.
fn try_elsewhere(trial: &Arc<Trial>) -> Result<bool, String> {
    trial.elsewhere(1, |context| {
        let got = context.try_lock(0);
        if got {
            context.unlock(0);
        }
        got
    })
}

fn read_try_elsewhere(trial: &Arc<Trial>) -> Result<bool, String> {
    trial.elsewhere(1, |context| {
        let got = context.read_try(0);
        if got {
            context.read_unlock(0);
        }
        got
    })
}

fn exclusive(trial: &Arc<Trial>) -> Result<(), String> {
    if !trial.kind.has_try() {
        return Ok(());
    }
    let context = trial.context();
    for _ in 0..20 {
        ensure(context.try_lock(0), || {
            "trylock failed on a free lock".to_owned()
        })?;
        ensure(!try_elsewhere(trial)?, || {
            "trylock took a lock that a try holds".to_owned()
        })?;
        context.unlock(0);
        context.lock(0);
        ensure(!try_elsewhere(trial)?, || {
            "trylock took a held lock".to_owned()
        })?;
        context.unlock(0);
        ensure(try_elsewhere(trial)?, || {
            "trylock failed after an unlock".to_owned()
        })?;
    }
    Ok(())
}

fn shared(trial: &Arc<Trial>) -> Result<(), String> {
    if !trial.kind.has_read_try() {
        return Ok(());
    }
    let context = trial.context();
    for _ in 0..20 {
        context.lock(0);
        ensure(!read_try_elsewhere(trial)?, || {
            "read_trylock got in to a writer".to_owned()
        })?;
        context.unlock(0);
        ensure(context.read_try(0), || {
            "read_trylock failed on a free lock".to_owned()
        })?;
        ensure(read_try_elsewhere(trial)?, || {
            "read_trylock failed beside a reader".to_owned()
        })?;
        if trial.kind.has_try() {
            ensure(!try_elsewhere(trial)?, || {
                "trylock got in to a reader".to_owned()
            })?;
        }
        context.read_unlock(0);
    }
    Ok(())
}
