// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Commands that run before and after what is measured. They are not measured, and have no lock.

use std::process::{Command, Stdio};
use std::time::Duration;

use lockwork_report::interrupt::signal_name;

use super::child::{self, End};
use super::metric;
use super::signals::Signals;
use crate::cli::Output;

/// Why one did not do its work.
pub enum Trouble {
    /// It failed: how.
    Failed(String),
    /// This signal came.
    Interrupted(i32),
}

/// Runs a command line by the shell.
///
/// # Errors
/// It failed, or a signal came.
pub fn shell(line: &str, signals: &Signals) -> Result<(), Trouble> {
    run(Command::new("sh").args(["-c", line]), None, signals)
}

/// Runs `command`, for `limit` at most. What it leaves in its process group ends with it.
///
/// # Errors
/// It failed, or a signal came.
pub fn run(
    command: &mut Command,
    limit: Option<Duration>,
    signals: &Signals,
) -> Result<(), Trouble> {
    command.stdin(Stdio::null());
    let failed = |why: String| Err(Trouble::Failed(why));
    // It may start a server for the runs: no mark.
    let seen = match child::observe(command, Output::Pipe, limit, signals, None) {
        Ok(seen) => seen,
        Err(error) => {
            let name = command.get_program().to_string_lossy();
            return failed(format!("{name}: {error}"));
        }
    };
    match seen.end {
        End::Code(0) => Ok(()),
        End::Interrupted(signal) => Err(Trouble::Interrupted(signal)),
        End::Code(code) => {
            let tail = metric::tail(&seen.output);
            let why = format!("it ended with exit code {code}\n{tail}");
            failed(why.trim_end().to_owned())
        }
        End::Signal(signal) => failed(format!("it was killed by {}", signal_name(signal))),
        End::TimedOut => failed("it took longer than the time limit".to_owned()),
    }
}
