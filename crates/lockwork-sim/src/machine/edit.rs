// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A machine's file with other numbers.

use super::file::File;
use super::parse::{parse, Loaded};
use anyhow::{anyhow, bail, Result};

/// The file `text` with the numbers of these paths (`line.hold`) in place of its own; all
/// else, comments too, stays as it is.
///
/// # Errors
/// The file is wrong, or has no such number.
pub(crate) fn with_numbers(text: &str, numbers: &[(String, f64)]) -> Result<String> {
    let file: File = toml::from_str(text)?;
    let entries = file.entries();
    let mut places = Vec::new();
    for (path, number) in numbers {
        match entries.iter().find(|entry| entry.path == *path) {
            Some(entry) => places.push((entry.span.clone(), number.to_string())),
            None => bail!("the file has no number {path}"),
        }
    }
    // The last ones first: they do not move the others.
    places.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = text.to_owned();
    for (span, number) in places {
        text.replace_range(span, &number);
    }
    Ok(text)
}

/// A machine that has no matrix, from its file's text.
///
/// # Errors
/// A line of it is wrong.
pub(crate) fn from_text(name: &str, text: &str) -> Result<Loaded> {
    let beside = |file: &str| bail!("{file} is not read here: give a machine without a matrix");
    parse(name, text, &beside).map_err(|fault| anyhow!("{}", fault.tell(name, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../../../data/machines/westmere-ex-4s.toml");

    #[test]
    fn only_the_numbers_change() {
        let numbers = [("line.hold", 0.25), ("distance.hop1.load", 123.5)];
        let numbers = numbers.map(|(path, number)| (path.to_owned(), number));
        let text = with_numbers(FILE, &numbers).expect("edited");
        let changed = FILE.lines().zip(text.lines()).filter(|(a, b)| a != b);
        assert_eq!(changed.count(), 2);
        let machine = from_text("other", &text).expect("sound").machine;
        assert_eq!(machine.line.hold, 0.25);
        assert_eq!(
            machine.costs[super::super::Distance::Hop1 as usize].load,
            123.5
        );
        let error = with_numbers(FILE, &[("line.width".to_owned(), 1.0)]);
        assert!(error.is_err_and(|error| error.to_string().contains("line.width")));
    }
}
