// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All tags and all calls of primitives, by file.
use super::order::Order;
use super::site::Site;
use super::{comment, scan, sites};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A tag, as the comment says that defines it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tag {
    /// Such as `mutex.A`.
    pub name: String,
    /// The file's name, without directories.
    pub file: String,
    /// The line of the tag in its comment.
    pub line: u32,
    /// The orders that the comment names. The access has one of them.
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
pub(super) struct Mention {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) text: String,
}

/// All tags and all calls of primitives in some files.
#[derive(Debug, Default)]
pub struct Index {
    /// The tags by name; the first definition of each.
    pub tags: BTreeMap<String, Tag>,
    /// The calls, in the order of the files and of their text.
    pub sites: Vec<Site>,
    /// Later definitions of a tag that is defined already.
    pub(super) again: Vec<Tag>,
    pub(super) mentions: Vec<Mention>,
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
pub(super) fn belongs(tag_stem: &str, file_stem: &str) -> bool {
    file_stem.strip_suffix("_lock").unwrap_or(file_stem) == tag_stem || file_stem == tag_stem
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// `osq_lock` of `locks/osq_lock.c`.
pub(super) fn file_stem(name: &str) -> &str {
    let base = base_name(name);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}
