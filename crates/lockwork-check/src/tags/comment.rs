// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a tag's comment says.
//!
//! ```text
//! [mutex.D] MB (light), pairs with mutex.E (heavy): either we see parked, ...
//!  name     order       partners                    why
//! ```
//!
//! A comment that says order or partners defines its tag. One that does not, as
//! `[mutex.A]` or `[mutex.A]; 2 also if it was 0`, mentions it.
use super::order::Order;
use super::scan::{collapse, Source};
use std::ops::Range;

/// Before a tag's partners.
const PAIRS: &str = "pairs with";

/// What a mutant may weaken an ordering to, as a `Spare` note names it.
pub(super) const SPARE_ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "none"];

/// A tag in brackets and what its comment says behind it.
pub(super) struct Note {
    pub name: String,
    pub line: u32,
    /// Up to the next tag of the same comment; white space collapsed.
    pub text: String,
}

/// The tags in brackets of a comment.
pub(super) fn notes(source: &Source<'_>, comment: Range<usize>) -> Vec<Note> {
    let text = &source.text[comment.clone()];
    let found: Vec<_> = text
        .match_indices('[')
        .filter_map(|(at, _)| {
            let length = text[at..].find(']')?;
            let name = full_name(&text[at + 1..at + length])?;
            Some((at, at + length + 1, name))
        })
        .collect();
    let ends = found.iter().skip(1).map(|note| note.0);
    let notes = found.iter().zip(ends.chain([text.len()]));
    notes
        .map(|((start, behind, name), end)| Note {
            name: name.clone(),
            line: source.line(comment.start + start),
            text: prose(&text[*behind..end]),
        })
        .collect()
}

/// A comment's text without what marks it as one.
fn prose(text: &str) -> String {
    let lines = text.trim_end().trim_end_matches("*/").lines();
    let bare = lines.map(|line| {
        let line = line.trim();
        line.strip_prefix('*').unwrap_or(line)
    });
    collapse(&bare.collect::<Vec<_>>().join(" "))
}

/// `stem.X` if `text` is that.
fn full_name(text: &str) -> Option<String> {
    tag_name(text, "").filter(|name| !name.starts_with('.'))
}

/// The whole name of the tag that `text` names as `stem.X`, or as `.X` where
/// the stem is known. `None` if it names no tag.
pub(super) fn tag_name(text: &str, known_stem: &str) -> Option<String> {
    let (stem, letter) = text.split_once('.')?;
    let is_stem = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_letter = letter.len() == 1 && letter.chars().all(|c| c.is_ascii_uppercase());
    let stem = if stem.is_empty() { known_stem } else { stem };
    (is_letter && stem.chars().all(is_stem)).then(|| format!("{stem}.{letter}"))
}

/// The stem of a tag's name.
pub(super) fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// What a defining comment says.
pub(super) struct Definition {
    pub kind: Vec<Order>,
    pub partners: Vec<String>,
}

/// The definition in a note; `None` if it is a mention.
pub(super) fn definition(note: &Note) -> Option<Definition> {
    let clause = first_clause(&note.text);
    let (head, list) = match clause.split_once(PAIRS) {
        Some((head, list)) => (head, Some(list)),
        None => (clause, None),
    };
    let kind = orders(head);
    (list.is_some() || !kind.is_empty()).then(|| Definition {
        kind,
        partners: list.map_or(Vec::new(), |list| partners(list, &note.name)),
    })
}

/// Up to the colon, semicolon or full stop that ends the statement of order and
/// partners: order words further on, as in `; full, so that`, define nothing.
/// The dot of a tag's name ends nothing.
fn first_clause(text: &str) -> &str {
    let ends_clause = |at: usize, mark: &str| {
        mark != "."
            || text[at + 1..]
                .chars()
                .next()
                .is_none_or(char::is_whitespace)
    };
    text.match_indices([':', ';', '.'])
        .find(|(at, mark)| ends_clause(*at, mark))
        .map_or(text, |(at, _)| &text[..at])
}

/// The orders that words name. "... by the full RMW" is one, whatever parts of
/// it the words before say are needed.
fn orders(head: &str) -> Vec<Order> {
    let words: Vec<&str> = head
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut orders = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at]);
        match (before(1), *word) {
            (_, "ACQUIRE") => orders.push(Order::Acquire),
            (_, "RELEASE") => orders.push(Order::Release),
            (_, "WMB") => orders.push(Order::WriteBarrier),
            (_, "MB") => orders.push(Order::FullBarrier),
            ("address", "dependency") => orders.push(Order::Dependency),
            ("full", "RMW") => {
                if before(3) == "by" || before(2) == "by" {
                    orders.clear();
                }
                orders.push(Order::Full);
            }
            _ => {}
        }
    }
    orders
}

/// The tags that a list of partners names: `mutex.B and .C`, `.C to .G`,
/// `itself`. A name without a stem takes that of the name before it, the first
/// that of `own`. Text in parentheses is not read.
pub(super) fn partners(list: &str, own: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let (mut last, mut range, mut depth) = (own.to_owned(), false, 0_u32);
    for word in list.split_whitespace() {
        let outside = depth == 0;
        depth += word.matches('(').count() as u32;
        depth = depth.saturating_sub(word.matches(')').count() as u32);
        let word = word.trim_matches([',', '`']);
        if !outside || word.starts_with('(') || word.is_empty() {
            continue;
        }
        let name = match word {
            "itself" => Some(own.to_owned()),
            _ => tag_name(word, stem(&last)),
        };
        if let Some(name) = name {
            if range && stem(&name) == stem(&last) {
                names.extend(between(&last, &name));
            }
            names.push(name.clone());
            last = name;
        }
        range = word == "to";
    }
    names.sort();
    names.dedup();
    names
}

/// The names between two of the same stem.
fn between(first: &str, last: &str) -> Vec<String> {
    let letter = |name: &str| name.chars().next_back().unwrap_or('A');
    let stem = stem(first);
    let inner = (letter(first)..letter(last)).skip(1);
    inner.map(|letter| format!("{stem}.{letter}")).collect()
}

/// The `Spare ORDER: reason` notes of a comment, each up to the next one.
pub(super) fn spare(text: &str) -> Vec<(String, String)> {
    let starts: Vec<(usize, &str)> = text
        .match_indices("Spare ")
        .filter_map(|(at, mark)| {
            let (order, _) = text[at + mark.len()..].split_once(':')?;
            let is_order = !order.is_empty() && !order.contains(char::is_whitespace);
            (is_order && !text[..at].ends_with(char::is_alphanumeric)).then_some((at, order))
        })
        .collect();
    let ends = starts.iter().skip(1).map(|start| start.0);
    let notes = starts.iter().zip(ends.chain([text.len()]));
    notes
        .map(|((at, order), end)| {
            let reason = &text[at + "Spare :".len() + order.len()..end];
            ((*order).to_owned(), reason.trim().to_owned())
        })
        .collect()
}
