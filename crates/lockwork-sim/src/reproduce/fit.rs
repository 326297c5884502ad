// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fits a machine's file to the cells that its `[calibration]` names, by random search.
//!
//! First candidates anywhere in the range around the numbers of `start`; then steps from
//! each of the best ones, which get shorter. What counts is the root of the mean square of ln
//! (simulated / published). No other cell is looked at.

use super::cell::{Measure, Role, Trial};
use super::settled;
use super::TABLES;
use crate::machine::{from_text, with_numbers};
use crate::Rules;
use anyhow::{bail, Context, Result};
use lockwork_report::interrupt::Interrupt;
use lockwork_report::pool;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// How far the costs of a distance go from their start, together, and a number of `[line]`.
const RANGES: [(&str, f64); 2] = [("distance.", 1.5), ("line.", 4.0)];
/// Loops of a candidate's simulations: fewer than of the tables'.
const LOOPS: u64 = 2000;
/// Steps that are tried at the same time; the best one is taken.
const BATCH: usize = 8;
/// The shortest and the longest step, of the logarithm of a number.
const STEPS: (f64, f64) = (0.02, 0.25);

/// How long to search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Candidates anywhere.
    pub candidates: usize,
    /// So many of them, the best ones, are where steps begin.
    pub followed: usize,
    /// Rounds of steps from each.
    pub rounds: usize,
    /// All that is random.
    pub seed: u64,
    /// Simulations that run at the same time.
    pub jobs: usize,
}

/// What is turned: numbers that keep their ratios.
struct Dial {
    /// Each with where it starts.
    numbers: Vec<(String, f64)>,
    /// They stay within this factor of their start.
    range: f64,
    are_shares: bool,
}

/// A cell that is fitted to.
struct Wanted {
    published: f64,
    measure: Measure,
    trials: Vec<Trial>,
}

struct Work {
    name: String,
    text: String,
    dials: Vec<Dial>,
    wanted: Vec<Wanted>,
}

impl Dial {
    fn kept(&self, factor: f64) -> f64 {
        factor.clamp(1.0 / self.range, self.range)
    }

    /// The numbers that a factor makes.
    fn at(&self, factor: f64) -> impl Iterator<Item = (String, f64)> + '_ {
        let number = move |start: f64| {
            let number = start * factor;
            match self.are_shares {
                true => number.clamp(0.05, 0.95),
                false => number,
            }
        };
        // Rounded to three digits, so that the file has the numbers that were simulated.
        let rounded = |number: f64| {
            let digits = 10f64.powf(2.0 - number.log10().floor());
            (number * digits).round() / digits
        };
        let numbers = self.numbers.iter();
        numbers.map(move |(path, start)| (path.clone(), rounded(number(*start))))
    }
}

/// The file at `path` with the best numbers that are found. `told` hears of each
/// place where the steps have ended.
///
/// # Errors
/// The file is wrong, or does not say to what it is fitted; or a signal came.
pub fn fit(path: &Path, search: &Search, told: &mut dyn FnMut(&str)) -> Result<String> {
    let work = Arc::new(Work::open(path)?);
    let interrupt = Interrupt::listen().context("cannot take over Ctrl-C")?;
    let mut random = fastrand::Rng::with_seed(search.seed);
    let mut candidates = vec![vec![1.0; work.dials.len()]];
    candidates.resize_with(search.candidates.max(1), || {
        anywhere(&work.dials, &mut random)
    });
    let mut firsts = tried(&work, candidates, f64::MAX, search.jobs, &interrupt)?;
    firsts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best = (f64::MAX, Vec::new());
    for mut at in firsts.into_iter().take(search.followed.max(1)) {
        for round in 0..search.rounds {
            let left = 1.0 - round as f64 / search.rounds as f64;
            let step = STEPS.0 + (STEPS.1 - STEPS.0) * left * left;
            let steps = (0..BATCH).map(|_| near(&work.dials, &at.1, step, &mut random));
            let found = tried(&work, steps.collect(), at.0, search.jobs, &interrupt)?;
            let first = found.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some(better) = first.filter(|first| first.0 < at.0) {
                at = better;
            }
        }
        told(&format!("{:.4}  {:?}", at.0, work.numbers(&at.1)));
        if at.0 < best.0 {
            best = at;
        }
    }
    if best.1.is_empty() {
        bail!(
            "none of the candidates is a machine that can be simulated: look at \
             [calibration.start] of {}",
            path.display()
        );
    }
    with_numbers(&work.text, &work.numbers(&best.1))
}

/// Each factor anywhere in its range, by its logarithm.
fn anywhere(dials: &[Dial], random: &mut fastrand::Rng) -> Vec<f64> {
    let one = |dial: &Dial| {
        let way = 2.0 * random.f64() - 1.0;
        dial.range.powf(way)
    };
    dials.iter().map(one).collect()
}

/// A third of the factors a step away.
fn near(dials: &[Dial], best: &[f64], step: f64, random: &mut fastrand::Rng) -> Vec<f64> {
    let one = |(dial, &factor): (&Dial, &f64)| match random.u8(..3) {
        0 => dial.kept(factor * (step * (4.0 * random.f64() - 2.0)).exp()),
        _ => factor,
    };
    dials.iter().zip(best).map(one).collect()
}

