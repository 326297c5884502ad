// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What measurements with a name ask for, and their reports in the form of published
//! tables. `named.rs` has the list of them.
pub(crate) mod locktorture;
pub(crate) mod single_thread;
pub(crate) mod spin_micro;
pub(crate) mod sweep;

use crate::contender::contenders;
use crate::journal::Data;
use crate::plan::Form;
use crate::work::{Outside, Work};

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

/// Without a preset.
pub(crate) fn plain() -> Defaults {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let mut threads = vec![1, cpus, 4 * cpus];
    threads.dedup();
    Defaults {
        form: Form::Cases,
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
