// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Torture tests every promise of every lock of the catalogue. A lock that hangs gets
//! a verdict; the test itself does not hang.
//!
//! Canaries, locks that are broken on purpose, show that torture can fail.
mod context;
mod driver;
mod findings;
mod kinds;
mod object;
mod plan;
mod probes;
mod report;
mod rng;
mod shares;
mod trial;
mod watch;

pub use kinds::{canaries, choose};
pub use plan::{Plan, Stop};
pub use probes::{torture, Property, PROPERTIES};
pub use report::{LockReport, Numbers, Row, Verdict};

use anyhow::Context;
use lockwork_catalogue::{catalogue, knobs, set_knob, LockKind};
use lockwork_report::interrupt::{Interrupt, Interrupted};
use lockwork_report::resources::Resources;
use lockwork_report::settings::{read_by_one, reads, settings};
use lockwork_report::{bail_usage, choice, progress, text, usage};
use probes::{STRESS, SWITCHING};
use std::io::{self, Write};
use std::process::{exit, ExitCode};
use std::time::Duration;

/// What the help ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if a lock lacks a property, 2 for a wrong command line, 125 if lockwork
  itself fails, 130 after Ctrl-C.

Examples:
  lockwork torture --list
  lockwork torture mutex --threads 64 --seconds 10
  lockwork torture numa_osq --property switching --events";

/// Test the promises of each lock under heavy load.
#[derive(Debug, Clone, clap::Args)]
pub struct TortureArgs {
    /// A lock, a canary, or `all` (the catalogue); see --list
    #[arg(value_name = "LOCK", default_value = "all")]
    pub lock: String,
    /// Number of threads of the stress test [default: 8 for each CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub threads: Option<u32>,
    /// Seconds that the stress test of each lock lasts
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,
    /// Seconds without progress after which a lock has stalled; the limit grows with
    /// the number of threads, and while other processes keep them from the CPUs
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub patience: u32,
    /// Test only this property (repeatable); see --list
    #[arg(long = "property", value_name = "PROPERTY")]
    pub properties: Vec<String>,
    /// Set knobs of the locks (repeatable); see --list
    #[arg(long = "set", value_name = "KNOB=VALUE,…")]
    pub set: Vec<String>,
    /// Count events in the locks' slow paths and print the sums. The same as --set
    /// count_events=1. `switching` always counts them
    #[arg(long)]
    pub events: bool,
    /// Print JSON: one line for each lock
    #[arg(long)]
    pub json: bool,
    /// List the locks, canaries, properties and knobs
    #[arg(long)]
    pub list: bool,
}

impl TortureArgs {
    fn plan(&self) -> anyhow::Result<Plan> {
        for name in &self.properties {
            choice::one("property", name, PROPERTIES, |property| property.name)?;
        }
        let plan = Plan::default();
        Ok(Plan {
            threads: self.threads.map_or(plan.threads, |n| n as usize),
            stop: Stop::After(Duration::from_secs(self.seconds.into())),
            patience: Duration::from_secs(self.patience.into()),
            only: self.properties.clone(),
            ..plan
        })
    }

    /// Returns the names of the set knobs that `switching` changes itself.
    fn set_knobs(&self, kinds: &[LockKind]) -> anyhow::Result<Vec<String>> {
        let set = settings(&self.set, |name, value| Ok(set_knob(name, value)?))?;
        let names = |kinds: &[LockKind]| kinds.iter().map(LockKind::name).collect::<Vec<_>>();
        read_by_one(
            set.iter().map(|(name, _)| name.as_str()),
            &names(kinds),
            &names(&catalogue()),
            reads,
        )?;
        if self.events {
            set_knob("count_events", "1")?;
        }
        let names = set.into_iter().map(|(name, _)| name);
        Ok(names.filter(|name| driver::is_driven(name)).collect())
    }
}

/// Runs the command. Failure means that a lock lacks a property.
pub fn run(args: &TortureArgs) -> anyhow::Result<ExitCode> {
    let kinds = choose(&args.lock).map_err(usage::error)?;
    let plan = args.plan()?;
    let driven = args.set_knobs(&kinds)?;
    if args.list {
        text::print(&list())?;
        return Ok(ExitCode::SUCCESS);
    }
    promised(&kinds, &args.properties)?;
    if !driven.is_empty() && plan.wants(&[SWITCHING]) {
        text::complain(&format!(
            "lockwork: {SWITCHING} changes {} itself; --set applies to the other properties only\n",
            driven.join(", ")
        ));
    }
    each(kinds, &plan, &mut |report, _, _| {
        text::print(&shown(report, args.json)?)
    })
}

