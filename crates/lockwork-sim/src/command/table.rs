// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The first table: how the locks did.

use super::plan::{placed, Plan};
use super::rows::Row;
use crate::machine::DirectedYield;
use crate::{Clusters, Vcpus};
use lockwork_report::table;
use lockwork_report::text::{counted, number, percent, signed_percent};

/// What stands above the tables.
pub(super) fn head(plan: &Plan) -> String {
    let (machine, workload) = (&plan.machine, &plan.workload);
    let switch = if workload.affinity { "on" } else { "off" };
    let mut text = format!(
        "Simulated: {} on {}\nmachine: {}\nworkload: {}\n{} of {}, {}, affinity {switch}, {}\n",
        workload.name,
        machine.name,
        machine.summary,
        workload.summary,
        counted(plan.cpus(), "CPU"),
        machine.cpus(),
        placed(plan.placement),
        counted(plan.seeds as usize, "seed"),
    );
    if !plan.changed.is_empty() {
        text += &format!("changed: {}\n", plan.changed.join(", "));
    }
    if let Some(guests) = plan.guests {
        let directed = match machine.hypervisor.directed_yield {
            DirectedYield::On => ", directed yield",
            DirectedYield::Donate => ", directed yield that donates",
            DirectedYield::Off => "",
        };
        let moves = match guests.vcpus {
            Vcpus::Pinned => "",
            Vcpus::Migrate => ", which migrate",
        };
        let vms = match guests.vms {
            1 => String::new(),
            vms => format!(", of {vms} virtual machines"),
        };
        text += &format!(
            "hypervisor: {} virtual CPUs a CPU{vms}{moves}{directed}\n",
            guests.overcommit
        );
    }
    if workload.embedded {
        text += "lock: in the first line of its data\n";
    }
    if plan.static_key_ns > 0.0 {
        text += &format!("static key: {} ns each acquisition\n", plan.static_key_ns);
    }
    if plan.clusters == Clusters::Node {
        text += "clusters: the NUMA nodes\n";
    }
    if !plan.settings.is_empty() {
        let settings = plan.settings.iter();
        let set: Vec<String> = settings
            .map(|setting| format!("{}={}", setting.knob, setting.value))
            .collect();
        text += &format!("knobs: {}\n", set.join(", "));
    }
    text
}

/// The table.
pub(super) fn render(rows: &[Row]) -> String {
    let timed = rows.iter().any(|row| row.finished().is_some());
    let mut header = vec!["Lock", "Threads", "Average", "CV", "Improve"];
    header.extend(timed.then_some("Time"));
    header.extend(["p50", "p99", "Max", "Jain", "Lines", "In lock"]);
    let roles = rows
        .iter()
        .any(|row| row.outcomes.iter().any(|o| o.program.is_some()));
    let unit = if roles { "rounds/ms" } else { "Mops/s" };
    let mut units = vec!["", "", unit, "", ""];
    units.extend(timed.then_some("ms"));
    units.extend(["µs", "µs", "µs", "", "", ""]);
    let units = units.into_iter().map(str::to_owned).collect();
    let rows = rows.iter().map(|row| line(row, timed, roles));
    table::render(header, std::iter::once(units).chain(rows))
}

fn line(row: &Row, timed: bool, roles: bool) -> Vec<String> {
    let us = |quantile| number(row.waits.value_at_quantile(quantile) as f64 / 1e3);
    let mut cells = vec![
        row.lock.to_owned(),
        row.threads.to_string(),
        number(row.rate() / if roles { 1e3 } else { 1e6 }),
        row.variation()
            .map_or_else(dash, |cv| format!("{:.1} %", cv * 100.0)),
        row.improve.map_or_else(String::new, signed_percent),
    ];
    if timed {
        let time = row.finished().map(|ns| number(ns / 1e6));
        cells.push(time.unwrap_or_else(dash));
    }
    cells.extend([us(0.5), us(0.99), us(1.0)]);
    cells.push(format!("{:.2}", row.jain()));
    let lines = row.each(row.lines_moved() as f64);
    cells.push(lines.map_or_else(dash, number));
    cells.push(row.in_lock().map_or_else(dash, percent));
    cells
}

/// Where there is nothing to say.
pub(super) fn dash() -> String {
    "-".to_owned()
}
