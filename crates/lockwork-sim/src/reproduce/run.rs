// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs the simulations of all tables, side by side.

use super::cell::{Runs, Trial};
use super::settled;
use super::table::Table;
use crate::{Found, Rules};
use anyhow::Result;
use lockwork_report::interrupt::Interrupt;
use lockwork_report::{pool, progress};
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// Seeds at least of a workload with a number of loops: its interval comes from them, because
/// towards the end, when some threads are done, it is another load.
const SEEDS_OF_LOOPS: u64 = 3;

/// One simulation of all.
#[derive(Clone)]
struct Job {
    table: usize,
    trial: usize,
    what: Trial,
    seed: u64,
}

/// Runs each trial of each table with the seeds 1 to `seeds`. What was found: by table, by
/// trial, by seed.
///
/// # Errors
/// A simulation is impossible, or a signal came.
pub(crate) fn simulate_all(
    tables: &[Table],
    jobs: usize,
    seeds: u64,
    rules: Rules,
    interrupt: &Interrupt,
) -> Result<Vec<Vec<Runs>>> {
    let work = plan(tables, seeds);
    let bar = progress::bar(work.len());
    let mut results: Vec<Option<Found>> = Vec::new();
    results.resize_with(work.len(), || None);
    let calls = work.iter().cloned();
    let calls = calls.map(|job| move || settled::simulated(&job.what, job.seed, rules));
    let over = pool::all(calls, jobs, interrupt, |done| {
        if let Some((at, result)) = done {
            results[at] = Some(result?);
            bar.set_message(tables[work[at].table].name);
            bar.inc(1);
        }
        bar.tick();
        Ok(ControlFlow::Continue(()))
    });
    bar.finish_and_clear();
    over?;
    let mut found: Vec<Vec<Runs>> = tables
        .iter()
        .map(|table| vec![Runs::new(); table.trials.len()])
        .collect();
    for (job, result) in work.iter().zip(results) {
        found[job.table][job.trial].extend(result);
    }
    Ok(found)
}

/// Many threads first: these take longest, and nobody waits for one at the end.
fn plan(tables: &[Table], seeds: u64) -> Vec<Job> {
    let mut work = Vec::new();
    for (table, of) in tables.iter().enumerate() {
        for (trial, what) in of.trials.iter().enumerate() {
            let seeds = match what.workload.loops {
                Some(_) => seeds.max(SEEDS_OF_LOOPS),
                None => seeds,
            };
            work.extend((1..=seeds).map(|seed| Job {
                table,
                trial,
                what: what.clone(),
                seed,
            }));
        }
    }
    work.sort_by_key(|job| Reverse(job.what.threads));
    work
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::spin_micro;

    #[test]
    fn every_trial_is_run_with_every_seed_once() {
        let tables = [spin_micro::table().expect("the table")];
        let work = plan(&tables, 4);
        assert_eq!(work.len(), tables[0].trials.len() * 4);
        assert_eq!(plan(&tables, 1).len(), tables[0].trials.len() * 3);
        let mut seen: Vec<(usize, u64)> = work.iter().map(|job| (job.trial, job.seed)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), work.len());
        assert!(work.is_sorted_by_key(|job| Reverse(job.what.threads)));
    }
}
