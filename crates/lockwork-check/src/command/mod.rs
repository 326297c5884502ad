// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork check`: every client under the checkers, each run in a process of
//! its own, and mutants that show that the checks bite.
mod args;
mod fallback;
mod interleaving;
mod kill;
mod kill_table;
mod killers;
mod list;
mod listen;
mod mutants;
mod page;
mod plan;
mod pool;
mod printer;
mod runs;
#[cfg(test)]
mod samples;
mod step;
mod worker;

pub use args::CheckArgs;
pub use worker::check_worker;

use crate::tags::{self, Index};
use crate::Client;
use anyhow::Result;
use kill::{is_covered, Trial, Verdict};
use killers::Killers;
use lockwork_report::bail_usage;
use lockwork_report::interrupt::Interrupted;
use lockwork_report::machine::cpus;
use mutants::Planned;
use plan::Chosen;
use pool::Pool;
use printer::Printer;
use runs::{Done, Style};
use std::process::ExitCode;
use std::time::Instant;

/// Does what the arguments say. Failure: a fault, a time-out, or a mutant that
/// survives without a reason.
///
/// # Errors
/// If the arguments name what there is not, or if no worker can be started.
pub fn check(args: &CheckArgs) -> Result<ExitCode> {
    let printer = Printer::new();
    if let Some(root) = &args.pairs {
        return list::pairs(&printer, root.as_deref());
    }
    let index = tags::index(args.sources());
    let chosen = plan::choose(args, &index)?;
    if args.list {
        let mutants = planned(args, every_mutant(args, &index)?, &chosen);
        list::list(&printer, &chosen, &mutants, args)?;
        return Ok(ExitCode::SUCCESS);
    }
    // What is wrong with the mutants shows before hours have passed.
    let every = match args.wants_mutants() {
        true => every_mutant(args, &index)?,
        false => Vec::new(),
    };
    let mut killers = args.killers.as_deref().map(Killers::open).transpose()?;
    if let Some(killers) = &mut killers {
        let known = every.iter().map(|mutant| mutant.key.as_str()).collect();
        let files = args.sources().iter().map(|source| source.0).collect();
        killers.forget_all_but(&known, &files);
    }
    let mutants = planned(args, every, &chosen);
    if args.wants_mutants() && mutants.is_empty() {
        bail_usage!("the chosen clients reach none of the chosen mutants; choose more locks");
    }
    match Session::new(args, &printer)?.run(&chosen, mutants, &index, killers) {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => Ok(ExitCode::FAILURE),
        Err(error) => match error.downcast_ref::<Interrupted>() {
            Some(signal) => {
                let above = match printer.has_results() {
                    true => "the results above are those of the finished runs",
                    false => "no run had finished",
                };
                eprintln!("lockwork: {signal}; {above}");
                Ok((*signal).into())
            }
            None => Err(error),
        },
    }
}

fn stems(args: &CheckArgs) -> Vec<&'static str> {
    let all = args.all_clients();
    all.iter().map(|client| client.stem()).collect()
}

fn every_mutant(args: &CheckArgs, index: &Index) -> Result<Vec<Planned>> {
    mutants::mutants(index, &args.all_mistakes(), &stems(args))
}

/// The mutants that the command line asks for: of the tags, and in the files of
/// the chosen clients or in those that locks share.
fn planned(args: &CheckArgs, every: Vec<Planned>, chosen: &Chosen) -> Vec<Planned> {
    let stems = stems(args);
    let mut mutants = every;
    mutants.retain(|mutant| {
        let stem = mutants::file_stem(&mutant.mutant.spot.file);
        let own = chosen.clients.iter().any(|client| client.stem() == stem);
        let asked = match &mutant.tag {
            Some(tag) => args.tags.contains(tag),
            None => false,
        };
        (own || !stems.contains(&stem)) && (args.tags.is_empty() || asked)
    });
    mutants
}

