// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command: plan, simulate, print.

mod args;
pub mod commands;
mod draw;
mod json;
mod list;
mod locks;
mod plan;
pub mod rivals;
mod rows;
mod several;
mod simulations;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod warnings;
mod why;

pub use args::{Cluster, SimArgs, Switch, Where, HELP};

use anyhow::Result;
use lockwork_report::machine::cpus;
use lockwork_report::{plot, text};
use plan::{Job, Known, Plan};
use rows::Row;
use simulations::{Done, End, Simulate};
use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

use crate::knobs::described;
use crate::outcome::Stuck;
use args::AFTER_HELP;

/// Does what the arguments of `lockwork sim` say. Failure: threads got stuck.
///
/// # Errors
/// The arguments, a file or the host.
pub fn run(args: &SimArgs) -> Result<ExitCode> {
    let known = Known::load()?;
    if args.list {
        text::print(&list::list(&known)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let plan = Arc::new(Plan::of(args, &known)?);
    carry_out(args, &plan, crate::simulate)
}

/// What `lockwork sim --help` ends with: it has the knobs, by the locks' own table.
pub fn after_help() -> String {
    match crate::knobs() {
        Ok(knobs) => format!("Knobs (--set):\n{}\n\n{AFTER_HELP}", described(&knobs)),
        // Whoever asks for help gets it, and the reason when they simulate.
        Err(_) => AFTER_HELP.to_owned(),
    }
}

fn carry_out(args: &SimArgs, plan: &Arc<Plan>, simulate: Simulate) -> Result<ExitCode> {
    args.plot.as_deref().map_or(Ok(()), plot::make)?;
    let timeline = args.timeline.as_deref().map(timeline::create).transpose()?;
    let jobs = args.jobs.map_or_else(cpus, |jobs| jobs as usize);
    let (done, end) = simulations::run(plan, jobs, simulate, &mut |done| match args.json {
        true => text::print(&format!(
            "{}\n",
            json::outcome(plan, done.job, &done.outcome)
        )),
        false => Ok(()),
    })?;
    if !args.json {
        text::print(&report(plan, &done))?;
    }
    finish(args, plan, &done, timeline)?;
    over(args, plan, &end, done.len())
}

/// What was asked for beside the tables.
fn finish(args: &SimArgs, plan: &Plan, done: &[Done], timeline: Option<File>) -> Result<()> {
    let rows = rows(plan, done);
    let mut said = String::new();
    if let Some(dir) = args.plot.as_deref().filter(|_| !rows.is_empty()) {
        for file in draw::draw(plan, &rows, dir)? {
            said += &format!("plot: {}\n", file.display());
        }
    }
    let first = done.iter().find(|done| done.job.seed == 1);
    if let (Some(file), Some(path), Some(first)) = (timeline, &args.timeline, first) {
        let title = title(plan, first.job);
        timeline::write(file, &plan.machine, &title, &first.outcome.timeline)?;
        said += &format!("timeline: {}\n", path.display());
    }
    match args.json {
        true => text::complain(&said),
        false => text::print(&said)?,
    }
    Ok(())
}

/// The last word, and the exit code.
fn over(args: &SimArgs, plan: &Plan, end: &End, done: usize) -> Result<ExitCode> {
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

fn told(plan: &Plan, job: Job, stuck: &Stuck) -> String {
    let mut text = format!("lockwork: {}: {}\n", title(plan, job), stuck.what);
    for thread in &stuck.threads {
        text += &format!("  {thread}\n");
    }
    text
}

fn title(plan: &Plan, job: Job) -> String {
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
fn rows<'a>(plan: &'a Plan, done: &'a [Done]) -> Vec<Row<'a>> {
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

/// All tables.
fn report(plan: &Plan, done: &[Done]) -> String {
    let rows = rows(plan, done);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n{}\n\n", table::head(plan), table::render(&rows));
    text += &why::render(&rows, &plan.events);
    if let Some(program) = &plan.workload.program {
        text += &several::render(&rows, program);
    }
    let warnings = warnings::warnings(plan, &rows);
    if !warnings.is_empty() {
        text += "\nWarning\n";
        for warning in warnings {
            text += &format!("  {warning}\n");
        }
    }
    text
}
