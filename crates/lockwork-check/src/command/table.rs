// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tables that grow row by row, so their columns must fit before the first.

/// Which end of a cell is filled up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// The columns of a table. The last one takes what it needs.
#[derive(Debug)]
pub(crate) struct Columns {
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

/// In columns of a terminal: all that is printed is one wide.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// `text`, or its beginning and an ellipsis, in at most `width` columns.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    match width {
        0 => String::new(),
        _ => format!("{}…", kept.trim_end()),
    }
}

/// With commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Seconds with as many decimals as matter.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 100.0 => format!("{} s", grouped(s.round() as u64)),
        s => format!("{s:.1} s"),
    }
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn cut_text_says_so() {
        assert_eq!(cut("four", 4), "four");
        assert_eq!(cut("fives", 4), "fiv…");
        assert_eq!(cut("a bcd", 3), "a…");
        assert_eq!(cut("x", 0), "");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(seconds(61.26), "61.3 s");
        assert_eq!(seconds(1234.5), "1,235 s");
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(2000, "run"), "2,000 runs");
    }
}
