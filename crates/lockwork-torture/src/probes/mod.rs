// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The probes of all properties of a kind of lock, one after the other.
mod cancel;
mod fifo;
mod fork;
mod knob;
mod nesting;
mod probe;
mod properties;
mod readers;
mod slots;
mod stress;
mod switching;
mod timed;
mod tries;

use crate::findings::Findings;
use crate::plan::Plan;
use crate::report::{LockReport, Numbers, Row, Verdict};
use lockwork_catalogue::{counted, reset_events, LockKind};
use probe::{run_probe, PROBES};
pub use properties::{Property, PROPERTIES};
pub(crate) use properties::{STRESS, SWITCHING};
use std::sync::Mutex;

/// Signal handlers, knobs and slots belong to the process: one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Tortures one kind of lock. `tick` is called several times a second with the
/// name of the property that is tested. Ends early, leaving threads behind, if some
/// thread does not get on.
pub fn torture(kind: LockKind, plan: &Plan, tick: &mut dyn FnMut(&str)) -> LockReport {
    let _alone = ONE_AT_A_TIME
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut report = LockReport::new(kind, blank_rows(kind, plan));
    reset_events();
    for probe in PROBES {
        let first = probe.properties[0];
        let absent = PROPERTIES
            .iter()
            .any(|property| property.name == first && !property.applies(&kind));
        if absent || !plan.wants(probe.properties) {
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
        switching::probe(kind, plan, &mut report, tick);
    }
    report.events = counted();
    report
}

fn blank_rows(kind: LockKind, plan: &Plan) -> Vec<Row> {
    let row = |property: &Property| Row {
        property: property.name,
        verdict: match (property.absent)(&kind) {
            Some(reason) => Verdict::Absent(reason),
            None if !plan.wants(&[property.name]) => Verdict::NotRun("not asked for"),
            None => Verdict::NotRun("an earlier probe stalled"),
        },
    };
    PROPERTIES.iter().map(row).collect()
}

fn note(report: &mut LockReport, first: &'static str, findings: Findings) {
    let named = |property: &'static str| if property.is_empty() { first } else { property };
    for (property, text) in findings.seen {
        report.pass(named(property), text);
    }
    for (property, text) in findings.wrong {
        report.fail(named(property), text);
    }
}
