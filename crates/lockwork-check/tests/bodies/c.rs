// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Reads C, before or after its preprocessor, for what it defines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::path::Path;

/// Something in `locks/` with a body in braces, and where these are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Definition {
    pub file: String,
    pub open: usize,
    pub close: usize,
    /// "function", "type" or "data".
    pub kind: &'static str,
    pub name: String,
}

impl Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "locks/{}:{}-{}: ", self.file, self.open, self.close)?;
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// What a world, or the sources, have of `locks/`.
#[derive(Default)]
pub struct Code {
    /// With the words that each body uses.
    pub definitions: BTreeMap<Definition, BTreeSet<String>>,
    /// Each `#define` and `#undef`, and where it is.
    pub macros: BTreeSet<String>,
}

impl Code {
    pub fn of_kind(&self, kind: &str) -> BTreeSet<Definition> {
        let all = self.definitions.keys();
        all.filter(|d| d.kind == kind).cloned().collect()
    }

    /// Which body uses which of `names`, as text.
    pub fn uses(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let mut uses = BTreeSet::new();
        for (definition, words) in &self.definitions {
            for word in words.intersection(names) {
                uses.insert(format!("{definition} uses {word}"));
            }
        }
        uses
    }

    /// A body seen again, from another file that includes it, is one body.
    pub fn merge(&mut self, other: Code) {
        for (definition, words) in other.definitions {
            self.definitions
                .entry(definition)
                .or_default()
                .extend(words);
        }
        self.macros.extend(other.macros);
    }
}

/// The length of the string or character that `text` starts with.
fn literal(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !escaped && text.starts_with(c) {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// Words (names and numbers) and single signs; strings and characters left out.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = first == '"' || first == '\'';
        let end = if quoted {
            literal(rest)
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        if !quoted {
            tokens.push(&rest[..end]);
        }
        rest = rest[end..].trim_start();
    }
    tokens
}

/// The length of the comment that `text` starts with.
fn comment(text: &str) -> Option<usize> {
    let end = if text.starts_with("//") {
        text.find('\n')
    } else if text.starts_with("/*") {
        text.find("*/").map(|at| at + 2)
    } else {
        return None;
    };
    Some(end.unwrap_or(text.len()))
}

/// `text` with a space for each comment, line for line.
pub fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if let Some(end) = comment(rest) {
            out.push(' ');
            out.push_str(&"\n".repeat(rest[..end].matches('\n').count()));
            end
        } else {
            let slash = rest.starts_with('/');
            let end = if slash { 1 } else { literal(rest) };
            out.push_str(&rest[..end]);
            end
        };
        rest = &rest[end..];
    }
    out + rest
}

/// Kind and name of what the words before a `{` at file level begin.
fn classify(head: &[String]) -> (&'static str, String) {
    let type_name = || head.last().cloned().unwrap_or_default();
    variable(head)
        .map(|name| ("data", name))
        .or_else(|| function(head).map(|name| ("function", name)))
        .unwrap_or_else(|| ("type", type_name()))
}

/// The name of initialised data.
fn variable(head: &[String]) -> Option<String> {
    let position = |sign: &str| head.iter().position(|t| t == sign);
    let equals = position("=")?;
    let end = position("[").map_or(equals, |at| at.min(equals));
    Some(head[end.checked_sub(1)?].clone())
}

/// The name of a function: the word before its parameters.
fn function(head: &[String]) -> Option<String> {
    let mut depth = 0;
    let mut skipping = false;
    for (at, token) in head.iter().enumerate() {
        if token == "(" && depth == 0 {
            let name = &head[at.checked_sub(1)?];
            // Not the parameters of the function yet.
            skipping = matches!(name.as_str(), "__attribute__" | "__asm__" | "_Alignas");
            if !skipping {
                return Some(name.clone());
            }
        }
        depth += i32::from(skipping && token == "(") - i32::from(skipping && token == ")");
    }
    None
}

/// Reads C, line by line, for its definitions.
#[derive(Default)]
pub struct Reader {
    /// The words of the declaration so far, at file level.
    head: Vec<String>,
    depth: usize,
    /// Whose braces are open, and the words in them.
    inside: Option<(Definition, BTreeSet<String>)>,
    pub code: Code,
}

impl Reader {
    /// An empty `file` is one outside of `locks/`.
    pub fn line(&mut self, file: &str, line: usize, text: &str) {
        for token in tokens(text) {
            match token {
                "{" => self.open(file, line),
                "}" => self.close(line),
                ";" if self.depth == 0 => self.head.clear(),
                word if self.depth == 0 => self.head.push(word.into()),
                word => {
                    if let Some((_, words)) = &mut self.inside {
                        words.insert(word.into());
                    }
                }
            }
        }
    }

    fn open(&mut self, file: &str, line: usize) {
        if self.depth == 0 {
            let (kind, name) = classify(&self.head);
            let definition = Definition {
                file: file.into(),
                open: line,
                close: 0,
                kind,
                name,
            };
            self.inside = Some((definition, BTreeSet::new()));
            self.head.clear();
        }
        self.depth += 1;
    }

    fn close(&mut self, line: usize) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 {
            return;
        }
        if let Some((mut definition, words)) = self.inside.take() {
            definition.close = line;
            if !definition.file.is_empty() {
                self.code.definitions.insert(definition, words);
            }
        }
    }

    /// The definition that this place is in.
    pub fn inside(&self) -> Option<&Definition> {
        self.inside.as_ref().map(|(definition, _)| definition)
    }
}

/// `# 12 "file" 3` is (12, file).
fn marker(text: &str) -> Option<(usize, &str)> {
    let (line, rest) = text.strip_prefix("# ")?.split_once(" \"")?;
    Some((line.parse().ok()?, rest.rsplit_once('"')?.0))
}

/// The code below `locks` in the preprocessor's `output`.
pub fn expanded(output: &str, locks: &Path) -> Code {
    let mut reader = Reader::default();
    let (mut file, mut line) = (String::new(), 0);
    for text in output.lines() {
        if let Some((number, path)) = marker(text) {
            let below = Path::new(path).strip_prefix(locks);
            file = below.map_or(String::new(), |path| path.display().to_string());
            line = number;
            continue;
        }
        if !text.trim_start().starts_with('#') {
            reader.line(&file, line, text);
        } else if !file.is_empty() {
            let here = format!("locks/{file}:{line}: {text}");
            reader.code.macros.insert(here);
        }
        line += 1;
    }
    reader.code
}
