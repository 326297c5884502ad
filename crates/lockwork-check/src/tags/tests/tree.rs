// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The real locks, and the real check world.
use super::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn locks() -> Vec<(String, String)> {
    read_tree(&root()).expect("the locks are part of a checkout")
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    let pairs = files.iter();
    pairs
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect()
}

/// The primitives that a file names, found without any knowledge of functions
/// and statements: words outside of comments in the locks' style.
fn primitives(text: &str) -> Vec<&str> {
    let mut directive = false;
    let is_code = |line: &&str| {
        let start = line.trim_start();
        let macro_line = directive || start.starts_with('#');
        directive = macro_line && line.ends_with('\\');
        !macro_line && !["*", "//"].iter().any(|mark| start.starts_with(mark))
    };
    text.lines()
        .filter(is_code)
        .filter_map(|line| line.split("/*").next())
        .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .filter(|word| order_of(word).is_some())
        .collect()
}

/// Files of the user world that define primitives.
const DEFINING: [&str; 2] = ["atomic.h", "host.h"];

/// The user world also defines functions with a primitive's name; none of them orders.
#[test]
fn no_call_is_overlooked() {
    let files = locks();
    let index = index(&borrowed(&files));
    assert!(!index.sites.is_empty() && files.is_sorted());
    for (name, text) in &files {
        let sites = index.sites.iter().filter(|site| site.file == *name);
        let is_lock = root().join("locks").join(name).exists();
        if !is_lock && DEFINING.contains(&name.as_str()) {
            continue;
        }
        let counts = |name: &&str| is_lock || order_of(name) != Some(Order::Relaxed);
        let named = sites.clone().map(|site| site.primitive.as_str());
        let found: Vec<_> = named
            .filter(|name| !name.starts_with("__"))
            .filter(counts)
            .collect();
        let written: Vec<_> = primitives(text).into_iter().filter(counts).collect();
        assert_eq!(found, written, "{name}");
        for site in sites {
            let line = text.lines().nth(site.first_line as usize - 1);
            let line = line.unwrap_or_default();
            assert!(line.contains(&site.primitive), "{site:?} is not in: {line}");
        }
    }
}

#[test]
fn no_tag_in_the_locks_is_overlooked() {
    let files = locks();
    let index = index(&borrowed(&files));
    let found: BTreeSet<&str> = index.tags.keys().map(String::as_str).collect();
    let is_tag =
        |name: &&str| matches!(name.split_once('.'), Some((_, letter)) if letter.len() == 1);
    let named: BTreeSet<&str> = files
        .iter()
        .flat_map(|(_, text)| text.split('[').skip(1))
        .filter_map(|text| text.split_once(']').map(|(name, _)| name))
        .filter(is_tag)
        .collect();
    assert!(named.contains("mutex.A") && named.contains("epoch.B"));
    assert!(named.contains("slots.A") && named.contains("host.A"));
    assert_eq!(found, named);
}

/// Nothing is wrong in the tree, and it would have been found.
#[test]
fn each_ordering_has_its_partner() {
    let files = locks();
    let pages = read_pages(&root()).expect("the locks' pages are part of a checkout");
    let index = index(&borrowed(&files));
    assert_eq!(problems(&index), []);
    assert_eq!(page_problems(&index, &borrowed(&pages)), []);
    let without_pages = page_problems(&index, &[]);
    assert_eq!(without_pages.len(), index.tags.len());
}

/// Each macro of the check world that calls the model checker is a primitive
/// here, of the order that it passes on, and with the operand that it names.
#[test]
fn primitives_are_those_of_the_check_world() {
    let headers = ["atomic", "thread", "tuning"].map(|name| {
        let path = root().join(format!("platform/check/{name}.h"));
        std::fs::read_to_string(path).expect("the check world is part of a checkout")
    });
    let header = headers.concat();
    let mut count = 0;
    for definition in header.replace("\\\n", " ").split("#define ").skip(1) {
        let line = definition.lines().next().unwrap_or_default();
        let Some((name, rest)) = line.split_once('(') else {
            continue;
        };
        if !line.contains(&format!("\"{name}\"")) {
            continue;
        }
        count += 1;
        assert_eq!(order_of(name), Some(order_passed_on(line)), "{name}");
        let amount_first = rest.starts_with("i, a)");
        assert_eq!(order::operand_of(name), usize::from(amount_first), "{name}");
    }
    assert!(count > 30, "only {count} are found: mend this test");
    assert_eq!(order_of("lk_tas_lock_acquire"), None);
}

fn order_passed_on(line: &str) -> Order {
    let orders = [
        ("LWC_DEP", Order::Dependency),
        ("LWC_ACQUIRE", Order::Acquire),
        ("LWC_RELEASE", Order::Release),
        ("LWC_FULL", Order::Full),
        ("LWC_WMB", Order::WriteBarrier),
        ("LWC_MB", Order::FullBarrier),
    ];
    let found = orders.iter().find(|(name, _)| line.contains(name));
    found.map_or(Order::Relaxed, |(_, order)| *order)
}

#[test]
fn a_tree_without_locks_is_one_sentence() {
    let missing = read_tree(Path::new("no/such/tree")).expect_err("there is no such folder");
    let text = format!("{missing:#}");
    assert!(text.starts_with("cannot read no/such/tree/locks ("));
    assert!(text.ends_with("): name the root of a Lockwork source tree"));
}
