// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The probes, each with the properties that it tests, and how one is run.
use super::properties::STRESS;
use super::{cancel, fifo, fork, nesting, readers, slots, stress, timed, tries};
use crate::findings::Findings;
use crate::plan::Plan;
use crate::trial::Trial;
use crate::watch::{supervise, End};
use lockwork_catalogue::LockKind;
use std::sync::Arc;

/// A run that tests one or several properties.
pub(super) struct Probe {
    pub(super) properties: &'static [&'static str],
    run: fn(&Arc<Trial>) -> Findings,
}

/// Small and exact ones first: they say more than a stress that fails.
pub(super) const PROBES: &[Probe] = &[
    Probe {
        properties: &["try"],
        run: tries::probe,
    },
    Probe {
        properties: &["timed"],
        run: timed::probe,
    },
    Probe {
        properties: &["readers"],
        run: readers::probe,
    },
    Probe {
        properties: &["fifo"],
        run: fifo::probe,
    },
    Probe {
        properties: &["cancel"],
        run: cancel::probe,
    },
    Probe {
        properties: &[STRESS, "progress", "readers"],
        run: stress::probe,
    },
    Probe {
        properties: &["nesting"],
        run: nesting::probe,
    },
    Probe {
        properties: &["slots"],
        run: slots::recycle,
    },
    Probe {
        properties: &["overflow"],
        run: slots::overflow,
    },
    Probe {
        properties: &["fork"],
        run: fork::probe,
    },
];

/// The probe whose first property is of that name.
pub(super) fn probe_of(first: &str) -> Option<&'static Probe> {
    PROBES.iter().find(|probe| probe.properties[0] == first)
}

/// Runs a probe on a trial of its own. What the objects saw comes first.
pub(super) fn run_probe(
    probe: &Probe,
    kind: LockKind,
    plan: &Plan,
    tick: &mut dyn FnMut(),
) -> (Arc<Trial>, Findings) {
    let first = probe.properties[0];
    let trial = Trial::new(kind, plan);
    let end = supervise(&trial, probe.run, tick);
    let mut wrong = Vec::new();
    for seen in trial.objects.iter().filter_map(|object| object.wrong()) {
        if !probe.properties.contains(&seen.property) {
            wrong.push((first, seen.text.clone()));
        }
        wrong.push((seen.property, seen.text));
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
