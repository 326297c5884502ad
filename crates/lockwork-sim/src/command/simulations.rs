// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The simulations of a plan, carried out. What is over is told in the order of the
//! plan, whichever ends first.

use super::plan::{Job, Plan};
use crate::outcome::{Outcome, Stuck};
use crate::{Found, Setup};
use anyhow::{Context, Result};
use lockwork_report::interrupt::{Interrupt, Interrupted};
use lockwork_report::{pool, progress};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What simulates; tests put something else here.
pub(super) type Simulate = fn(&Setup) -> Result<Found>;

/// One simulation that is over.
pub(super) struct Done {
    pub(super) job: Job,
    pub(super) outcome: Outcome,
}

/// How it went.
pub(super) enum End {
    Completed,
    Interrupted(Interrupted),
    Stuck(Job, Stuck),
}

/// Carries out `plan` with `jobs` simulations at once. `tell` hears of each that
/// is over, in the order of the plan.
pub(super) fn run(
    plan: &Arc<Plan>,
    jobs: usize,
    simulate: Simulate,
    tell: Tell,
) -> Result<(Vec<Done>, End)> {
    let interrupt = Interrupt::listen().context("cannot watch for signals")?;
    let bar = progress::bar(plan.len());
    bar.set_message("simulations");
    let mut results: Vec<Option<Found>> = Vec::new();
    results.resize_with(plan.len(), || None);
    let mut kept = Kept::default();
    let work = (0..plan.len()).map(|at| {
        let plan = Arc::clone(plan);
        move || simulate(&plan.setup(plan.job(at)))
    });
    let over = pool::all(work, jobs, &interrupt, |done| {
        let mut flow = ControlFlow::Continue(());
        if let Some((at, answer)) = done {
            let found = answer?;
            if found.is_err() {
                flow = ControlFlow::Break(());
            }
            results[at] = Some(found);
            kept.take(plan, &mut results, tell)?;
            bar.inc(1);
        }
        bar.tick();
        Ok(flow)
    });
    bar.finish_and_clear();
    let signal = match over {
        Ok(()) => None,
        Err(error) => Some(error.downcast::<Interrupted>()?),
    };
    kept.rest(plan, &mut results, tell)?;
    let end = match (signal, kept.stuck) {
        (Some(signal), _) => End::Interrupted(signal),
        (None, Some((job, stuck))) => End::Stuck(job, stuck),
        (None, None) => End::Completed,
    };
    Ok((kept.done, end))
}

/// What is over, in the order of the plan.
#[derive(Default)]
struct Kept {
    done: Vec<Done>,
    next: usize,
    stuck: Option<(Job, Stuck)>,
}

type Results = [Option<Found>];
type Tell<'a> = &'a mut dyn FnMut(&Done) -> Result<()>;

impl Kept {
    /// Takes what is there without a gap.
    fn take(&mut self, plan: &Plan, results: &mut Results, tell: Tell) -> Result<()> {
        while let Some(result) = results.get_mut(self.next).and_then(Option::take) {
            self.keep(plan.job(self.next), result, tell)?;
            self.next += 1;
        }
        Ok(())
    }

    /// Takes what is left behind gaps.
    fn rest(&mut self, plan: &Plan, results: &mut Results, tell: Tell) -> Result<()> {
        for (at, result) in results.iter_mut().enumerate() {
            if let Some(result) = result.take() {
                self.keep(plan.job(at), result, tell)?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, job: Job, result: Found, tell: Tell) -> Result<()> {
        match result {
            Ok(outcome) => {
                let done = Done { job, outcome };
                tell(&done)?;
                self.done.push(done);
            }
            Err(stuck) => {
                self.stuck.get_or_insert((job, stuck));
            }
        }
        Ok(())
    }
}
