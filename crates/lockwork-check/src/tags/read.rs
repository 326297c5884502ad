// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The files of a source tree that have tags in them.
use anyhow::{anyhow, Result};
use std::path::Path;

/// The sources of the locks in a source tree, as file name and text, sorted.
///
/// # Errors
///
/// When `locks/` below `root` cannot be read, or has no C in it.
pub fn read_tree(root: &Path) -> Result<Vec<(String, String)>> {
    read_files(&root.join("locks"), &["c", "h"])
}

/// The locks' pages in a source tree, as file name and text, sorted.
///
/// # Errors
///
/// When `docs/locks/` below `root` cannot be read, or has no page in it.
pub fn read_pages(root: &Path) -> Result<Vec<(String, String)>> {
    read_files(&root.join("docs/locks"), &["md"])
}

fn read_files(folder: &Path, extensions: &[&str]) -> Result<Vec<(String, String)>> {
    let unreadable = |path: &Path, error: std::io::Error| {
        let path = path.display();
        anyhow!("cannot read {path} ({error}): name the root of a Lockwork source tree")
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !extension.is_some_and(|extension| extensions.contains(&extension)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.push((name.into_owned(), text));
    }
    if files.is_empty() {
        let (folder, wanted) = (folder.display(), extensions.join(" or ."));
        return Err(anyhow!(
            "{folder} has no .{wanted} file: name the root of a Lockwork source tree"
        ));
    }
    files.sort();
    Ok(files)
}
