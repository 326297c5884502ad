// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks' own C on a simulated NUMA machine.

pub mod machine;
pub mod outcome;
mod simulate;
pub mod workload;

pub use simulate::{simulate, Guests, Placement, Setup};
