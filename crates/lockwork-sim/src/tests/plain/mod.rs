// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The engine against a second, plain one, on random programs.
//!
//! The engine of the simulator is fast by tricks: a tournament tree of what comes next, CPUs that
//! run ahead, parked spinners, copies in sets of bits. The one here has none of them. It was
//! written from docs/sim.md, "The model": a heap of events, a map of lines, a list of operations
//! for each CPU. A comparison is exact: what each load and read-modify-write returned, how many
//! rounds each loop made, and the picosecond at which each operation was over. Both draw from
//! the same random numbers, in the same order: prices vary in half of the comparisons. In the
//! others ties are common.
//!
//! Both park spinners, for that is a rule of the model. What this rule changes, against
//! spinners that poll, is bounded in [`polling`].
//!
//! Not compared: the scheduler, with sleeping and slices (each thread has a CPU to itself), the
//! hypervisor, the locks' C code, and what is counted.

mod case;
mod engine;
mod fast;
mod line;
mod machines;
mod plain_c;
mod polling;
mod program;
mod requests;
mod spin;
mod state;
mod stores;
mod thread;

use case::Case;
use fastrand::Rng;
use program::Programs;

/// Programs that are compared, by seed: the first so many, and others that found something.
const FIRST: u64 = 1000;
const FOUND: [u64; 3] = [1093, 1578, 5353];

/// How many operations the fast engine made, and where the two differ first.
fn compare(case: &Case, programs: &Programs) -> (usize, Option<String>) {
    let found = fast::run(case, programs);
    let plain = engine::run(case, programs, &found.starts, found.random, true);
    let made = found.records.iter().map(Vec::len).sum();
    let differs = |cpu: usize| {
        let (fast, plain) = (&found.records[cpu], &plain[cpu]);
        let at = (0..programs[cpu].len()).find(|&at| fast.get(at) != plain.get(at))?;
        let both = [fast.get(at), plain.get(at)];
        let time = both.iter().flatten().map(|record| record.end).min();
        let op = &programs[cpu][at];
        let what = format!(
            "operation {at} of CPU {cpu}, {op:?}: {:?}, plain: {:?}",
            both[0], both[1]
        );
        Some((time, what))
    };
    let first = (0..programs.len()).filter_map(differs).min();
    (made, first.map(|first| first.1))
}

/// Compares those of `seeds`, changed by `change`: how many operations were made.
fn compare_all(
    seeds: impl Iterator<Item = u64>,
    change: impl Fn(&mut Rng, &mut Programs),
) -> usize {
    let mut made = 0;
    for seed in seeds {
        let (case, mut programs) = Case::random(seed);
        change(&mut Rng::with_seed(seed), &mut programs);
        let (operations, difference) = compare(&case, &programs);
        if let Some(what) = difference {
            let Case { name, rules, .. } = &case;
            panic!("program {seed} on {name}, {rules:?}, differs first at {what}");
        }
        made += operations;
    }
    made
}

#[test]
fn the_fast_engine_does_what_the_plain_one_does() {
    let made = compare_all((0..FIRST).chain(FOUND), |_, _| {});
    // Some wait for ever for a change, on both.
    assert!(made > 250_000, "{made} operations only");
}

#[test]
fn they_do_the_same_with_plain_c_accesses_between() {
    let made = compare_all(0..FIRST, program::add_plain);
    assert!(made > 400_000, "{made} operations only");
}
