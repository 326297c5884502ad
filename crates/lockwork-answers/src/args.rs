// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork answers`.

use std::path::PathBuf;

/// What `lockwork answers --help` begins with.
pub const HELP: &str = "\
Answers questions that reviewers asked in the mails that proposed the kernel's locks.

Each answer is made of some commands of `lockwork sim` and `lockwork check`, which it
names. Its first sentence is chosen by rules from what these find. With the same
program, the same figures come out each time.";

/// What it ends with.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 1 if --check finds a difference, simulated threads got stuck or a client of
  the model checker failed, 2 for a wrong command line, 125 if lockwork itself fails,
  130 after Ctrl-C.

Examples:
  lockwork answers --list
  lockwork answers rwlock-writer-bias
  lockwork answers --write docs/answers.md
  lockwork answers rwlock-writer-bias --check docs/answers.md";

/// Options of `lockwork answers`.
#[derive(Debug, Clone, clap::Args)]
pub struct AnswersArgs {
    /// The questions, by their names in --list [default: all].
    #[arg(value_name = "QUESTION")]
    pub names: Vec<String>,
    /// Answer this question, too (repeatable).
    #[arg(long = "question", value_name = "QUESTION")]
    pub questions: Vec<String>,
    /// Write the page FILE.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "questions"])]
    pub write: Option<PathBuf>,
    /// Compare the answers with the page FILE, and fail if one differs.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    pub check: Option<PathBuf>,
    /// Simulations that run at the same time [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// List the questions. Nothing is simulated.
    #[arg(long, conflicts_with_all = ["write", "check"])]
    pub list: bool,
}
