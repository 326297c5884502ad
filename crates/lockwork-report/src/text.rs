// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Numbers as people read them, and output that survives a closed pipe.

use std::io::{self, Write};

use anyhow::{Context, Result};

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

/// Prints `text` to standard output.
pub fn print(text: &str) -> Result<()> {
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
    fn groups_digits() {
        assert_eq!(grouped(1234567.0, 0), "1,234,567");
        assert_eq!(grouped(-1234.5, 1), "-1,234.5");
        assert_eq!(grouped(999.0, 0), "999");
        assert_eq!(grouped(-0.04, 1), "0.0");
        assert_eq!(grouped(f64::INFINITY, 0), "inf");
    }
}
