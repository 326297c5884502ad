// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Commands of `lockwork sim`, as pages name them that are made of such commands.

use super::args::SimArgs;
use super::ending::told;
use super::plan::{Known, Plan};
use super::simulations::{self, Done, End};
use crate::outcome::Outcome;
use anyhow::{Context, Result};
use clap::{Args, FromArgMatches};
use lockwork_report::machine::cpus;
use lockwork_report::text;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;

/// What a command simulates: `command` has the words behind `lockwork sim`.
///
/// # Errors
/// The command is wrong.
pub(super) fn plan(command: &str, known: &Known) -> Result<Plan> {
    let cli = SimArgs::augment_args(clap::Command::new("sim"));
    let words = std::iter::once("sim").chain(command.split_whitespace());
    let matches = cli.try_get_matches_from(words)?;
    let args = SimArgs::from_arg_matches(&matches)?;
    Plan::of(&args, known).with_context(|| format!("lockwork sim {command}"))
}

/// Carries a plan out for `whom`. Break: it is over, with this exit code, and why was said.
///
/// # Errors
/// The host.
pub(super) fn carry_out(
    plan: &Arc<Plan>,
    jobs: usize,
    whom: &str,
) -> Result<ControlFlow<ExitCode, Vec<Done>>> {
    let (done, end) = simulations::run(plan, jobs, crate::simulate, &mut |_| Ok(()))?;
    Ok(match end {
        End::Completed => ControlFlow::Continue(done),
        End::Interrupted(signal) => {
            text::complain(&format!("lockwork: interrupted in {whom}\n"));
            ControlFlow::Break(signal.into())
        }
        End::Stuck(job, stuck) => {
            text::complain(&told(plan, job, &stuck));
            ControlFlow::Break(ExitCode::FAILURE)
        }
    })
}

/// Carries out commands of `lockwork sim` for programs.
pub struct Simulator {
    known: Known,
    jobs: usize,
}

/// One simulation of a command.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The lock.
    pub lock: &'static str,
    /// Threads.
    pub threads: usize,
    /// What came of it.
    pub outcome: Outcome,
}

impl Simulated {
    /// So much of all for each acquisition; nothing if there were none.
    pub fn each(&self, total: f64) -> f64 {
        match self.outcome.acquisitions() {
            0 => 0.0,
            n => total / n as f64,
        }
    }
}

impl Simulator {
    /// With so many simulations at the same time; as many as there are CPUs, if nobody
    /// says.
    ///
    /// # Errors
    /// The locks' world.
    pub fn new(jobs: Option<u32>) -> Result<Simulator> {
        Ok(Simulator {
            known: Known::load()?,
            jobs: jobs.map_or_else(cpus, |jobs| jobs as usize),
        })
    }

    /// How many simulations a command has.
    ///
    /// # Errors
    /// The command is wrong.
    pub fn simulations(&self, command: &str) -> Result<usize> {
        Ok(plan(command, &self.known)?.len())
    }

    /// Simulates what `command`, the words behind `lockwork sim`, asks for. Break: it is
    /// over, with this exit code, and why was said.
    ///
    /// # Errors
    /// The command or the host.
    pub fn run(&self, command: &str, whom: &str) -> Result<ControlFlow<ExitCode, Vec<Simulated>>> {
        self.carry_out(plan(command, &self.known)?, whom)
    }

    /// The same for arguments of `lockwork sim`.
    ///
    /// # Errors
    /// The arguments or the host.
    pub fn run_args(
        &self,
        args: &SimArgs,
        whom: &str,
    ) -> Result<ControlFlow<ExitCode, Vec<Simulated>>> {
        self.carry_out(Plan::of(args, &self.known)?, whom)
    }

    fn carry_out(&self, plan: Plan, whom: &str) -> Result<ControlFlow<ExitCode, Vec<Simulated>>> {
        let plan = Arc::new(plan);
        let done = match carry_out(&plan, self.jobs, whom)? {
            ControlFlow::Continue(done) => done,
            ControlFlow::Break(code) => return Ok(ControlFlow::Break(code)),
        };
        let simulated = |done: Done| Simulated {
            lock: plan.locks[done.job.lock].name,
            threads: done.job.threads,
            outcome: done.outcome,
        };
        Ok(ControlFlow::Continue(
            done.into_iter().map(simulated).collect(),
        ))
    }
}
