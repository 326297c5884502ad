// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the threads of a simulation do.

mod builtin;
mod file;
mod histogram;
mod model;
#[cfg(test)]
mod tests;

pub use builtin::{all, load, names};
pub(crate) use file::MOST_THREADS;
pub use histogram::Histogram;
pub use model::{Time, Workload};
