// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Lists of lengths and of shares of readers: a plan for each pair, and one table of all.

use super::args::SimArgs;
use super::ending::{over, rows, simulated};
use super::plan::{Known, Plan};
use super::rows::Row;
use super::simulations::{Done, End, Simulate};
use super::table::{dash, head};
use super::warnings;
use anyhow::Result;
use lockwork_report::bail_usage;
use lockwork_report::table;
use lockwork_report::text::{self, number, percent, signed_percent};
use std::process::ExitCode;
use std::sync::Arc;

/// Whether there is more than one value of something.
pub(super) fn is_asked(args: &SimArgs) -> bool {
    args.section_ns.len() > 1 || args.read_ratio.len() > 1
}

/// The arguments of each pair of values: the shares change last.
pub(super) fn points(args: &SimArgs) -> Vec<SimArgs> {
    let each = |values: &[f64]| match values {
        [] => vec![Vec::new()],
        values => values.iter().map(|&value| vec![value]).collect(),
    };
    let mut points = Vec::new();
    for reads in each(&args.read_ratio) {
        for section in each(&args.section_ns) {
            points.push(SimArgs {
                section_ns: section,
                read_ratio: reads.clone(),
                ..args.clone()
            });
        }
    }
    points
}

/// Does what the arguments say, which have a list.
///
/// # Errors
/// As [`super::run`].
pub(super) fn carry_out(args: &SimArgs, known: &Known, simulate: Simulate) -> Result<ExitCode> {
    if args.plot.is_some() || args.timeline.is_some() {
        bail_usage!(
            "charts and timelines are of one workload: give one --section-ns and one \
             --read-ratio"
        );
    }
    let plans = points(args).into_iter().map(|args| Plan::of(&args, known));
    let plans = plans.map(|plan| plan.map(Arc::new));
    let plans: Vec<Arc<Plan>> = plans.collect::<Result<_>>()?;
    let (mut lines, mut said, mut last) = (Vec::new(), Vec::new(), None);
    for plan in &plans {
        let (done, end) = simulated(args, plan, simulate)?;
        lines.extend(lines_of(plan, &done));
        said.extend(said_of(plan, &done));
        if !matches!(end, End::Completed) {
            last = Some((plan, end, done.len()));
            break;
        }
    }
    if !args.json && !lines.is_empty() {
        text::print(&page(&plans[0], lines, said))?;
    }
    match last {
        None => Ok(ExitCode::SUCCESS),
        Some((plan, end, done)) => over(args, plan, &end, done),
    }
}

pub(super) fn page(first: &Plan, lines: Vec<Vec<String>>, said: Vec<String>) -> String {
    let header = [
        "Section", "Shared", "Lock", "Threads", "Average", "CV", "Improve", "In lock",
    ];
    let units = ["ns", "", "", "", "Mops/s", "", "", ""].map(str::to_owned);
    let all = std::iter::once(units.to_vec()).chain(lines);
    let mut text = format!("{}\n{}\n", head(first), table::render(header, all));
    if !said.is_empty() {
        text += "\nWarning\n";
        for line in said {
            text += &format!("  {line}\n");
        }
    }
    text
}

/// A line for each lock and number of threads.
pub(super) fn lines_of(plan: &Plan, done: &[Done]) -> Vec<Vec<String>> {
    let workload = &plan.workload;
    let line = |row: &Row| {
        vec![
            number(workload.section.mean()),
            percent(workload.reads),
            row.lock.to_owned(),
            row.threads.to_string(),
            number(row.rate() / 1e6),
            row.variation()
                .map_or_else(dash, |cv| format!("{:.1} %", cv * 100.0)),
            row.improve.map_or_else(String::new, signed_percent),
            row.in_lock().map_or_else(dash, percent),
        ]
    };
    rows(plan, done).iter().map(line).collect()
}

/// The warnings about the rows of a plan, with what it is of.
fn said_of(plan: &Plan, done: &[Done]) -> Vec<String> {
    let rows = rows(plan, done);
    if rows.is_empty() {
        return Vec::new();
    }
    let (section, reads) = (plan.workload.section.mean(), plan.workload.reads);
    let of = format!("{} ns, {} shared: ", number(section), percent(reads));
    let all = warnings::warnings(plan, &rows).into_iter();
    all.map(|warning| format!("{of}{warning}")).collect()
}
