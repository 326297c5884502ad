// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All checks of a kind of lock, one after the other.
mod cancel;
mod checks;
mod fifo;
mod fork;
mod nesting;
mod probe;
mod readers;
mod slots;
mod stress;
mod switching;
mod timed;
mod tries;

use crate::findings::Findings;
use crate::plan::Plan;
use crate::report::{LockReport, Numbers, Row, Verdict};
use checks::STRESS;
pub(crate) use checks::SWITCHING;
pub use checks::{Check, CHECKS};
use lockwork_catalogue::{counted, reset_events, LockKind};
use probe::{run_probe, PROBES};
use std::sync::Mutex;

/// Signal handlers, knobs and slots belong to the process: one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Tortures one kind of lock. `tick` is called several times a second with the
/// name of the check that runs. Ends early, leaving threads behind, if some
/// thread does not get on.
pub fn torture(kind: LockKind, plan: &Plan, tick: &mut dyn FnMut(&str)) -> LockReport {
    let _alone = ONE_AT_A_TIME
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut report = LockReport::new(kind, blank_rows(kind, plan));
    reset_events();
    for probe in PROBES {
        let first = probe.checks[0];
        let absent = CHECKS
            .iter()
            .any(|check| check.name == first && !check.applies(&kind));
        if absent || !plan.wants(probe.checks) {
            continue;
        }
        let (trial, findings) = run_probe(probe, kind, plan, &mut || tick(first));
        if first == STRESS {
            report.numbers = Some(Numbers::of(&trial));
        }
        note(&mut report, first, findings);
        if report.stalled() {
            break;
        }
    }
    if !report.stalled() && plan.wants(&[SWITCHING]) {
        switching::check(kind, plan, &mut report, tick);
    }
    report.events = counted();
    report
}

fn blank_rows(kind: LockKind, plan: &Plan) -> Vec<Row> {
    let row = |check: &Check| Row {
        check: check.name,
        verdict: match (check.absent)(&kind) {
            Some(reason) => Verdict::Absent(reason),
            None if !plan.wants(&[check.name]) => Verdict::NotRun("not asked for"),
            None => Verdict::NotRun("an earlier check stalled"),
        },
    };
    CHECKS.iter().map(row).collect()
}

fn note(report: &mut LockReport, first: &'static str, findings: Findings) {
    let named = |check: &'static str| if check.is_empty() { first } else { check };
    for (check, text) in findings.seen {
        report.pass(named(check), text);
    }
    for (check, text) in findings.wrong {
        report.fail(named(check), text);
    }
}
