// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--list`: what there is.

use super::locks::GROUPS;
use super::plan::Known;
use crate::{knobs, machine, workload, Lock};
use anyhow::Result;
use lockwork_report::table::described;

/// Locks, knobs, machines and workloads.
pub(super) fn list(known: &Known) -> Result<String> {
    let mut text = String::from("Locks (--lock):\n");
    let lock = |lock: &Lock| {
        let mark = if lock.is_baseline { "baseline: " } else { "" };
        (lock.name.to_owned(), format!("{mark}{}", lock.summary))
    };
    text += &described("  ", known.locks.iter().map(lock));
    let groups = GROUPS.iter().map(|group| group.name);
    text += &format!("  or several: {}", groups.collect::<Vec<_>>().join(", "));
    text += "\n\nKnobs (--set KNOB=VALUE):\n";
    text += &knobs::described(&known.knobs);
    text += "\n\nMachines (--machine):\n";
    let mut machines = Vec::new();
    for name in machine::names() {
        machines.push((name.to_owned(), machine::load(name)?.summary));
    }
    text += &described("  ", machines);
    text += "\nWorkloads (--workload):\n";
    text += &described(
        "  ",
        workload::all()?.into_iter().map(|w| (w.name, w.summary)),
    );
    Ok(text)
}