/// Candidates that may be better than `limit`, with their errors.
fn tried(
    work: &Arc<Work>,
    candidates: Vec<Vec<f64>>,
    limit: f64,
    jobs: usize,
    interrupt: &Interrupt,
) -> Result<Vec<(f64, Vec<f64>)>> {
    let mut found = Vec::new();
    let calls = candidates.iter().cloned().map(|factors| {
        let work = Arc::clone(work);
        move || work.error(&factors, limit)
    });
    pool::all(calls, jobs, interrupt, |done| {
        if let Some((at, error)) = done {
            found.push((at, error?));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    // Equal ones are taken in their order, whichever was done first.
    found.sort_by_key(|&(at, _)| at);
    let found = found.into_iter();
    Ok(found
        .map(|(at, error)| (error, candidates[at].clone()))
        .collect())
}

impl Work {
    fn open(path: &Path) -> Result<Work> {
        let shown = path.display();
        let text =
            lockwork_report::input::text(path).with_context(|| format!("cannot read {shown}"))?;
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let loaded = from_text(&name, &text)?;
        let Some(calibration) = loaded.file.calibration.as_ref().map(|c| c.get_ref()) else {
            bail!("{shown} has no [calibration]: say there to what it is to be fitted");
        };
        let entries = loaded.file.entries();
        let mut dials: Vec<Dial> = Vec::new();
        for path in &calibration.fitted {
            let range = RANGES.iter().find(|(section, _)| path.starts_with(section));
            let entry = entries.iter().find(|entry| entry.path == *path);
            let (Some((_, range)), Some(&start), Some(entry)) =
                (range, calibration.start.get(path), entry)
            else {
                bail!("{shown}: {path} needs a number in [calibration.start]");
            };
            let number = (path.clone(), start);
            let same = |dial: &&mut Dial| distance(&dial.numbers[0].0) == distance(path);
            match dials
                .iter_mut()
                .find(same)
                .filter(|_| distance(path).is_some())
            {
                Some(dial) => dial.numbers.push(number),
                None => dials.push(Dial {
                    numbers: vec![number],
                    range: *range,
                    are_shares: entry.unit == "share",
                }),
            }
        }
        Ok(Work {
            wanted: wanted(&name, &calibration.rows)?,
            name,
            text,
            dials,
        })
    }

    fn numbers(&self, factors: &[f64]) -> Vec<(String, f64)> {
        let dials = self.dials.iter().zip(factors);
        dials.flat_map(|(dial, &factor)| dial.at(factor)).collect()
    }

    /// How far the cells are off with these numbers; infinite if they are no machine, or as
    /// soon as it is above `limit`.
    fn error(&self, factors: &[f64], limit: f64) -> Result<f64> {
        let text = with_numbers(&self.text, &self.numbers(factors))?;
        let Ok(loaded) = from_text(&self.name, &text) else {
            return Ok(f64::INFINITY);
        };
        let machine = Arc::new(loaded.machine);
        let mut sum = 0.0;
        for cell in &self.wanted {
            let mut outcomes = Vec::new();
            for trial in &cell.trials {
                let mut trial = trial.clone();
                trial.machine = Arc::clone(&machine);
                match settled::simulated_once(&trial, 1, Rules::default())? {
                    Ok(outcome) => outcomes.push(outcome),
                    Err(_) => return Ok(f64::INFINITY),
                }
            }
            let Some(value) = cell.measure.of(&outcomes.iter().collect::<Vec<_>>()) else {
                return Ok(f64::INFINITY);
            };
            sum += (value / cell.published).ln().powi(2);
            if (sum / self.wanted.len() as f64).sqrt() >= limit {
                return Ok(f64::INFINITY);
            }
        }
        Ok((sum / self.wanted.len() as f64).sqrt())
    }
}

/// The distance whose cost a path is: `distance.hop1.load` is one of hop1.
fn distance(path: &str) -> Option<&str> {
    let (distance, _) = path.strip_prefix("distance.")?.split_once('.')?;
    Some(distance)
}

/// The cells that `rows` name, all of them on the whole machine.
fn wanted(machine: &str, rows: &[String]) -> Result<Vec<Wanted>> {
    let whole = crate::machine::load(machine)?;
    let mut found = Vec::new();
    for (name, build) in TABLES {
        let is_of_it = |row: &String| row.split_once(": ").is_some_and(|(table, _)| table == name);
        if !rows.iter().any(is_of_it) {
            continue;
        }
        let table = super::built(build)?;
        if table.trials.iter().any(|trial| *trial.machine != whole) {
            bail!("the table {name} is not of the whole machine {machine}: it cannot be fitted to");
        }
        for cell in table
            .cells
            .iter()
            .filter(|cell| cell.role == Role::Calibration)
            .filter(|cell| rows.contains(&format!("{name}: {}", cell.column)))
        {
            let trials = cell.trials.iter().map(|&trial| {
                let mut trial = table.trials[trial].clone();
                trial.workload.loops = trial.workload.loops.map(|loops| loops.min(LOOPS));
                trial
            });
            found.push(Wanted {
                published: cell.published,
                measure: cell.measure,
                trials: trials.collect(),
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
