// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fits a machine's file to the cells that its `[calibration]` names, by random search.
//!
//! First candidates anywhere in the range around the numbers of `start`; then steps from
//! each of the best ones, which get shorter. What counts is the root of the mean square of ln
//! (simulated / published). No other cell is looked at.

use super::cell::{Measure, Role, Trial};
use super::settled;
use super::TABLES;
use crate::machine::{from_text, with_numbers, Machine};
use crate::Rules;
use anyhow::{bail, Context, Result};
use lockwork_report::interrupt::Interrupt;
use lockwork_report::pool;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// How far a cost of a distance goes from its start, and a number of `[line]`.
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

/// A number that is fitted.
struct Dial {
    path: String,
    start: f64,
    /// It stays within this factor of its start.
    range: f64,
    is_share: bool,
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
    fn kept(&self, number: f64) -> f64 {
        let number = number.clamp(self.start / self.range, self.start * self.range);
        let number = if self.is_share {
            number.clamp(0.05, 0.95)
        } else {
            number
        };
        // Three digits: what is written is what was simulated.
        let digits = 10f64.powf(2.0 - number.log10().floor());
        (number * digits).round() / digits
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
    let start: Vec<f64> = work.dials.iter().map(|dial| dial.start).collect();
    let mut candidates = vec![start];
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
        told(&format!("{:.4}  {:?}", at.0, at.1));
        if at.0 < best.0 {
            best = at;
        }
    }
    with_numbers(&work.text, &work.numbers(&best.1))
}

/// Each number anywhere in its range, by its logarithm.
fn anywhere(dials: &[Dial], random: &mut fastrand::Rng) -> Vec<f64> {
    let one = |dial: &Dial| {
        let way = 2.0 * random.f64() - 1.0;
        dial.kept(dial.start * dial.range.powf(way))
    };
    dials.iter().map(one).collect()
}

/// A third of the numbers a step away.
fn near(dials: &[Dial], best: &[f64], step: f64, random: &mut fastrand::Rng) -> Vec<f64> {
    let one = |(dial, &number): (&Dial, &f64)| match random.u8(..3) {
        0 => dial.kept(number * (step * (4.0 * random.f64() - 2.0)).exp()),
        _ => number,
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
    let calls = candidates.iter().cloned().map(|numbers| {
        let work = Arc::clone(work);
        move || work.error(&numbers, limit)
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
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
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
        let mut dials = Vec::new();
        for path in &calibration.fitted {
            let range = RANGES.iter().find(|(section, _)| path.starts_with(section));
            let entry = entries.iter().find(|entry| entry.path == *path);
            match (range, calibration.start.get(path), entry) {
                (Some((_, range)), Some(&start), Some(entry)) => dials.push(Dial {
                    path: path.clone(),
                    start,
                    range: *range,
                    is_share: entry.unit == "share",
                }),
                _ => bail!("{shown}: {path} needs a number in [calibration.start]"),
            }
        }
        Ok(Work {
            wanted: wanted(&name, &calibration.rows)?,
            name,
            text,
            dials,
        })
    }

    fn numbers(&self, of: &[f64]) -> Vec<(String, f64)> {
        let paths = self.dials.iter().map(|dial| dial.path.clone());
        paths.zip(of.iter().copied()).collect()
    }

    /// How far the cells are off with these numbers; infinite if they are no machine, or as
    /// soon as it is above `limit`.
    fn error(&self, numbers: &[f64], limit: f64) -> Result<f64> {
        let text = with_numbers(&self.text, &self.numbers(numbers))?;
        let Ok(loaded) = from_text(&self.name, &text) else {
            return Ok(f64::INFINITY);
        };
        if !in_order(&loaded.machine) {
            return Ok(f64::INFINITY);
        }
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

/// Whether costs are in the published order: shared loads, loads, stores, read-modify-writes.
fn in_order(machine: &Machine) -> bool {
    machine.costs.iter().skip(1).all(|costs| {
        let order = [costs.load_shared, costs.load, costs.store, costs.rmw];
        order.is_sorted()
    })
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
mod tests {
    use super::*;

    fn file() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/machines/westmere-ex-4s.toml")
    }

    #[test]
    fn numbers_stay_in_their_range_and_have_three_digits() {
        let dial = |start, range, is_share| Dial {
            path: "line.hold".to_owned(),
            start,
            range,
            is_share,
        };
        assert_eq!(dial(100.0, 1.5, false).kept(432.1), 150.0);
        assert_eq!(dial(100.0, 1.5, false).kept(123.456), 123.0);
        assert_eq!(dial(0.5, 4.0, true).kept(1.7), 0.95);
        let dials = [dial(100.0, 1.5, false), dial(0.5, 4.0, true)];
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..100 {
            let numbers = anywhere(&dials, &mut random);
            for numbers in [near(&dials, &numbers, 0.2, &mut random), numbers] {
                assert!((66.0..=150.0).contains(&numbers[0]), "{numbers:?}");
                assert!((0.05..=0.95).contains(&numbers[1]), "{numbers:?}");
            }
        }
    }

    #[test]
    fn only_what_the_file_names_is_simulated() {
        let work = Work::open(&file()).expect("its file");
        let locks = work.wanted.iter().flat_map(|cell| &cell.trials);
        let locks: Vec<&str> = locks.map(|trial| trial.lock).collect();
        assert_eq!(locks.len(), 24);
        assert!(locks
            .iter()
            .all(|lock| ["ticket_lock", "tas_lock"].contains(lock)));
        assert_eq!(work.dials.len(), 16);
    }

    #[test]
    fn a_search_is_repeated_by_its_seed_and_finds_no_worse_than_its_start() {
        let work = Work::open(&file()).expect("its file");
        let start: Vec<f64> = work.dials.iter().map(|dial| dial.start).collect();
        let at_start = work.error(&start, f64::MAX).expect("simulated");
        let run = || {
            let mut told = Vec::new();
            let search = Search {
                candidates: 2,
                followed: 2,
                rounds: 1,
                seed: 3,
                jobs: 2,
            };
            let text = fit(&file(), &search, &mut |line| told.push(line.to_owned()));
            (text.expect("a file"), told)
        };
        let (text, told) = run();
        assert_eq!((text.clone(), told.clone()), run());
        let error = |line: &String| line.split(' ').next().and_then(|n| n.parse::<f64>().ok());
        let errors = told.iter().map(|line| error(line).expect("a number"));
        let best = errors.min_by(f64::total_cmp).expect("a search");
        assert!(best <= at_start + 1e-4, "{best} and {at_start}");
        from_text("westmere-ex-4s", &text).expect("a machine");
    }
}
