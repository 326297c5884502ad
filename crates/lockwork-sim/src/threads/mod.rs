// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What simulated threads run.

mod guarded;
mod one_lock;
mod outside;
mod program;

use crate::rules::Rules;
use crate::setup::Setup;
use crate::world::{Ops, World};
use one_lock::Machines;
use outside::Chance;
use program::Several;

/// What all threads of a simulation share.
pub(crate) enum Code {
    /// A workload with one lock; each virtual machine has its own.
    One(Machines),
    /// Roles, and what they use.
    Several(Several),
}

impl Code {
    /// Locks and their data, new. `ops`: the kind of lock that is compared.
    pub fn new(setup: &Setup, world: &World, ops: &'static Ops) -> Self {
        match &setup.workload.program {
            None => Code::One(Machines::new(setup, ops)),
            Some(program) => Code::Several(Several::new(setup, program, world, ops)),
        }
    }

    /// Initialises the locks.
    pub fn init(&self) {
        match self {
            Code::One(all) => all.init(),
            Code::Several(several) => several.init(),
        }
    }
}

/// Runs a thread until all is over, or its loops are done.
pub(crate) fn run(code: &Code, thread: usize, seed: u64, rules: Rules) {
    let mut chance = Chance::new(seed, rules);
    match code {
        Code::One(all) => all.run(thread, &mut chance),
        Code::Several(several) => several.run(thread, &mut chance),
    }
}
