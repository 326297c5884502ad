// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--fail-if-worse`: which locks are shown to be worse than glibc by more than is allowed.

use std::process::ExitCode;

use anyhow::Result;
use lockwork_report::bail_usage;
use lockwork_report::stats;
use lockwork_report::text::counted;

use super::metric::Better;
use super::report::{Fault, Summary};
use crate::error::{Exit, PROGRAM_FAILED};
use crate::policy::{BASELINE, CONTROL};

/// One lock, and how much worse than glibc it is.
#[derive(Debug, PartialEq)]
pub struct Loss {
    /// The lock, and where.
    what: String,
    /// Is it not shown to be worse than the control?
    like_control: bool,
    lost: Lost,
}

/// How much worse a lock is.
#[derive(Debug, PartialEq)]
enum Lost {
    /// So much at least, as the verdict's interval says: 0.05 is 5 %.
    AtLeast(f64),
    /// A run took too long.
    Stopped,
    /// It does what glibc does not.
    Fault(Fault),
}

/// What each lock of a table loses; `place` is put behind its name. A lock that cannot be
/// judged, as with too few rounds, is left out: nothing is shown of it.
pub fn of(place: &str, arms: &[Summary], better: Better) -> Vec<Loss> {
    let locks = arms
        .iter()
        .filter(|arm| arm.arm != BASELINE && arm.arm != CONTROL);
    let base = arms.iter().find(|arm| arm.arm == BASELINE);
    locks
        .filter_map(|arm| {
            let lost = if arm.stopped {
                Lost::Stopped
            } else if let Some(fault) = base.and_then(|base| arm.fault(base, better)) {
                Lost::Fault(fault)
            } else {
                Lost::AtLeast(-arm.verdict_interval?.1)
            };
            Some(Loss {
                what: format!("{}{place}", arm.arm),
                like_control: arm.like_control,
                lost,
            })
        })
        .collect()
}

/// Refuses a bound that cannot fail: with so few rounds nothing is ever shown.
///
/// # Errors
/// There are too few.
pub fn check(percent: Option<f64>, rounds: u32) -> Result<()> {
    if percent.is_some() && (rounds as usize) < stats::MIN_ROUNDS {
        bail_usage!(
            "--fail-if-worse can never fail with {}; give {} rounds or more, as by --runs 10",
            counted(rounds as usize, "round"),
            stats::MIN_ROUNDS
        );
    }
    Ok(())
}

/// Success, or an error that names the locks that lose more than `percent`.
///
/// # Errors
/// There are such locks.
pub fn judge(percent: Option<f64>, losses: Vec<Loss>) -> Result<ExitCode> {
    let Some(percent) = percent else {
        return Ok(ExitCode::SUCCESS);
    };
    let too_much = |loss: &Loss| match loss.lost {
        Lost::AtLeast(lost) => lost * 100.0 > percent,
        Lost::Stopped | Lost::Fault(_) => true,
    };
    let losses: Vec<&Loss> = losses.iter().filter(|loss| too_much(loss)).collect();
    let named: Vec<String> = losses
        .iter()
        .map(|loss| match loss.lost {
            Lost::AtLeast(lost) => format!("{} (at least {:.1} %)", loss.what, lost * 100.0),
            Lost::Stopped => format!("{} (it took too long)", loss.what),
            Lost::Fault(fault) => {
                let how = match fault {
                    Fault::Crashed(runs) => format!("a signal ended {}", counted(runs, "run")),
                    Fault::Failed(runs) => format!("{} failed", counted(runs, "run")),
                    Fault::Zero(runs) => format!("{} gave 0", counted(runs, "run")),
                };
                format!("{} ({how})", loss.what)
            }
        })
        .collect();
    let forwarded = losses.iter().filter(|loss| loss.like_control);
    let forwarded: Vec<&str> = forwarded.map(|loss| loss.what.as_str()).collect();
    let lead = match forwarded.is_empty() {
        true => String::new(),
        false => format!(
            "not shown to be worse than the control, {CONTROL}, which only forwards each call to \
             glibc: {}; ",
            forwarded.join(", ")
        ),
    };
    match named.is_empty() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(Exit::with(
            PROGRAM_FAILED,
            format!(
                "{lead}worse than glibc by more than {percent} %: {}",
                named.join(", ")
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(name: &str, interval: Option<(f64, f64)>, stopped: bool) -> Summary {
        Summary {
            arm: name.to_owned(),
            samples: 10,
            average: None,
            min: None,
            median: None,
            max: None,
            variation: None,
            improve: None,
            interval: None,
            verdict_interval: interval,
            control_interval: None,
            like_control: false,
            cpu: None,
            voluntary: None,
            involuntary: None,
            stopped,
            limit: None,
            crashed: 0,
            failed: 0,
            zeros: 0,
        }
    }

    fn message(percent: f64, arms: &[Summary]) -> Option<String> {
        let judged = judge(Some(percent), of("", arms, Better::Higher));
        judged.err().map(|error| error.to_string())
    }

    #[test]
    fn only_what_is_shown_fails() {
        let arms = [
            arm(BASELINE, None, false),
            arm(CONTROL, Some((-0.5, -0.4)), false),
            arm("mutex", Some((-0.2, -0.07)), false),
            arm("mutex_numa", Some((-0.2, 0.1)), false),
            arm("qspinlock_fair", None, false),
        ];
        let text = message(5.0, &arms).expect("the mutex loses 7 %");
        assert_eq!(
            text,
            "worse than glibc by more than 5 %: mutex (at least 7.0 %)"
        );
        assert_eq!(message(7.5, &arms), None);
        assert!(message(0.0, &arms[3..]).is_none(), "nothing is shown");
        assert!(judge(None, of("", &arms, Better::Higher)).is_ok());
    }

    #[test]
    fn a_lock_that_crashes_is_worse_unless_glibc_crashes_too() {
        let crashed = |name| Summary {
            samples: 0,
            crashed: 4,
            ..arm(name, None, false)
        };
        let arms = [arm(BASELINE, None, false), crashed("mutex")];
        let text = message(90.0, &arms).expect("it crashed");
        assert!(text.contains("mutex (a signal ended 4 runs)"), "{text}");
        assert_eq!(message(90.0, &[crashed(BASELINE), crashed("mutex")]), None);
    }

    #[test]
    fn a_lock_that_fails_more_often_is_worse() {
        let failed = |name, failed| Summary {
            failed,
            ..arm(name, Some((0.5, 0.6)), false)
        };
        let arms = [
            failed(BASELINE, 1),
            failed("mutex", 2),
            failed("mutex_numa", 1),
        ];
        let text = message(90.0, &arms).expect("it failed");
        assert!(text.ends_with("mutex (2 runs failed)"), "{text}");
    }

    /// The comparison still fails: the bound is on the program's loss against glibc.
    #[test]
    fn what_the_control_loses_too_is_said_first() {
        let mut mutex = arm("mutex", Some((-0.2, -0.07)), false);
        mutex.like_control = true;
        let text = message(5.0, &[mutex.clone()]).expect("it loses 7 %");
        assert_eq!(
            text,
            "not shown to be worse than the control, glibc_passthrough, which only forwards each \
             call to glibc: mutex; worse than glibc by more than 5 %: mutex (at least 7.0 %)"
        );
        assert_eq!(message(8.0, &[mutex]), None);
    }

    #[test]
    fn a_lock_that_was_stopped_is_worse_than_any_bound() {
        let arms = [arm("qspinlock_fair", None, true)];
        let text = message(90.0, &arms).expect("it did not end");
        assert!(text.contains("qspinlock_fair (it took too long)"), "{text}");
    }
}
