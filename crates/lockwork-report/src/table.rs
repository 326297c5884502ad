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
