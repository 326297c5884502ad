// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All tables together: which targets are missed, and how much is compared.

use super::bound::Kind;
use super::cell::Role;
use super::judge::count;
use super::judge::Judged;
use super::statistics::{middle_and_worst, Share};
use super::table::Table;
use super::target::MOST_MEDIAN_ERROR;
use lockwork_report::table::render;
use lockwork_report::text::counted;

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

/// What the cells with one role come to in all tables together.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Overall {
    role: &'static str,
    cells: usize,
    /// Of the relative errors; shares of time have none.
    median_error: Option<f64>,
    /// What it may be at most. Nothing may be wrong of the rest.
    median_error_goal: f64,
    signs: Share,
    /// Groups of cells.
    ranks: Share,
}

impl Overall {
    pub fn of(judged: &[Judged], role: Role) -> Overall {
        let mut all = Overall {
            role: role.name(),
            cells: 0,
            median_error: None,
            median_error_goal: MOST_MEDIAN_ERROR,
            signs: Share::default(),
            ranks: Share::default(),
        };
        let mut errors = Vec::new();
        for sheet in judged.iter().map(|judged| &judged.sheet) {
            let summary = sheet.summary_of(&[role]);
            all.cells += cells(sheet.table, role);
            all.signs.add(summary.signs);
            all.ranks.add(summary.ranks);
            errors.extend(sheet.errors(&[role]));
        }
        all.median_error = middle_and_worst(&errors).map(|(middle, _)| middle);
        all
    }

    /// One line, each figure beside its goal; none if there is no such cell.
    fn line(&self) -> Option<String> {
        let error = self.median_error.map(|error| error * 100.0);
        let error = error.map_or_else(|| "none".to_owned(), |error| format!("{error:.1} %"));
        (self.cells > 0).then(|| {
            format!(
                "role {}, {}: median error {error} (goal: at most {:.0} %), wrong signs {} \
                 of {} (goal: 0), groups in the wrong order {} of {} (goal: 0)",
                self.role,
                counted(self.cells, "cell"),
                self.median_error_goal * 100.0,
                self.signs.wrong(),
                self.signs.of,
                self.ranks.wrong(),
                self.ranks.of,
            )
        })
    }
}

/// The lines of the roles that are compared.
pub(crate) fn overall(judged: &[Judged]) -> Vec<String> {
    let all = Role::COMPARED.map(|role| Overall::of(judged, role).line());
    all.into_iter().flatten().collect()
}

/// One line: how many cells of `tables` are compared with published figures.
pub(crate) fn compared<'a>(tables: impl Iterator<Item = &'a Table> + Clone) -> String {
    let sum = |of: &dyn Fn(&Table) -> usize| tables.clone().map(of).sum::<usize>();
    format!(
        "figures in data/published: {}; cells predicted: {}; cells with a fitted think time: {}; \
         cells that the machine was fitted to: {}; cells shown only: {}; cells simulated only: {}",
        sum(&|table| table.figures),
        sum(&|table| cells(table, Role::Prediction)),
        sum(&|table| cells(table, Role::FittedThink)),
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
        "predicted",
        "fitted think",
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
            cells(table, Role::FittedThink),
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
