// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a workload of roles adds to the tables, and to the JSON: its locks by name, its roles
//! and its resources.

use super::rows::{summed, Row};
use super::table::dash;
use crate::outcome::{OfLocks, OfProgram, OfResource, Outcome};
use crate::workload::Program;
use hdrhistogram::Histogram;
use lockwork_report::table;
use lockwork_report::text::{number, percent};
use serde_json::{json, Value};

/// The tables.
pub(super) fn render(rows: &[Row], program: &Program) -> String {
    let mut text = String::from("\nWhy: the workload's locks; waits in µs\n");
    text += &locks(rows, program);
    text += "\n\nWhy: the roles\n";
    text += &roles(rows, program);
    if !program.resources.is_empty() {
        text += "\n\nWhy: the resources\n";
        text += &resources(rows, program);
    }
    text + "\n"
}

/// The seeds of a row, each with what it says of the program.
fn seeds<'a>(row: &'a Row) -> impl Iterator<Item = (&'a Outcome, &'a OfProgram)> + use<'a> {
    let of = |outcome: &&'a Outcome| outcome.program.as_ref().map(|of| (*outcome, of));
    row.outcomes.iter().filter_map(of)
}

/// The table with `header`, and for each row as many lines as `names`.
fn table<'a>(
    rows: &[Row],
    header: &[&str],
    names: impl Iterator<Item = &'a str> + Clone,
    cells: impl Fn(&Row, usize) -> Vec<String>,
) -> String {
    let mut lines = Vec::new();
    for row in rows {
        for (at, name) in names.clone().enumerate() {
            let first = [
                row.lock.to_owned(),
                row.threads.to_string(),
                name.to_owned(),
            ];
            lines.push(first.into_iter().chain(cells(row, at)).collect::<Vec<_>>());
        }
    }
    let first = ["Lock", "Threads", "Name"];
    let header = first.iter().chain(header).map(|name| (*name).to_owned());
    table::render(header.collect::<Vec<_>>(), lines)
}

fn locks(rows: &[Row], program: &Program) -> String {
    let header = [
        "Each round",
        "Shared",
        "Contended",
        "Mean",
        "p99",
        "Max",
        "Of all waits",
        "Holders",
    ];
    table(rows, &header, program.lock_names(), |row, at| {
        let rounds = rounds(row, |_| true);
        let of = |f: fn(&OfLocks) -> u64| -> f64 {
            seeds(row).map(|(_, of)| f(&of.locks[at]) as f64).sum()
        };
        let acquisitions = of(|lock| lock.acquisitions);
        let share = |part: f64, all: f64| match all > 0.0 {
            true => percent(part / all),
            false => dash(),
        };
        let waits = summed(seeds(row).map(|(_, of)| &of.locks[at].waits));
        let us = |quantile| number(waits.value_at_quantile(quantile) as f64 / 1e3);
        let waited = |waits: &Histogram<u64>| waits.mean() * waits.len() as f64;
        let all = seeds(row).flat_map(|(_, of)| &of.locks);
        let all: f64 = all.map(|lock| waited(&lock.waits)).sum();
        let held: f64 = seeds(row).map(|(_, of)| of.locks[at].ns_held).sum();
        let time: f64 = seeds(row).map(|(outcome, _)| outcome.ns).sum();
        vec![
            each(acquisitions, rounds),
            share(of(|lock| lock.reads), acquisitions),
            share(of(|lock| lock.contended), acquisitions),
            number(waits.mean() / 1e3),
            us(0.99),
            us(1.0),
            share(waited(&waits), all),
            number(held / time),
        ]
    })
}

fn roles(rows: &[Row], program: &Program) -> String {
    let names = program.roles.iter().map(|role| role.name.as_str());
    table(rows, &["Its threads", "Rounds/ms"], names, |row, at| {
        let threads = (0..row.threads).filter(|&thread| program.role_of(thread) == at);
        let time: f64 = seeds(row).map(|(outcome, _)| outcome.ns).sum();
        vec![
            threads.count().to_string(),
            number(rounds(row, |role| role == at) * 1e6 / time),
        ]
    })
}

fn resources(rows: &[Row], program: &Program) -> String {
    let names = program.resources.iter().map(|one| one.name.as_str());
    table(
        rows,
        &["Uses a round", "Busy", "Wait µs"],
        names,
        |row, at| {
            let of = |f: fn(&OfResource) -> f64| -> f64 {
                seeds(row).map(|(_, of)| f(&of.resources[at])).sum()
            };
            let uses = of(|one| one.uses as f64);
            let of_servers = |(outcome, of): (&Outcome, &OfProgram)| {
                outcome.ns * of.resources[at].servers as f64
            };
            let time: f64 = seeds(row).map(of_servers).sum();
            vec![
                each(uses, rounds(row, |_| true)),
                percent(of(|one| one.ns_busy) / time),
                each(of(|one| one.ns_waited) / 1e3, uses),
            ]
        },
    )
}

/// Rounds of the threads whose roles `are` meant, in all seeds.
fn rounds(row: &Row, are: impl Fn(usize) -> bool) -> f64 {
    let of_seed = |(_, of): (_, &OfProgram)| -> u64 {
        let threads = of.rounds.iter().zip(&of.roles);
        threads
            .filter(|(_, role)| are(**role))
            .map(|(rounds, _)| rounds)
            .sum()
    };
    seeds(row).map(of_seed).sum::<u64>() as f64
}

fn each(total: f64, of: f64) -> String {
    match of > 0.0 {
        true => number(total / of),
        false => dash(),
    }
}

/// What the JSON has of it.
pub(super) fn json(of: &OfProgram, program: &Program) -> Value {
    let lock = |lock: &OfLocks| {
        json!({
            "name": lock.name,
            "acquisitions": lock.acquisitions,
            "reads": lock.reads,
            "contended": lock.contended,
            "waits_ns": super::json::steps(&lock.waits),
            "ns_held": lock.ns_held,
        })
    };
    let resource = |one: &OfResource| {
        json!({
            "name": one.name,
            "uses": one.uses,
            "servers": one.servers,
            "ns_busy": one.ns_busy,
            "ns_waited": one.ns_waited,
        })
    };
    let role = |thread: &usize| program.roles[*thread].name.as_str();
    json!({
        "rounds": of.rounds,
        "roles": of.roles.iter().map(role).collect::<Vec<_>>(),
        "locks": of.locks.iter().map(lock).collect::<Vec<_>>(),
        "resources": of.resources.iter().map(resource).collect::<Vec<_>>(),
    })
}
