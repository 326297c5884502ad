// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tables as one JSON document.

use super::bound::Kind;
use super::cell::{Role, Unit};
use super::judge::Judged;
use super::settled::SEEDS_OF_LOOPS;
use super::statistics::error;
use super::statistics::Summary;
use super::totals::{self, Overall};
use crate::{Rule, Rules};
use anyhow::{Context, Result};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    lockwork: &'static str,
    /// Seeds of each simulation; of those with a number of loops there are `seeds_of_loops`, or
    /// more.
    seeds: u64,
    seeds_of_loops: u64,
    /// The rules of the model that were left out.
    without: Vec<&'static str>,
    tables: Vec<TableInfo<'a>>,
    targets: Vec<KindInfo>,
    /// All tables together, by the cells' role.
    in_all: Vec<Overall>,
}

#[derive(Serialize)]
struct KindInfo {
    kind: &'static str,
    missed: usize,
    of: usize,
}

#[derive(Serialize)]
struct TableInfo<'a> {
    name: &'a str,
    title: &'a str,
    source: &'a str,
    /// Published figures in its files.
    figures: usize,
    machine: &'a str,
    notes: &'a [String],
    cells: Vec<CellInfo<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    simulated_only: Vec<BesideInfo<'a>>,
    summary: Summary,
    targets: Vec<TargetInfo<'a>>,
    failures: &'a [String],
}

#[derive(Serialize)]
struct CellInfo<'a> {
    row: &'a str,
    column: &'a str,
    unit: &'a str,
    role: &'a str,
    published: f64,
    simulated: Option<f64>,
    /// Half the width of the 95 % interval of `simulated`, in its unit.
    half_width: Option<f64>,
    settled: bool,
    /// Seeds of which `simulated` is the mean.
    seeds: usize,
    /// Relative; of a share, in points.
    error: Option<f64>,
}

#[derive(Serialize)]
struct BesideInfo<'a> {
    row: &'a str,
    column: &'a str,
    unit: &'a str,
    simulated: Option<f64>,
    half_width: Option<f64>,
    settled: bool,
    seeds: usize,
}

#[derive(Serialize)]
struct TargetInfo<'a> {
    /// "published", "own" or "whole".
    kind: &'static str,
    name: &'a str,
    /// "at most", "at least", "under" or "over".
    is: &'a str,
    /// Of `bound` and `found`: "count", "share", "times" or "ns".
    unit: &'static str,
    bound: f64,
    found: Option<f64>,
    met: bool,
}

/// `judged`, with a newline at the end.
///
/// # Errors
/// A number that JSON has no form for.
pub(crate) fn render(judged: &[Judged], seeds: u64, rules: Rules) -> Result<String> {
    let left_out = Rule::ALL.into_iter().filter(|rule| !rules.has(*rule));
    let document = Document {
        lockwork: env!("CARGO_PKG_VERSION"),
        seeds,
        seeds_of_loops: seeds.max(SEEDS_OF_LOOPS),
        without: left_out.map(Rule::name).collect(),
        tables: judged.iter().map(table).collect(),
        targets: Kind::ALL.map(|kind| of_kind(judged, kind)).into(),
        in_all: Role::COMPARED.map(|role| Overall::of(judged, role)).into(),
    };
    let text = serde_json::to_string_pretty(&document).context("cannot write JSON")?;
    Ok(text + "\n")
}

fn of_kind(judged: &[Judged], kind: Kind) -> KindInfo {
    let met = totals::met(judged, kind);
    KindInfo {
        kind: kind.name(),
        missed: met.wrong(),
        of: met.of,
    }
}

fn table<'a>(judged: &'a Judged<'a>) -> TableInfo<'a> {
    let table = judged.sheet.table;
    let cells = judged.sheet.cells().enumerate();
    let cells = cells.map(|(at, (cell, value))| CellInfo {
        row: &cell.row,
        column: &cell.column,
        unit: cell.unit.name(),
        role: cell.role.name(),
        published: cell.unit.number(cell.published),
        simulated: value.map(|value| cell.unit.number(value)),
        half_width: judged
            .sheet
            .known(at)
            .half
            .map(|half| cell.unit.number_half(half)),
        settled: !judged.sheet.known(at).unsettled,
        seeds: judged.sheet.known(at).seeds,
        error: value.map(|value| match cell.unit {
            Unit::Share => (value - cell.published) * 100.0,
            _ => error(cell.published, value),
        }),
    });
    let beside = judged.sheet.beside().enumerate();
    let beside = beside.map(|(at, (one, value))| BesideInfo {
        row: &one.row,
        column: &one.column,
        unit: one.unit.name(),
        simulated: value.map(|value| one.unit.number(value)),
        half_width: judged
            .sheet
            .known_beside(at)
            .half
            .map(|half| one.unit.number_half(half)),
        settled: !judged.sheet.known_beside(at).unsettled,
        seeds: judged.sheet.known_beside(at).seeds,
    });
    let targets = judged.verdicts.iter().map(|verdict| TargetInfo {
        kind: verdict.kind.name(),
        name: &verdict.name,
        is: verdict.bound.parts().0,
        unit: verdict.form.unit(),
        bound: verdict.bound.parts().1,
        found: verdict.found,
        met: verdict.met,
    });
    TableInfo {
        name: table.name,
        title: table.title,
        source: &table.source,
        figures: table.figures,
        machine: &table.machine,
        notes: &table.notes,
        cells: cells.collect(),
        simulated_only: beside.collect(),
        summary: judged.summary,
        targets: targets.collect(),
        failures: &judged.sheet.failures,
    }
}
