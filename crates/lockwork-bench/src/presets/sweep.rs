// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The whole table: subscription by work inside by work outside.
use super::{plain, Defaults};
use crate::args::BenchArgs;
use crate::work::{Outside, Work};

const THREADS: [u32; 7] = [1, 2, 4, 8, 16, 64, 256];
const INSIDE: [u64; 4] = [0, 100, 1000, 10_000];

/// About 25 minutes for ten locks, or a tenth of that.
pub(crate) fn defaults(args: &BenchArgs) -> Defaults {
    Defaults {
        threads: THREADS.to_vec(),
        inside: INSIDE.map(Work::Ns).to_vec(),
        outside,
        rounds: if args.quick { 3 } else { 5 },
        time_ms: if args.quick { quick_ms } else { time_ms },
        ..plain()
    }
}

/// None, the same, ten times as much; of nothing there are no multiples.
fn outside(inside: Work) -> Vec<Outside> {
    match inside {
        Work::Ns(0) => [0, 100, 1000]
            .map(|ns| Outside::Work(Work::Ns(ns)))
            .to_vec(),
        _ => [0.0, 1.0, 10.0].map(Outside::Times).to_vec(),
    }
}

/// Many threads need longer until each has had its turn on a CPU.
fn time_ms(threads: u32) -> u64 {
    match threads {
        0..=16 => 200,
        17..=64 => 400,
        _ => 800,
    }
}

fn quick_ms(threads: u32) -> u64 {
    time_ms(threads) / 6
}
