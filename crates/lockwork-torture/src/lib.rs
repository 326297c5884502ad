// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Torture for every lock of the catalogue: each promise that a lock makes is
//! put to the test, and a lock that hangs is a verdict, not a hang.
//!
//! Canaries, locks that are broken on purpose, show that the checks bite.
mod cell;
mod driver;
mod hand;
mod kinds;
mod plan;
mod probes;
mod report;
mod rng;
mod trial;
mod watch;

pub use kinds::{canaries, choose};
pub use plan::{Plan, Stop};
pub use probes::{torture, Check, CHECKS};
pub use report::{LockReport, Numbers, Row, Verdict};

use anyhow::{bail, Context};
use indicatif::{ProgressBar, ProgressStyle};
use lockwork_report::interrupt::Interrupt;
use lockwork_report::settings::settings;
use lockwork_report::text;
use lockwork_user::{catalogue, knobs, set_knob, LockKind};
use probes::SWITCHING;
use std::io::{self, Write};
use std::process::{exit, ExitCode};
use std::time::Duration;

/// Torture locks: check what each of them promises, under load.
#[derive(Debug, Clone, clap::Args)]
pub struct TortureArgs {
    /// A lock, a canary, or all (the catalogue); see --list
    #[arg(value_name = "LOCK", default_value = "all")]
    pub lock: String,
    /// Threads in the stress [default: 8 for each CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub threads: Option<u32>,
    /// Seconds that the stress of each lock lasts
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=86_400))]
    pub seconds: u32,
    /// Seconds without progress that count as a stall; more threads get more
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub patience: u32,
    /// Make this check only (repeatable); see --list
    #[arg(long = "check", value_name = "CHECK")]
    pub checks: Vec<String>,
    /// Set knobs of the locks (repeatable); see --list
    #[arg(long = "set", value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// Count events in the locks' slow paths, and print their sums: the same as
    /// --set count_events=1. The check `switching` counts them by itself
    #[arg(long)]
    pub events: bool,
    /// Print JSON, one line a lock
    #[arg(long)]
    pub json: bool,
    /// List locks, canaries, checks and knobs
    #[arg(long)]
    pub list: bool,
}

impl TortureArgs {
    fn plan(&self) -> anyhow::Result<Plan> {
        for name in &self.checks {
            if !CHECKS.iter().any(|check| check.name == name) {
                let known: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
                bail!(
                    "there is no check named '{name}'; choose one of: {}",
                    known.join(", ")
                );
            }
        }
        let plan = Plan::default();
        Ok(Plan {
            threads: self.threads.map_or(plan.threads, |n| n as usize),
            stop: Stop::After(Duration::from_secs(self.seconds.into())),
            patience: Duration::from_secs(self.patience.into()),
            only: self.checks.clone(),
            ..plan
        })
    }

    /// Returns the names of those that the check `switching` turns itself.
    fn set_knobs(&self) -> anyhow::Result<Vec<String>> {
        let set = settings(&self.set, |name, value| Ok(set_knob(name, value)?))?;
        if self.events {
            set_knob("count_events", "1")?;
        }
        let names = set.into_iter().map(|(name, _)| name);
        Ok(names.filter(|name| driver::is_driven(name)).collect())
    }
}

/// Does what the arguments say. Failure: some lock failed a check.
pub fn run(args: &TortureArgs) -> anyhow::Result<ExitCode> {
    let kinds = choose(&args.lock)?;
    let plan = args.plan()?;
    let driven = args.set_knobs()?;
    if args.list {
        list().context("cannot write the list")?;
        return Ok(ExitCode::SUCCESS);
    }
    if !driven.is_empty() && plan.wants(&[SWITCHING]) {
        text::complain(&format!(
            "lockwork: {SWITCHING} turns {} itself: --set holds for the other checks only\n",
            driven.join(", ")
        ));
    }
    let interrupt = Interrupt::listen().context("cannot watch for signals")?;
    let mut reports = Vec::new();
    let locks = kinds.len();
    for kind in kinds {
        let done = format!("{} of {locks} locks", reports.len());
        let report = with_progress(kind, &plan, &interrupt, &done);
        print(&report, args.json).context("cannot write the report")?;
        let stalled = report.failure("progress").is_some();
        reports.push(report);
        if stalled {
            break; // its threads are left behind and would disturb the others
        }
    }
    let failed = summary(&reports).context("cannot write the summary")?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Ctrl-C ends it, and the process: there are threads that nobody could stop. `done`
/// says what was tortured before.
fn with_progress(kind: LockKind, plan: &Plan, interrupt: &Interrupt, done: &str) -> LockReport {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_prefix(kind.name());
    let obey = || {
        if let Some(signal) = interrupt.seen() {
            bar.finish_and_clear();
            text::complain(&format!(
                "lockwork: interrupted after {done}: what is printed above is all that is known\n"
            ));
            exit(128 + signal);
        }
    };
    obey();
    let report = torture(kind, plan, &mut |check| {
        bar.set_message(check.to_owned());
        bar.tick();
        obey();
    });
    bar.finish_and_clear();
    report
}

fn print(report: &LockReport, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, report)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{report}")?;
    }
    out.flush()
}

/// Names each failure; true if there is one.
fn summary(reports: &[LockReport]) -> io::Result<bool> {
    let mut out = io::stderr().lock();
    let mut failed = false;
    for report in reports {
        for (check, text) in report.failures() {
            writeln!(out, "{}: {check} failed: {text}", report.lock)?;
            failed = true;
        }
    }
    Ok(failed)
}

fn list() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "Locks:")?;
    for kind in catalogue() {
        writeln!(out, "  {:<20} {}", kind.name(), kind.summary())?;
    }
    writeln!(out, "Canaries (must fail):")?;
    for kind in canaries() {
        writeln!(out, "  {:<20} {}", kind.name(), kind.summary())?;
    }
    writeln!(out, "Checks:")?;
    for check in CHECKS {
        writeln!(out, "  {:<20} {}", check.name, check.about)?;
    }
    writeln!(out, "Knobs:")?;
    for knob in knobs() {
        writeln!(
            out,
            "  {:<20} {}; {} (now {})",
            knob.name(),
            knob.help(),
            knob.range(),
            knob.get()
        )?;
    }
    Ok(())
}
