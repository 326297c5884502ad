// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Rounds that say nothing, because this process was stopped meanwhile or the machine did not let
//! it run: they are measured again.
use crate::sample::{Case, Measured};

/// A round may always last so many seconds longer.
const ALWAYS: f64 = 1.0;
/// And so many times as long as it should.
const TIMES: f64 = 2.0;
/// How often one is repeated that lasts too long. Where that does not help, the machine is too busy.
const MOST: u32 = 3;

/// Did the round go on much longer than it should, before its threads were told to stop?
pub(crate) fn too_long(case: &Case, measured: &Measured) -> bool {
    let lasted = measured.seconds - measured.overrun;
    let timed = case.loops.is_none() && case.calls.is_none();
    timed && lasted > TIMES * case.time_ms as f64 / 1e3 + ALWAYS
}

/// What `measure` comes to while this process is not stopped, and how often it was tried in vain.
/// `was_stopped` says whether it was since the last call.
///
/// # Errors
/// Those of `measure`.
pub(crate) fn whole<E>(
    case: &Case,
    was_stopped: impl Fn() -> bool,
    mut measure: impl FnMut() -> Result<Measured, E>,
) -> Result<(Measured, u32), E> {
    let (mut repeats, mut long) = (0, 0);
    loop {
        was_stopped(); // that was before
        let measured = measure()?;
        let stopped = was_stopped();
        if !stopped && (long == MOST || !too_long(case, &measured)) {
            return Ok((measured, repeats));
        }
        repeats += 1;
        long += u32::from(!stopped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Work;
    use std::cell::Cell;

    fn case() -> Case {
        Case {
            threads: 2,
            inside: Work::Ns(100),
            outside: Work::Ns(0),
            reads: 0,
            objects: 1,
            time_ms: 200,
            loops: None,
            calls: None,
        }
    }

    fn lasting(seconds: f64, overrun: f64) -> Measured {
        Measured {
            seconds,
            overrun,
            ..Measured::default()
        }
    }

    /// Stops come during the first two rounds, and one before them.
    #[test]
    fn a_round_during_which_the_process_was_stopped_is_repeated() {
        let (stops, rounds) = (Cell::new(true), Cell::new(0));
        let measured = whole(
            &case(),
            || stops.take(),
            || {
                rounds.set(rounds.get() + 1);
                stops.set(rounds.get() < 3);
                Ok::<_, ()>(lasting(f64::from(rounds.get()) / 10.0, 0.0))
            },
        );
        assert_eq!(measured, Ok((lasting(0.3, 0.0), 2)));
    }

    #[test]
    fn a_round_that_lasts_too_long_is_repeated_a_few_times() {
        let rounds = Cell::new(0);
        let run = |good: u32| {
            rounds.set(0);
            let once = || {
                rounds.set(rounds.get() + 1);
                let seconds = if rounds.get() < good { 9.0 } else { 0.2 };
                Ok::<_, ()>(lasting(seconds, 0.0))
            };
            whole(&case(), || false, once).expect("measured")
        };
        assert_eq!(run(3), (lasting(0.2, 0.0), 2));
        assert_eq!(run(100), (lasting(9.0, 0.0), MOST));
    }

    /// That is the lock's doing.
    #[test]
    fn a_lock_that_is_slow_to_stop_may_be() {
        assert!(!too_long(&case(), &lasting(60.0, 59.8)));
        assert!(too_long(&case(), &lasting(1.5, 0.0)));
        let loops = Case {
            loops: Some(1000),
            ..case()
        };
        assert!(!too_long(&loops, &lasting(60.0, 0.0)));
    }
}
