// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The whole table: subscription by work inside by work outside.
use super::{plain, Defaults};
use crate::args::BenchArgs;
use crate::contender::contenders;
use crate::work::{Outside, Work};
use lockwork_peers::Family;

const THREADS: [u32; 7] = [1, 2, 4, 8, 16, 64, 256];
/// Without 256: a fair share of the time goes there, and 64 show the same.
const QUICK_THREADS: [u32; 6] = [1, 2, 4, 8, 16, 64];
const INSIDE: [u64; 4] = [0, 100, 1000, 10_000];

/// Seconds of rounds of the quick sweep. A tenth comes on top, for starting and stopping
/// threads; all of it must be less than 15 minutes.
const QUICK_SECONDS: f64 = 750.0;

/// About half an hour for ten locks; or less than half of that, for one figure: the
/// geometric mean over the cases, whose error falls with the number of rounds. So the quick
/// sweep has more rounds, which are shorter, and of Lockwork's locks only the mutex. Both
/// have as many odd rounds as even ones.
pub(crate) fn defaults(args: &BenchArgs) -> Defaults {
    let all = Defaults {
        threads: THREADS.to_vec(),
        inside: INSIDE.map(Work::Ns).to_vec(),
        outside,
        rounds: 6,
        time_ms,
        ..plain()
    };
    if !args.quick {
        return all;
    }
    Defaults {
        locks: quick_locks(),
        threads: QUICK_THREADS.to_vec(),
        seconds: Some(QUICK_SECONDS),
        time_ms: quick_ms,
        ..all
    }
}

/// The mutex and its peers.
fn quick_locks() -> Vec<String> {
    let all = contenders().into_iter();
    let peers = all.filter(|c| !c.is_ours() && c.family == Family::Mutex);
    let peers = peers.map(|c| c.name().to_owned());
    ["lockwork.mutex".to_owned()]
        .into_iter()
        .chain(peers)
        .collect()
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
    use crate::planning::{tests::plan, MOST_ROUNDS};

    fn quick(more: &[&str]) -> crate::Plan {
        let words = [&["--preset", "sweep", "--quick"], more].concat();
        plan(&words.join(" ")).expect("a plan").plan
    }

    #[test]
    fn the_quick_sweep_has_the_rounds_that_fit() {
        for more in [&[][..], &["--locks", "mutex"], &["--locks", "mutex,spin"]] {
            let plan = quick(more);
            let seconds = plan.seconds().expect("a time");
            let one_more = seconds * f64::from(plan.rounds + 2) / f64::from(plan.rounds);
            assert!(
                seconds <= QUICK_SECONDS && one_more > QUICK_SECONDS,
                "{more:?}"
            );
            assert_eq!(plan.rounds % 2, 0, "{more:?}");
        }
        assert_eq!(quick(&["--rounds", "3"]).rounds, 3);
        assert_eq!(
            quick(&["--threads", "1", "--time", "1"]).rounds,
            MOST_ROUNDS
        );
    }
}
