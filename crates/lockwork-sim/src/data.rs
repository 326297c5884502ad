// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The files of `data/` that the program carries inside itself.

use include_dir::Dir;

/// The names that users type: the TOML files of `dir`, without the ending.
pub(crate) fn names(dir: &'static Dir) -> Vec<&'static str> {
    let mut names: Vec<&str> = dir
        .files()
        .filter_map(|file| file.path().to_str()?.strip_suffix(".toml"))
        .collect();
    names.sort_unstable();
    names
}

/// The text of a file.
pub(crate) fn text(dir: &'static Dir, path: &str) -> Option<&'static str> {
    dir.get_file(path)?.contents_utf8()
}

/// Whether somebody means a file of their own, and no name.
pub(crate) fn is_path(what: &str) -> bool {
    what.contains('/') || what.ends_with(".toml")
}
