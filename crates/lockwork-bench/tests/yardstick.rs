// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The best of several noisy rivals must not be a phantom. The numbers are random, from
//! fixed seeds, and nothing is timed.
use lockwork_bench::{yardstick, Measured, Sample, Yardstick};
use lockwork_report::stats::{self, LogRatio};

#[path = "common/cases.rs"]
mod cases;
use cases::case;

const CASES: u64 = 400;
const ROUNDS: u32 = 8;
const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn sample(lock: &str, round: u32, rate: f64) -> Sample {
    Sample {
        case: case(4),
        lock: lock.into(),
        round,
        order: 1,
        repeats: 0,
        measured: Measured {
            seconds: 1.0,
            writes: vec![(rate * 1e6) as u64],
            cpu: 2.0,
            ..Measured::default()
        },
        events: Default::default(),
    }
}

/// A case: `ours`, and eight rivals of which the one at `i` has the rate `rivals[i]`. Each
/// rate varies by about 20 %.
fn noisy(rivals: [f64; 8], seed: u64) -> Vec<Sample> {
    let mut random = fastrand::Rng::with_seed(seed);
    // Twelve uniform numbers are normal enough, with a variance of one.
    let mut noise = || (0.2 * ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0)).exp();
    let mut all = Vec::new();
    for round in 1..=ROUNDS {
        all.push(sample("ours", round, noise()));
        for (name, rate) in NAMES.iter().zip(rivals) {
            all.push(sample(name, round, rate * noise()));
        }
    }
    all
}

fn fair(samples: &[Sample]) -> Yardstick {
    let samples: Vec<&Sample> = samples.iter().collect();
    yardstick("ours", &NAMES, &samples).expect("rivals and rounds")
}

/// The old way: the rival with the highest median, compared in the same rounds.
fn classic(samples: &[Sample]) -> f64 {
    let rates = |lock: &str| -> Vec<f64> {
        let own = samples.iter().filter(|s| s.lock == lock);
        own.map(|s| s.measured.rate()).collect()
    };
    let best = NAMES.iter().max_by(|a, b| {
        let median = |lock: &&&str| stats::median(&rates(lock));
        median(a).total_cmp(&median(b))
    });
    let best = rates(best.expect("eight"));
    let ratios: Vec<f64> = rates("ours").iter().zip(best).map(|(a, b)| a / b).collect();
    stats::median(&ratios)
}

/// The geometric mean over many cases: as it was, and as it is.
fn means(rivals: [f64; 8]) -> (f64, LogRatio) {
    let cases: Vec<Vec<Sample>> = (0..CASES).map(|seed| noisy(rivals, seed)).collect();
    let old: Vec<f64> = cases.iter().map(|case| classic(case)).collect();
    let new: Vec<LogRatio> = cases.iter().map(|case| fair(case).throughput).collect();
    (
        stats::geometric_mean(&old).expect("ratios"),
        LogRatio::together(&new).expect("ratios"),
    )
}

#[test]
fn equals_come_out_as_equals() {
    let (old, new) = means([1.0; 8]);
    assert!(old < 0.92, "the phantom winner: {old}");
    let (low, high) = new.interval(0.95).expect("an interval");
    assert!(low < 1.0 && 1.0 < high, "{low} to {high}");
    assert!(high - low < 0.04, "{low} to {high}");
}

#[test]
fn a_better_rival_is_found_and_compared_in_full() {
    let mut rivals = [1.0; 8];
    rivals[5] = 2.0;
    let (_, new) = means(rivals);
    let (low, high) = new.interval(0.95).expect("an interval");
    assert!(low < 0.5 && 0.5 < high, "{low} to {high}");
    assert_eq!(fair(&noisy(rivals, 1)).rivals, ["f"]);
}

/// An interval of 95 % misses the truth in one case of twenty; with few rounds and eight
/// equal rivals in a few more.
#[test]
fn intervals_of_cases_hold_as_often_as_they_say() {
    let many = 5 * CASES;
    let missed = (0..many).filter(|&seed| {
        let found = fair(&noisy([1.0; 8], seed)).throughput;
        let (low, high) = found.interval(0.95).expect("eight rounds");
        low > 1.0 || high < 1.0
    });
    let missed = missed.count() as f64 / many as f64;
    assert!((0.03..0.08).contains(&missed), "{missed}");
}

/// What a change of 5 % does to the mean is outside what two runs tell apart, if the run
/// says that it is.
#[test]
fn the_detectable_change_is_found() {
    let (_, before) = means([1.0; 8]);
    let (_, after) = means([1.0 / 1.08; 8]);
    assert!(before.detectable(0.95, 0.8) < 0.05);
    let change = (after.log - before.log).exp() - 1.0;
    // The same noise in both, so that the change is exact but for the choice.
    assert!((change - 0.08).abs() < 0.001, "{change}");
}

/// No round compares with a rival that the round itself chose.
#[test]
fn a_lucky_round_chooses_for_the_other_half_only() {
    let mut samples = Vec::new();
    for round in 1..=4 {
        samples.push(sample("ours", round, 1.0));
        // Lucky in the odd rounds, and in the even ones.
        samples.push(sample("a", round, if round % 2 == 1 { 2.0 } else { 1.0 }));
        samples.push(sample("b", round, if round % 2 == 0 { 2.0 } else { 1.0 }));
    }
    let all: Vec<&Sample> = samples.iter().collect();
    let found = yardstick("ours", &["a", "b"], &all).expect("four rounds");
    assert_eq!(found.rivals, ["a", "b"]);
    assert!((found.throughput.ratio() - 1.0).abs() < 1e-9);
    assert!((found.cpu.expect("CPU time").ratio() - 1.0).abs() < 1e-5);
    assert_eq!(yardstick("ours", &[], &all), None);
    assert_eq!(yardstick("ours", &["a", "b"], &all[..3]), None);
}
