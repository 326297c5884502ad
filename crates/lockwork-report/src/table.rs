// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tables as the kernel's patch mails have them: columns, and no lines.

use comfy_table::{presets, CellAlignment, ContentArrangement, Table};

/// A table; the first column is aligned to the left, the others to the right.
pub fn render<H, R, C>(header: H, rows: impl IntoIterator<Item = R>) -> String
where
    H: IntoIterator<Item = C>,
    R: IntoIterator<Item = String>,
    C: Into<String>,
{
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_left_and_numbers_right() {
        let rows = [["a", "1"], ["bcd", "1000"]].map(|row| row.map(str::to_owned));
        let text = render(["lock", "n"], rows);
        assert_eq!(text, "lock     n\na        1\nbcd   1000");
    }
}
