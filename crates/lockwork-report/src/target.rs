// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where a result goes: standard output, or a file that has its name once it is complete.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, Result};

use crate::{spare, text};

/// Bytes of a file's name that its temporary name has, too: a name may have 255.
const KEPT: usize = 200;

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
    /// A device or a pipe, or a file in a folder where no other one can be made: written in place.
    InPlace {
        /// Open for writing.
        file: File,
        /// Its name.
        path: PathBuf,
    },
}

impl Target {
    /// Makes sure that `path` can be written; `-` is standard output.
    ///
    /// # Errors
    /// It cannot, or is a program.
    pub fn open(path: &Path) -> Result<Target> {
        if path == Path::new("-") {
            text::stdout_is_open()?;
            return Ok(Target::Stdout);
        }
        spare::programs(path)?;
        let facts = fs::metadata(path).ok();
        if facts.as_ref().is_some_and(|facts| !facts.is_file()) {
            return Target::in_place(path);
        }
        // Through a symbolic link, so that the link stays.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let temporary = temporary(&path);
        let file = match File::create_new(&temporary) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied && facts.is_some() => {
                return Target::in_place(&path);
            }
            made => made.map_err(|error| refused(&path, &error))?,
        };
        if let Some(facts) = facts {
            let _ = file.set_permissions(facts.permissions());
        }
        Ok(Target::File {
            file,
            temporary,
            path,
        })
    }

    fn in_place(path: &Path) -> Result<Target> {
        let opened = OpenOptions::new().write(true).open(path);
        let file = opened.map_err(|error| refused(path, &error))?;
        Ok(Target::InPlace {
            file,
            path: path.to_owned(),
        })
    }

    /// Writes all of `result`.
    ///
    /// # Errors
    /// There is no room for it, or it can no longer be written.
    pub fn write(&mut self, result: &str) -> Result<()> {
        match self {
            Target::Stdout => text::print(result),
            Target::InPlace { file, path } => {
                replace(file, result).map_err(|error| refused(path, &error))
            }
            Target::File {
                file,
                temporary,
                path,
            } => file
                .write_all(result.as_bytes())
                .and_then(|()| fs::rename(&*temporary, &*path))
                .map_err(|error| refused(path, &error)),
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Target::File { temporary, .. } = self {
            let _ = fs::remove_file(temporary); // gone already, once it has its name
        }
    }
}

/// A name beside `path`, for as long as that is not complete.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let mut name = OsStr::from_bytes(&name[..name.len().min(KEPT)]).to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Writes over what `file` has.
fn replace(file: &mut File, result: &str) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(result.as_bytes())
}

fn refused(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!(
        "cannot write to '{}': {error}; name a file that you can write to",
        text::path(path)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a folder.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.collect()
    }

    #[test]
    fn a_file_is_as_it_was_until_the_new_one_is_complete() {
        let folder = std::env::temp_dir().join(format!("lockwork-target-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("page.html");
        fs::write(&path, "old").expect("written");
        drop(Target::open(&path).expect("it can be written"));
        assert_eq!(fs::read_to_string(&path).expect("there"), "old");
        let mut target = Target::open(&path).expect("it can be written");
        assert_eq!(fs::read_to_string(&path).expect("there"), "old");
        target.write("new").expect("written");
        drop(target);
        assert_eq!(fs::read_to_string(&path).expect("there"), "new");
        assert_eq!(names(&folder), ["page.html"]);
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_device_is_written_in_place() {
        let mut target = Target::open(Path::new("/dev/full")).expect("it can be opened");
        let error = target.write("text").expect_err("it is full").to_string();
        assert!(
            error.starts_with("cannot write to '/dev/full': No space left on device"),
            "{error}"
        );
    }

    #[test]
    fn a_long_name_has_a_shorter_temporary_one() {
        let path = PathBuf::from(format!("/nowhere/{}", "n".repeat(255)));
        let name = temporary(&path);
        assert!(name.file_name().is_some_and(|name| name.len() < 255));
        assert_eq!(name.parent(), path.parent());
    }
}
