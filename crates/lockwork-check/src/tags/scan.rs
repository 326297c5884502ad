// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! As much of C as tags need: comments, words, functions, ends of statements.
//!
//! No parser: the locks are written in one style, and clang-format keeps it.
use std::ops::Range;

/// A C file, taken apart.
pub(super) struct Source<'a> {
    /// The file as it is.
    pub text: &'a str,
    /// The same, offset by offset, with blanks for comments, literals,
    /// preprocessor lines and all that is not ASCII.
    pub code: String,
    /// Where comments stand, with their delimiters.
    pub comments: Vec<Range<usize>>,
    /// Where lines begin.
    lines: Vec<usize>,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str) -> Self {
        let mut lexer = Lexer {
            bytes: text.as_bytes(),
            code: vec![b' '; text.len()],
            comments: Vec::new(),
            at: 0,
        };
        lexer.run();
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Source {
            text,
            code: String::from_utf8_lossy(&lexer.code).into_owned(),
            comments: lexer.comments,
            lines: std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect(),
        }
    }

    /// The line of an offset, from 1.
    pub fn line(&self, at: usize) -> u32 {
        let line = self.lines.partition_point(|start| *start <= at);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The code before `at` on its line.
    pub fn code_before(&self, at: usize) -> &str {
        let line = self.lines.partition_point(|start| *start <= at);
        self.code[self.lines[line - 1]..at].trim()
    }

    /// The text of `range`, without comments, white space collapsed.
    pub fn written(&self, range: Range<usize>) -> String {
        let mut text = String::new();
        let mut at = range.start;
        for comment in &self.comments {
            if comment.start >= at && comment.end <= range.end {
                text.push_str(&self.text[at..comment.start]);
                text.push(' ');
                at = comment.end;
            }
        }
        text.push_str(&self.text[at..range.end]);
        collapse(&text)
    }

    /// The code's words and marks, in order.
    pub fn tokens(&self) -> Vec<Token<'_>> {
        let code = self.code.as_bytes();
        let mut tokens = Vec::new();
        let mut at = 0;
        while at < code.len() {
            let start = at;
            at += 1;
            if code[start].is_ascii_whitespace() {
                continue;
            }
            while is_word(code[start]) && at < code.len() && is_word(code[at]) {
                at += 1;
            }
            let text = &self.code[start..at];
            tokens.push(Token { at: start, text });
        }
        tokens
    }
}

/// White space collapsed to single blanks.
pub(super) fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

struct Lexer<'a> {
    bytes: &'a [u8],
    code: Vec<u8>,
    comments: Vec<Range<usize>>,
    at: usize,
}

impl Lexer<'_> {
    fn run(&mut self) {
        let (mut directive, mut line_has_code) = (false, false);
        while let Some(&byte) = self.bytes.get(self.at) {
            match (byte, self.bytes.get(self.at + 1)) {
                (b'/', Some(b'*')) => self.comment(b"*/"),
                (b'/', Some(b'/')) => self.comment(b"\n"),
                (b'"' | b'\'', _) => {
                    self.literal(byte);
                    line_has_code = true;
                }
                (b'\n', _) => {
                    // A backslash continues a preprocessor line.
                    directive &= self.bytes[..self.at].ends_with(b"\\");
                    line_has_code = false;
                    self.at += 1;
                }
                _ => {
                    directive |= byte == b'#' && !line_has_code;
                    line_has_code |= !byte.is_ascii_whitespace();
                    if !directive && byte.is_ascii() {
                        self.code[self.at] = byte;
                    }
                    self.at += 1;
                }
            }
        }
    }

    /// A comment up to and with `close`; a line's end stays outside.
    fn comment(&mut self, close: &[u8]) {
        let start = self.at;
        let body = start + 2;
        let rest = &self.bytes[body..];
        let length = rest.windows(close.len()).position(|end| end == close);
        self.at = match length {
            Some(length) if close == b"\n" => body + length,
            Some(length) => body + length + close.len(),
            None => self.bytes.len(),
        };
        self.comments.push(start..self.at);
    }

    /// A literal ends at its line's end at the latest: an apostrophe may stand
    /// alone in an `#error`.
    fn literal(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => return,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
            if byte == quote {
                return;
            }
        }
        self.at = self.bytes.len();
    }
}

/// A word, or one character of any other kind.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    pub at: usize,
    pub text: &'a str,
}

/// A function with a body.
pub(super) struct Function {
    pub name: String,
    /// Its body's tokens, without the braces.
    pub body: Range<usize>,
}

/// What a file consists of.
#[derive(Default)]
pub(super) struct Outline {
    pub functions: Vec<Function>,
    /// Where statements and functions end. The end of a block does not count:
    /// the condition of a `do { } while ()` comes after it.
    pub ends: Vec<usize>,
}

/// Walks over the tokens with a stack of what is open: `{`, `(`, and `f` for
/// the parenthesis of a `for`, whose semicolons end no statement.
pub(super) fn outline(tokens: &[Token<'_>]) -> Outline {
    let mut outline = Outline::default();
    let mut stack: Vec<u8> = Vec::new();
    let mut header = Header::default();
    let mut body = 0;
    for (index, token) in tokens.iter().enumerate() {
        if stack.is_empty() {
            header.see(token.text, tokens.get(index + 1).map(|next| next.text));
        }
        match token.text {
            "(" if index > 0 && tokens[index - 1].text == "for" => stack.push(b'f'),
            "(" => stack.push(b'('),
            ")" => drop(stack.pop()),
            "{" => {
                body = if stack.is_empty() { index + 1 } else { body };
                stack.push(b'{');
            }
            "}" => {
                stack.pop();
                if stack.is_empty() {
                    outline.ends.push(token.at);
                    outline.functions.extend(header.function(body..index));
                }
            }
            ";" if stack.last() != Some(&b'f') => outline.ends.push(token.at),
            _ => {}
        }
    }
    outline
}

/// What was seen of a definition outside of all braces and parentheses.
#[derive(Default)]
struct Header {
    name: Option<String>,
    is_value: bool,
}

impl Header {
    fn see(&mut self, word: &str, next: Option<&str>) {
        let callable = word.bytes().all(is_word) && word != "__attribute__";
        match word {
            ";" => *self = Header::default(),
            "=" => self.is_value = true,
            _ if callable && next == Some("(") && self.name.is_none() => {
                self.name = Some(word.to_owned());
            }
            _ => {}
        }
    }

    /// At the end of a block: a function, if that is what the block was of.
    fn function(&mut self, body: Range<usize>) -> Option<Function> {
        let header = std::mem::take(self);
        let name = header.name.filter(|_| !header.is_value)?;
        Some(Function { name, body })
    }
}
