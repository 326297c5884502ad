// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Knobs and clusters that change all the time, while threads lock: first the
//! stress; and if the lock counts events, so that it may change its ways, the
//! small probes too.
use super::probe::{probe_of, run_probe};
use super::properties::{PROPERTIES, STRESS, SWITCHING};
use crate::driver::Driver;
use crate::plan::{Plan, Stop};
use crate::report::LockReport;
use lockwork_catalogue::{divided, events, LockKind};

/// Those that have exact expectations which no knob may change.
const SMALL: [&str; 6] = ["try", "timed", "readers", "fifo", "cancel", "nesting"];
/// The stress is repeated until so many changes fell into it.
const CHANGES: u64 = 500;

pub(super) fn probe(
    kind: LockKind,
    plan: &Plan,
    report: &mut LockReport,
    tick: &mut dyn FnMut(&str),
) {
    let mut plan = plan.clone();
    if let Stop::After(time) = plan.stop {
        plan.stop = Stop::After(time / 5);
    }
    let before = total();
    let driver = match Driver::start() {
        Ok(driver) => driver,
        Err(text) => return report.fail(SWITCHING, text),
    };
    let mut made = vec![STRESS];
    loop {
        if !one(STRESS, kind, &plan, report, tick) {
            return;
        }
        if driver.changes() >= CHANGES {
            break;
        }
    }
    let small = PROPERTIES.iter().filter(|property| {
        let switches = total() != before;
        switches && SMALL.contains(&property.name) && property.applies(&kind)
    });
    for property in small {
        if !one(property.name, kind, &plan, report, tick) {
            return;
        }
        made.push(property.name);
    }
    let changes = driver.changes();
    drop(driver);
    match divided() {
        0 => report.pass(SWITCHING, seen(changes, total() - before, &made)),
        n => report.fail(
            SWITCHING,
            format!("{n} locks are still divided though nobody uses them"),
        ),
    }
}

/// All events so far.
fn total() -> u64 {
    events().iter().map(|event| event.sum).sum()
}

fn seen(changes: u64, events: u64, made: &[&str]) -> String {
    let made = made.join(", ");
    match events {
        0 => format!(
            "{changes} changes of knobs and clusters during {made}; the lock counted no events"
        ),
        n => format!("{changes} changes of knobs and clusters during {made}; {n} events"),
    }
}

/// Runs one probe; false: something was wrong.
fn one(
    name: &str,
    kind: LockKind,
    plan: &Plan,
    report: &mut LockReport,
    tick: &mut dyn FnMut(&str),
) -> bool {
    let Some(probe) = probe_of(name) else {
        report.fail(SWITCHING, format!("no probe tests the property {name}"));
        return false;
    };
    let (_, found) = run_probe(probe, kind, plan, &mut || tick(SWITCHING));
    for (property, text) in &found.wrong {
        let property = if property.is_empty() { name } else { property };
        if property == "progress" {
            report.fail("progress", format!("in {SWITCHING}: {text}"));
        }
        report.fail(SWITCHING, format!("{property}: {text}"));
    }
    found.wrong.is_empty()
}
