// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A mistake in a machine's file, and where it is.

use std::ops::Range;

/// What is wrong, what to do about it, and where.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) why: String,
    pub(super) span: Range<usize>,
}

impl Fault {
    pub(super) fn at(span: Range<usize>, why: impl Into<String>) -> Fault {
        Fault {
            why: why.into(),
            span,
        }
    }

    /// As people read it.
    pub(super) fn tell(&self, file: &str, text: &str) -> String {
        let before = &text.as_bytes()[..self.span.start.min(text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        format!("{file}:{line}: {}", self.why)
    }
}

/// Makes errors of the library say what to do.
impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Fault {
        let message = error.message().trim().replace('\n', "; ");
        let why = if let Some(rest) = message.strip_prefix("unknown field ") {
            let (name, known) = rest.split_once(", expected ").unwrap_or((rest, "others"));
            let known = known.strip_prefix("one of ").unwrap_or(known);
            format!("there is no field {name} here; remove it, or use one of these: {known}")
        } else if let Some(rest) = message.strip_prefix("unknown variant ") {
            let (name, known) = rest.split_once(", expected ").unwrap_or((rest, "others"));
            let known = known.strip_prefix("one of ").unwrap_or(known);
            format!("{name} is not known here; use one of these: {known}")
        } else if let Some(name) = message.strip_prefix("missing field ") {
            format!("the field {name} is missing; add it (docs/machines.md describes each)")
        } else if let Some((found, wanted)) = message.split_once(", expected ") {
            format!("{found}; give {wanted}")
        } else if message == "duplicate key" {
            format!("{message}; keep one of them")
        } else {
            message
        };
        Fault::at(error.span().unwrap_or(0..0), why)
    }
}
