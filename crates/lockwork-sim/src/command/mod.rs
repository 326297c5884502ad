// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command: plan, simulate, print.

mod args;
pub mod commands;
mod draw;
mod ending;
mod json;
mod list;
mod locks;
mod plan;
pub mod rivals;
mod rows;
mod several;
mod simulations;
mod sweep;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod warnings;
mod why;

pub use args::{Cluster, SimArgs, Switch, Where, HELP};

use anyhow::Result;
use ending::{over, rows, simulated, title};
use lockwork_report::{plot, spare, text};
use plan::{Known, Plan};
use simulations::{Done, Simulate};
use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

use crate::knobs::described;
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
    if sweep::is_asked(args) {
        return sweep::carry_out(args, &known, crate::simulate);
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
    if let Some(file) = &args.timeline {
        spare::inputs(file, [&args.workload, &args.machine])?;
    }
    let timeline = args.timeline.as_deref().map(timeline::create).transpose()?;
    let (done, end) = simulated(args, plan, simulate)?;
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
        let events = &first.outcome.timeline;
        timeline::write(file, &plan.machine, &plan.placed(), &title, events)?;
        said += &format!("timeline: {}\n", path.display());
    }
    match args.json {
        true => text::complain(&said),
        false => text::print(&said)?,
    }
    Ok(())
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
