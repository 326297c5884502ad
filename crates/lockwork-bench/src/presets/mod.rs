// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Named measurements, in the form of published tables.
mod locktorture;
mod single_thread;
mod spin_micro;
mod sweep;

use crate::args::BenchArgs;
use crate::contender::contenders;
use crate::journal::Data;
use crate::plan::Form;
use crate::work::{Outside, Work};
use anyhow::Result;
use lockwork_report::bail_usage;

/// What is measured unless something else is asked for.
pub(crate) struct Defaults {
    pub form: Form,
    /// Names or groups of locks.
    pub locks: Vec<String>,
    /// Locks that should be there and are not.
    pub missing: Vec<String>,
    pub threads: Vec<u32>,
    pub inside: Vec<Work>,
    /// What is done outside, beside that inside.
    pub outside: fn(Work) -> Vec<Outside>,
    pub rounds: u32,
    /// Seconds that all rounds may last together; more of them than `rounds` then, or
    /// fewer.
    pub seconds: Option<f64>,
    /// How long a round of so many threads lasts.
    pub time_ms: fn(u32) -> u64,
    /// Acquisitions of each thread, for what ends by itself.
    pub loops: Option<u64>,
}

/// A named measurement.
struct Preset {
    name: &'static str,
    about: &'static str,
    defaults: fn(&BenchArgs) -> Defaults,
}

const PRESETS: &[Preset] = &[
    Preset {
        name: "spin-micro",
        about: "milliseconds for a fixed number of loops, 1 to 8 tasks, four spinlocks",
        defaults: spin_micro::defaults,
    },
    Preset {
        name: "single-thread",
        about: "nanoseconds of an uncontended pair, called by pointer and inlined",
        defaults: single_thread::defaults,
    },
    Preset {
        name: "locktorture",
        about: "writers with short holds and rare long ones; improvement on a baseline",
        defaults: locktorture::defaults,
    },
    Preset {
        name: "sweep",
        about: "1 to 256 threads by work inside and outside: the table of docs/performance.md",
        defaults: sweep::defaults,
    },
];

/// One line a preset.
pub(crate) fn list() -> String {
    let line = |p: &Preset| format!("  {:<14} {}\n", p.name, p.about);
    PRESETS.iter().map(line).collect()
}

/// What the arguments' preset, if any, asks for.
pub(crate) fn defaults(args: &BenchArgs) -> Result<Defaults> {
    let Some(name) = &args.preset else {
        refuse_options_of_presets(args, None)?;
        return Ok(plain());
    };
    let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
        let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        bail_usage!(
            "there is no preset named '{name}'; choose one of: {}",
            known.join(", ")
        );
    };
    let defaults = (preset.defaults)(args);
    refuse_options_of_presets(args, Some(defaults.form))?;
    Ok(defaults)
}

/// Options that only some presets know.
fn refuse_options_of_presets(args: &BenchArgs, form: Option<Form>) -> Result<()> {
    let single = form == Some(Form::SingleThread);
    if args.loops.is_some() && !single && form != Some(Form::SpinMicro) {
        bail_usage!("--loops is for --preset spin-micro and single-thread; leave it out");
    }
    if !args.calls.is_empty() && !single {
        bail_usage!("--calls is for --preset single-thread; leave it out");
    }
    if args.quick && args.preset.as_deref() != Some("sweep") {
        bail_usage!("--quick is for --preset sweep; leave it out, or choose --rounds and --time");
    }
    if args.plots.is_some() && form.is_some_and(|form| form != Form::Cells) {
        bail_usage!("--plots draws throughput and waits by threads, which this preset does not have; leave it out");
    }
    Ok(())
}

/// Without a preset.
fn plain() -> Defaults {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let mut threads = vec![1, cpus, 4 * cpus];
    threads.dedup();
    Defaults {
        form: Form::Cells,
        locks: vec!["mutex".to_owned()],
        missing: Vec::new(),
        threads,
        inside: vec![Work::Ns(100)],
        outside: |_| vec![Outside::Times(2.0)],
        rounds: 5,
        seconds: None,
        time_ms: |_| 200,
        loops: None,
    }
}

/// Those of `names` that the catalogue has, and those that it has not.
fn present(names: &[&str]) -> (Vec<String>, Vec<String>) {
    let all = contenders();
    let has = |name: &&&str| all.iter().any(|c| c.is_ours() && c.name() == **name);
    let (here, missing): (Vec<&str>, Vec<&str>) = names.iter().partition(|n| has(n));
    let words = |all: Vec<&str>, prefix: &str| -> Vec<String> {
        all.iter().map(|name| format!("{prefix}{name}")).collect()
    };
    (words(here, "lockwork."), words(missing, ""))
}

/// The `# source:` lines of a table in data/published/.
fn sources(table: &str) -> String {
    let lines = table
        .lines()
        .filter_map(|line| line.strip_prefix("# source: "));
    lines.map(|line| format!("published: {line}\n")).collect()
}

/// The rows of such a table, its header first.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(',').collect())
}

/// A line for what should have been measured and is not there.
fn missing(data: &Data) -> String {
    let line = |name: &String| format!("missing: {name} is not in this catalogue\n");
    data.header.plan.missing.iter().map(line).collect()
}

/// The body of the report, but for plain cells.
pub(crate) fn body(data: &Data) -> Option<String> {
    match data.header.plan.form {
        Form::Cells => None,
        Form::SpinMicro => Some(spin_micro::body(data)),
        Form::SingleThread => Some(single_thread::body(data)),
        Form::Locktorture => Some(locktorture::body(data)),
    }
}
