// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where the JSON and the chart go. The files are opened before the first run: an
//! hour of measuring must not end with "permission denied".

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use crate::error::{Exit, OWN_ERROR};
use lockwork_report::{bail_usage, text};

/// Where to write a result.
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file that gets its name once it is complete.
    File {
        /// Open under another name.
        file: File,
        /// That name.
        temporary: PathBuf,
        /// The name to give it.
        path: PathBuf,
    },
    /// A device or a pipe, written in place.
    Device {
        /// Open for writing.
        file: File,
        /// Its name.
        path: PathBuf,
    },
}

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

impl Target {
    /// Makes sure that `path` can be written.
    pub fn open(path: &Path) -> Result<Target> {
        if path == Path::new("-") {
            return Ok(Target::Stdout);
        }
        let path = path.to_path_buf();
        if fs::metadata(&path).is_ok_and(|m| !m.is_file()) {
            let file = OpenOptions::new().write(true).open(&path);
            let file = file.map_err(|e| refused(&path, &e))?;
            return Ok(Target::Device { file, path });
        }
        // Through a symbolic link, so that the link stays.
        let path = fs::canonicalize(&path).unwrap_or(path);
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create_new(&temporary).map_err(|e| refused(&path, &e))?;
        Ok(Target::File {
            file,
            temporary,
            path,
        })
    }

    /// Writes all of `result`.
    pub fn write(&mut self, result: &str) -> Result<()> {
        match self {
            Target::Stdout => text::print(result),
            Target::Device { file, path } => file
                .write_all(result.as_bytes())
                .map_err(|e| refused(path, &e)),
            Target::File {
                file,
                temporary,
                path,
            } => file
                .write_all(result.as_bytes())
                .and_then(|()| fs::rename(&*temporary, &*path))
                .map_err(|e| refused(path, &e)),
        }
    }
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

impl Drop for Target {
    fn drop(&mut self) {
        if let Target::File { temporary, .. } = self {
            let _ = fs::remove_file(temporary); // gone already, once it has its name
        }
    }
}

fn refused(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let message = format!(
        "cannot write to '{}': {error}; name a file that you can write to",
        path.display()
    );
    Exit::with(OWN_ERROR, message)
}
