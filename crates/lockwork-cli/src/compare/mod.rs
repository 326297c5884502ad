// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork compare`: the same program under several locks, in interleaved
//! rounds.

mod arms;
mod behind;
mod child;
mod conclusion;
mod export;
mod hook;
mod html;
mod metric;
mod output;
mod plot;
mod report;
mod rules;
mod session;
mod signals;
mod suite;
mod summary;
mod table;
mod verdict;
mod worse;

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::cli::{CompareArgs, Output};
use crate::environment;
use crate::error::{Exit, PROGRAM_FAILED};
use crate::program;
use crate::workload;
use conclusion::{conclude, now};
use lockwork_report::machine::Machine;
use lockwork_report::rows::Width;
use lockwork_report::target::Target;
use lockwork_report::{bail_usage, text};
use metric::{Better, Metric};
use report::Ended;
use rules::Rules;
use session::{Program, Session};
use signals::Signals;

/// Runs a comparison, prints it, and says how it went by the exit code.
pub fn compare(args: &CompareArgs) -> Result<ExitCode> {
    named(args)?;
    text::stdout_is_open()?;
    if let Some(file) = &args.suite {
        return suite::run(file, args);
    }
    worse::check(args.fail_if_worse, Rules::of(args).runs)?;
    let metric = metric(args)?;
    let program = program(args, &metric)?;
    let stdin = args.stdin.as_deref();
    let read: Vec<&Path> = stdin.into_iter().chain([&*program.file]).collect();
    output::spared(&args.outputs(), &read)?;
    let arms = arms::arms(args)?;
    environment::warn_of_unused("--locks");
    let rules = Rules::of(args);
    let signals = Signals::listen().context("cannot watch for signals")?;
    let mut session = Session::new(&rules, &metric, &program, arms, &signals)?;
    let mut json = args.json.as_deref().map(Target::open).transpose()?;
    let mut plot = args.plot.as_deref().map(Target::open).transpose()?;
    let mut page = args.html.as_deref().map(Target::open).transpose()?;
    let mut csv = args.csv.as_deref().map(Target::open).transpose()?;
    let mut markdown = args.markdown.as_deref().map(Target::open).transpose()?;
    let machine = Machine::look();
    let started = now();

    let (ended, exit) = session.run();
    let Session {
        arms,
        samples,
        locking,
        ..
    } = session;

    let report = conclude(
        &rules,
        &metric,
        machine,
        &program,
        (arms, samples, locking, ended),
        started,
    );
    // Each is written whatever becomes of the others.
    let plotted = plot.as_mut().map_or(Ok(()), |plot| {
        plot.write(&plot::render(Width::Wide, &report)?)
    });
    let paged = page
        .as_mut()
        .map_or(Ok(()), |page| page.write(&html::render(&report)?));
    let listed = csv
        .as_mut()
        .map_or(Ok(()), |csv| csv.write(&export::csv(&report)));
    let written = markdown.as_mut().map_or(Ok(()), |markdown| {
        markdown.write(&export::markdown(&report))
    });
    output::show(&table::render(&report), &report, &mut json)
        .and(plotted)
        .and(paged)
        .and(listed)
        .and(written)?;
    match (&report.ended, exit) {
        (_, Some(error)) => Err(error),
        (Ended::Failed { why, .. }, None) => Err(Exit::with(PROGRAM_FAILED, why.clone())),
        (Ended::Interrupted { .. }, None) => Ok(ExitCode::from(report.ended.exit_code())),
        (Ended::Completed, None) if args.fail_if_worse.is_some() && !report.has_baseline() => {
            let why = "no run under glibc came to its end, so --fail-if-worse has nothing to compare with";
            Err(Exit::with(PROGRAM_FAILED, why.to_owned()))
        }
        (Ended::Completed, None) => worse::judge(
            args.fail_if_worse,
            worse::of("", &report.summary, metric.better),
        ),
    }
}

fn metric(args: &CompareArgs) -> Result<Metric> {
    let better = match (args.higher_is_better, args.lower_is_better) {
        (true, _) => Some(Better::Higher),
        (_, true) => Some(Better::Lower),
        _ => None,
    };
    let default = if args.command.is_empty() {
        workload::METRIC
    } else {
        "wall"
    };
    Metric::parse(args.metric.as_deref().unwrap_or(default), better)
}

/// Charts, pages and other forms of the table go to files, each to its own: standard output has the table.
fn named(args: &CompareArgs) -> Result<()> {
    for (option, path) in [
        ("--plot", &args.plot),
        ("--html", &args.html),
        ("--csv", &args.csv),
        ("--markdown", &args.markdown),
    ] {
        if path.as_ref().is_some_and(|path| path.as_os_str() == "-") {
            bail_usage!("{option} cannot write to standard output; name a file");
        }
    }
    output::distinct(&args.outputs())
}

/// What to run, checked: it exists, and every arm reaches it.
fn program(args: &CompareArgs, metric: &Metric) -> Result<Program> {
    let needs_output = metric.pattern.is_some();
    let output = args.output.unwrap_or(if needs_output {
        Output::Pipe
    } else {
        Output::Null
    });
    if needs_output && output != Output::Pipe {
        bail_usage!("a REGEX metric reads the program's output; leave --output out");
    }
    let json_on_stdout = args
        .json
        .as_ref()
        .is_some_and(|path| path.as_os_str() == "-");
    if json_on_stdout && output == Output::Inherit {
        bail_usage!("--json - and --output inherit would mix; write the JSON to a file");
    }
    let mut command = args.command.clone();
    if command.is_empty() {
        command = vec!["/proc/self/exe".into(), "workload".into()];
    }
    let file = program::find(&command[0])?;
    program::validate(&file)?;
    if let Some(path) = &args.stdin {
        let opened = File::open(path);
        opened.with_context(|| format!("cannot open --stdin {}", path.display()))?;
    }
    let recorded = !args.command.is_empty() && program::check_sanitizers(&file).is_ok();
    Ok(Program {
        recorded,
        file,
        command,
        output,
    })
}
