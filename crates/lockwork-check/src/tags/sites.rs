// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The calls of primitives, and which tag each of them is under.
use super::comment::Note;
use super::order::{operand_of, order_of, order_of_builtin, Order};
use super::scan::{outline, Function, Source, Token};
use super::site::Site;
use std::ops::Range;

/// A comment with tags. The last one of them is the nearest to the code.
pub(super) struct TagComment {
    pub place: Range<usize>,
    pub notes: Vec<Note>,
}

/// A call, by its place in the text.
struct Call {
    site: Site,
    place: Range<usize>,
}

/// The calls of known primitives in the functions of a file.
pub(super) fn sites(file: &str, source: &Source<'_>, comments: &[TagComment]) -> Vec<Site> {
    let tokens = source.tokens();
    let outline = outline(&tokens);
    let mut calls: Vec<Call> = outline
        .functions
        .iter()
        .flat_map(|function| calls(file, source, &tokens, function))
        .collect();
    let ordering: Vec<usize> = (0..calls.len())
        .filter(|index| calls[*index].site.order != Order::Relaxed)
        .collect();

    // A comment behind an ordering, or behind a whole statement, is about its
    // own line only, and not about what comes next.
    let mut owned: Vec<bool> = comments
        .iter()
        .map(|comment| source.code_before(comment.place.start).ends_with(';'))
        .collect();
    for index in &ordering {
        if let Some(found) = trailing(source, comments, &calls[*index]) {
            owned[found] = true;
            calls[*index].site.tag = name_of(&comments[found]);
        }
    }
    for index in ordering {
        let call = &mut calls[index];
        if call.site.tag.is_none() {
            let found = leading(comments, &owned, &outline.ends, call.place.start);
            call.site.tag = found.and_then(name_of);
        }
    }
    calls.into_iter().map(|call| call.site).collect()
}

fn name_of(comment: &TagComment) -> Option<String> {
    comment.notes.last().map(|note| note.name.clone())
}

/// The comment behind a call on its line, or among its arguments.
fn trailing(source: &Source<'_>, comments: &[TagComment], call: &Call) -> Option<usize> {
    comments.iter().position(|comment| {
        comment.place.start > call.place.start
            && source.line(comment.place.start) <= call.site.last_line
    })
}

/// The nearest comment before `at`, if no statement or function ends between.
fn leading<'a>(
    comments: &'a [TagComment],
    owned: &[bool],
    ends: &[usize],
    at: usize,
) -> Option<&'a TagComment> {
    let mut before = comments.iter().zip(owned);
    let (nearest, _) = before.rfind(|(comment, owned)| !**owned && comment.place.end <= at)?;
    let between = nearest.place.end..at;
    ends.iter()
        .all(|end| !between.contains(end))
        .then_some(nearest)
}

fn calls(file: &str, source: &Source<'_>, tokens: &[Token<'_>], of: &Function) -> Vec<Call> {
    let mut calls = Vec::new();
    for index in of.body.clone() {
        let name = tokens[index];
        let Some((arguments, end)) = arguments(&tokens[index + 1..of.body.end]) else {
            continue;
        };
        let written = &source.code[name.at..end];
        let Some(order) = order_of(name.text).or_else(|| order_of_builtin(name.text, written))
        else {
            continue;
        };
        let operand = arguments.get(operand_of(name.text)).cloned();
        calls.push(Call {
            site: Site {
                file: file.to_owned(),
                first_line: source.line(name.at),
                last_line: source.line(end),
                function: of.name.clone(),
                primitive: name.text.to_owned(),
                operand: operand.map_or(String::new(), |place| source.written(place)),
                order,
                tag: None,
            },
            place: name.at..end,
        });
    }
    calls
}

/// Where the arguments of a call stand, and its closing parenthesis; `None` if
/// `tokens`, which follow the name, are no call.
fn arguments(tokens: &[Token<'_>]) -> Option<(Vec<Range<usize>>, usize)> {
    let open = tokens.first().filter(|token| token.text == "(")?;
    let mut arguments = Vec::new();
    let mut start = open.at + 1;
    let mut depth = 0;
    for token in tokens {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && token.text == ",") {
            arguments.push(start..token.at);
            start = token.at + 1;
        }
        if depth == 0 {
            return Some((arguments, token.at));
        }
    }
    None
}
