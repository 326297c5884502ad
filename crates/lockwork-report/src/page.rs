// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pages that a program writes: sections between marks, so that each can be made again
//! alone and compared.

use crate::input;
use crate::spare;
use crate::target::Target;
use anyhow::{bail, Context, Result};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// What a page is made of, as users name it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// "part".
    pub noun: &'static str,
    /// The command that writes the page: "lockwork rivals --write".
    pub writer: &'static str,
}

impl Kind {
    /// A section with its marks. `text` ends a line.
    pub fn section(&self, name: &str, text: &str) -> String {
        let noun = self.noun;
        format!("<!-- {noun}: {name} -->\n{text}<!-- end of {noun} -->\n")
    }

    /// What is to be said of the sections that were made again, and whether all are as on
    /// the page: each is there as it is now.
    pub fn compared(&self, page: &Path, made: usize, differ: &[&str]) -> (bool, String) {
        let page = page.display();
        match differ {
            [] => {
                let same = crate::text::counted(made, self.noun);
                (true, format!("{page}: {same} as made now\n"))
            }
            _ => (
                false,
                format!(
                    "lockwork: {page}: not as made now: {}; write it anew with {}\n",
                    differ.join(", "),
                    self.writer
                ),
            ),
        }
    }
}

/// Reads a page.
///
/// # Errors
/// The file.
pub fn read(path: &Path) -> Result<String> {
    input::text(path).with_context(|| format!("cannot read '{}'", path.display()))
}

/// Whether the page can be written when the work is done. What it says stays, and so does
/// that it is not there yet.
///
/// # Errors
/// It cannot, or is a program.
pub fn writable(path: &Path) -> Result<()> {
    spare::programs(path)?;
    let facts = std::fs::metadata(path);
    // A pipe is not opened here: when it is closed again, its reader sees an end.
    if facts.is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
        return Ok(());
    }
    let is_new = !path.exists();
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened
        .map(drop)
        .with_context(|| format!("cannot write '{}'", path.display()))?;
    if is_new {
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// Writes a page. If that fails, what the file said before stays.
///
/// # Errors
/// The file.
pub fn write(path: &Path, text: &str) -> Result<()> {
    Target::open(path)?.write(text)
}

/// The folder of a page's charts: of the same name, beside it.
///
/// # Errors
/// The page's name has no extension that tells both apart.
pub fn folder(path: &Path) -> Result<PathBuf> {
    if path.extension().is_none() {
        bail!(
            "'{}' is no page: its charts' folder would have the same name",
            path.display()
        );
    }
    Ok(path.with_file_name(stem(path)))
}

/// `rivals` of `docs/rivals.md`.
pub fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// A table in Markdown: the first column to the left, the others to the right. Names are
/// escaped by the caller, where they need it.
pub fn table<H: AsRef<str>>(header: &[H], rows: &[Vec<String>]) -> String {
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let header: Vec<&str> = header.iter().map(AsRef::as_ref).collect();
    let mut text = line(&header);
    text += &format!("|---|{}\n", "---:|".repeat(header.len() - 1));
    for row in rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        text += &line(&cells);
    }
    text
}

/// A name with underscores, as Markdown's text has it.
pub fn escaped(name: &str) -> String {
    name.replace('_', "\\_")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind {
        noun: "part",
        writer: "lockwork rivals --write",
    };

    #[test]
    fn a_section_is_between_its_marks() {
        assert_eq!(
            KIND.section("a", "text\n"),
            "<!-- part: a -->\ntext\n<!-- end of part -->\n"
        );
    }

    #[test]
    fn a_difference_is_named_with_what_to_do() {
        let page = Path::new("x.md");
        let (same, text) = KIND.compared(page, 2, &[]);
        assert!(same && text == "x.md: 2 parts as made now\n", "{text}");
        let (same, text) = KIND.compared(page, 2, &["b"]);
        assert!(!same && text.contains("now: b;") && text.contains(KIND.writer));
    }

    #[test]
    fn what_cannot_be_written_shows_before_the_work() {
        let error = writable(Path::new("/nowhere/x.md")).expect_err("no folder");
        assert!(format!("{error:#}").starts_with("cannot write '/nowhere/x.md'"));
        assert!(folder(Path::new("rivals")).is_err());
        assert_eq!(
            folder(Path::new("docs/rivals.md")).expect("a page"),
            Path::new("docs/rivals")
        );
    }

    #[test]
    fn a_table_has_a_line_for_each_row() {
        let text = table(&["Lock", "8"], &[vec![escaped("tas_lock"), "1".to_owned()]]);
        assert_eq!(text, "| Lock | 8 |\n|---|---:|\n| tas\\_lock | 1 |\n");
    }
}
