// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mistakes that the parser of the command line and the system name in their own words, in ours:
//! what is wrong, and what to do.

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ErrorKind};
use clap::Parser;

use crate::cli::Cli;

/// One sentence for a mistake in `words`, the command line; none: clap's own message is as clear.
pub fn told(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let context = |kind| error.get(kind).map(ToString::to_string);
    match error.kind() {
        ErrorKind::InvalidUtf8 => {
            let word = words.iter().find(|word| word.to_str().is_none())?;
            Some(format!(
                "the argument '{}' is not UTF-8: rename the file, or write the name in UTF-8",
                word.to_string_lossy()
            ))
        }
        ErrorKind::UnknownArgument => {
            let found = context(ContextKind::InvalidArg)?;
            let number = words.iter().position(|word| *word == *found)?;
            found.parse::<f64>().ok()?;
            let option = words.get(number.checked_sub(1)?)?.to_str()?;
            let wanted = range_of(words, &found);
            let wanted = wanted.unwrap_or_else(|| "a number that is not negative".to_owned());
            let is_option = option.starts_with('-');
            is_option.then(|| format!("{option} cannot be '{found}': give {wanted}"))
        }
        ErrorKind::ValueValidation => {
            let (option, found) = (
                context(ContextKind::InvalidArg)?,
                context(ContextKind::InvalidValue)?,
            );
            let source = error.source()?;
            let wanted = range(source).or_else(|| {
                let wanted = number(source)?;
                Some(range_of(words, &found).unwrap_or_else(|| wanted.to_owned()))
            })?;
            Some(format!("{option} cannot be '{found}': give {wanted}"))
        }
        _ => None,
    }
}

/// What would have been right where the standard library read a number.
fn number(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if error.is::<ParseFloatError>() {
        return Some("a number, such as 2 or 0.5");
    }
    Some(match error.downcast_ref::<ParseIntError>()?.kind() {
        IntErrorKind::PosOverflow => "a smaller number",
        _ => "a whole number that is not negative",
    })
}

/// What would have been right where a number is not in the range of its option. The parser says
/// `0 is not in 1..=100`; a range without an end has the largest number there.
fn range(error: &(dyn Error + 'static)) -> Option<String> {
    let text = error.to_string();
    let (_, bounds) = text.split_once(" is not in ")?;
    let (first, last) = bounds.split_once("..")?;
    let first: i64 = first.parse().ok()?;
    let Some(last) = last.strip_prefix('=') else {
        return Some(format!("a whole number from {first} on"));
    };
    let last: u64 = last.parse().ok()?;
    Some(format!("a whole number from {first} to {last}"))
}

/// The same for an option that was given `found`, which is in no range: the parser names the range
/// if it is given 0, unless 0 is in it.
fn range_of(words: &[OsString], found: &str) -> Option<String> {
    let behind = format!("={found}");
    let zero = |word: &OsString| match word.to_str() {
        Some(word) if word == found => "0".into(),
        Some(word) if word.ends_with(&behind) => {
            format!("{}=0", &word[..word.len() - behind.len()]).into()
        }
        _ => word.clone(),
    };
    let program = OsString::from("lockwork");
    let all = std::iter::once(program).chain(words.iter().map(zero));
    let error = Cli::try_parse_from(all).err()?;
    let given = error.get(ContextKind::InvalidValue)?.to_string();
    range(error.source().filter(|_| given == "0")?)
}

/// An error of a command with its causes. Of a name that is taken the system says only that it
/// exists.
pub fn with_causes(error: &anyhow::Error) -> String {
    let taken = |cause: &&(dyn Error + 'static)| {
        let error = cause.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    };
    match error.chain().position(|cause| taken(&cause)) {
        None => format!("{error:#}"),
        Some(at) => {
            let before = error.chain().take(at).map(|cause| format!("{cause}: "));
            before.collect::<String>()
                + "something of that name exists already; give another name, or remove it"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use anyhow::Context;

    use super::*;

    fn said(words: &[&[u8]]) -> Option<String> {
        let words = words.iter().map(|word| OsString::from_vec(word.to_vec()));
        let words: Vec<OsString> = words.collect();
        let all = [vec![OsString::from("lockwork")], words.clone()].concat();
        let error = Cli::try_parse_from(all).expect_err("a mistake");
        told(&error, &words)
    }

    #[test]
    fn numbers_are_asked_for() {
        for (words, sentence) in [
            (
                &[&b"torture"[..], b"mutex", b"--threads", b"-1"][..],
                "--threads cannot be '-1': give a whole number from 1 to 10000",
            ),
            (
                &[b"compare", b"-n", b"-2", b"--", b"true"],
                "-n cannot be '-2': give a whole number from 1 to 100000",
            ),
            (
                &[b"compare", b"-n", b"abc", b"--", b"true"],
                "--runs <N> cannot be 'abc': give a whole number from 1 to 100000",
            ),
            (
                &[
                    b"compare",
                    b"-n",
                    b"99999999999999999999999",
                    b"--",
                    b"true",
                ],
                "--runs <N> cannot be '99999999999999999999999': give a whole number from 1 to 100000",
            ),
            (
                &[b"compare", b"--runs", b"0", b"--", b"true"],
                "--runs <N> cannot be '0': give a whole number from 1 to 100000",
            ),
            (
                &[b"compare", b"--warmup=1001", b"--", b"true"],
                "--warmup <N> cannot be '1001': give a whole number from 0 to 1000",
            ),
            (
                &[b"compare", b"--warmup=abc", b"--", b"true"],
                "--warmup <N> cannot be 'abc': give a whole number that is not negative",
            ),
            (
                &[b"compare", b"--timeout", b"-1", b"--", b"true"],
                "--timeout cannot be '-1': give a number that is not negative",
            ),
            (
                &[b"workload", b"--ops", b"0"],
                "--ops <N> cannot be '0': give a whole number from 1 on",
            ),
        ] {
            assert_eq!(said(words).as_deref(), Some(sentence));
        }
        // A mistake of another kind is told by clap.
        assert_eq!(said(&[b"compare", b"--nonsense"]), None);
        assert_eq!(said(&[b"bench", b"-1"]), None);
    }

    #[test]
    fn what_is_not_utf_8_is_named() {
        let sentence = said(&[b"run", b"--lock", b"a\xffb", b"--", b"true"]).expect("a sentence");
        assert_eq!(
            sentence,
            "the argument 'a\u{fffd}b' is not UTF-8: rename the file, or write the name in UTF-8"
        );
    }

    #[test]
    fn a_name_that_is_taken_has_what_to_do() {
        let taken = io::Error::from_raw_os_error(libc::EEXIST);
        let error = Err::<(), _>(taken)
            .context("cannot make 'x'")
            .expect_err("taken");
        assert_eq!(
            with_causes(&error),
            "cannot make 'x': something of that name exists already; give another name, or remove it"
        );
        let other = io::Error::from_raw_os_error(libc::ENOENT);
        let error = Err::<(), _>(other)
            .context("cannot make 'x'")
            .expect_err("missing");
        assert!(with_causes(&error).ends_with("(os error 2)"));
    }
}
