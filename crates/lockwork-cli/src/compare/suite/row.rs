// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One program with one number of threads.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use lockwork_report::interrupt::signal_name;
use lockwork_report::machine::Machine;

use super::super::arms;
use super::super::conclusion::{conclude, now};
use super::super::hook::{self, Trouble};
use super::super::report::{Ended, Report, Step};
use super::super::rules::Rules;
use super::super::session::{self, Session};
use super::super::signals::Signals;
use super::file::{Program, Suite};
use super::placeholder::{fill, Values};
use super::report::Row;
use crate::cli::{CompareArgs, Output};
use crate::program;

/// A program that is here.
pub struct Found<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its file.
    pub file: PathBuf,
}

/// Looks for `program`, and for the others that it needs.
pub fn find<'a>(program: &'a Program, suite: &Suite) -> Result<Found<'a>> {
    for name in &program.needs {
        program::find(OsStr::new(name))?;
    }
    let values = Values {
        threads: None,
        dir: &suite.dir.to_string_lossy(),
        tmp: None,
    };
    let name = fill(&program.command[0], &values);
    let file = program::find(OsStr::new(&name))?;
    program::validate(&file)?;
    Ok(Found { program, file })
}

/// What all rows have in common.
pub struct Bench<'a> {
    /// The command line.
    pub args: &'a CompareArgs,
    /// The suite.
    pub suite: &'a Suite,
    /// glibc and the locks.
    pub locks: &'a [String],
    /// This machine, before the first row made it busy.
    pub machine: &'a Machine,
    /// Ctrl-C and Ctrl-Z.
    pub signals: &'a Signals,
    /// How many rows there are.
    pub rows: usize,
    /// How many comparisons with glibc there are in all of them.
    pub comparisons: usize,
}

/// What a row came to: a report, or why there is none.
type Measured = Result<Report, Ended>;

impl Bench<'_> {
    /// Measures all of `found`, or as many as can be.
    pub fn rows(&self, found: &[Found]) -> Result<(Vec<Row>, Ended)> {
        let mut rows = Vec::new();
        for found in found {
            for &threads in &found.program.threads {
                let measured = self.row(found, threads, rows.len() + 1)?;
                let ended = match &measured {
                    Ok(report) => report.ended.clone(),
                    Err(ended) => ended.clone(),
                };
                let failed = match &ended {
                    Ended::Failed { why, .. } => Some(why.clone()),
                    _ => None,
                };
                rows.push(Row {
                    program: found.program.name.clone(),
                    threads,
                    failed,
                    report: measured.ok(),
                });
                if matches!(ended, Ended::Interrupted { .. }) {
                    return Ok((rows, ended));
                }
            }
        }
        Ok((rows, Ended::Completed))
    }

    fn row(&self, found: &Found, threads: u32, number: usize) -> Result<Measured> {
        let program = found.program;
        let tmp = tempfile::tempdir().context("cannot make a folder for temporary files")?;
        let words = |words: &[String]| self.words(words, threads, tmp.path());
        let rules = Rules {
            runs: self.args.runs.unwrap_or(self.suite.rounds),
            warmup: self.args.warmup.unwrap_or(self.suite.warmup),
            limit: Some(program.timeout),
            embedded: false,
            comparisons: Some(self.comparisons),
            label: format!("{number}/{} {} ({threads}): ", self.rows, program.name),
            // Each row has orders of its own: what they favour by chance is not the same everywhere.
            seed: self.args.seed.wrapping_add(number as u64),
            ..Rules::of(self.args)
        };
        if let Err(ended) = self.prepare(program, &words(&program.setup))? {
            return Ok(Err(ended));
        }
        let command = session::Program {
            file: found.file.clone(),
            command: words(&program.command),
            output: Output::Pipe,
            recorded: false,
        };
        let arms = arms::distinct(self.locks, &self.args.set)?;
        let started = now();
        let metric = &program.metric;
        let mut session = Session::new(&rules, metric, &command, arms, self.signals)?;
        // An error of our own is in `ended` too; the next program may do better.
        let (ended, _) = session.run();
        let Session {
            arms,
            samples,
            locking,
            ..
        } = session;
        let machine = self.machine.clone();
        let all = (arms, samples, locking, ended);
        Ok(Ok(conclude(
            &rules, metric, machine, &command, all, started,
        )))
    }

    fn words(&self, words: &[String], threads: u32, tmp: &Path) -> Vec<OsString> {
        let values = Values {
            threads: Some(threads),
            dir: &self.suite.dir.to_string_lossy(),
            tmp: Some(&tmp.to_string_lossy()),
        };
        let filled = words.iter().map(|word| fill(word, &values).into());
        filled.collect()
    }

    /// Runs what a row needs beforehand, under glibc.
    fn prepare(&self, program: &Program, setup: &[OsString]) -> Result<Result<(), Ended>> {
        let Some((name, arguments)) = setup.split_first() else {
            return Ok(Ok(()));
        };
        let mut command = Command::new(name);
        command.args(arguments);
        let done = hook::run(&mut command, Some(program.timeout), self.signals);
        Ok(done.map_err(|trouble| match trouble {
            Trouble::Failed(why) => Ended::Failed {
                what: Step::Setup,
                why: format!("the setup of '{}' failed: {why}", program.name),
            },
            Trouble::Interrupted(signal) => Ended::Interrupted {
                signal: signal_name(signal),
            },
        }))
    }
}
