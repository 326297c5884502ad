// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names that users type for one of several things that there are.

use anyhow::Result;

use crate::usage;

/// The one of `known` that `name` is the name of.
///
/// # Errors
/// There is none: that is a mistake in the command line, and the error lists the names
/// that there are. `what` says what they name, as `lock`.
pub fn one<'a, T>(
    what: &str,
    name: &str,
    known: &'a [T],
    name_of: impl Fn(&T) -> &str,
) -> Result<&'a T> {
    let found = known.iter().find(|one| name_of(one) == name);
    found.ok_or_else(|| unknown(what, name, known.iter().map(&name_of)))
}

/// An error that says that nothing has this name, and which names there are.
pub fn unknown<S: AsRef<str>>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = S>,
) -> anyhow::Error {
    let mut text = format!("there is no {what} named '{name}'; choose one of: ");
    for (n, known) in known.into_iter().enumerate() {
        text += if n > 0 { ", " } else { "" };
        text += known.as_ref();
    }
    usage::error(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_is_refused_with_the_right_ones() {
        let known = [("mutex", 1), ("rwsem", 2)];
        let chosen = |name| one("lock", name, &known, |known| known.0);
        assert_eq!(chosen("rwsem").expect("there").1, 2);
        let error = chosen("futex").expect_err("not there");
        assert_eq!(
            error.to_string(),
            "there is no lock named 'futex'; choose one of: mutex, rwsem"
        );
        assert!(usage::is(&error));
    }
}
