// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a plan is carried out, what is done, as rows, and how a command ends.

use super::args::SimArgs;
use super::json;
use super::plan::{Job, Plan};
use super::rows::{self, Row};
use super::simulations::{self, Done, End, Simulate};
use crate::outcome::Stuck;
use anyhow::Result;
use lockwork_report::machine::cpus;
use lockwork_report::text;
use std::process::ExitCode;
use std::sync::Arc;

/// Simulates all of a plan. With `--json` each outcome is printed as soon as it is there.
pub(super) fn simulated(
    args: &SimArgs,
    plan: &Arc<Plan>,
    simulate: Simulate,
) -> Result<(Vec<Done>, End)> {
    let jobs = args.jobs.map_or_else(cpus, |jobs| jobs as usize);
    simulations::run(plan, jobs, simulate, &mut |done| match args.json {
        true => text::print(&format!(
            "{}\n",
            json::outcome(plan, done.job, &done.outcome)
        )),
        false => Ok(()),
    })
}

/// The last word, and the exit code.
pub(super) fn over(args: &SimArgs, plan: &Plan, end: &End, done: usize) -> Result<ExitCode> {
    match end {
        End::Completed => Ok(ExitCode::SUCCESS),
        End::Interrupted(signal) => {
            text::complain(&format!(
                "lockwork: interrupted after {done} of {}\n",
                text::counted(plan.len(), "simulation")
            ));
            Ok((*signal).into())
        }
        End::Stuck(job, stuck) => {
            if args.json {
                text::print(&format!("{}\n", json::stuck(plan, *job, stuck)))?;
            }
            text::complain(&told(plan, *job, stuck));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Where its threads are stuck.
pub(super) fn told(plan: &Plan, job: Job, stuck: &Stuck) -> String {
    let mut text = format!("lockwork: {}: {}\n", title(plan, job), stuck.what);
    for thread in &stuck.threads {
        text += &format!("  {thread}\n");
    }
    text
}

/// What a simulation is of.
pub(super) fn title(plan: &Plan, job: Job) -> String {
    format!(
        "{} on {}, {}, {}, seed {}",
        plan.workload.name,
        plan.machine.name,
        plan.locks[job.lock].name,
        text::counted(job.threads, "thread"),
        job.seed
    )
}

/// The rows of what is done.
pub(super) fn rows<'a>(plan: &'a Plan, done: &'a [Done]) -> Vec<Row<'a>> {
    let alike = |a: &Done, b: &Done| (a.job.threads, a.job.lock) == (b.job.threads, b.job.lock);
    let mut rows: Vec<Row> = done
        .chunk_by(alike)
        .map(|seeds| {
            let lock = plan.locks[seeds[0].job.lock].name;
            let outcomes = seeds.iter().map(|done| &done.outcome).collect();
            Row::of(lock, seeds[0].job.threads, outcomes)
        })
        .collect();
    rows::compare(&mut rows, plan.locks[0].name);
    rows
}
