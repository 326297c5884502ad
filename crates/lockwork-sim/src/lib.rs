// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks' own C on a simulated NUMA machine.

mod calls;
mod command;
mod data;
mod engine;
pub mod machine;
pub mod outcome;
pub mod pool;
pub mod reproduce;
mod simulate;
#[cfg(test)]
mod tests;
mod threads;
pub mod workload;
mod world;

pub use command::{run, SimArgs, Switch, Where, AFTER_HELP, HELP};
pub use simulate::{locks, simulate, Found, Guests, Lock, Placement, Setup};
