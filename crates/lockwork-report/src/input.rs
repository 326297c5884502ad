// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Texts that users name: machines, workloads, suites, results.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// No text that a person writes is longer. A device may have no end.
const MOST_BYTES: u64 = 16 << 20;

/// The text of a file.
///
/// # Errors
/// It cannot be read, is not UTF-8, or has more than 16 MiB.
pub fn text(path: &Path) -> Result<String> {
    at_most(path, MOST_BYTES)
}

/// The text of a file that a program of ours has written.
///
/// # Errors
/// It cannot be read, is not UTF-8, or has more than 512 MiB.
pub fn written(path: &Path) -> Result<String> {
    at_most(path, 32 * MOST_BYTES)
}

fn at_most(path: &Path, most: u64) -> Result<String> {
    let mut bytes = Vec::new();
    let mut file = File::open(path)?.take(most + 1);
    file.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("more than {} MiB", most >> 20);
        return Err(Error::new(ErrorKind::InvalidData, why));
    }
    String::from_utf8(bytes)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is no text (UTF-8)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused() {
        let error = text(Path::new("/dev/zero")).expect_err("too long");
        assert_eq!(error.to_string(), "more than 16 MiB");
        assert_eq!(text(Path::new("/dev/null")).expect("empty"), "");
    }
}
