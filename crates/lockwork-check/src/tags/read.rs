// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The files of a source tree that have tags in them.
use anyhow::{anyhow, Result};
use std::path::Path;

/// Where orderings have tags: the locks, and the user world with its hosts.
const TAGGED: [&str; 4] = [
    "locks",
    "platform/library",
    "platform/preload",
    "platform/user",
];

/// The sources of a source tree that have tags, as file name and text, sorted.
///
/// # Errors
///
/// When a folder of them below `root` cannot be read, or has no C in it.
pub fn read_tree(root: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for folder in TAGGED {
        files.extend(read_files(&root.join(folder), &["c", "h"])?);
    }
    files.sort();
    Ok(files)
}

/// The pages of a source tree that list tags, as file name and text, sorted: one for each
/// lock, and the platform's contract.
///
/// # Errors
///
/// When `docs/locks/` or `platform/` below `root` cannot be read, or has no page in it.
pub fn read_pages(root: &Path) -> Result<Vec<(String, String)>> {
    let mut files = read_files(&root.join("docs/locks"), &["md"])?;
    files.extend(read_files(&root.join("platform"), &["md"])?);
    files.sort();
    Ok(files)
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
