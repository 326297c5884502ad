// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The checks, and the probes that make them.
mod cancel;
mod fifo;
mod fork;
mod nesting;
mod readers;
mod slots;
mod stress;
mod switching;
mod timed;
mod tries;

use crate::report::{LockReport, Numbers, Row, Verdict};
use crate::trial::Trial;
use crate::watch::{supervise, End};
use crate::Plan;
use lockwork_user::{counted, reset_events, LockKind, Promises};
use std::sync::{Arc, Mutex};
pub(crate) use switching::SWITCHING;

/// One check: a row of the report.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// What `--check` calls it.
    pub name: &'static str,
    /// What it claims when it passes.
    pub about: &'static str,
    /// Why the kind has no such check, or `None`: it has.
    absent: fn(&LockKind) -> Option<&'static str>,
}

impl Check {
    /// Whether the promises and operations of `kind` call for it.
    pub fn applies(&self, kind: &LockKind) -> bool {
        (self.absent)(kind).is_none()
    }
}

fn always(_: &LockKind) -> Option<&'static str> {
    None
}

fn unless(offered: bool, reason: &'static str) -> Option<&'static str> {
    (!offered).then_some(reason)
}

fn keeps_node(kind: &LockKind) -> Option<&'static str> {
    let keeps = kind.flags().contains(Promises::KEEPS_NODE);
    unless(!keeps, "the holder keeps its queue node, which uses a slot")
}

/// All checks, in the order of the report.
pub const CHECKS: &[Check] = &[
    Check {
        name: "exclusion",
        about: "one holder at a time; no update is lost",
        absent: always,
    },
    Check {
        name: "readers",
        about: "readers share the lock and exclude writers",
        absent: |kind| unless(kind.has_read(), "has no readers"),
    },
    Check {
        name: "progress",
        about: "every thread makes progress",
        absent: always,
    },
    Check {
        name: "fifo",
        about: "queued waiters acquire in arrival order",
        absent: |kind| unless(kind.flags().contains(Promises::FIFO), "promises no order"),
    },
    Check {
        name: "try",
        about: "a try succeeds on a free lock and fails on a held lock",
        absent: |kind| unless(kind.has_try() || kind.has_read_try(), "cannot be tried"),
    },
    Check {
        name: "timed",
        about: "a timed wait does not end before its limit and leaves nothing behind",
        absent: |kind| unless(kind.has_timed(), "has no time limits"),
    },
    Check {
        name: "cancel",
        about: "waiters that leave the queue do not break it",
        absent: |kind| {
            unless(
                kind.flags().contains(Promises::CANCEL),
                "waiters do not leave its queue",
            )
        },
    },
    Check {
        name: "nesting",
        about: "a thread can hold two locks, and lock in nested signal handlers",
        absent: always,
    },
    Check {
        name: SWITCHING,
        about: "changes of knobs and clusters during use break nothing",
        absent: always,
    },
    Check {
        name: "slots",
        about: "a thread that ends frees its slot",
        absent: always,
    },
    Check {
        name: "overflow",
        about: "threads that find no free slot can lock too",
        absent: keeps_node,
    },
    Check {
        name: "fork",
        about: "a forked child does not wait for threads that it does not have",
        absent: |kind| {
            let forks = kind.flags().contains(Promises::FORKS);
            unless(forks, "promises nothing to a forked child")
        },
    },
];

/// What a probe found.
#[derive(Default)]
pub(crate) struct Findings {
    /// What was seen, by check; the probe's first check if none is named.
    pub(crate) seen: Vec<(&'static str, String)>,
    pub(crate) wrong: Vec<(&'static str, String)>,
}

impl Findings {
    /// The probe could not do its work.
    pub(crate) fn broken(text: String) -> Self {
        Self {
            seen: Vec::new(),
            wrong: vec![("", text)],
        }
    }

    /// The findings of a probe with one check.
    pub(crate) fn of(result: Result<String, String>) -> Self {
        match result {
            Ok(seen) => Self {
                seen: vec![("", seen)],
                wrong: Vec::new(),
            },
            Err(wrong) => Self::broken(wrong),
        }
    }
}

/// Fails with `text()` unless `right`.
pub(crate) fn ensure(right: bool, text: impl FnOnce() -> String) -> Result<(), String> {
    if right {
        Ok(())
    } else {
        Err(text())
    }
}

/// A run that makes one or several checks.
struct Probe {
    checks: &'static [&'static str],
    run: fn(&Arc<Trial>) -> Findings,
}

/// The first check of the stress.
const STRESS: &str = "exclusion";

/// Small and exact ones first: they say more than a stress that fails.
const PROBES: &[Probe] = &[
    Probe {
        checks: &["try"],
        run: tries::probe,
    },
    Probe {
        checks: &["timed"],
        run: timed::probe,
    },
    Probe {
        checks: &["readers"],
        run: readers::probe,
    },
    Probe {
        checks: &["fifo"],
        run: fifo::probe,
    },
    Probe {
        checks: &["cancel"],
        run: cancel::probe,
    },
    Probe {
        checks: &[STRESS, "progress", "readers"],
        run: stress::probe,
    },
    Probe {
        checks: &["nesting"],
        run: nesting::probe,
    },
    Probe {
        checks: &["slots"],
        run: slots::recycle,
    },
    Probe {
        checks: &["overflow"],
        run: slots::overflow,
    },
    Probe {
        checks: &["fork"],
        run: fork::probe,
    },
];

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

/// The probe whose first check is of that name.
fn probe_of(first: &str) -> Option<&'static Probe> {
    PROBES.iter().find(|probe| probe.checks[0] == first)
}

/// Runs a probe on a trial of its own. What the cells saw comes first.
fn run_probe(
    probe: &Probe,
    kind: LockKind,
    plan: &Plan,
    tick: &mut dyn FnMut(),
) -> (Arc<Trial>, Findings) {
    let first = probe.checks[0];
    let trial = Trial::new(kind, plan);
    let end = supervise(&trial, probe.run, tick);
    let mut wrong = Vec::new();
    for seen in trial.cells.iter().filter_map(|cell| cell.wrong()) {
        if !probe.checks.contains(&seen.check) {
            wrong.push((first, seen.text.clone()));
        }
        wrong.push((seen.check, seen.text));
    }
    let mut findings = match end {
        End::Done(findings) => findings,
        End::Stalled(text) => stalled(first, text),
    };
    wrong.append(&mut findings.wrong);
    findings.wrong = wrong;
    (trial, findings)
}

fn stalled(first: &'static str, text: String) -> Findings {
    let wrong = match first {
        STRESS => vec![("progress", text)],
        _ => vec![("progress", format!("in {first}: {text}")), (first, text)],
    };
    Findings {
        seen: Vec::new(),
        wrong,
    }
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
