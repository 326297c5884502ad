// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All rounds of a plan. Whatever ends it, what was measured is kept.
use crate::again::whole;
use crate::contender::Contender;
use crate::journal::{Data, Ended, Journal};
use crate::plan::{Form, Plan};
use crate::round::{measure, Conditions, Trouble};
use crate::sample::{Case, Sample};
use crate::single::{can, measure_pairs, Companion};
use crate::slow::left_out;
use crate::tools::Tools;
use anyhow::{Context, Result};
use lockwork_catalogue::{counted, reset_events};
use lockwork_report::interrupt::Interrupt;
use lockwork_report::progress::{self, ProgressBar};
use lockwork_report::stops::Stops;
use std::collections::HashSet;

/// A plan while it is carried out.
pub struct Session<'a> {
    locks: &'a [Contender],
    tools: &'a Tools,
    interrupt: Interrupt,
    stops: Stops,
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
        let bar = progress::bar(steps(plan, locks).len());
        Ok(Session {
            locks,
            tools,
            interrupt: Interrupt::listen().context("cannot watch for signals")?,
            stops: Stops::watch().context("cannot watch for signals")?,
            bar,
            data,
            journal,
        })
    }

    /// Measures what the plan asks for and the data does not have yet.
    pub fn run(&mut self) -> Result<Ended> {
        let companion = Companion::new().context("this machine refused a second thread")?;
        let over = self.steps();
        drop(companion);
        self.bar.finish_and_clear();
        over.err().unwrap_or(Ok(Ended::Completed))
    }

    fn steps(&mut self) -> Result<(), Over> {
        let plan = self.data.header.plan.clone();
        let samples = self.data.samples.iter();
        let done: HashSet<(Case, u32, String)> = samples
            .map(|s| (s.case.clone(), s.round, s.lock.clone()))
            .collect();
        for step in steps(&plan, self.locks) {
            let (case, lock) = (&plan.cases[step.case], &self.locks[step.lock]);
            self.bar.set_message(format!("{case}: {}", lock.name()));
            let done = done.contains(&(case.clone(), step.round, lock.name().to_owned()));
            if !done && left_out(&self.data.samples, case, lock.name()).is_none() {
                self.one(&plan, case, lock, &step)?;
            }
            self.bar.inc(1);
        }
        Ok(())
    }

    fn one(&mut self, plan: &Plan, case: &Case, lock: &Contender, step: &Step) -> Result<(), Over> {
        if let Some(signal) = self.interrupt.seen() {
            return Err(Ok(Ended::Interrupted { signal }));
        }
        let conditions = Conditions {
            pin: plan.pin,
            patience: plan.patience(case),
            seed: step.seed,
        };
        let interrupted = || self.interrupt.seen().is_some();
        let measure = || {
            reset_events();
            match case.calls {
                _ if interrupted() => Err(Trouble::Interrupted),
                Some(_) => Ok(measure_pairs(lock, case, &self.tools.clock)),
                None => measure(lock.kind, case, &conditions, self.tools, &interrupted),
            }
        };
        let measured = whole(case, || self.stops.was_stopped(), measure);
        let (measured, repeats) =
            measured.map_err(|trouble| Ok(self.ended(trouble, case, lock)))?;
        let sample = Sample {
            case: case.clone(),
            lock: lock.name().to_owned(),
            round: step.round,
            order: step.order,
            repeats,
            measured,
            events: counted(),
        };
        self.journal.sample(&sample).map_err(Err)?;
        self.data.samples.push(sample);
        Ok(())
    }

    fn ended(&self, trouble: Trouble, case: &Case, lock: &Contender) -> Ended {
        match (trouble, self.interrupt.seen()) {
            (Trouble::Interrupted, Some(signal)) => Ended::Interrupted { signal },
            (trouble, _) => Ended::Failed {
                why: format!("{} with {case}: {trouble}", lock.name()),
            },
        }
    }
}

/// One measurement that is to be made.
#[derive(Debug, PartialEq)]
struct Step {
    case: usize,
    round: u32,
    /// The lock's place in the round's order, from 1 on.
    order: u32,
    lock: usize,
    /// For what threads choose at random; the same for all locks of a round.
    seed: u64,
}

/// All measurements of a plan, in an order that is the same each time, so that
/// a run that is resumed goes on as it was. Uncontended pairs are short: there a
/// round is all cases, so that they can be compared with one another.
fn steps(plan: &Plan, locks: &[Contender]) -> Vec<Step> {
    let cases: Vec<usize> = (0..plan.cases.len()).collect();
    let groups: Vec<&[usize]> = match plan.form {
        Form::SingleThread => vec![&cases],
        _ => cases.chunks(1).collect(),
    };
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let mut all = Vec::new();
    for group in groups {
        for round in 1..=plan.rounds {
            let seed = random.u64(..);
            let mut here: Vec<(usize, usize)> = group
                .iter()
                .flat_map(|&case| (0..locks.len()).map(move |lock| (case, lock)))
                .filter(|&(case, lock)| can(&locks[lock], &plan.cases[case]))
                .collect();
            random.shuffle(&mut here);
            all.extend((1..).zip(here).map(|(order, (case, lock))| Step {
                case,
                round,
                order,
                lock,
                seed,
            }));
        }
    }
    all
}
