// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All tables together: which targets are missed, and how much is compared.

use super::bound::Kind;
use super::cell::Role;
use super::judge::count;
use super::judge::Judged;
use super::statistics::Share;
use super::table::Table;
use lockwork_report::table::render;

/// How many targets of a kind are met.
pub(crate) fn met(judged: &[Judged], kind: Kind) -> Share {
    let mut share = Share::default();
    let verdicts = judged.iter().flat_map(|judged| &judged.verdicts);
    for verdict in verdicts.filter(|verdict| verdict.kind == kind) {
        share.count(verdict.met);
    }
    share
}

/// "missed: 1 of 2 targets against published figures, 0 of 1 …": the kinds that there are.
pub(crate) fn missed(judged: &[Judged]) -> String {
    let parts = Kind::ALL.map(|kind| (kind, met(judged, kind)));
    let parts = parts.iter().filter(|(_, share)| share.of > 0);
    let parts: Vec<String> = parts
        .map(|(kind, share)| format!("{} of {}", share.wrong(), kind.words(share.of)))
        .collect();
    format!("missed: {}", parts.join(", "))
}

/// The targets of these tables, by kind.
pub(crate) fn targets(tables: &[Table]) -> String {
    let parts = Kind::ALL.map(|kind| {
        let all = tables.iter().map(|table| count(table, kind)).sum();
        (all, kind.words(all))
    });
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(all, words)| (all > 0).then_some(words))
        .collect();
    format!("targets: {}", parts.join(", "))
}

/// How many cells of a table have a role.
pub(crate) fn cells(table: &Table, role: Role) -> usize {
    table.cells.iter().filter(|cell| cell.role == role).count()
}

/// One line: how many cells of `tables` are compared with published figures.
pub(crate) fn compared<'a>(tables: impl Iterator<Item = &'a Table> + Clone) -> String {
    let sum = |of: &dyn Fn(&Table) -> usize| tables.clone().map(of).sum::<usize>();
    format!(
        "figures in data/published: {}; cells compared with them: {}; cells that the machine was \
         fitted to: {}; cells shown only: {}; cells simulated only: {}",
        sum(&|table| table.figures),
        sum(&|table| cells(table, Role::Prediction)),
        sum(&|table| cells(table, Role::Calibration)),
        sum(&|table| cells(table, Role::Shown)),
        sum(&|table| table.beside.len()),
    )
}

/// The tables and where they are from.
pub(crate) fn list(tables: &[Table]) -> String {
    let header = [
        "table",
        "machine",
        "figures",
        "compared",
        "fitted",
        "shown only",
        "simulated only",
        "simulations",
        "targets",
    ];
    let rows = tables.iter().map(|table| {
        let numbers = [
            table.figures,
            cells(table, Role::Prediction),
            cells(table, Role::Calibration),
            cells(table, Role::Shown),
            table.beside.len(),
            table.trials.len(),
            Kind::ALL.map(|kind| count(table, kind)).iter().sum(),
        ];
        let names = [table.name.to_owned(), table.machine.clone()].into_iter();
        names
            .chain(numbers.map(|n| n.to_string()))
            .collect::<Vec<_>>()
    });
    let mut text = render(header, rows) + "\n\n";
    text += &format!("{}\n{}\n\n", compared(tables.iter()), targets(tables));
    for table in tables {
        text += &format!("{}: {}\n  {}\n", table.name, table.title, table.source);
    }
    text
}
