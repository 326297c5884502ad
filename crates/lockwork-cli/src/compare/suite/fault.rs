// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is wrong in a suite's file, in a sentence with its line.

use std::ops::Range;
use std::path::Path;

use lockwork_report::{toml_fault, usage};

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
        let why = toml_fault::told(error.message(), "docs/compare.md");
        Fault::at(error.span().unwrap_or(0..0), why)
    }
}
