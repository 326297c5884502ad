// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Numbers as people read them, and output that survives a closed pipe.

use std::borrow::Cow;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{anyhow, Context, Result};

/// Columns of the terminal that standard output is; none: it is none.
pub fn stdout_columns() -> Option<usize> {
    columns(io::stdout())
}

/// The same of standard error.
pub fn stderr_columns() -> Option<usize> {
    columns(io::stderr())
}

fn columns(of: impl std::os::fd::AsFd) -> Option<usize> {
    terminal_size::terminal_size_of(of).map(|(width, _)| usize::from(width.0))
}

/// `number` with `decimals` digits after the point and commas before it.
pub fn grouped(number: f64, decimals: usize) -> String {
    let text = format!("{:.*}", decimals, number.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::new();
    if number < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('-');
    }
    for (i, digit) in whole.char_indices() {
        if i > 0 && (whole.len() - i) % 3 == 0 && digit.is_ascii_digit() {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Words as one types them into a shell. A word with control characters is written as `$'a\nb'`,
/// which bash, zsh and ksh know: nobody could copy the characters themselves from a terminal.
pub fn shell<S: AsRef<str>>(words: &[S]) -> String {
    let all = words.iter().enumerate().map(|(at, word)| {
        let word = word.as_ref();
        match word.contains(char::is_control) {
            true => escaped(word).into(),
            false => quoted(word, at == 0),
        }
    });
    all.collect::<Vec<_>>().join(" ")
}

/// A word with control characters. Codes have all three digits: a digit may follow.
fn escaped(word: &str) -> String {
    let mut text = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\n' => text += "\\n",
            '\t' => text += "\\t",
            '\r' => text += "\\r",
            '\\' | '\'' => text.extend(['\\', c]),
            // No argument has one, and it would end this one.
            '\0' => text.push(' '),
            c if c.is_control() => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    text += &format!("\\{byte:03o}");
                }
            }
            c => text.push(c),
        }
    }
    text + "'"
}

/// A `=` has a meaning in the first word alone.
fn quoted(word: &str, is_first: bool) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-./:@_%,".contains(c);
    match word.chars().all(|c| plain(c) || (c == '=' && !is_first)) && !word.is_empty() {
        true => word.into(),
        // Only a zero byte cannot be quoted, and that is a control character, which no word has here.
        false => shlex::try_quote(word).unwrap_or_else(|_| word.into()),
    }
}

/// A name in one line. What is no text (UTF-8), control characters and the backslash are written by
/// a backslash and their codes, so that two names that differ still do.
pub fn plain(name: impl AsRef<[u8]>) -> String {
    let mut text = String::new();
    for chunk in name.as_ref().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text += "\\\\",
                c if c.is_control() => text.extend(c.escape_default()),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text += &format!("\\x{byte:02x}");
        }
    }
    text
}

/// The same of a path.
pub fn path(path: &Path) -> String {
    plain(path.as_os_str().as_bytes())
}

/// `number` with about four significant digits.
pub fn short(number: f64) -> String {
    let decimals = match number.abs() {
        n if n >= 1000.0 || n == 0.0 => 0,
        n if n >= 100.0 => 1,
        n if n >= 10.0 => 2,
        n if n >= 1.0 => 3,
        n if n >= 0.001 => 4,
        _ => 7,
    };
    grouped(number, decimals)
}

/// Four digits, three of them after the point at most.
pub fn number(x: f64) -> String {
    let decimals = match x.abs() {
        0.0 => 0,
        n if n < 9.9995 => 3,
        n if n < 99.995 => 2,
        n if n < 999.95 => 1,
        _ => 0,
    };
    grouped(x, decimals)
}

/// 0.5: "50.0 %". What is not zero is not printed as zero: 0.0001 is "<0.1 %".
pub fn percent(share: f64) -> String {
    percent_to(share, 1)
}

/// The same with so many decimals.
pub fn percent_to(share: f64, decimals: usize) -> String {
    let text = grouped(share.abs() * 100.0, decimals);
    let is_zero = text.bytes().all(|b| !(b'1'..=b'9').contains(&b));
    match share {
        _ if !share.is_finite() || !is_zero => {
            format!("{} %", grouped(share * 100.0, decimals))
        }
        0.0 => format!("{text} %"),
        _ => {
            let least = grouped(10f64.powi(-(decimals as i32)), decimals);
            let sign = if share < 0.0 { ">-" } else { "<" };
            format!("{sign}{least} %")
        }
    }
}

/// A change, from its share. 0.329: "+32.9 %"; without decimals from ten times upwards.
pub fn signed_percent(share: f64) -> String {
    let decimals = if share.abs() < 10.0 { 1 } else { 0 };
    let text = format!("{} %", grouped(share * 100.0, decimals));
    let plus = if text.starts_with('-') { "" } else { "+" };
    format!("{plus}{text}")
}

/// A count, with commas between thousands.
pub fn whole(number: u64) -> String {
    grouped(number as f64, 0)
}

/// `1 lock`, `2 locks`.
pub fn counted(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", whole(number as u64))
}

/// Seconds with as many decimals as matter.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 100.0 => format!("{} s", grouped(s.round(), 0)),
        s => format!("{s:.1} s"),
    }
}

