// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Each lock of the catalogue has a page, in the order of the others, and a row
//! in the list of pages that states its size.
use lockwork_catalogue::{catalogue, LockKind};
use std::path::{Path, PathBuf};

/// The headings that a page has in common with all others, in their order.
const HEADINGS: [&str; 11] = [
    "## Layout",
    "## States",
    "## Invariant",
    "## Life of a waiter",
    "## Memory orderings",
    "## Bounds on waiting",
    "## Fork",
    "## Slots and nesting",
    "## What differs from the kernel",
    "## Knobs",
    "## Sources",
];

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/locks")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
}

/// A row such as ``| [qspinlock](qspinlock.md) `fair` | 4 B | ...``.
struct Row {
    /// The name in the catalogue, `qspinlock_fair`.
    lock: String,
    page: String,
    size: String,
}

fn row(line: &str) -> Option<Row> {
    let (lock, rest) = line.strip_prefix("| [")?.split_once("](")?;
    let (page, rest) = rest.split_once(')')?;
    let (mode, rest) = rest.split_once(" | ")?;
    let (size, _) = rest.split_once(" |")?;
    Some(Row {
        lock: match mode.trim().trim_matches('`') {
            "" => lock.to_owned(),
            mode => format!("{lock}_{mode}"),
        },
        page: page.to_owned(),
        size: size.to_owned(),
    })
}

fn rows() -> Vec<Row> {
    let list = read(&pages().join("README.md"));
    list.lines().filter_map(row).collect()
}

/// What is missing for `kind`; empty: nothing.
fn missing(kind: &LockKind, rows: &[Row]) -> String {
    let name = kind.name();
    let Some(row) = rows.iter().find(|row| row.lock == name) else {
        return format!("{name}: no row in docs/locks/README.md");
    };
    let size = format!("{} B", kind.size());
    if row.size != size {
        return format!("{name}: its row says {}, but it has {size}", row.size);
    }
    let path = pages().join(&row.page);
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let words: Vec<&str> = page.split_whitespace().collect();
    let text = words.join(" ");
    let names = text.split_once("Catalogue name");
    let names = names.map_or("", |(_, rest)| rest.split('.').next().unwrap_or(rest));
    if !names.contains(&format!("`{name}`")) {
        return format!("{name}: {} has no \"Catalogue name: `{name}`.\"", row.page);
    }
    let mut from = 0;
    for heading in HEADINGS {
        match page[from..].find(heading) {
            Some(at) => from += at,
            None => return format!("{name}: {} has no {heading} in its place", row.page),
        }
    }
    String::new()
}

#[test]
fn each_lock_has_a_page_and_a_row() {
    let rows = rows();
    let kinds = catalogue();
    assert!(!kinds.is_empty(), "the catalogue is empty");
    let mut missing: Vec<String> = kinds.iter().map(|kind| missing(kind, &rows)).collect();
    missing.retain(|text| !text.is_empty());
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

/// A row of a lock that is gone, or a page that no row leads to.
#[test]
fn each_row_and_page_is_of_a_lock() {
    let rows = rows();
    let names: Vec<&str> = catalogue().iter().map(LockKind::name).collect();
    for row in &rows {
        assert!(
            names.contains(&row.lock.as_str()),
            "{}: no such lock",
            row.lock
        );
    }
    for entry in std::fs::read_dir(pages()).expect("docs/locks is part of a checkout") {
        let name = entry.expect("it can be listed").file_name();
        let listed = name == "README.md" || rows.iter().any(|row| name == *row.page);
        assert!(
            listed,
            "docs/locks/{}: no row leads to it",
            name.to_string_lossy()
        );
    }
}
