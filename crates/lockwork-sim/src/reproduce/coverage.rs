// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Whether the intervals of cells have the true value as often as they say.

use super::cell::{Cell, Extent, Measure, Runs, Trial, Unit};
use super::run::SEEDS;
use super::samples::cell;
use super::{lab, settled};
use crate::{Placement, Rules};
use lockwork_report::stats::mean;

/// Intervals that are made.
const INTERVALS: u64 = 24;

/// The stock mutex under locktorture, over one writer: the parts of one simulation depend on each
/// other, because who sleeps in one still does in the next.
fn over_one_writer() -> (Cell, [Trial; 2]) {
    let machine = lab::machine("epyc-7551").expect("a machine");
    let workload = lab::workload("locktorture-mutex").expect("a workload");
    let trial = |threads: usize, measure_us: f64| Trial {
        machine: machine.clone(),
        lock: "mutex",
        workload: lab::timed(workload.clone(), measure_us),
        threads,
        placement: Placement::Compact,
        extent: Extent::Start,
    };
    let cell = Cell {
        unit: Unit::Times,
        trials: vec![0, 1],
        measure: Measure::RateOver,
        ..cell("16 writers", "stock", 1.0)
    };
    (cell, [trial(16, 8000.0), trial(1, 20_000.0)])
}

/// 95 % of many: of 24, 21 at least. With independent seeds that is so in 97 % of cases.
#[test]
fn intervals_of_as_many_seeds_as_are_simulated_have_the_mean_of_all() {
    let (cell, trials) = over_one_writer();
    let seeds: Vec<u64> = (1..=INTERVALS * SEEDS).collect();
    let all = trials.map(|trial| -> Runs {
        settled::simulated(&trial, &seeds, Rules::default()).expect("possible")
    });
    let estimates: Vec<_> = (0..seeds.len())
        .step_by(SEEDS as usize)
        .map(|from| {
            let part = |runs: &Runs| runs[from..from + SEEDS as usize].to_vec();
            cell.estimate(&all.each_ref().map(part))
        })
        .collect();
    let values: Vec<f64> = estimates.iter().filter_map(|one| one.value).collect();
    let truth = mean(&values);
    let has = |one: &&super::cell::Estimate| {
        let (value, half) = (one.value.unwrap_or(0.0), one.half.unwrap_or(0.0));
        (value - truth).abs() <= half
    };
    let covered = estimates.iter().filter(has).count();
    assert_eq!(values.len(), INTERVALS as usize);
    assert!(covered >= 21, "{covered} of {INTERVALS}: {estimates:?}");
}
