// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks' own C on a simulated NUMA machine.

mod calls;
mod command;
mod data;
mod engine;
mod knobs;
pub mod machine;
pub mod outcome;
pub mod reproduce;
mod simulate;
#[cfg(test)]
mod tests;
mod threads;
pub mod workload;
mod world;

pub use command::{after_help, run, Cluster, SimArgs, Switch, Where, HELP};
pub use knobs::{events, knobs, Knob, Setting};
pub use simulate::{locks, simulate, Clusters, Found, Guests, Lock, Placement, Setup};
