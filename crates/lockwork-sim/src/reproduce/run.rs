// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs the simulations of all tables, side by side.

use super::table::{Runs, Table, Trial};
use crate::{pool, simulate};
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use lockwork_report::interrupt::Interrupt;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};

/// How it went.
pub(crate) enum Ended {
    /// What was found: by table, by trial.
    Completed(Vec<Vec<Runs>>),
    /// By this signal.
    Interrupted(i32),
}

/// One simulation of all.
struct Job<'a> {
    table: usize,
    trial: usize,
    what: &'a Trial,
    seed: u64,
}

/// Runs each trial of each table with the seeds 1 to `seeds`.
///
/// # Errors
/// A simulation is impossible.
pub(crate) fn simulate_all(
    tables: &[Table],
    jobs: usize,
    seeds: u64,
    interrupt: &Interrupt,
) -> Result<Ended> {
    let work = plan(tables, seeds);
    let bar = bar(work.len());
    let stop = AtomicBool::new(false);
    let mut signal = None;
    let results = pool::run(
        jobs,
        &work,
        &stop,
        |job| simulate(&job.what.setup(job.seed)),
        |done| {
            if let Some((index, _)) = done {
                bar.set_message(tables[work[index].table].name);
                bar.inc(1);
            }
            signal = signal.or_else(|| interrupt.take());
            let failed = done.is_some_and(|(_, result)| result.is_err());
            if failed || signal.is_some() {
                stop.store(true, Ordering::Relaxed);
            }
        },
    );
    bar.finish_and_clear();
    if let Some(signal) = signal.or_else(|| interrupt.take()) {
        return Ok(Ended::Interrupted(signal));
    }
    let mut found: Vec<Vec<Runs>> = tables
        .iter()
        .map(|table| vec![Runs::new(); table.trials.len()])
        .collect();
    for (job, result) in work.iter().zip(results) {
        found[job.table][job.trial].extend(result.transpose()?);
    }
    Ok(Ended::Completed(found))
}

/// Many threads first: these take longest, and nobody waits for one at the end.
fn plan(tables: &[Table], seeds: u64) -> Vec<Job<'_>> {
    let mut work = Vec::new();
    for (table, of) in tables.iter().enumerate() {
        for (trial, what) in of.trials.iter().enumerate() {
            work.extend((1..=seeds).map(|seed| Job {
                table,
                trial,
                what,
                seed,
            }));
        }
    }
    work.sort_by_key(|job| Reverse(job.what.threads));
    work
}

/// On standard error; hidden if that is no terminal.
fn bar(length: usize) -> ProgressBar {
    let bar = ProgressBar::new(length as u64);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::spin_micro;

    #[test]
    fn every_trial_is_run_with_every_seed_once() {
        let tables = [spin_micro::table().expect("the table")];
        let work = plan(&tables, 3);
        assert_eq!(work.len(), tables[0].trials.len() * 3);
        let mut seen: Vec<(usize, u64)> = work.iter().map(|job| (job.trial, job.seed)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), work.len());
        assert!(work.is_sorted_by_key(|job| Reverse(job.what.threads)));
    }
}
