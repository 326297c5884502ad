// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The workloads that the program carries inside itself.

use super::file::parse;
use super::model::Workload;
use crate::data;
use anyhow::{Context, Result};
use include_dir::{include_dir, Dir};
use lockwork_report::bail_usage;

/// `data/workloads`, as it was when this was built.
static SHIPPED: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../data/workloads");

/// The workloads that come with the program, by name.
pub fn names() -> Vec<&'static str> {
    data::names(&SHIPPED)
}

/// All that the program carries, read.
///
/// # Errors
/// A file is wrong, which a test rules out.
pub fn all() -> Result<Vec<Workload>> {
    names().into_iter().map(load).collect()
}

/// The workload of that name; or, if `what` has a slash or ends in `.toml`, the
/// one in that file.
///
/// # Errors
/// There is none of that name, or the file cannot be read or is wrong; with the
/// line, and what would be right.
pub fn load(what: &str) -> Result<Workload> {
    if data::is_path(what) {
        let text = lockwork_report::input::text(what.as_ref())
            .with_context(|| format!("cannot read the workload '{what}'"))?;
        let stem = std::path::Path::new(what).file_stem();
        let name = stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        return parse(what, &name, &text);
    }
    let file = format!("{what}.toml");
    match data::text(&SHIPPED, &file) {
        Some(text) => parse(&format!("data/workloads/{file}"), what, text),
        None => bail_usage!(
            "there is no workload '{what}'; give the path of a file (with a slash, or ending in \
             .toml), or one of these: {}",
            names().join(", ")
        ),
    }
}
