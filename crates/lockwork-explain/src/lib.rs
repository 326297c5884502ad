// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork explain`: what an acquisition cost and why, in the same words for a simulation, a
//! benchmark, a stress test and an interposed program.

mod account;
mod args;
mod bench;
mod command;
mod json;
mod output;
mod program;
mod quantity;
mod report;
mod rules;
mod sim;
#[cfg(test)]
mod tests;
mod torture;
mod user;

pub use account::{Account, Seen};
pub use args::{ExplainArgs, World, AFTER_HELP, HELP};
pub use command::{rendered, run};
pub use output::Output;
pub use program::{event_sums, Ran};
pub use quantity::Quantity;
