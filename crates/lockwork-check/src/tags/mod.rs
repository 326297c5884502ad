// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tags of the locks' memory orderings: which comment names which ordering,
//! what it pairs with, and whether code, comments and pages agree.
//!
//! In `locks/` every ordering stands under a comment such as
//! `/* [mcs.C] ACQUIRE, pairs with mcs.D: see the last holder's writes. */`.
//! Here such comments are read by a small scanner of the locks' own style of C.
mod comment;
mod order;
mod pages;
mod pairs;
mod scan;
mod sites;
#[cfg(test)]
mod tests;

pub use order::{order_of, Order};
pub use pages::page_problems;
pub use pairs::problems;

use anyhow::{anyhow, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A call of a primitive in a lock's function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// The file's name, without directories.
    pub file: String,
    /// The line of the primitive's name.
    pub first_line: u32,
    /// The line of the closing parenthesis.
    pub last_line: u32,
    /// The C function.
    pub function: String,
    /// The primitive's name.
    pub primitive: String,
    /// What it works on, as written, white space collapsed: its first argument,
    /// or the `atomic_t` behind the amount, as in `atomic_add(1, &lock->cnts)`.
    /// Empty for a primitive without arguments.
    pub operand: String,
    /// What it orders.
    pub order: Order,
    /// The tag that it stands under. An access that orders nothing has none.
    pub tag: Option<String>,
}

/// A tag, as the comment says that defines it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tag {
    /// Such as `mutex.A`.
    pub name: String,
    /// The file's name, without directories.
    pub file: String,
    /// The line of the tag in its comment.
    pub line: u32,
    /// The orders that the comment names; any one of them may stand there.
    pub kind: Vec<Order>,
    /// The tags that it pairs with, sorted.
    pub partners: Vec<String>,
    /// Weaker orders that no check tells from this one, and why it is kept:
    /// `Spare relaxed: the load after it orders.` in the comment.
    pub spare: Vec<(String, String)>,
    /// All that the comment says behind the tag, white space collapsed.
    pub text: String,
}

/// A tag in a comment that does not define it.
#[derive(Debug)]
struct Mention {
    name: String,
    file: String,
    line: u32,
    text: String,
}

/// All tags and all calls of primitives in some files.
#[derive(Debug, Default)]
pub struct Index {
    /// The tags by name; the first definition of each.
    pub tags: BTreeMap<String, Tag>,
    /// The calls, in the order of the files and of their text.
    pub sites: Vec<Site>,
    /// Later definitions of a tag that is defined already.
    again: Vec<Tag>,
    mentions: Vec<Mention>,
}

/// What is wrong at a place, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The file's name, without directories; a page's as it was passed.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// One sentence.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}

/// Reads the tags and the calls of primitives out of files, given as name and
/// text.
pub fn index(files: &[(&str, &str)]) -> Index {
    let mut index = Index::default();
    for (name, text) in files {
        index.add(base_name(name), text);
    }
    index
}

impl Index {
    fn add(&mut self, file: &str, text: &str) {
        let source = scan::Source::new(text);
        let places = source.comments.iter().cloned();
        let comments: Vec<_> = places
            .map(|place| sites::TagComment {
                notes: comment::notes(&source, place.clone()),
                place,
            })
            .filter(|comment| !comment.notes.is_empty())
            .collect();
        self.sites.extend(sites::sites(file, &source, &comments));
        for note in comments.into_iter().flat_map(|comment| comment.notes) {
            self.note(file, note);
        }
    }

    fn note(&mut self, file: &str, note: comment::Note) {
        let Some(definition) = comment::definition(&note) else {
            self.mentions.push(Mention {
                name: note.name,
                file: file.to_owned(),
                line: note.line,
                text: note.text,
            });
            return;
        };
        let tag = Tag {
            name: note.name,
            file: file.to_owned(),
            line: note.line,
            kind: definition.kind,
            partners: definition.partners,
            spare: comment::spare(&note.text),
            text: note.text,
        };
        if self.tags.contains_key(&tag.name) {
            self.again.push(tag);
        } else {
            self.tags.insert(tag.name.clone(), tag);
        }
    }
}

/// Whether tags of `tag_stem` belong into the file, or on the page, of
/// `file_stem`: `osq` into `osq_lock`.
fn belongs(tag_stem: &str, file_stem: &str) -> bool {
    file_stem.strip_suffix("_lock").unwrap_or(file_stem) == tag_stem || file_stem == tag_stem
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn file_stem(name: &str) -> &str {
    let base = base_name(name);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}

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
