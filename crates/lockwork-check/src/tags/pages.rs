// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Whether the locks' pages list the tags that the code has.
//!
//! A page has a table whose first column is headed `tag`. Its rows are `.X`, for
//! the page's own lock, or `stem.X`, and have as many cells as its head.
use super::comment::{partners, stem, tag_name};
use super::index::{belongs, file_stem, Index, Problem, Tag};

/// A row of a table of tags.
struct Row<'a> {
    page: &'a str,
    line: u32,
    tag: String,
    /// What the table's partner column says, if it has one.
    partners: Option<Vec<String>>,
    cells: usize,
    /// Cells in the head of the table, if that is a table of tags.
    columns: Option<usize>,
}

/// Where the pages' tables of tags and the tags of `index` differ. A page is
/// given by its name, as `mutex.md`, and its text. A tag belongs on the page of
/// its file; where there is no such page, on any one.
pub fn page_problems(index: &Index, pages: &[(&str, &str)]) -> Vec<Problem> {
    let rows: Vec<Row<'_>> = pages
        .iter()
        .flat_map(|(page, text)| rows(page, text))
        .collect();
    let mut problems: Vec<Problem> = rows
        .iter()
        .filter_map(|row| row_problem(index, row))
        .collect();
    for tag in index.tags.values() {
        problems.extend(missing_row(tag, pages, &rows));
    }
    problems.sort();
    problems
}

fn row_problem(index: &Index, row: &Row<'_>) -> Option<Problem> {
    let name = &row.tag;
    let cells = row.cells;
    let text = match (index.tags.get(name), &row.partners) {
        _ if row.columns.is_some_and(|columns| columns != cells) => format!(
            "the row of {name} has {cells} cells, its table has {} columns: \
             give each tag a line of its own",
            row.columns.unwrap_or_default()
        ),
        (None, _) => format!("{name} is in no source: correct or remove the row"),
        (Some(tag), Some(partners)) if *partners != tag.partners => format!(
            "{name} pairs with {} here, with {} at {}:{}: correct one of them",
            spoken(partners),
            spoken(&tag.partners),
            tag.file,
            tag.line
        ),
        _ => return None,
    };
    Some(Problem {
        file: row.page.to_owned(),
        line: row.line,
        text,
    })
}

fn spoken(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    names.join(", ")
}

fn missing_row(tag: &Tag, pages: &[(&str, &str)], rows: &[Row<'_>]) -> Option<Problem> {
    let is_own = |page: &str| belongs(stem(&tag.name), file_stem(page));
    let own = pages.iter().map(|page| page.0).find(|page| is_own(page));
    let is_row = |row: &Row<'_>| row.tag == tag.name && (own.is_none() || is_own(row.page));
    if rows.iter().any(is_row) {
        return None;
    }
    let place = own.map_or("any page".to_owned(), |page| format!("the table of {page}"));
    Some(Problem {
        file: tag.file.clone(),
        line: tag.line,
        text: format!("{} has no row in {place}: add one", tag.name),
    })
}

/// The rows of a page that name tags.
fn rows<'a>(page: &'a str, text: &str) -> Vec<Row<'a>> {
    let file = file_stem(page);
    let own_stem = file.strip_suffix("_lock").unwrap_or(file);
    let (mut partner_column, mut columns) = (None, None);
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some(table) = line.trim().strip_prefix('|') else {
            (partner_column, columns) = (None, None);
            continue;
        };
        let cells = cells(table);
        let first = cells.first().map_or("", |cell| cell.trim_matches('`'));
        if first.eq_ignore_ascii_case("tag") {
            partner_column = cells.iter().position(|cell| is_partner_header(cell));
            columns = Some(cells.len());
        } else if let Some(tag) = tag_name(first, own_stem) {
            let cell = partner_column.map(|column| cells.get(column).map_or("", |cell| cell));
            rows.push(Row {
                page,
                line: number,
                partners: cell.map(|cell| partners(cell, &tag)),
                cells: cells.len(),
                columns,
                tag,
            });
        }
    }
    rows
}

fn is_partner_header(cell: &str) -> bool {
    cell.eq_ignore_ascii_case("partner") || cell.eq_ignore_ascii_case("partners")
}

/// The cells of a row without its first bar. An escaped bar is none; what it
/// leaves behind does not matter here.
fn cells(row: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, c) in row.char_indices() {
        if c == '|' && !escaped {
            cells.push(row[start..at].trim());
            start = at + 1;
        }
        escaped = c == '\\';
    }
    cells
}
