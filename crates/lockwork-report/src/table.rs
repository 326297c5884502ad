// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tables as the kernel's patch mails have them: columns, and no lines. A table whose
//! rows are all there is rendered at once; one that grows row by row has its columns
//! fitted first.

use comfy_table::{presets, CellAlignment, ContentArrangement, Table};

use crate::text::length;

/// A table; the first column is aligned to the left, the others to the right.
pub fn render<H, R, C>(header: H, rows: impl IntoIterator<Item = R>) -> String
where
    H: IntoIterator<Item = C>,
    R: IntoIterator<Item = String>,
    C: Into<String>,
{
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.into_iter().map(Into::into).collect::<Vec<String>>());
    for row in rows {
        table.add_row(row.into_iter().collect::<Vec<String>>());
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    let lines: Vec<String> = table.lines().map(|l| l.trim_end().to_string()).collect();
    lines.join("\n")
}

/// The same in a terminal of so many columns: if it is wider, columns are left out, one group of
/// `less` after the other, and a last line names them. None: there is no limit.
pub fn within(
    width: Option<usize>,
    header: &[&str],
    rows: &[Vec<String>],
    less: &[&[usize]],
) -> String {
    let mut out = 0;
    loop {
        let gone = less[..out].concat();
        let is_left = |at: &usize| !gone.contains(at);
        let pick = |row: &Vec<String>| {
            let cells = (0..row.len()).filter(is_left).map(|at| row[at].clone());
            cells.collect::<Vec<String>>()
        };
        let heads = (0..header.len()).filter(is_left).map(|at| header[at]);
        let text = render(heads.collect::<Vec<_>>(), rows.iter().map(pick));
        let widest = text.lines().map(length).max().unwrap_or(0);
        if out < less.len() && width.is_some_and(|width| widest > width) {
            out += 1;
            continue;
        }
        return match &gone[..] {
            [] => text,
            gone => {
                let gone: Vec<&str> = gone.iter().map(|at| header[*at]).collect();
                format!("{text}\n(a wider terminal shows: {})", gone.join(", "))
            }
        };
    }
}

/// Names and what they mean: one line each, behind `indent`; the meanings are aligned.
pub fn described<N, W>(indent: &str, rows: impl IntoIterator<Item = (N, W)>) -> String
where
    N: AsRef<str>,
    W: AsRef<str>,
{
    let rows: Vec<[String; 2]> = rows
        .into_iter()
        .map(|(name, what)| {
            [
                format!("{indent}{}", name.as_ref()),
                what.as_ref().to_owned(),
            ]
        })
        .collect();
    let mut columns = Columns::new(&[("", Align::Left); 2]);
    rows.iter().for_each(|row| columns.fit(row));
    rows.iter().map(|row| columns.row(row)).collect()
}

/// Which end of a cell is filled up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The right end: text.
    Left,
    /// The left end: numbers.
    Right,
}

/// The columns of a table that is printed row by row, so they must fit before the first
/// row. The last one takes what it needs.
#[derive(Debug)]
pub struct Columns {
    columns: Vec<(Align, usize)>,
}

impl Columns {
    /// As wide as their headings.
    pub fn new(headings: &[(&str, Align)]) -> Self {
        let columns = headings.iter().map(|(text, align)| (*align, length(text)));
        Columns {
            columns: columns.collect(),
        }
    }

    /// Makes room for a row.
    pub fn fit<T: AsRef<str>>(&mut self, cells: &[T]) {
        for ((_, width), cell) in self.columns.iter_mut().zip(cells) {
            *width = length(cell.as_ref()).max(*width);
        }
    }

    /// A row, with its line's end.
    pub fn row<T: AsRef<str>>(&self, cells: &[T]) -> String {
        let mut text = String::new();
        for ((align, width), cell) in self.columns.iter().zip(cells) {
            let cell = cell.as_ref();
            let fill = " ".repeat(width.saturating_sub(length(cell)));
            match align {
                Align::Left => text += &format!("{cell}{fill}  "),
                Align::Right => text += &format!("{fill}{cell}  "),
            }
        }
        format!("{}\n", text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_left_and_numbers_right() {
        let rows = [["a", "1"], ["bcd", "1000"]].map(|row| row.map(str::to_owned));
        let text = render(["lock", "n"], rows);
        assert_eq!(text, "lock     n\na        1\nbcd   1000");
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns() {
        let rows = [vec!["a".to_owned(), "1000".to_owned(), "2".to_owned()]];
        let of = |width| within(width, &["lock", "number", "rest"], &rows, &[&[2], &[1]]);
        assert_eq!(of(None), "lock  number  rest\na       1000     2");
        assert_eq!(of(Some(18)), of(None));
        let narrow = "lock  number\na       1000\n(a wider terminal shows: rest)";
        assert_eq!(of(Some(17)), narrow);
        let least = "lock\na\n(a wider terminal shows: rest, number)";
        assert_eq!(of(Some(3)), least);
    }

    #[test]
    fn meanings_of_names_line_up() {
        let rows = [("a", "one"), ("bcd", "another")];
        assert_eq!(described("  ", rows), "  a    one\n  bcd  another\n");
        assert_eq!(described("", [("a", "b"); 0]), "");
    }

    #[test]
    fn columns_line_up() {
        let mut columns = Columns::new(&[
            ("name", Align::Left),
            ("number", Align::Right),
            ("rest", Align::Left),
        ]);
        columns.fit(&["longer", "1"]);
        assert_eq!(
            columns.row(&["name", "number", "rest"]),
            "name    number  rest\n"
        );
        assert_eq!(
            columns.row(&["a→b", "7", "as long as it is"]),
            "a→b          7  as long as it is\n"
        );
        assert_eq!(columns.row(&["a", "", ""]), "a\n");
    }
}
