// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks of `locks/`, as C compiles them, under a weak-memory model checker
//! (loom) and a schedule fuzzer (shuttle).
//!
//! `platform/check/` turns each access of a lock into a call into this crate.
//! `tests/check/` holds the clients, small C programs that use a lock. What is
//! proved so, and what is not, is said in `docs/proof.md`.
mod client;
mod command;
mod cpu_time;
mod engine;
mod explore;
mod ffi;
mod layout;
#[cfg(test)]
mod litmus;
mod mutant;
mod past;
mod running;
mod site;
mod stores;
pub mod tags;
mod trace;
mod verdict;
mod word;

pub use client::{clients, locks, logic_mutants, rival_mutants, rivals, subjects};
pub use client::{Bound, Client, LogicMutant, MAX_THREADS, OTHERS, RIVAL_SOURCES, SOURCES};
pub use command::{check, check_worker, CheckArgs};
pub use explore::{run, Method, Task};
pub use mutant::{Change, Mutant, Spot};
pub use trace::Line;
pub use verdict::{Fault, Kind, Outcome};
