// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks' own C on a simulated NUMA machine.

mod calls;
mod catalogue;
mod command;
mod data;
mod engine;
mod knobs;
pub mod machine;
mod memory;
pub mod outcome;
pub mod reproduce;
mod routine;
mod rules;
pub mod settle;
mod setup;
mod simulate;
#[cfg(test)]
mod tests;
mod threads;
pub mod workload;
mod world;

pub use catalogue::{events, knobs, locks, Lock};
pub use command::commands::{Simulated, Simulator};
pub use command::{after_help, rivals, run, Cluster, SimArgs, Switch, Where, HELP};
pub use knobs::{Knob, Setting};
pub use rules::{Rule, Rules};
pub use setup::{Clusters, Guests, Placement, Setup, Vcpus};
pub use simulate::{simulate, Found};
