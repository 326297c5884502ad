// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork compare`: the same program under several locks, in interleaved
//! rounds.

mod arms;
mod child;
mod metric;
mod output;
mod plot;
mod report;
mod rules;
mod session;
mod suite;
mod summary;
mod table;
mod verdict;

use std::fs::File;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::cli::{CompareArgs, Output};
use crate::environment;
use crate::error::{Exit, PROGRAM_FAILED};
use crate::policy::BASELINE;
use crate::program;
use crate::workload;
use arms::Arm;
use interrupt::Interrupt;
use lockwork_report::machine::Machine;
use lockwork_report::text;
use lockwork_report::{bail_usage, interrupt, stats};
use metric::{Better, Metric};
use output::Target;
use report::{Ended, Plan, Report, Sample, SCHEMA};
use rules::Rules;
use session::{Program, Session};
use summary::{plural, Setup};

const CONFIDENCE: f64 = 0.95;

/// Runs a comparison, prints it, and says how it went by the exit code.
pub fn compare(args: &CompareArgs) -> Result<ExitCode> {
    if let Some(file) = &args.suite {
        return suite::run(file, args);
    }
    let metric = metric(args)?;
    let program = program(args, &metric)?;
    let arms = arms::arms(args)?;
    environment::warn_of_unused("--locks");
    let rules = Rules::of(args);
    let interrupt = Interrupt::listen().context("cannot watch for signals")?;
    let mut session = Session::new(&rules, &metric, &program, arms, &interrupt)?;
    let mut json = args.json.as_deref().map(Target::open).transpose()?;
    let mut plot = args.plot.as_deref().map(Target::open).transpose()?;
    let machine = Machine::look();
    let started = now();

    let (ended, exit) = session.run();
    let Session { arms, samples, .. } = session;

    let report = conclude(
        &rules,
        &metric,
        machine,
        &program,
        (arms, samples, ended),
        started,
    );
    let shown = table::render(&report);
    if matches!(json, Some(Target::Stdout)) {
        text::complain(&shown);
    } else {
        text::print(&shown)?;
    }
    if let Some(json) = &mut json {
        let mut text = serde_json::to_string_pretty(&report)?;
        text.push('\n');
        json.write(&text)?;
    }
    if let Some(plot) = &mut plot {
        plot.write(&plot::render(&report)?)?;
    }
    match (&report.ended, exit) {
        (_, Some(error)) => Err(error),
        (Ended::Failed { why }, None) => Err(Exit::with(PROGRAM_FAILED, why.clone())),
        (Ended::Interrupted { .. }, None) => Ok(ExitCode::from(session_code(&report.ended))),
        (Ended::Completed, None) => Ok(ExitCode::SUCCESS),
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// 128 and the signal's number, as shells have it.
fn session_code(ended: &Ended) -> u8 {
    match ended {
        Ended::Interrupted { signal } if signal == "SIGTERM" => 143,
        Ended::Interrupted { signal } if signal == "SIGHUP" => 129,
        _ => 130,
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
    if args
        .plot
        .as_ref()
        .is_some_and(|path| path.as_os_str() == "-")
    {
        bail_usage!("--plot cannot write to standard output; name a file");
    }
    let mut command = args.command.clone();
    if command.is_empty() {
        command = vec!["/proc/self/exe".into(), "workload".into()];
    }
    let file = program::find(&command[0])?;
    program::check(&file)?;
    if let Some(path) = &args.stdin {
        let opened = File::open(path);
        opened.with_context(|| format!("cannot open --stdin {}", path.display()))?;
    }
    Ok(Program {
        file,
        command,
        output,
    })
}

type Result3 = (Vec<Arm>, Vec<Sample>, Ended);

fn conclude(
    rules: &Rules,
    metric: &Metric,
    machine: Machine,
    program: &Program,
    (arms, samples, ended): Result3,
    started: u64,
) -> Report {
    let own = arms.iter().filter(|arm| !arm.is_baseline()).count();
    let setup = Setup {
        samples: &samples,
        better: metric.better,
        seed: rules.seed,
        confidence: CONFIDENCE,
        comparisons: rules.comparisons.unwrap_or(own),
    };
    let summary: Vec<_> = arms
        .iter()
        .map(|arm| setup.summary(arm.label(), BASELINE, arm.stopped))
        .collect();
    let mut warnings = machine.warnings();
    warnings.extend(program.warnings());
    warnings.extend(cut_short(&ended, samples.len()));
    warnings.extend(summary.iter().flat_map(|s| setup.warnings(s)));
    let verdict = verdict::verdict(&setup, &summary);
    let note = setup.contended(BASELINE).map(workload::note);
    Report {
        schema: SCHEMA,
        lockwork: env!("CARGO_PKG_VERSION"),
        started,
        machine,
        command: program.shown(),
        embedded: rules.embedded,
        plan: plan(rules, metric, setup.verdict_confidence()),
        arms: arms.iter().map(Arm::report).collect(),
        samples,
        summary,
        verdict,
        note,
        warnings,
        ended,
    }
}

/// A comparison that did not run to its end says so beside its numbers.
fn cut_short(ended: &Ended, runs: usize) -> Option<String> {
    match ended {
        Ended::Completed => None,
        Ended::Failed { .. } => Some(format!(
            "ended after {runs} run{}: the program failed",
            plural(runs)
        )),
        Ended::Interrupted { signal } => Some(format!(
            "stopped by {signal} after {runs} run{}",
            plural(runs)
        )),
    }
}

fn plan(rules: &Rules, metric: &Metric, verdict_confidence: f64) -> Plan {
    let pattern = metric.pattern.as_ref();
    Plan {
        metric: pattern.map_or_else(|| "wall".into(), ToString::to_string),
        better: metric.better,
        rounds: rules.runs,
        warmup: rules.warmup,
        seed: rules.seed,
        timeout_factor: rules.timeout_factor,
        confidence: CONFIDENCE,
        verdict_confidence,
        resamples: stats::RESAMPLES,
    }
}
