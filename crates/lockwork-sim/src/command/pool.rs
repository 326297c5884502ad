// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Simulations on as many threads as wanted.
//!
//! Plain threads and a channel rather than rayon: the main thread has to look
//! for Ctrl-C and draw the bar while results come in, and after Ctrl-C it must
//! not wait for simulations that cannot be stopped. They end with the process.

use super::plan::{Job, Plan};
use crate::outcome::{Outcome, Stuck};
use crate::{Found, Setup};
use anyhow::{bail, Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use lockwork_report::interrupt::Interrupt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

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
    Interrupted(i32),
    Stuck(Job, Stuck),
}

type Answer = (usize, Result<Found>);

/// Carries out `plan` with `jobs` simulations at once. `tell` hears of each that
/// is over, in the order of the plan.
pub(super) fn run(
    plan: &Arc<Plan>,
    jobs: usize,
    simulate: Simulate,
    tell: Tell,
) -> Result<(Vec<Done>, End)> {
    let interrupt = Interrupt::listen().context("cannot watch for signals")?;
    let bar = ProgressBar::new(plan.len() as u64);
    let template = "{bar:30} {pos}/{len} simulations  ETA {eta}";
    bar.set_style(ProgressStyle::with_template(template)?);
    bar.enable_steady_tick(Duration::from_millis(200));
    let stop = Arc::new(AtomicBool::new(false));
    let answers = start(plan, jobs, simulate, &stop)?;
    let mut results: Vec<Option<Found>> = Vec::new();
    results.resize_with(plan.len(), || None);
    let mut kept = Kept::default();
    let over = loop {
        if let Some(signal) = interrupt.seen() {
            break Some(signal);
        }
        match answers.recv_timeout(Duration::from_millis(100)) {
            Ok((at, answer)) => {
                let found = answer?;
                if found.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                results[at] = Some(found);
                kept.take(plan, &mut results, tell)?;
                bar.inc(1);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    bar.finish_and_clear();
    kept.rest(plan, &mut results, tell)?;
    let end = match (over, kept.stuck) {
        (Some(signal), _) => End::Interrupted(signal),
        (None, Some((job, stuck))) => End::Stuck(job, stuck),
        (None, None) if kept.done.len() < plan.len() => {
            bail!("a simulation broke off; that is a defect of lockwork")
        }
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

fn start(
    plan: &Arc<Plan>,
    jobs: usize,
    simulate: Simulate,
    stop: &Arc<AtomicBool>,
) -> Result<Receiver<Answer>> {
    let (sender, receiver) = channel();
    let next = Arc::new(AtomicUsize::new(0));
    for _ in 0..jobs.min(plan.len()) {
        let (plan, next, stop) = (Arc::clone(plan), Arc::clone(&next), Arc::clone(stop));
        let sender = sender.clone();
        thread::Builder::new()
            .name("simulation".to_owned())
            .spawn(move || work(&plan, &next, &stop, simulate, &sender))
            .context("this machine refused another thread; try --jobs 1")?;
    }
    Ok(receiver)
}

fn work(
    plan: &Plan,
    next: &AtomicUsize,
    stop: &AtomicBool,
    simulate: Simulate,
    sender: &Sender<Answer>,
) {
    while !stop.load(Ordering::Relaxed) {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if at >= plan.len() {
            return;
        }
        let answer = simulate(&plan.setup(plan.job(at)));
        if sender.send((at, answer)).is_err() {
            return;
        }
    }
}
