// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A question, and what an answer is made of.

use crate::evidence::Evidence;
use anyhow::Result;

/// Who asked, and where. What the project's sources do not say, it says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// The person, or the persons.
    pub(crate) who: &'static str,
    /// The thread and its date.
    pub(crate) thread: &'static str,
    /// What of this is not known, a sentence behind a space, or nothing.
    pub(crate) open: &'static str,
}

/// A question.
pub(crate) struct Question {
    /// What users type.
    pub(crate) name: &'static str,
    /// The heading: the question, in this project's words.
    pub(crate) title: &'static str,
    /// Who asked.
    pub(crate) asked: Asked,
    /// The words behind `lockwork sim`, of each command.
    pub(crate) simulations: fn() -> Vec<String>,
    /// The words behind `lockwork check`, of each command.
    pub(crate) checks: &'static [&'static str],
    /// The answer.
    pub(crate) answer: fn(&Evidence) -> Result<Answer>,
    /// What the figures do not show.
    pub(crate) limit: &'static str,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// With these columns.
    pub(crate) fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Table {
        Table {
            header: header.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// Sentences whose words follow from the figures.
    pub(crate) verdict: String,
    /// The figures.
    pub(crate) table: Table,
    /// What else is to be said of them, a paragraph.
    pub(crate) notes: Vec<String>,
}
