// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is wrong in a suite's file, in a sentence with its line.

use std::ops::Range;
use std::path::Path;

use lockwork_report::usage;

/// What is wrong, and where.
#[derive(Debug)]
pub struct Fault {
    why: String,
    span: Range<usize>,
}

impl Fault {
    /// At `span` in the text.
    pub fn at(span: Range<usize>, why: impl Into<String>) -> Fault {
        Fault {
            why: why.into(),
            span,
        }
    }

    /// The error for the user: `FILE:LINE: sentence`.
    pub fn tell(&self, file: &Path, text: &str) -> anyhow::Error {
        let before = &text.as_bytes()[..self.span.start.min(text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        usage::error(format!("{}:{line}: {}", file.display(), self.why))
    }
}

/// Makes errors of the library say what to do.
impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Fault {
        let message = error.message().trim().replace('\n', "; ");
        let known = |rest: &str| {
            let (name, known) = rest.split_once(", expected ").unwrap_or((rest, "others"));
            let known = known.strip_prefix("one of ").unwrap_or(known);
            (name.to_owned(), known.to_owned())
        };
        let why = if let Some(rest) = message.strip_prefix("unknown field ") {
            let (name, known) = known(rest);
            format!("there is no field {name} here; remove it, or use one of these: {known}")
        } else if let Some(rest) = message.strip_prefix("unknown variant ") {
            let (name, known) = known(rest);
            format!("{name} is not known here; use one of these: {known}")
        } else if let Some(name) = message.strip_prefix("missing field ") {
            format!("the field {name} is missing; add it (docs/compare.md describes each)")
        } else if let Some((found, wanted)) = message.split_once(", expected ") {
            format!("{found}; give {wanted}")
        } else {
            message
        };
        Fault::at(error.span().unwrap_or(0..0), why)
    }
}
