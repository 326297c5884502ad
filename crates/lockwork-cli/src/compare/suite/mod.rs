// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork compare --suite`: several programs, each with several numbers of threads, in
//! one table. Each of these rows is a comparison as `lockwork compare` makes it.

mod fault;
mod file;
mod html;
mod placeholder;
mod report;
mod row;
mod score;
mod table;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use lockwork_report::machine::Machine;
use lockwork_report::target::Target;

use super::arms;
use super::conclusion::now;
use super::output;
use super::report::Ended;
use super::signals::Signals;
use super::worse::{self, Loss};
use crate::cli::CompareArgs;
use crate::environment;
use crate::error::{Exit, NOT_FOUND, PROGRAM_FAILED};
use file::Suite;
use report::{Skipped, SuiteReport, SCHEMA};
use row::{Bench, Found};

/// Measures all of `file` that can be measured here, and prints it.
pub fn run(file: &Path, args: &CompareArgs) -> Result<ExitCode> {
    let suite = Suite::read(file)?;
    output::spared(&args.outputs(), &[file])?;
    worse::check(args.fail_if_worse, args.runs.unwrap_or(suite.rounds))?;
    let locks = match args.locks.is_empty() {
        true => suite.locks.clone(),
        false => args.locks.clone(),
    };
    let names = [&[crate::policy::BASELINE.to_owned()], &locks[..]].concat();
    let arms = arms::distinct(&names, &args.set)?;
    arms::all_read(&arms, &args.set)?;
    if arms.len() < 2 {
        lockwork_report::bail_usage!("the suite names no lock to compare with glibc; add one");
    }
    environment::warn_of_unused("--locks");
    let (found, skipped) = find(&suite);
    let mut json = args.json.as_deref().map(Target::open).transpose()?;
    let mut page = args.html.as_deref().map(Target::open).transpose()?;
    let rows: usize = found.iter().map(|f| f.program.threads.len()).sum();
    let signals = Signals::listen().context("cannot watch for signals")?;
    let machine = Machine::look();
    let bench = Bench {
        args,
        suite: &suite,
        locks: &names,
        machine: &machine,
        signals: &signals,
        rows,
        comparisons: rows * (arms.len() - 1),
    };
    let started = now();
    let (rows, ended) = bench.rows(&found)?;
    let report = SuiteReport {
        schema: SCHEMA,
        lockwork: env!("CARGO_PKG_VERSION"),
        started,
        suite: file.display().to_string(),
        machine: machine.clone(),
        comparisons: bench.comparisons,
        planned: bench.rows,
        summary: score::scores(&arms, &rows),
        rows,
        skipped,
        ended,
    };
    let paged = page
        .as_mut()
        .map_or(Ok(()), |page| page.write(&html::render(&report)?));
    output::show(&table::render(&report), &report, &mut json).and(paged)?;
    over(&report, args.fail_if_worse)
}

/// The programs that can be measured here, and why the others cannot.
fn find(suite: &Suite) -> (Vec<Found<'_>>, Vec<Skipped>) {
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    for program in &suite.programs {
        match row::find(program, suite) {
            Ok(here) => found.push(here),
            Err(error) => skipped.push(Skipped {
                program: program.name.clone(),
                rows: program.threads.len(),
                why: format!("{error:#}"),
                package: program.package.clone(),
            }),
        }
    }
    (found, skipped)
}

/// What the exit code says.
fn over(report: &SuiteReport, allowed: Option<f64>) -> Result<ExitCode> {
    if matches!(report.ended, Ended::Interrupted { .. }) {
        return Ok(ExitCode::from(report.ended.exit_code()));
    }
    if report.rows.is_empty() {
        let why = "no program of the suite can be measured here; the list above says why";
        return Err(Exit::with(NOT_FOUND, why));
    }
    let judged = worse::judge(allowed, losses(report));
    match report.failed() {
        0 => judged,
        n => {
            let worse = judged.err().map(|worse| format!("; {worse}"));
            let why = format!(
                "{n} of {} rows failed; the list above says how{}",
                report.rows.len(),
                worse.unwrap_or_default()
            );
            Err(Exit::with(PROGRAM_FAILED, why))
        }
    }
}

/// What the locks lose in each row, by the intervals that hold for all rows together.
fn losses(report: &SuiteReport) -> Vec<Loss> {
    let measured = report.rows.iter();
    let measured = measured.filter(|row| row.failed.is_none());
    let tables = measured.filter_map(|row| Some((row.name(), row.report.as_ref()?)));
    tables
        .flat_map(|(name, table)| {
            worse::of(&format!(" in {name}"), &table.summary, table.plan.better)
        })
        .collect()
}
