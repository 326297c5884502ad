// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork answers`: what reviewers asked about the kernel's locks in the mails that
//! proposed them, answered by figures that the command makes: `docs/answers.md`.

mod args;
mod checked;
mod command;
mod evidence;
mod figure;
mod lab;
mod mails;
mod page;
mod published;
mod question;
mod questions;
#[cfg(test)]
mod samples;
mod sources;

pub use args::{AnswersArgs, AFTER_HELP, HELP};
pub use command::answers;
