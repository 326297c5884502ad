// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Spinners that poll, round after round, against those that are parked: what that changes.

use super::case::Case;
use super::program::{Op, Record, Word};
use super::{engine, fast};
use crate::engine::caches::ps;
use crate::engine::{Change, Ps};
use crate::machine::Distance;
use fastrand::Rng;

/// When the writer goes on to the change.
const CHANGE: Ps = 20_000_000;

/// A writer, which is CPU 0 or the last one, and waiters that see one change.
fn programs(random: &mut Rng, cpus: usize) -> Vec<Vec<Op>> {
    let word = Word::first(0);
    let writer = random.usize(..2) * (cpus - 1);
    let change = [Op::Store(word, 1), Op::Rmw(word, Change::Add(1))];
    let waits = [Op::Await(word), Op::Spin(vec![word])];
    let program = |cpu| match cpu == writer {
        true => vec![
            Op::Store(word, 0),
            Op::Align(CHANGE),
            Op::Compute(random.u64(..200_000)),
            change[random.usize(..2)].clone(),
            Op::Fence,
        ],
        false => vec![Op::Align(2_000_000), waits[random.usize(..2)].clone()],
    };
    (0..cpus).map(program).collect()
}

/// What each waiter saw, and when it ended: parked, and polling.
fn waiters(seed: u64, cpus: impl Fn(&mut Rng, usize) -> usize) -> (Case, Vec<[(u64, Ps); 2]>) {
    let (mut case, _) = Case::random(seed);
    let mut random = Rng::with_seed(seed);
    case.chance = false;
    // Without it, a line on its way costs no more than one that has arrived.
    case.machine.matrix = None;
    case.threads = cpus(&mut random, case.machine.cpus());
    let programs = programs(&mut random, case.threads);
    let parked = fast::run(&case, &programs);
    let polled = engine::run(&case, &programs, &parked.starts, parked.random, false);
    let both = parked.records.iter().zip(&polled);
    let waiters = both.filter(|(parked, _)| parked.len() == 2);
    let end = |records: &[Record]| (records[1].value, records[1].end);
    let ends = waiters.map(|(parked, polled)| [end(parked), end(polled)]);
    let ends: Vec<_> = ends.collect();
    assert_eq!(ends.len() + 1, case.threads, "{seed}: one waits for ever");
    (case, ends)
}

/// A round of a loop of pauses over one line that the own cache has, `respin`, and a load
/// from the own cache.
fn times(case: &Case) -> (Ps, Ps, Ps) {
    let load = ps(case.machine.costs[Distance::Own as usize].load);
    let relax = ps(case.machine.cpu.relax);
    (load + relax, ps(case.machine.line.respin), load)
}

#[test]
fn one_that_is_parked_sees_a_change_when_one_that_polls_does() {
    let (mut earlier, mut later) = (0, 0);
    for seed in 0..300 {
        let (case, waiters) = waiters(seed, |_, _| 2);
        let (round, respin, load) = times(&case);
        let [parked, polls] = waiters[0];
        assert_eq!(parked.0, polls.0, "{seed}: another value");
        // It may ask sooner than the next round would, or `respin` later; then it loads.
        let early = polls.1.saturating_sub(parked.1);
        let late = parked.1.saturating_sub(polls.1);
        assert!(early <= round, "{seed}: {early} ps early of {round}");
        assert!(late <= respin + load, "{seed}: {late} ps late");
        earlier += u32::from(early > 0);
        later += u32::from(late > 0);
    }
    assert!(earlier > 0 && later > 0, "{earlier} early, {later} late");
}

/// Another spinner may ask first than with parking. Then lines take other ways.
#[test]
fn a_crowd_that_is_parked_sees_a_change_about_when_one_that_polls_does() {
    let mut close = 0;
    for seed in 0..300 {
        let most = |random: &mut Rng, cpus: usize| random.usize(2..=cpus.min(12));
        let (case, waiters) = waiters(seed, most);
        let (round, respin, load) = times(&case);
        assert!(waiters.iter().all(|[parked, polls]| parked.0 == polls.0));
        let last = |which: usize| waiters.iter().map(|both| both[which].1).max();
        let [parked, polls] = [0, 1].map(|which| last(which).expect("a waiter"));
        let apart = parked.abs_diff(polls);
        close += u32::from(apart <= round.max(respin + load));
        let share = apart as f64 / (polls - CHANGE) as f64;
        assert!(share < 0.4, "{seed}: the last one is {share} off");
    }
    assert!(close > 285, "{close} of 300");
}
