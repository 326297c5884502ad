// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Why threads wait: what a rule found, in the words that all commands share.

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name, for programs.
    pub rule: &'static str,
    /// Why threads wait, in a sentence.
    pub why: String,
    /// The figures behind it.
    pub evidence: Vec<String>,
    /// What to do.
    pub advice: String,
}
