// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks that take so long to stop that a sweep would not end. A queue of
//! spinning threads that never yield moves by one a time slice: with 64 of them
//! on two CPUs an operation takes seconds, with 256 a minute.
use crate::sample::{Case, Sample};

/// Seconds that stopping may always take.
const ALWAYS: f64 = 2.0;
/// And times of the round.
const TIMES: f64 = 5.0;

/// Did stopping take so long that the lock is not run like that again?
fn too_long(sample: &Sample) -> bool {
    let round = sample.case.time_ms as f64 / 1e3;
    sample.measured.overrun > ALWAYS.max(TIMES * round)
}

/// The round because of which `lock` is left out of later rounds of `case`: one
/// that was slow to stop, with as many threads or fewer and all else alike.
pub fn left_out<'a>(samples: &'a [Sample], case: &Case, lock: &str) -> Option<&'a Sample> {
    let ground = case.ground();
    samples.iter().find(|sample| {
        sample.lock == lock
            && sample.case.threads <= case.threads
            && too_long(sample)
            && sample.case.ground() == ground
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Measured;
    use crate::work::Work;

    fn case(threads: u32, time_ms: u64) -> Case {
        Case {
            threads,
            inside: Work::Ns(100),
            outside: Work::Ns(0),
            reads: 0,
            objects: 1,
            time_ms,
            loops: None,
            calls: None,
        }
    }

    fn sample(case: Case, overrun: f64) -> Sample {
        Sample {
            case,
            lock: "slow".into(),
            round: 1,
            order: 1,
            repeats: 0,
            measured: Measured {
                overrun,
                ..Measured::default()
            },
            events: Default::default(),
        }
    }

    #[test]
    fn more_threads_are_no_faster() {
        let samples = [sample(case(64, 400), 4.6)];
        let out = |case: &Case, lock| left_out(&samples, case, lock).is_some();
        assert!(out(&case(64, 400), "slow") && out(&case(256, 800), "slow"));
        assert!(!out(&case(16, 200), "slow") && !out(&case(64, 400), "other"));
        let outside = Work::Ns(1000);
        assert!(!out(
            &Case {
                outside,
                ..case(256, 800)
            },
            "slow"
        ));
    }

    #[test]
    fn slow_is_measured_by_the_round() {
        for (time_ms, overrun, slow) in [
            (10, 1.9, false),
            (10, 2.1, true),
            (1000, 4.9, false),
            (1000, 5.1, true),
        ] {
            let samples = [sample(case(8, time_ms), overrun)];
            assert_eq!(
                left_out(&samples, &case(8, time_ms), "slow").is_some(),
                slow
            );
        }
    }
}
