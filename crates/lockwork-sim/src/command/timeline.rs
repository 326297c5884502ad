// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--timeline`: what each thread did, in the JSON that Perfetto and
//! chrome://tracing read (the Trace Event Format): a row for each thread, in a
//! group for the NUMA node where it was first.

use crate::machine::Machine;
use crate::outcome::{Doing, Event};
use anyhow::{Context, Result};
use lockwork_report::spare;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// As the rows name it.
const fn name(doing: Doing) -> &'static str {
    match doing {
        Doing::Think => "think",
        Doing::Wait => "wait",
        Doing::Hold => "hold",
        Doing::Sleep => "sleep",
        Doing::Ready => "ready",
    }
}

/// Makes sure that `path` can be written, and is no program, before anything is simulated for it.
pub(super) fn create(path: &Path) -> Result<File> {
    spare::programs(path)?;
    File::create(path).with_context(|| format!("cannot write the timeline '{}'", path.display()))
}

/// Writes the events of a simulation on `machine`, whose CPUs are `placed` as the simulation
/// numbers them.
pub(super) fn write(
    file: File,
    machine: &Machine,
    placed: &[usize],
    title: &str,
    events: &[Event],
) -> Result<()> {
    let mut out = BufWriter::new(file);
    let document = json!({
        "displayTimeUnit": "ns",
        "otherData": { "title": title },
        "traceEvents": trace(machine, placed, events),
    });
    serde_json::to_writer(&mut out, &document)
        .map_err(Into::into)
        .and_then(|()| out.flush())
        .context("cannot write the timeline")
}

fn trace(machine: &Machine, placed: &[usize], events: &[Event]) -> Vec<Value> {
    // Of virtual CPUs there may be several rounds of the machine's.
    let node_of = |cpu: u32| machine.places[placed[cpu as usize % placed.len()]].node;
    let mut homes: BTreeMap<u32, u16> = BTreeMap::new();
    for event in events {
        homes.entry(event.thread).or_insert(node_of(event.cpu));
    }
    let mut all: Vec<Value> = Vec::new();
    let mut nodes: Vec<u16> = homes.values().copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    for node in nodes {
        let label = json!({ "name": format!("node {node}") });
        all.push(json!({ "ph": "M", "name": "process_name", "pid": node, "args": label }));
        let order = json!({ "sort_index": node });
        all.push(json!({ "ph": "M", "name": "process_sort_index", "pid": node, "args": order }));
    }
    for (thread, node) in &homes {
        let label = json!({ "name": format!("thread {thread}") });
        all.push(json!({
            "ph": "M", "name": "thread_name", "pid": node, "tid": thread, "args": label
        }));
    }
    all.extend(events.iter().map(|event| {
        json!({
            "ph": "X",
            "name": name(event.doing),
            "cat": "lock",
            "pid": homes[&event.thread],
            "tid": event.thread,
            "ts": event.from / 1e3,
            "dur": event.ns / 1e3,
            "args": { "cpu": event.cpu, "node": node_of(event.cpu) },
        })
    }));
    all
}
