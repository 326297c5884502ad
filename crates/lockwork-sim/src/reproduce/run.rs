// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs the simulations of all tables, side by side.

use super::cell::{Runs, Trial};
use super::settled::{self, SEEDS_OF_LOOPS};
use super::table::Table;
use crate::Rules;
use anyhow::Result;
use lockwork_report::interrupt::Interrupt;
use lockwork_report::{pool, progress};
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// Seeds of each simulation, if nobody says how many. The parts of one simulation depend on each
/// other with locks that sleep, so that their interval is too narrow; seeds do not, and three are
/// the least that have an interval.
pub(crate) const SEEDS: u64 = 3;

/// Some simulations of all: one seed of a trial, or all seeds of one whose seeds are judged
/// together.
#[derive(Clone)]
struct Job {
    table: usize,
    trial: usize,
    what: Trial,
    seeds: Vec<u64>,
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
    let mut results: Vec<Runs> = Vec::new();
    results.resize_with(work.len(), Runs::new);
    let calls = work.iter().cloned();
    let calls = calls.map(|job| move || settled::simulated(&job.what, &job.seeds, rules));
    let over = pool::all(calls, jobs, interrupt, |done| {
        if let Some((at, result)) = done {
            results[at] = result?;
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
            let seeds: Vec<Vec<u64>> = match what.workload.loops {
                Some(_) => vec![(1..=seeds.max(SEEDS_OF_LOOPS)).collect()],
                None => (1..=seeds).map(|seed| vec![seed]).collect(),
            };
            work.extend(seeds.into_iter().map(|seeds| Job {
                table,
                trial,
                what: what.clone(),
                seeds,
            }));
        }
    }
    work.sort_by_key(|job| Reverse(job.what.threads));
    work
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{mb_cache, spin_micro};

    #[test]
    fn every_trial_is_run_with_every_seed_once() {
        let tables = [spin_micro::table().expect("the table")];
        let seeds = |of: &[Table], seeds| -> Vec<(usize, u64)> {
            let work = plan(of, seeds);
            assert!(work.is_sorted_by_key(|job| Reverse(job.what.threads)));
            let all = work.iter();
            let all = all.flat_map(|job| job.seeds.iter().map(|&seed| (job.trial, seed)));
            let mut all: Vec<(usize, u64)> = all.collect();
            all.sort_unstable();
            all
        };
        let each = |of: &Table, seeds: u64| -> Vec<(usize, u64)> {
            let trials = 0..of.trials.len();
            trials
                .flat_map(|at| (1..=seeds).map(move |seed| (at, seed)))
                .collect()
        };
        assert_eq!(seeds(&tables, 4), each(&tables[0], 4));
        assert_eq!(seeds(&tables, 1), each(&tables[0], 3));
        let timed = [mb_cache::table().expect("the table")];
        assert_eq!(seeds(&timed, 1), each(&timed[0], 1));
        assert_eq!(plan(&timed, 2).len(), 2 * timed[0].trials.len());
    }
}
