// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--list`: what there is.

use super::locks::GROUPS;
use super::plan::Known;
use crate::knobs::described;
use crate::{machine, workload, Lock};
use anyhow::Result;

/// Locks, knobs, machines and workloads.
pub(super) fn list(known: &Known) -> Result<String> {
    let mut text = String::from("Locks (--lock):\n");
    let lock = |lock: &Lock| {
        let mark = if lock.is_baseline { "baseline: " } else { "" };
        (lock.name.to_owned(), format!("{mark}{}", lock.summary))
    };
    text += &named(known.locks.iter().map(lock));
    let groups = GROUPS.iter().map(|group| group.name);
    text += &format!("\n  or several: {}", groups.collect::<Vec<_>>().join(", "));
    text += "\n\nKnobs (--set KNOB=VALUE):\n";
    text += &described(&known.knobs);
    text += "\n\nMachines (--machine):\n";
    let mut machines = Vec::new();
    for name in machine::names() {
        machines.push((name.to_owned(), machine::load(name)?.summary));
    }
    text += &named(machines);
    text += "\n\nWorkloads (--workload):\n";
    text += &named(workload::all()?.into_iter().map(|w| (w.name, w.summary)));
    Ok(text + "\n")
}

fn named(rows: impl IntoIterator<Item = (String, String)>) -> String {
    let rows: Vec<(String, String)> = rows.into_iter().collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, what): &(String, String)| format!("  {name:width$}  {what}");
    rows.iter().map(line).collect::<Vec<String>>().join("\n")
}
