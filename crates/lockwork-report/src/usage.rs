// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mistakes in the command line. Their type tells them apart from all other errors,
//! because the command ends with another exit code for them.

use std::error::Error;
use std::fmt;

/// What is wrong with the command line, and what would be right.
#[derive(Debug)]
pub struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Usage {}

/// An error that says that the command line is wrong, by `message`.
pub fn error(message: impl fmt::Display) -> anyhow::Error {
    Usage(message.to_string()).into()
}

/// Is the command line to blame for `error`?
pub fn is(error: &anyhow::Error) -> bool {
    error.is::<Usage>()
}

/// Returns from the function with an error that says that the command line is wrong.
/// The arguments are those of `format!`.
#[macro_export]
macro_rules! bail_usage {
    ($($message:tt)*) => {
        return Err($crate::usage::error(format!($($message)*)))
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{anyhow, Context, Result};

    fn refuse(name: &str) -> Result<()> {
        bail_usage!("there is no '{name}'");
    }

    #[test]
    fn is_told_apart_behind_a_context_too() {
        let plain = refuse("x").expect_err("refused");
        assert_eq!(plain.to_string(), "there is no 'x'");
        assert!(is(&plain));
        let placed = refuse("x").context("--cpus").expect_err("refused");
        assert!(is(&placed));
        assert!(!is(&anyhow!("the disk is full")));
    }
}
