// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A mistake in a machine's file, and where it is.

use std::ops::Range;

use lockwork_report::toml_fault;

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
        let why = toml_fault::told(error.message(), "docs/machines.md");
        Fault::at(error.span().unwrap_or(0..0), why)
    }
}