/// Refuses a property that none of the locks promises: nothing would be tested.
fn promised(kinds: &[LockKind], names: &[String]) -> anyhow::Result<()> {
    for property in PROPERTIES
        .iter()
        .filter(|p| names.iter().any(|n| n == p.name))
    {
        let mut reasons = kinds.iter().map(|kind| (property.absent)(kind));
        if let Some(Some(reason)) = reasons
            .clone()
            .next()
            .filter(|_| reasons.all(|r| r.is_some()))
        {
            let locks: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            let locks = locks.join(", ");
            bail_usage!(
                "--property {}: {locks}: {reason}; name another lock",
                property.name
            );
        }
    }
    Ok(())
}

/// Runs the stress of the locks that the arguments name, and nothing else, with events. Each
/// report goes to `tell` with the resources that it took. Failure: a lock lacks a property.
///
/// # Errors
/// The arguments or the host.
pub fn stress(
    args: &TortureArgs,
    tell: &mut dyn FnMut(&LockReport, LockKind, &Resources),
) -> anyhow::Result<ExitCode> {
    let kinds = choose(&args.lock).map_err(usage::error)?;
    let plan = args.plan()?.only(&[STRESS]);
    args.set_knobs(&kinds)?;
    set_knob("count_events", "1")?;
    each(kinds, &plan, &mut |report, kind, used| {
        tell(report, kind, used);
        Ok(())
    })
}

/// Tortures one lock after the other. Each report goes to `tell` with the resources that it took;
/// the summary names each failure.
fn each(
    kinds: Vec<LockKind>,
    plan: &Plan,
    tell: &mut dyn FnMut(&LockReport, LockKind, &Resources) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::listen().context("cannot watch for signals")?;
    let mut reports = Vec::new();
    let locks = kinds.len();
    for kind in kinds {
        let before = Resources::now();
        let report = with_progress(kind, plan, &interrupt, (reports.len(), locks));
        tell(&report, kind, &Resources::now().since(&before))?;
        let stalled = report.failure("progress").is_some();
        reports.push(report);
        if stalled {
            break; // its threads are left behind and would disturb the others
        }
    }
    let failed = summary(&reports).context("cannot write the summary")?;
    Ok(match failed {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// Ctrl-C ends it, and the process: there are threads that nobody could stop. `done` is how
/// many locks were tortured before, and of how many.
fn with_progress(
    kind: LockKind,
    plan: &Plan,
    interrupt: &Interrupt,
    done: (usize, usize),
) -> LockReport {
    let bar = progress::spinner();
    let obey = || {
        if let Some(signal) = interrupt.seen() {
            bar.finish_and_clear();
            text::complain(&interrupted(done));
            exit(Interrupted(signal).status().into());
        }
    };
    obey();
    let report = torture(kind, plan, &mut |property| {
        bar.set_message(format!("{}: {property}", kind.name()));
        bar.tick();
        obey();
    });
    bar.finish_and_clear();
    report
}

/// What is said after Ctrl-C.
fn interrupted((done, locks): (usize, usize)) -> String {
    let above = match done {
        0 => "",
        1 => "; the report above is complete",
        _ => "; the reports above are complete",
    };
    format!(
        "lockwork: interrupted after {done} of {}{above}\n",
        text::counted(locks, "lock")
    )
}

/// The lines of a report.
fn shown(report: &LockReport, json: bool) -> anyhow::Result<String> {
    Ok(match json {
        true => serde_json::to_string(report).context("cannot write JSON")? + "\n",
        false => format!("{report}\n"),
    })
}

/// Names each failure; true if there is one.
fn summary(reports: &[LockReport]) -> io::Result<bool> {
    let mut out = io::stderr().lock();
    let mut failed = false;
    for report in reports {
        for (property, text) in report.failures() {
            writeln!(out, "{}: {property} failed: {text}", report.lock)?;
            failed = true;
        }
    }
    Ok(failed)
}

fn list() -> String {
    let line = |name: &str, said: &str| format!("  {name:<20} {said}\n");
    let locks = catalogue()
        .into_iter()
        .map(|kind| line(kind.name(), kind.summary()));
    let broken = canaries()
        .into_iter()
        .map(|kind| line(kind.name(), kind.summary()));
    let properties = PROPERTIES.iter().map(|one| line(one.name, one.about));
    let knobs = knobs().into_iter().map(|knob| {
        let said = format!("{}; {} (now {})", knob.help(), knob.range(), knob.shown());
        line(knob.name(), &said)
    });
    [
        "Locks:\n".to_owned(),
        locks.collect(),
        "Canaries (must fail):\n".to_owned(),
        broken.collect(),
        "Properties:\n".to_owned(),
        properties.collect(),
        "Knobs:\n".to_owned(),
        knobs.collect(),
    ]
    .concat()
}
