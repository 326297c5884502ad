// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The exit codes, and errors that ask for one. From 125 on they are those of env(1)
//! and timeout(1), so that scripts can tell our failures from the program's.

use std::fmt;

use lockwork_report::usage;

/// The program being run failed, under `compare`.
pub const PROGRAM_FAILED: u8 = 1;
/// The command line is wrong.
pub const WRONG_USAGE: u8 = 2;
/// Lockwork itself cannot do what was asked.
pub const OWN_ERROR: u8 = 125;
/// The program exists but cannot be executed.
pub const CANNOT_EXECUTE: u8 = 126;
/// The program, or an interpreter it needs, does not exist.
pub const NOT_FOUND: u8 = 127;

/// One clear sentence for the user, and the code to exit with.
#[derive(Debug)]
pub struct Exit {
    /// The process's exit code.
    pub code: u8,
    /// What went wrong and what to do, without a leading program name.
    pub message: String,
}

impl Exit {
    /// An error that ends the process with `code`.
    pub fn with(code: u8, message: impl Into<String>) -> anyhow::Error {
        let message = message.into();
        anyhow::Error::new(Exit { code, message })
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Exit {}

/// The exit code that `error` asks for.
pub fn code_of(error: &anyhow::Error) -> u8 {
    if usage::is(error) {
        return WRONG_USAGE;
    }
    error.downcast_ref::<Exit>().map_or(OWN_ERROR, |e| e.code)
}
