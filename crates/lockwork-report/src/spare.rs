// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What no result is written over: programs, and what the command itself reads. Any other file may
//! be an earlier result.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::Result;

use crate::bail_usage;
use crate::text;

/// How an ELF file begins.
const ELF: &[u8; 4] = b"\x7fELF";

/// Refuses `path` if it is a program. `-` is standard output.
///
/// # Errors
/// It is executable, or an ELF file.
pub fn programs(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    // A pipe is not opened: its writer would see an end.
    let Some(facts) = fs::metadata(path).ok().filter(|facts| facts.is_file()) else {
        return Ok(());
    };
    let what = match facts.permissions().mode() & 0o111 != 0 {
        true => "is executable",
        false if is_elf(path) => "is an ELF file",
        false => return Ok(()),
    };
    bail_usage!(
        "'{}' {what}, and would be overwritten; name another file, or remove it first",
        text::path(path)
    );
}

/// Refuses `path` if it is one of `inputs`, which the command reads. `-` is standard output.
///
/// # Errors
/// It is the same file, by whichever name.
pub fn inputs<P: AsRef<Path>>(path: &Path, inputs: impl IntoIterator<Item = P>) -> Result<()> {
    let identity = |path: &Path| {
        let found = fs::metadata(path).ok().filter(|found| found.is_file())?;
        Some((found.dev(), found.ino()))
    };
    let Some(written) = identity(path).filter(|_| path != Path::new("-")) else {
        return Ok(());
    };
    for input in inputs {
        if identity(input.as_ref()) == Some(written) {
            bail_usage!(
                "'{}' is read by this command, and would be overwritten; name another file",
                text::path(path)
            );
        }
    }
    Ok(())
}

fn is_elf(path: &Path) -> bool {
    let mut head = [0; ELF.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *ELF
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage;
    use std::os::unix::fs::symlink;

    #[test]
    fn programs_and_inputs_are_not_written_over() {
        let room = std::env::temp_dir().join(format!("lockwork-spare-{}", std::process::id()));
        fs::create_dir_all(&room).expect("a folder");
        let put = |name: &str, text: &[u8], mode: u32| {
            let path = room.join(name);
            fs::write(&path, text).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
            path
        };
        let script = put("script", b"#!/bin/sh\n", 0o744);
        let library = put("library", b"\x7fELF\x02", 0o644);
        let result = put("result", b"{}", 0o644);
        for (path, why) in [(&script, "is executable"), (&library, "is an ELF file")] {
            let error = programs(path).expect_err(why);
            assert!(usage::is(&error), "{error}");
            assert!(error.to_string().contains(why), "{error}");
        }
        for allowed in [&result, &room.join("new")] {
            programs(allowed).expect("it may be overwritten");
        }
        for device in ["-", "/dev/null", "/dev/full"] {
            programs(Path::new(device)).expect("nothing is lost");
            inputs(Path::new(device), ["-", "/dev/null"]).expect("nothing is lost");
        }
        let link = room.join("link");
        symlink("result", &link).expect("a link");
        let error = inputs(&link, [&script, &result]).expect_err("it is read");
        assert!(usage::is(&error), "{error}");
        inputs(&link, [&script, &library]).expect("another file");
        fs::remove_dir_all(&room).expect("removed");
    }
}
