// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The whole table: subscription by work inside by work outside.
use super::{plain, Defaults};
use crate::args::BenchArgs;
use crate::work::{Outside, Work};

const THREADS: [u32; 7] = [1, 2, 4, 8, 16, 64, 256];
/// Without 256: a fair share of the time goes there, and 64 show the same.
const QUICK_THREADS: [u32; 6] = [1, 2, 4, 8, 16, 64];
const INSIDE: [u64; 4] = [0, 100, 1000, 10_000];

/// About half an hour for ten locks; or less than half of that, for one figure: the geometric
/// mean over the cells, whose error falls with the number of rounds. So the quick sweep
/// has more rounds, which are shorter. Both have as many odd rounds as even ones.
pub(super) fn defaults(args: &BenchArgs) -> Defaults {
    let threads: &[u32] = if args.quick { &QUICK_THREADS } else { &THREADS };
    Defaults {
        threads: threads.to_vec(),
        inside: INSIDE.map(Work::Ns).to_vec(),
        outside,
        rounds: if args.quick { 8 } else { 6 },
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
    time_ms(threads) * 2 / 5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::planned;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: BenchArgs,
    }

    /// The rounds of all mutexes where all peers are there: 3 of ours and 9.
    #[test]
    fn the_quick_sweep_is_planned_for_a_quarter_of_an_hour() {
        let line = Line::parse_from(["bench", "--preset", "sweep", "--quick"]);
        let plan = planned(&line.args).expect("a plan").plan;
        let of_a_lock = plan.seconds().expect("a time") / plan.locks.len() as f64;
        // A fifth is left for starting and stopping threads.
        assert!(12.0 * of_a_lock < 0.8 * 15.0 * 60.0, "{of_a_lock} s");
        assert_eq!(plan.rounds % 2, 0);
    }
}
