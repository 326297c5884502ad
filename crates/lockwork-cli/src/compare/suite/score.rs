// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From rows to one line a lock.

use lockwork_report::stats::{self, LogRatio};

use super::super::arms::Arm;
use super::super::conclusion::CONFIDENCE;
use super::super::report::{Fault, Report, Summary};
use super::super::summary::Setup;
use super::report::{LockScore, Row, Worst};
use crate::policy::BASELINE;

/// All locks but glibc.
pub fn scores(arms: &[Arm], rows: &[Row]) -> Vec<LockScore> {
    let locks = arms.iter().filter(|arm| !arm.is_baseline());
    locks.map(|arm| score(arm.label(), rows)).collect()
}

fn score(arm: &str, rows: &[Row]) -> LockScore {
    let here: Vec<(&Row, &Report, &Summary)> = rows
        .iter()
        .filter(|row| row.failed.is_none())
        .filter_map(|row| {
            let report = row.report.as_ref()?;
            Some((row, report, row.of(arm)?))
        })
        .collect();
    // What fails or gives 0 has figures, but they are no comparison.
    let faulty = |report: &Report, s: &Summary| {
        matches!(report.fault(s), Some(Fault::Failed(_) | Fault::Zero(_)))
    };
    let sound: Vec<(&Row, &Report, &Summary)> = here
        .iter()
        .filter(|(_, report, s)| !faulty(report, s))
        .copied()
        .collect();
    let ratios: Vec<(f64, &Row)> = sound
        .iter()
        .filter_map(|(row, _, s)| Some((s.ratio()?, *row)))
        .collect();
    let values: Vec<f64> = ratios.iter().map(|(ratio, _)| *ratio).collect();
    let worst = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let count = |of: &dyn Fn(&Summary) -> bool| sound.iter().filter(|(_, _, s)| of(s)).count();
    let crashes = here
        .iter()
        .filter(|(_, report, s)| matches!(report.fault(s), Some(Fault::Crashed(_))));
    LockScore {
        arm: arm.to_owned(),
        measured: here.len(),
        rows: values.len(),
        mean: stats::geometric_mean(&values),
        interval: interval(arm, &sound),
        worst: worst.map(|(ratio, row)| Worst {
            ratio: *ratio,
            program: row.program.clone(),
            threads: row.threads,
        }),
        better: count(&|s| s.verdict_interval.is_some_and(|i| i.0 > 0.0)),
        worse: count(&|s| s.verdict_interval.is_some_and(|i| i.1 < 0.0)),
        like_control: count(&|s| s.like_control),
        stopped: count(&|s| s.stopped),
        crashed: crashes.clone().count(),
        without: crashes
            .filter(|(_, _, s)| s.samples == 0 && !s.stopped)
            .count(),
        faulty: here.len() - sound.len(),
    }
}

/// The interval of the mean; the rows are independent, for each has runs of its own.
fn interval(arm: &str, rows: &[(&Row, &Report, &Summary)]) -> Option<(f64, f64)> {
    let compared = rows.iter().filter(|(_, _, s)| s.improve.is_some());
    let logs: Option<Vec<LogRatio>> = compared
        .map(|(_, report, _)| {
            let setup = Setup {
                samples: &report.samples,
                better: report.plan.better,
                seed: report.plan.seed,
                confidence: CONFIDENCE,
                comparisons: 1,
            };
            // Of so few rounds nothing is claimed, of however many rows.
            let pairs = setup.pairs(arm, BASELINE);
            let enough = pairs.len() >= stats::MIN_ROUNDS;
            enough.then(|| LogRatio::of_means(&pairs)).flatten()
        })
        .collect();
    LogRatio::together(&logs?)?.interval(CONFIDENCE)
}
