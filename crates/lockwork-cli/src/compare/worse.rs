// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--fail-if-worse`: which locks are shown to be worse than glibc by more than is allowed.

use std::process::ExitCode;

use anyhow::Result;

use super::report::Summary;
use crate::error::{Exit, PROGRAM_FAILED};
use crate::policy::{BASELINE, CONTROL};

/// One lock, and how much worse than glibc it is.
#[derive(Debug, PartialEq)]
pub struct Loss {
    /// The lock, and where.
    what: String,
    /// What it loses at least, as the verdict's interval says: 0.05 is 5 %. None: it was
    /// stopped, because it took too long.
    at_least: Option<f64>,
}

/// What each lock of a table loses; `place` is put behind its name. A lock that cannot be
/// judged, as with too few rounds, is left out: nothing is shown of it.
pub fn of(place: &str, arms: &[Summary]) -> Vec<Loss> {
    let locks = arms
        .iter()
        .filter(|arm| arm.arm != BASELINE && arm.arm != CONTROL);
    locks
        .filter_map(|arm| {
            let at_least = match arm.stopped {
                true => None,
                false => Some(-arm.verdict_interval?.1),
            };
            Some(Loss {
                what: format!("{}{place}", arm.arm),
                at_least,
            })
        })
        .collect()
}

/// Success, or an error that names the locks that lose more than `percent`.
///
/// # Errors
/// There are such locks.
pub fn judge(percent: Option<f64>, losses: Vec<Loss>) -> Result<ExitCode> {
    let Some(percent) = percent else {
        return Ok(ExitCode::SUCCESS);
    };
    let too_much = |loss: &Loss| loss.at_least.is_none_or(|lost| lost * 100.0 > percent);
    let named: Vec<String> = losses
        .iter()
        .filter(|loss| too_much(loss))
        .map(|loss| match loss.at_least {
            Some(lost) => format!("{} (at least {:.1} %)", loss.what, lost * 100.0),
            None => format!("{} (it took too long)", loss.what),
        })
        .collect();
    match named.is_empty() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(Exit::with(
            PROGRAM_FAILED,
            format!(
                "worse than glibc by more than {percent} %: {}",
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
            variation: None,
            improve: None,
            interval: None,
            verdict_interval: interval,
            cpu: None,
            voluntary: None,
            involuntary: None,
            stopped,
        }
    }

    fn message(percent: f64, arms: &[Summary]) -> Option<String> {
        let judged = judge(Some(percent), of("", arms));
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
        assert!(judge(None, of("", &arms)).is_ok());
    }

    #[test]
    fn a_lock_that_was_stopped_is_worse_than_any_bound() {
        let arms = [arm("qspinlock_fair", None, true)];
        let text = message(90.0, &arms).expect("it did not end");
        assert!(text.contains("qspinlock_fair (it took too long)"), "{text}");
    }
}
