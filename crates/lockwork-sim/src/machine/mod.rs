// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The machines that can be simulated: their files, the command that shows them, and the
//! one that measures this machine.

mod args;
mod boost;
mod command;
mod costs;
mod edit;
mod entries;
mod fault;
mod figure;
mod file;
mod matrix;
mod measure;
mod model;
mod parse;
mod shipped;
mod show;
mod smt;
mod topology;
mod write;

pub use args::{MachineArgs, AFTER_HELP, HELP};
pub use command::run;
pub(crate) use edit::{from_text, with_numbers};
pub use model::{
    Costs, CpuCosts, DirectedYield, Distance, Home, HypervisorCosts, LineCosts, Machine, Place,
    SchedulerCosts,
};
pub use parse::Loaded;
pub use shipped::{load, names, open, open_file};
