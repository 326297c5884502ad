// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where the table, the JSON and the chart go. The files are opened before the first run: an
//! hour of measuring must not end with "permission denied".

use std::path::Path;

use anyhow::Result;
use lockwork_report::target::Target;
use lockwork_report::{bail_usage, spare, text};
use serde::Serialize;

/// Whether all of `paths` are different files.
///
/// # Errors
/// Two are the same.
pub fn distinct(paths: &[(&str, Option<&Path>)]) -> Result<()> {
    let given = paths
        .iter()
        .filter_map(|(option, path)| Some((option, (*path)?)));
    let given: Vec<_> = given.filter(|(_, path)| *path != Path::new("-")).collect();
    for (at, (option, path)) in given.iter().enumerate() {
        if let Some((other, _)) = given[..at].iter().find(|(_, earlier)| earlier == path) {
            bail_usage!("{other} and {option} name one file, {}", path.display());
        }
    }
    Ok(())
}

/// Whether none of `paths` is a program, or one of `inputs`, which the command reads.
///
/// # Errors
/// One is.
pub fn spared(paths: &[(&str, Option<&Path>)], inputs: &[&Path]) -> Result<()> {
    for path in paths.iter().filter_map(|(_, path)| *path) {
        spare::inputs(path, inputs)?;
        spare::programs(path)?;
    }
    Ok(())
}

/// Prints `table`, and writes `report` as JSON where it was asked for. JSON on standard
/// output has that to itself; the table then goes to standard error.
///
/// The file is written first: standard output may be gone.
pub fn show(table: &str, report: &impl Serialize, json: &mut Option<Target>) -> Result<()> {
    let to_stdout = matches!(json, Some(Target::Stdout));
    let written = json.as_mut().map_or(Ok(()), |json| {
        let text = serde_json::to_string_pretty(report)?;
        json.write(&format!("{text}\n"))
    });
    let shown = if to_stdout {
        text::complain(table);
        Ok(())
    } else {
        text::print(table)
    };
    written.and(shown)
}
