// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where the explanation goes.

use anyhow::{Context, Result};
use lockwork_report::spare;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file, if one was named. It is opened before anything runs, so that a run is not lost to a
/// name that cannot be written.
pub struct Output(Option<(PathBuf, File)>);

impl Output {
    /// Opens `path`. What is in it stays until there is something to write.
    ///
    /// # Errors
    /// It cannot be written, or is a program.
    pub fn open(path: Option<&Path>) -> Result<Output> {
        let Some(path) = path else {
            return Ok(Output(None));
        };
        spare::programs(path)?;
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| refused(path))?;
        Ok(Output(Some((path.to_owned(), file))))
    }

    /// Writes the explanation; without a file by `otherwise`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(self, said: &str, otherwise: impl FnOnce(&str) -> Result<()>) -> Result<()> {
        let Some((path, mut file)) = self.0 else {
            return otherwise(said);
        };
        let is_file = file.metadata().is_ok_and(|there| there.is_file());
        let emptied = if is_file { file.set_len(0) } else { Ok(()) };
        emptied
            .and_then(|()| file.write_all(said.as_bytes()))
            .with_context(|| refused(&path))
    }
}

fn refused(path: &Path) -> String {
    format!("cannot write the explanation to {}", path.display())
}
