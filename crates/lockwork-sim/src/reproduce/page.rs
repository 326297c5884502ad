// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tables as people read them: as text, and as Markdown.

use super::cell::{Cell, Estimate, Role, Unit};
use super::judge::Judged;
use super::sheet::Sheet;
use super::statistics::{error, Summary};
use super::table::Table;
use super::target::Verdict;
use super::totals;
use lockwork_report::table::render;
use lockwork_report::text::counted;

/// What marks a value of a simulation that did not come to a steady state.
const NOT_SETTLED: &str = " (not settled)";

/// What marks a cell that does not count.
const fn mark(role: Role) -> &'static str {
    match role {
        Role::Calibration => "*",
        Role::Shown => "~",
        Role::FittedThink => "^",
        Role::Prediction => "",
    }
}

/// What the marks mean, of those that the table has.
fn legend(table: &Table) -> Vec<String> {
    let has = |role| table.cells.iter().any(|cell| cell.role == role);
    let parts = [
        (Role::Calibration, "the machine was fitted to it"),
        (Role::Shown, "shown only"),
    ];
    let parts = parts.into_iter().filter(|(role, _)| has(*role));
    let parts: Vec<String> = parts
        .map(|(role, words)| format!("{} {words}", mark(role)))
        .collect();
    let mut lines = Vec::new();
    if !parts.is_empty() {
        lines.push(format!("{}: not counted below", parts.join(", ")));
    }
    if has(Role::FittedThink) {
        let mark = mark(Role::FittedThink);
        lines.push(format!(
            "{mark} the workload's think time was fitted to figures of this table: no prediction"
        ));
    }
    lines
}

/// How far a cell is off.
fn off(cell: &Cell, simulated: f64) -> String {
    let mark = mark(cell.role);
    match cell.unit {
        Unit::Share => {
            let points = (simulated - cell.published) * 100.0;
            format!("{points:+.1} pp{mark}")
        }
        _ => {
            let percent = error(cell.published, simulated) * 100.0;
            format!("{percent:+.0} %{mark}")
        }
    }
}

/// A simulated value as tables show it, with its interval.
fn shown(unit: Unit, value: f64, known: Estimate) -> String {
    let mut text = unit.show(value);
    if let Some(half) = known.half {
        text += &format!(" {}", unit.show_half(value, half));
    }
    if known.unsettled {
        text += NOT_SETTLED;
    }
    text.trim_end().to_owned()
}

/// Each once, in the order in which they come first.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The header and the rows: three columns for each of the table.
fn grid(sheet: &Sheet) -> (Vec<String>, Vec<Vec<String>>) {
    let cells = &sheet.table.cells;
    let columns = distinct(cells.iter().map(|cell| cell.column.as_str()));
    let names = distinct(cells.iter().map(|cell| cell.row.as_str()));
    let mut header = vec![String::new()];
    for column in &columns {
        header.extend([*column, "simulated", "error"].map(str::to_owned));
    }
    let row = |name: &&str| {
        let mut row = vec![(*name).to_owned()];
        for column in &columns {
            let mut found = sheet.cells().enumerate();
            let found = found.find(|(_, (cell, _))| cell.row == *name && cell.column == *column);
            row.extend(match found {
                None => [(); 3].map(|()| "-".to_owned()),
                Some((_, (cell, None))) => [
                    cell.unit.show(cell.published),
                    "none".to_owned(),
                    mark(cell.role).to_owned(),
                ],
                Some((at, (cell, Some(value)))) => [
                    cell.unit.show(cell.published),
                    shown(cell.unit, value, sheet.known(at)),
                    off(cell, value),
                ],
            });
        }
        row
    };
    (header, names.iter().map(row).collect())
}

/// The same of what nobody published: a column for each.
fn beside_grid(sheet: &Sheet) -> (Vec<String>, Vec<Vec<String>>) {
    let all = &sheet.table.beside;
    let columns = distinct(all.iter().map(|one| one.column.as_str()));
    let rows = distinct(all.iter().map(|one| one.row.as_str()));
    let cell = |row: &str, column: &str| {
        let mut all = sheet.beside().enumerate();
        let found = all.find(|(_, (one, _))| one.row == row && one.column == column);
        match found {
            None => "-".to_owned(),
            Some((_, (_, None))) => "none".to_owned(),
            Some((at, (one, Some(value)))) => shown(one.unit, value, sheet.known_beside(at)),
        }
    };
    let line = |row: &&str| {
        let cells = columns.iter().map(|column| cell(row, column));
        std::iter::once((*row).to_owned()).chain(cells).collect()
    };
    let names = columns.iter().map(|&column| column.to_owned());
    let header = std::iter::once(String::new()).chain(names).collect();
    (header, rows.iter().map(line).collect())
}

