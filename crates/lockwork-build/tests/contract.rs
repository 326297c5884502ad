// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table of `platform/CONTRACT.md` is complete: each name that a lock takes from
//! `<platform.h>` is in it, and each name in it is defined in all worlds and used.
use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

type Names = BTreeSet<String>;

const HEADERS: [&str; 3] = ["atomic.h", "thread.h", "tuning.h"];

/// A row of the table.
struct Row {
    names: Vec<String>,
    /// What it says of the kernel's world.
    kernel: String,
}

fn read(path: impl AsRef<Path>) -> String {
    let path = lockwork_build::root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All C files of a folder below the workspace.
fn sources(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(lockwork_build::root().join(folder)).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_c = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "c" || ext == "h");
    paths.filter(is_c).collect()
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}

/// `text` without its comments and literals.
fn code(text: &str) -> String {
    let text = regex(r"(?s)/\*.*?\*/").replace_all(text, " ");
    let text = regex("//.*").replace_all(&text, "");
    regex(r#""(\\.|[^"\\])*""#)
        .replace_all(&text, "0")
        .into_owned()
}

fn captured(pattern: &str, text: &str) -> Names {
    let names = regex(pattern)
        .captures_iter(text)
        .map(|found| found[1].to_owned())
        .collect();
    names
}

/// Macros, functions and types that a header defines or declares.
fn defined(header: impl AsRef<Path>) -> Names {
    let code = code(&read(header));
    [
        r"(?m)^#define (\w+)",
        r"(?m)^[A-Za-z_][^\n#;={}]*?\b\**(\w+)\(",
        r"(?m)^struct (\w+) \{",
        r"(?m)^\} (\w+);",
    ]
    .iter()
    .flat_map(|pattern| captured(pattern, &code))
    .collect()
}

/// The identifiers of a file, but for those that a `#define` in it defines.
fn used(file: impl AsRef<Path>) -> Names {
    let code = code(&read(file));
    let code = regex(r"(?m)^#define \w+").replace_all(&code, "");
    captured(r"\b([A-Za-z_]\w*)\b", &code)
}

/// What is in all worlds, from the tables that they share.
fn shared() -> Names {
    let mut names = captured(
        r"(?m)^LK_(?:LIMIT|PARAM)\((\w+)",
        &read("platform/knobs.def"),
    );
    names.extend(defined("platform/knobs.h"));
    names.extend(defined("platform/events.h"));
    names
}

/// The worlds, with what a lock finds in each. The user's is there with either host.
fn worlds() -> Vec<(&'static str, Names)> {
    let world = |folder: &str| -> Names {
        let headers = HEADERS.map(|name| format!("platform/{folder}/{name}"));
        // The kernel has its own types.
        let types = (folder != "kernel").then(|| "platform/types.h".to_owned());
        let stays = matches!(folder, "kernel" | "sim").then(|| "platform/stays.h".to_owned());
        let names = headers
            .into_iter()
            .chain(types)
            .chain(stays)
            .flat_map(defined);
        names.chain(shared()).collect()
    };
    let hosted = |host: &str| {
        let host = defined(format!("platform/{host}/host.h"));
        world("user").into_iter().chain(host).collect()
    };
    vec![
        ("user, library", hosted("library")),
        ("user, interposer", hosted("preload")),
        ("kernel", world("kernel")),
        ("check", world("check")),
        ("sim", world("sim")),
    ]
}

fn table() -> Vec<Row> {
    let contract = read("platform/CONTRACT.md");
    let (_, rest) = contract.split_once("\n## The table\n").expect("a table");
    let (table, _) = rest.split_once("\n\nAlso there: ").expect("its end");
    let name = regex(r"`(?:struct )?([A-Za-z_]\w*)[^`]*`");
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
        let names = name
            .captures_iter(cells[0])
            .map(|found| found[1].to_owned());
        Some(Row {
            names: names.collect(),
            kernel: cells.get(3)?.trim().to_owned(),
        })
    });
    rows.collect()
}

/// The names of the sentence behind the table, which says what else is there.
fn also() -> Names {
    let contract = read("platform/CONTRACT.md");
    let (_, rest) = contract.split_once("\n\nAlso there: ").expect("a sentence");
    captured(r"`(\w+)`", rest.split("\n\n").next().expect("a paragraph"))
}

#[test]
fn each_name_that_a_lock_takes_from_the_platform_is_in_the_table() {
    let documented: Names = table().into_iter().flat_map(|row| row.names).collect();
    let known: Names = [documented, also(), shared()]
        .into_iter()
        .flatten()
        .collect();
    let platform: Names = worlds().into_iter().flat_map(|(_, names)| names).collect();
    let mut missing = Names::new();
    for file in sources("locks") {
        let taken = used(file);
        missing.extend(taken.intersection(&platform).cloned());
    }
    missing.retain(|name| !known.contains(name));
    assert!(
        missing.is_empty(),
        "platform/CONTRACT.md: its table lacks {missing:?}"
    );
}

#[test]
fn each_name_in_the_table_is_defined_in_all_worlds() {
    let worlds = worlds();
    let mut wrong = Vec::new();
    for row in table() {
        let kernels_own = row.kernel.split(' ').any(|word| word == "name");
        for name in &row.names {
            for (world, names) in &worlds {
                let there = names.contains(name);
                if *world == "kernel" && row.kernel == "name" && there {
                    wrong.push(format!("{name} is defined in platform/kernel/"));
                } else if !(there || *world == "kernel" && kernels_own) {
                    wrong.push(format!("{name} is not defined in the world {world}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "platform/CONTRACT.md: {wrong:?}");
}

#[test]
fn each_name_in_the_table_is_used() {
    let files = ["locks", "platform", "platform/user", "platform/library"];
    let used: Names = files.into_iter().flat_map(sources).flat_map(used).collect();
    let names = table().into_iter().flat_map(|row| row.names);
    let unused: Vec<String> = names.filter(|name| !used.contains(name)).collect();
    assert!(
        unused.is_empty(),
        "platform/CONTRACT.md: nothing uses {unused:?}"
    );
}

#[test]
fn what_is_read_of_c_and_of_the_table() {
    let rows = table();
    assert!(rows.len() > 40, "{} rows", rows.len());
    let user = defined("platform/user/thread.h");
    for name in ["this_slot", "DEFINE_WAIT_NODES", "lkp_deadline", "wait_tag"] {
        assert!(user.contains(name), "{name}");
    }
    assert!(!code("a /* b */ \"c\" // d").contains(['b', 'c', 'd']));
    let mutex = used("locks/mutex_xchg.c");
    assert!(mutex.contains("wait_on_value") && !mutex.contains("relaxed"));
}
