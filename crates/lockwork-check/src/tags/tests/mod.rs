// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Small C texts, each with one thing to find.
use super::*;

mod pages;
mod pairs;
mod scan;
mod tree;

/// The index of one file, `foo.c`.
fn foo(text: &str) -> Index {
    index(&[("foo.c", text)])
}

/// A file of functions with these bodies, `f0`, `f1` and so on.
fn bodies(bodies: &[&str]) -> String {
    let functions = bodies.iter().enumerate();
    functions
        .map(|(n, body)| format!("static void f{n}(u32 *p)\n{{\n{body}\n}}\n"))
        .collect()
}

/// The ordering accesses, as primitive and tag.
fn tagged(index: &Index) -> Vec<(&str, &str)> {
    let orderings = index.sites.iter().filter(|s| s.order != Order::Relaxed);
    orderings
        .map(|site| (site.primitive.as_str(), site.tag.as_deref().unwrap_or("-")))
        .collect()
}