/// The figures below a table, in one line.
fn figures(summary: &Summary) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let kinds = [
        (summary.predictions, "prediction", ""),
        (summary.fitted_think, "cell", " with a fitted think time"),
    ];
    let kinds = kinds.iter().filter(|(count, ..)| *count > 0);
    let kinds: Vec<String> = kinds
        .map(|(count, one, more)| counted(*count, one) + more)
        .collect();
    let mut text = format!(
        "{}: groups in order {} of {} (pairs {} of {}), signs {} of {}",
        kinds.join(", "),
        summary.ranks.right,
        summary.ranks.of,
        summary.pairs.right,
        summary.pairs.of,
        summary.signs.right,
        summary.signs.of,
    );
    if let (Some(median), Some(worst)) = (summary.median_error, summary.worst_error) {
        text += &format!(
            ", error median {}, worst {}",
            percent(median),
            percent(worst)
        );
    }
    if let (Some(median), Some(null)) = (summary.differing_error, summary.null_error) {
        text += &format!(
            "; {} published to differ: error median {}, without any difference {}",
            summary.differing,
            percent(median),
            percent(null)
        );
    }
    text
}

fn verdict(verdict: &Verdict) -> String {
    let (words, bound) = verdict.bound.parts();
    let found = verdict
        .found
        .map_or_else(|| "no value".to_owned(), |found| verdict.form.show(found));
    format!(
        "{}  {}: {found} ({words} {})",
        if verdict.met { "met   " } else { "MISSED" },
        verdict.name,
        verdict.form.show(bound)
    )
}

/// All tables, and what became of the targets.
pub(crate) fn text(judged: &[Judged]) -> String {
    let pages: Vec<String> = judged.iter().map(text_of).collect();
    let all = in_all(judged).into_iter();
    let all: String = all.map(|line| format!("  {line}\n")).collect();
    format!("{}\nIn all\n{all}", pages.join("\n"))
}

/// The lines about all tables together.
fn in_all(judged: &[Judged]) -> Vec<String> {
    let tables = judged.iter().map(|judged| judged.sheet.table);
    let mut lines = vec![totals::missed(judged), totals::compared(tables)];
    lines.extend(totals::overall(judged));
    lines
}

fn text_of(judged: &Judged) -> String {
    let table = judged.sheet.table;
    let mut text = format!("{}: {}\n", table.name, table.title);
    text += &format!("machine {}; published: {}\n", table.machine, table.source);
    for note in &table.notes {
        text += &format!("note: {note}\n");
    }
    if !table.cells.is_empty() {
        let (header, rows) = grid(&judged.sheet);
        text += &format!("\n{}\n", render(header, rows));
        for line in legend(table) {
            text += &format!("{line}\n");
        }
        text += &format!("\n{}\n", figures(&judged.summary));
    }
    if !table.beside.is_empty() {
        let (header, rows) = beside_grid(&judged.sheet);
        text += &format!("\nSimulated only:\n{}\n\n", render(header, rows));
    }
    for line in &judged.sheet.failures {
        text += &format!("no value: {line}\n");
    }
    for target in &judged.verdicts {
        text += &format!("  {}\n", verdict(target));
    }
    text
}

/// The same, as Markdown.
pub(crate) fn markdown(judged: &[Judged]) -> String {
    let pages: Vec<String> = judged.iter().map(markdown_of).collect();
    let all = in_all(judged).into_iter();
    let all: String = all.map(|line| format!("- {line}\n")).collect();
    format!("{}\n### In all\n\n{all}", pages.join("\n"))
}

fn markdown_of(judged: &Judged) -> String {
    let table = judged.sheet.table;
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = format!("### `{}`\n\n", table.name);
    text += &format!(
        "{}; machine `{}`. Published: {}\n\n",
        escaped(table.title),
        table.machine,
        escaped(&table.source)
    );
    let whole = |(header, rows): (Vec<String>, Vec<Vec<String>>)| {
        let rule = format!("|---{}|\n", "|---:".repeat(header.len() - 1));
        let rows: String = rows.iter().map(|row| line(row)).collect();
        format!("{}{rule}{rows}\n", line(&header))
    };
    if !table.cells.is_empty() {
        text += &whole(grid(&judged.sheet));
    }
    for words in legend(table).iter().chain(&table.notes) {
        text += &format!("- {}\n", escaped(words));
    }
    for line in &judged.sheet.failures {
        text += &format!("- no value: {}\n", escaped(line));
    }
    text += "\n";
    if !table.cells.is_empty() {
        text += &format!("{}.\n\n", escaped(&figures(&judged.summary)));
    }
    if !table.beside.is_empty() {
        text += "Simulated only:\n\n";
        text += &whole(beside_grid(&judged.sheet));
    }
    text += "| target | found | bound | |\n|---|---:|---:|---|\n";
    for target in &judged.verdicts {
        let (words, bound) = target.bound.parts();
        let found = target
            .found
            .map_or_else(String::new, |n| target.form.show(n));
        let met = if target.met { "met" } else { "**missed**" };
        text += &line(&[
            target.name.clone(),
            found,
            format!("{words} {}", target.form.show(bound)),
        ])
        .replace(" |\n", &format!(" | {met} |\n"));
    }
    text
}

/// What Markdown would take for itself.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "|*_~<>[]`".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