/// Nanoseconds, in a unit that leaves about three digits.
pub fn duration(ns: u64) -> String {
    let ns = ns as f64;
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{} µs", three(ns / 1e3)),
        _ if ns < 1e9 => format!("{} ms", three(ns / 1e6)),
        _ => format!("{} s", three(ns / 1e9)),
    }
}

/// Three digits of a number between 1 and 1000.
fn three(number: f64) -> String {
    let decimals = match number {
        n if n < 9.995 => 2,
        n if n < 99.95 => 1,
        _ => 0,
    };
    grouped(number, decimals)
}

/// How many columns of a terminal `text` takes: all that is printed is one wide.
pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// `text`, or its beginning and an ellipsis, in at most `width` columns.
pub fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    match width {
        0 => String::new(),
        _ => format!("{}…", kept.trim_end()),
    }
}

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Standard output was closed when this process was started. Rust's start-up code has opened
/// /dev/null in its place, so that nothing else shows it.
pub fn stdout_was_closed() {
    CLOSED.store(true, Ordering::Relaxed);
}

/// Whether standard output can be written. Rust takes what is written to one that is closed, or open
/// for reading only, for printed.
///
/// # Errors
/// It cannot.
pub fn stdout_is_open() -> Result<()> {
    // SAFETY: it only reads the flags.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
    let why = match flags {
        _ if CLOSED.load(Ordering::Relaxed) || flags < 0 => "it is closed",
        _ if flags & libc::O_ACCMODE == libc::O_RDONLY => "it is open for reading only",
        _ => return Ok(()),
    };
    Err(anyhow!("cannot write to standard output: {why}"))
}

/// Prints `text` to standard output.
///
/// # Errors
/// It cannot be written, or has no room for that.
pub fn print(text: &str) -> Result<()> {
    stdout_is_open()?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
}

/// Prints `text` to standard error; nobody can be told if that fails.
pub fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted_into_a_shell() {
        assert_eq!(shell(&["./app", "-n", "2"]), "./app -n 2");
        assert_eq!(shell(&["sh", "-c", "a & b; c"]), "sh -c 'a & b; c'");
        assert_eq!(shell(&["a\nb", "$x"]), "$'a\\nb' '$x'");
        assert_eq!(shell(&["it's \t\\"]), "$'it\\'s \\t\\\\'");
        assert_eq!(shell(&["\x1b1\u{9b}"]), "$'\\0331\\302\\233'");
        assert_eq!(shell(&["a", "--name=b", ""]), "a --name=b ''");
        assert_eq!(shell(&["A=b", "c"]), "'A=b' c");
    }

    #[test]
    fn names_that_differ_differ_in_a_line_too() {
        assert_eq!(plain("lib ü.so"), "lib ü.so");
        assert_eq!(plain(b"a\xff\xfe.so"), "a\\xff\\xfe.so");
        assert_eq!(plain("a\\xff"), "a\\\\xff");
        assert_eq!(plain("a\n\x1b[1m\u{9b}"), "a\\n\\u{1b}[1m\\u{9b}");
        assert_eq!(path(Path::new("/tmp/a b")), "/tmp/a b");
    }

    #[test]
    fn a_share_that_is_not_zero_is_not_printed_as_zero() {
        for (share, text) in [
            (0.5, "50.0 %"),
            (0.0, "0.0 %"),
            (-0.0, "0.0 %"),
            (0.000_6, "0.1 %"),
            (0.000_4, "<0.1 %"),
            (1e-12, "<0.1 %"),
            (-0.000_4, ">-0.1 %"),
            (-0.5, "-50.0 %"),
            (12.5, "1,250.0 %"),
            (f64::INFINITY, "inf %"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
        assert_eq!(percent_to(0.000_04, 2), "<0.01 %");
        assert_eq!(percent_to(0.004, 0), "<1 %");
        assert_eq!(percent_to(0.123_4, 2), "12.34 %");
    }

    #[test]
    fn large_changes_have_no_decimals() {
        assert_eq!(signed_percent(0.329), "+32.9 %");
        assert_eq!(signed_percent(-0.05), "-5.0 %");
        assert_eq!(signed_percent(119.15), "+11,915 %");
    }

    #[test]
    fn groups_digits() {
        assert_eq!(grouped(1234567.0, 0), "1,234,567");
        assert_eq!(grouped(-1234.5, 1), "-1,234.5");
        assert_eq!(grouped(999.0, 0), "999");
        assert_eq!(grouped(-0.04, 1), "0.0");
        assert_eq!(grouped(f64::INFINITY, 0), "inf");
    }

    #[test]
    fn counts_have_their_nouns() {
        assert_eq!(whole(0), "0");
        assert_eq!(whole(1_234_567), "1,234,567");
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(2000, "run"), "2,000 runs");
    }

    #[test]
    fn times_have_the_digits_that_matter() {
        assert_eq!(seconds(61.26), "61.3 s");
        assert_eq!(seconds(1234.5), "1,235 s");
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1234, "1.23 µs"),
            (12_345, "12.3 µs"),
            (123_456_789, "123 ms"),
            (4_000_000_000, "4.00 s"),
        ] {
            assert_eq!(duration(ns), text);
        }
    }

    #[test]
    fn cut_text_says_so() {
        assert_eq!(cut("four", 4), "four");
        assert_eq!(cut("fives", 4), "fiv…");
        assert_eq!(cut("a bcd", 3), "a…");
        assert_eq!(cut("x", 0), "");
    }
}
