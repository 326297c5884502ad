// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A machine as people and as programs read it.

use std::fmt::Write;

use anyhow::Result;
use lockwork_report::{table, text};
use serde_json::json;

use super::file::{Numa, COSTS};
use super::model::{Distance, Machine};
use super::parse::Loaded;
use super::topology::Shape;

/// Prints warnings.
pub(super) fn warn(warnings: &[String]) {
    for warning in warnings {
        text::complain(&format!("warning: {warning}\n"));
    }
}

/// One line: how much there is, and what it rests on.
pub(super) fn counts(loaded: &Loaded) -> String {
    let machine = &loaded.machine;
    let [sourced, assumed, calibrated] = loaded.file.bases();
    format!(
        "{}, {}, {}; of {} numbers, {sourced} have a source, {assumed} are assumed, \
         {calibrated} calibrated.",
        many(machine.cpus(), "CPU"),
        many(machine.socket_count(), "socket"),
        many(machine.nodes(), "NUMA node"),
        sourced + assumed + calibrated
    )
}

fn many(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// All of it, for people.
pub(super) fn text(loaded: &Loaded) -> String {
    let (machine, file) = (&loaded.machine, &loaded.file);
    let mut out = format!("{}: {}\n", machine.name, machine.summary);
    let _ = writeln!(out, "source: {}\n", file.machine.source);
    let _ = writeln!(out, "{}", counts(loaded));
    out += &topology(loaded);
    if machine.socket_count() > 1 {
        let _ = writeln!(out, "\n{}", sockets(machine));
    }
    let _ = writeln!(out, "\n{}", costs(machine));
    if let Some(matrix) = &file.matrix {
        let _ = writeln!(
            out,
            "\nBetween cores, {} stands for load, store and rmw ({}).",
            matrix.file.get_ref(),
            matrix.source
        );
    }
    let _ = writeln!(out, "\n{}", sources(loaded));
    if let Some(calibration) = &file.calibration {
        let rows = calibration.get_ref().rows.join("; ");
        let _ = writeln!(out, "\nCalibrated on: {rows}");
    }
    for warning in &loaded.warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    out
}

fn topology(loaded: &Loaded) -> String {
    let topology = &loaded.file.topology;
    // It was read before.
    let Ok(shape) = Shape::of(topology) else {
        return String::new();
    };
    let mut out = format!(
        "Each socket: {}; each die: {}; each cluster: {}; each core: {}.\n",
        many(shape.dies, "die"),
        many(shape.clusters, "cluster"),
        many(shape.cores, "core"),
        many(shape.threads, "thread")
    );
    let node = match topology.numa {
        Numa::Die => "die",
        Numa::Socket => "socket",
    };
    let _ = writeln!(
        out,
        "A NUMA node is a {node}. Lines are found by: {}.",
        home(loaded)
    );
    if shape.threads > 1 {
        let cores = shape.all_cores();
        let _ = writeln!(
            out,
            "CPUs 0 to {} are the first threads of all cores, {} is the second of core 0.",
            cores - 1,
            cores
        );
    }
    out
}

fn home(loaded: &Loaded) -> &'static str {
    match loaded.machine.home {
        super::model::Home::Snoop => "snoop",
        super::model::Home::Directory => "directory",
    }
}

fn sockets(machine: &Machine) -> String {
    let count = machine.socket_count();
    let header = std::iter::once("Socket".to_owned()).chain((0..count).map(|s| s.to_string()));
    let rows = machine.sockets.chunks(count).enumerate().map(|(a, row)| {
        let cells = row
            .iter()
            .enumerate()
            .map(move |(b, distance)| match a == b {
                true => "-".to_owned(),
                false => distance.name().to_owned(),
            });
        std::iter::once(a.to_string())
            .chain(cells)
            .collect::<Vec<_>>()
    });
    table::render(header, rows)
}

fn costs(machine: &Machine) -> String {
    let mut from_0 = [0_usize; Distance::COUNT];
    for cpu in 0..machine.cpus() {
        from_0[machine.distance(0, cpu) as usize] += 1;
    }
    let header = ["Distance, ns", "CPUs"].into_iter().chain(COSTS);
    let there = |d: &Distance| from_0[*d as usize] > 0 || machine.costs[*d as usize].rmw > 0.0;
    let rows = Distance::ALL.into_iter().filter(there).map(|distance| {
        let costs = &machine.costs[distance as usize];
        let costs = [
            costs.load,
            costs.load_shared,
            costs.store,
            costs.rmw,
            costs.memory,
        ];
        let mut row = vec![
            distance.name().to_owned(),
            from_0[distance as usize].to_string(),
        ];
        row.extend(costs.map(|cost| format!("{cost:.1}")));
        row
    });
    table::render(header, rows) + "\nCPUs: how many are so far from CPU 0."
}

fn sources(loaded: &Loaded) -> String {
    let entries = loaded.file.entries();
    let rows = entries.iter().map(|entry| {
        vec![
            entry.path.clone(),
            format!("{} {}", entry.value, entry.unit),
        ]
    });
    let table = table::render(["Number", "Value"], rows);
    let width = table.lines().map(str::len).max().unwrap_or(0);
    let sources = std::iter::once("Source").chain(entries.iter().map(|entry| entry.source));
    let lines = table.lines().zip(sources);
    let lines: Vec<String> = lines
        .map(|(line, source)| format!("{line:width$}  {source}"))
        .collect();
    lines.join("\n")
}

/// All of it, for programs.
pub(super) fn json(loaded: &Loaded) -> Result<String> {
    let machine = &loaded.machine;
    let [sourced, assumed, calibrated] = loaded.file.bases();
    let places = machine.places.iter().enumerate().map(|(cpu, place)| {
        json!({
            "cpu": cpu,
            "core": place.core,
            "cluster": place.cluster,
            "die": place.die,
            "socket": place.socket,
            "node": place.node,
        })
    });
    let count = machine.socket_count();
    let sockets = machine.sockets.chunks(count).map(|row| {
        let names = row.iter().map(|distance| distance.name());
        names.collect::<Vec<_>>()
    });
    let value = json!({
        "name": machine.name,
        "cpus": places.collect::<Vec<_>>(),
        "sockets": sockets.collect::<Vec<_>>(),
        "numbers": { "sourced": sourced, "assumed": assumed, "calibrated": calibrated },
        "file": loaded.file,
        "matrix": machine.matrix,
        "warnings": loaded.warnings,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}
