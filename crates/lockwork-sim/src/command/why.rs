// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tables that say why: what an acquisition cost, and on what it waited.

use super::rows::Row;
use super::table::dash;
use crate::machine::Distance;
use crate::outcome::{OfLocks, Outcome};
use hdrhistogram::Histogram;
use lockwork_report::table;
use lockwork_report::text::{grouped, number, percent, whole};

/// A column: its name, and what a row has there.
struct Column<'a> {
    name: String,
    cell: Box<dyn Fn(&Row) -> String + 'a>,
}

impl<'a> Column<'a> {
    fn new(name: impl Into<String>, cell: impl Fn(&Row) -> String + 'a) -> Column<'a> {
        Column {
            name: name.into(),
            cell: Box::new(cell),
        }
    }

    /// A total, for each acquisition.
    fn each(name: impl Into<String>, total: impl Fn(&Row) -> f64 + 'a) -> Column<'a> {
        Column::new(name, move |row| {
            row.each(total(row)).map_or_else(dash, number)
        })
    }
}

/// All of them, with their headings; `events` names what locks count.
pub(super) fn render(rows: &[Row], events: &[&str]) -> String {
    let all: Vec<&Row> = rows.iter().collect();
    let mut text = String::from("Why: memory, per acquisition\n");
    text += &columns(&all, memory(rows));
    text += "\n\nWhy: where the lock came from, share of acquisitions\n";
    text += &columns(&all, handovers(rows));
    text += "\n\nWhy: what waits were spent on, ns per acquisition, and wake-ups\n";
    text += &columns(&all, waits(rows));
    text += "\n\nWhy: who came first: acquisitions by later arrivals during a wait; waits in µs\n";
    text += &columns(&all, order(rows));
    if rows.iter().any(|row| row.outcomes.iter().any(has_vms)) {
        text += "\n\nWhy: the virtual machines, Mops/s of each; waits in µs\n";
        text += &columns(&all, vms());
    }
    let counting: Vec<&Row> = rows.iter().filter(|row| counts(row)).collect();
    if !counting.is_empty() {
        text += "\n\nWhy: what the locks counted, all seeds together\n";
        text += &columns(&counting, counted(&counting, events));
    }
    text + "\n"
}

fn has_vms(outcome: &&Outcome) -> bool {
    !outcome.vms.is_empty()
}

/// How differently virtual machines fare: those of all seeds.
fn vms<'a>() -> Vec<Column<'a>> {
    type Of = fn(&Outcome, &OfLocks) -> f64;
    let all = |row: &Row, of: Of| -> Vec<f64> {
        let seeds = row.outcomes.iter();
        seeds
            .flat_map(|outcome| outcome.vms.iter().map(|vm| of(outcome, vm)))
            .collect()
    };
    let least = move |row: &Row, of| number(all(row, of).into_iter().fold(f64::MAX, f64::min));
    let most = move |row: &Row, of| number(all(row, of).into_iter().fold(0.0, f64::max));
    let rate: Of = |outcome, vm| vm.acquisitions as f64 * 1e3 / outcome.ns;
    let longest: Of = |_, vm| vm.waits.max() as f64 / 1e3;
    vec![
        Column::new("Slowest", move |row| least(row, rate)),
        Column::new("Fastest", move |row| most(row, rate)),
        Column::new("Jain", |row| format!("{:.2}", row.jain_of_vms())),
        Column::new("Least max", move |row| least(row, longest)),
        Column::new("Most max", move |row| most(row, longest)),
    ]
}

/// Whether its lock counted anything.
fn counts(row: &&Row) -> bool {
    row.counts.divided > 0 || row.counts.events.iter().any(|&count| count > 0)
}

/// The events that occurred in any row, and how many locks are divided.
fn counted<'a>(rows: &[&Row], events: &[&str]) -> Vec<Column<'a>> {
    let of = |row: &Row, at: usize| row.counts.events.get(at).copied().unwrap_or(0);
    let occurred = |&(at, _): &(usize, &&str)| rows.iter().any(|row| of(row, at) > 0);
    let events = events.iter().enumerate().filter(occurred);
    let column =
        |(at, name): (usize, &&str)| Column::new(*name, move |row| grouped(of(row, at) as f64, 0));
    let mut all: Vec<Column> = events.map(column).collect();
    if rows.iter().any(|row| row.counts.divided > 0) {
        all.push(Column::new("Divided at the end", |row| {
            grouped(row.counts.divided as f64, 0)
        }));
    }
    all
}

fn columns(rows: &[&Row], columns: Vec<Column>) -> String {
    let first = ["Lock", "Threads"].map(str::to_owned);
    let names = columns.iter().map(|column| column.name.clone());
    let header: Vec<String> = first.into_iter().chain(names).collect();
    let body = rows.iter().map(|row| {
        let first = [row.lock.to_owned(), row.threads.to_string()];
        let cells = columns.iter().map(|column| (column.cell)(row));
        first.into_iter().chain(cells).collect::<Vec<String>>()
    });
    table::render(header, body)
}

/// Less often than once in a thousand acquisitions is not worth a column.
const RARE: f64 = 1e-3;

/// The distances at which `of` counts something in any row.
fn occurring(rows: &[Row], of: impl Fn(&Row) -> [u64; Distance::COUNT]) -> Vec<Distance> {
    let often = |row: &Row, at: usize| row.each(of(row)[at] as f64).is_some_and(|n| n >= RARE);
    let there = |distance: &Distance| rows.iter().any(|row| often(row, *distance as usize));
    Distance::ALL.into_iter().filter(there).collect()
}

fn memory<'a>(rows: &[Row]) -> Vec<Column<'a>> {
    let mut all = vec![
        Column::each("RMWs", |row| row.counts.rmws as f64),
        Column::each("Loads", |row| row.counts.loads as f64),
        Column::each("Stores", |row| row.counts.stores as f64),
    ];
    for distance in occurring(rows, |row| row.counts.moved) {
        let at = distance as usize;
        let name = format!("from {}", distance.name());
        all.push(Column::each(name, move |row| row.counts.moved[at] as f64));
    }
    for distance in occurring(rows, |row| row.counts.from_memory) {
        let at = distance as usize;
        let name = format!("mem {}", distance.name());
        all.push(Column::each(name, move |row| {
            row.counts.from_memory[at] as f64
        }));
    }
    all.push(Column::each("Link bytes", |row| row.link_bytes() as f64));
    all
}

fn handovers<'a>(rows: &[Row]) -> Vec<Column<'a>> {
    let mut all = Vec::new();
    for distance in occurring(rows, |row| row.counts.handovers) {
        let at = distance as usize;
        all.push(Column::new(distance.name(), move |row| {
            let total: u64 = row.counts.handovers.iter().sum();
            let share = row.counts.handovers[at] as f64 / total as f64;
            if total > 0 {
                percent(share)
            } else {
                dash()
            }
        }));
    }
    all
}

/// How often a waiter was overtaken; and, if readers share, how long both kinds waited.
fn order<'a>(rows: &[Row]) -> Vec<Column<'a>> {
    let mut all = vec![
        Column::new("Overtaken", |row| mean(&row.overtakes, 1.0)),
        Column::new("p99", |row| whole(row.overtakes.value_at_quantile(0.99))),
        Column::new("Most", |row| whole(row.overtakes.max())),
    ];
    if rows.iter().any(|row| !row.read_waits.is_empty()) {
        let max = |waits: &Histogram<u64>| number(waits.max() as f64 / 1e3);
        all.extend([
            Column::new("Readers", |row| mean(&row.read_waits, 1e3)),
            Column::new("their max", move |row| max(&row.read_waits)),
            Column::new("Writers", |row| mean(&row.write_waits, 1e3)),
            Column::new("their max", move |row| max(&row.write_waits)),
        ]);
    }
    all
}

fn mean(of: &Histogram<u64>, unit: f64) -> String {
    match of.is_empty() {
        true => dash(),
        false => number(of.mean() / unit),
    }
}

fn waits<'a>(rows: &[Row]) -> Vec<Column<'a>> {
    let mut all = vec![
        Column::each("Queueing", |row| row.split.queueing),
        Column::each("Transfer", |row| row.split.transfer),
        Column::each("Holder off", |row| row.split.preempted_holder),
        Column::each("Next off", |row| row.split.preempted_next),
        Column::each("Asleep", |row| row.split.asleep),
        Column::each("Waking", |row| row.split.waking),
        Column::each("Wake-ups", |row| row.counts.wakeups as f64),
        Column::new("Useful", |row| {
            let (useful, all) = (row.counts.useful_wakeups, row.counts.wakeups);
            if all > 0 {
                percent(useful as f64 / all as f64)
            } else {
                dash()
            }
        }),
    ];
    if rows.iter().any(|row| row.counts.migrations > 0) {
        let moves = |row: &Row| row.counts.migrations as f64;
        all.push(Column::each("Migrations", moves));
    }
    if rows.iter().any(|row| row.counts.donations > 0) {
        let given = |row: &Row| row.counts.donations as f64;
        all.push(Column::each("Donations", given));
    }
    if rows.iter().any(|row| row.counts.yields > 0) {
        let named = |row: &Row| row.counts.yields as f64;
        all.push(Column::each("Yields", named));
    }
    all
}
