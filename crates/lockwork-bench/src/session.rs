// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All rounds of a plan. Whatever ends it, what was measured is kept.
use crate::contender::Contender;
use crate::journal::{Data, Ended, Journal};
use crate::plan::Plan;
use crate::round::{measure, Conditions, Trouble};
use crate::sample::{Cell, Sample};
use crate::tools::Tools;
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use lockwork_report::interrupt::Interrupt;
use std::collections::HashSet;

/// A plan while it is carried out.
pub struct Session<'a> {
    locks: &'a [Contender],
    tools: &'a Tools,
    interrupt: Interrupt,
    bar: ProgressBar,
    data: &'a mut Data,
    journal: &'a mut Journal,
}

/// Why no more is measured; the error, if one kept us from writing it down.
type Over = Result<Ended>;

impl<'a> Session<'a> {
    /// Takes over Ctrl-C, and shows a progress bar if there is a terminal.
    /// `locks` are those of the plan in `data`.
    pub fn new(
        locks: &'a [Contender],
        tools: &'a Tools,
        data: &'a mut Data,
        journal: &'a mut Journal,
    ) -> Result<Session<'a>> {
        let plan = &data.header.plan;
        let rounds = u64::from(plan.rounds) * (plan.cells.len() * locks.len()) as u64;
        let bar = ProgressBar::new(rounds);
        let template = "{bar:30} {pos}/{len}  {msg}  ETA {eta}";
        bar.set_style(ProgressStyle::with_template(template)?);
        Ok(Session {
            locks,
            tools,
            interrupt: Interrupt::listen().context("cannot watch for signals")?,
            bar,
            data,
            journal,
        })
    }

    /// Measures what the plan asks for and the data does not have yet.
    pub fn run(&mut self) -> Result<Ended> {
        let over = self.cells();
        self.bar.finish_and_clear();
        over.err().unwrap_or(Ok(Ended::Completed))
    }

    fn cells(&mut self) -> Result<(), Over> {
        let plan = self.data.header.plan.clone();
        let done: HashSet<(Cell, u32, String)> = self
            .data
            .samples
            .iter()
            .map(|s| (s.cell.clone(), s.round, s.lock.clone()))
            .collect();
        for (place, cell) in plan.cells.iter().enumerate() {
            for round in 1..=plan.rounds {
                let seed = round_seed(&plan, place, round);
                for (order, at) in shuffled(self.locks.len(), seed).into_iter().enumerate() {
                    let lock = &self.locks[at];
                    self.bar.set_message(format!("{cell}: {}", lock.name()));
                    if !done.contains(&(cell.clone(), round, lock.name().to_owned())) {
                        self.one(&plan, cell, lock, (round, order as u32 + 1, seed))?;
                    }
                    self.bar.inc(1);
                }
            }
        }
        Ok(())
    }

    fn one(
        &mut self,
        plan: &Plan,
        cell: &Cell,
        lock: &Contender,
        (round, order, seed): (u32, u32, u64),
    ) -> Result<(), Over> {
        if let Some(signal) = self.interrupt.seen() {
            return Err(Ok(Ended::Interrupted { signal }));
        }
        let conditions = Conditions {
            pin: plan.pin,
            patience: plan.patience(cell),
            seed,
        };
        let interrupted = || self.interrupt.seen().is_some();
        let measured = measure(lock.kind, cell, &conditions, self.tools, &interrupted)
            .map_err(|trouble| Ok(self.ended(trouble, cell, lock)))?;
        let sample = Sample {
            cell: cell.clone(),
            lock: lock.name().to_owned(),
            round,
            order,
            measured,
        };
        self.journal.sample(&sample).map_err(Err)?;
        self.data.samples.push(sample);
        Ok(())
    }

    fn ended(&self, trouble: Trouble, cell: &Cell, lock: &Contender) -> Ended {
        match (trouble, self.interrupt.seen()) {
            (Trouble::Interrupted, Some(signal)) => Ended::Interrupted { signal },
            (trouble, _) => Ended::Failed {
                why: format!("{} with {cell}: {trouble}", lock.name()),
            },
        }
    }
}

/// The same each time, so that a run that is resumed goes on as it was.
fn round_seed(plan: &Plan, cell: usize, round: u32) -> u64 {
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let mut mix = |n: u64| fastrand::Rng::with_seed(random.u64(..) ^ n).u64(..);
    mix(cell as u64 + 1) ^ mix(u64::from(round)).rotate_left(1)
}

fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    order
}
