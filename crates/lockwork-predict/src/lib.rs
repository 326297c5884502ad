// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork predict`: what a profile says of a program's locks becomes workloads of the
//! simulator, which is asked how other locks would do, with more threads, on other machines.

mod args;
mod command;
mod doubt;
mod json;
mod nested;
mod plan;
mod policy;
mod report;
mod rows;
mod times;
mod workload;

pub use args::{PredictArgs, AFTER_HELP, HELP};
pub use command::run;
pub use policy::names as policies;