/// `Spare` notes for a weaker order that there is no mutant of.
fn unfit_notes(index: &Index, mutants: &[Planned], args: &CheckArgs) -> Vec<String> {
    let tags = index.tags.values();
    let asked = tags.filter(|tag| {
        let has_mutant = |mutant: &Planned| mutant.tag.as_ref() == Some(&tag.name);
        mutants.iter().any(has_mutant) || args.tags.contains(&tag.name)
    });
    let notes = asked.flat_map(|tag| tag.spare.iter().map(move |(order, _)| (&tag.name, order)));
    let unfit = notes.filter(|(name, order)| {
        let fits = |mutant: &&Planned| mutant.tag.as_ref() == Some(*name) && mutant.word == *order;
        !mutants.iter().any(|mutant| fits(&mutant))
    });
    unfit
        .map(|(name, order)| {
            format!("{name}: nothing there can be made '{order}': delete the note")
        })
        .collect()
}

/// One invocation.
struct Session<'a> {
    args: &'a CheckArgs,
    printer: &'a Printer,
    pool: Pool,
    style: Style,
}

impl<'a> Session<'a> {
    fn new(args: &'a CheckArgs, printer: &'a Printer) -> Result<Self> {
        let jobs = args.jobs.map_or_else(cpus, |jobs| jobs as usize);
        Ok(Session {
            args,
            printer,
            pool: Pool::new(Pool::own_program(), jobs)?,
            style: Style {
                json: args.json,
                trace: args.trace,
            },
        })
    }

    /// False: something failed.
    fn run(
        mut self,
        chosen: &Chosen,
        mutants: Vec<Planned>,
        index: &Index,
        killers: Option<Killers>,
    ) -> Result<bool> {
        let Session {
            args,
            printer,
            pool,
            style,
        } = &mut self;
        let start = Instant::now();
        let runs = plan::plan(&chosen.clients, args);
        let done = runs::run_all(pool, printer, runs, &chosen.unchecked, *style)?;
        let passed = runs::conclude(printer, &done, &chosen.unchecked, start, *style)?;
        if !args.wants_mutants() {
            return Ok(passed);
        }
        if !passed {
            if !style.json {
                printer
                    .print("No mutants: what they show counts only when nothing else fails.\n")?;
            }
            return Ok(false);
        }
        self.kill(chosen, mutants, &done, index, killers)
    }

    fn kill(
        mut self,
        chosen: &Chosen,
        mutants: Vec<Planned>,
        done: &[Done],
        index: &Index,
        killers: Option<Killers>,
    ) -> Result<bool> {
        let start = Instant::now();
        let unfit = unfit_notes(index, &mutants, self.args);
        let thorough = self.args.deep;
        let trials = mutants.into_iter().map(|planned| {
            let killer = killers.as_ref().and_then(|all| all.of(&planned.key));
            let killer = killer.cloned();
            Trial::new(planned, done, thorough, killer.as_ref())
        });
        let (mut trials, not_reached) =
            reachable(trials.collect(), chosen, &self.args.all_clients());
        if trials.is_empty() {
            bail_usage!("the chosen clients reach none of the chosen mutants; choose more locks");
        }
        kill_table::run_all(&mut self.pool, self.printer, &mut trials, self.style)?;
        if let Some(killers) = killers {
            killers.save(&trials)?;
        }
        let summary = kill_table::Summary {
            unfit,
            not_reached,
            partly: !self.args.clients.is_empty(),
            start,
        };
        kill_table::conclude(self.printer, &trials, &summary, self.style)
    }
}

/// A part of the clients need not reach everything. How many mutants are left
/// out for that is the second.
fn reachable(trials: Vec<Trial>, chosen: &Chosen, all: &[Client]) -> (Vec<Trial>, usize) {
    let before = trials.len();
    let mut trials = trials;
    trials.retain(|trial| {
        let file = &trial.planned.mutant.spot.file;
        !matches!(trial.verdict, Some(Verdict::Unreached)) || is_covered(file, &chosen.clients, all)
    });
    let left_out = before - trials.len();
    (trials, left_out)
}
