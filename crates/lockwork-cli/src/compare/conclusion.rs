// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a comparison's runs come to: its report.
use std::time::{SystemTime, UNIX_EPOCH};

use lockwork_profile::Locking;
use lockwork_report::machine::Machine;
use lockwork_report::stats;
use lockwork_report::text::counted;

use super::arms::Arm;
use super::metric::Metric;
use super::report::{Ended, Plan, Report, Sample, SCHEMA};
use super::rules::Rules;
use super::session::Program;
use super::summary::Setup;
use super::verdict;
use crate::policy::BASELINE;
use crate::workload;

/// Of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Seconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// What a session leaves.
type Result4 = (Vec<Arm>, Vec<Sample>, Option<Locking>, Ended);

/// The report on a session of `program`.
pub fn conclude(
    rules: &Rules,
    metric: &Metric,
    machine: Machine,
    program: &Program,
    (arms, samples, locking, ended): Result4,
    started: u64,
) -> Report {
    let own = arms.iter().filter(|arm| !arm.is_baseline()).count();
    let setup = Setup {
        samples: &samples,
        better: metric.better,
        seed: rules.seed,
        confidence: CONFIDENCE,
        comparisons: rules.comparisons.unwrap_or(own),
    };
    let summary: Vec<_> = arms
        .iter()
        .map(|arm| setup.summary(arm.label(), BASELINE, arm.stopped))
        .collect();
    let mut warnings = machine.warnings();
    // What it starts may use locks though it does not.
    if locking.as_ref().is_none_or(|seen| seen.acquisitions == 0) {
        warnings.extend(program.warnings());
    }
    warnings.extend(cut_short(&ended, samples.len()));
    warnings.extend(summary.iter().flat_map(|s| setup.warnings(s)));
    let verdict = verdict::verdict(&setup, &summary);
    let note = setup.contended(BASELINE).map(workload::note);
    let note = note.or_else(|| locking.as_ref().map(Locking::sentence));
    Report {
        schema: SCHEMA,
        lockwork: env!("CARGO_PKG_VERSION"),
        started,
        machine,
        command: program.shown(),
        embedded: rules.embedded,
        plan: plan(rules, metric, setup.verdict_confidence()),
        arms: arms.iter().map(Arm::report).collect(),
        samples,
        summary,
        verdict,
        note,
        locking,
        warnings,
        ended,
    }
}

/// A comparison that did not run to its end says so beside its numbers.
fn cut_short(ended: &Ended, runs: usize) -> Option<String> {
    match ended {
        Ended::Completed => None,
        Ended::Failed { .. } => Some(format!(
            "ended after {}: the last one failed",
            counted(runs, "run")
        )),
        Ended::Interrupted { signal } => Some(format!(
            "stopped by {signal} after {}",
            counted(runs, "run")
        )),
    }
}

fn plan(rules: &Rules, metric: &Metric, verdict_confidence: f64) -> Plan {
    let pattern = metric.pattern.as_ref();
    Plan {
        metric: pattern.map_or_else(|| "wall".into(), ToString::to_string),
        better: metric.better,
        rounds: rules.runs,
        warmup: rules.warmup,
        seed: rules.seed,
        timeout_factor: rules.timeout_factor,
        confidence: CONFIDENCE,
        verdict_confidence,
        resamples: stats::RESAMPLES,
    }
}
