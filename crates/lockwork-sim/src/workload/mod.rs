// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the threads of a simulation do.

mod builtin;
mod file;
mod histogram;
mod model;
mod place;
mod program;
mod program_file;
mod program_tables;
#[cfg(test)]
mod program_tests;
#[cfg(test)]
mod tests;
mod time;

pub use builtin::{all, load, names};
pub(crate) use file::MOST_THREADS;
pub use histogram::Histogram;
pub use model::Workload;
pub use program::{Program, Queue, Resource, Role, SharedLock, Step, What};
pub use time::Time;
