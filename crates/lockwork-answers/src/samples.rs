// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Figures and simulations made by hand, for tests.

use crate::figure::Figure;
use hdrhistogram::Histogram;
use lockwork_sim::outcome::{Counts, Outcome, WaitSplit};
use lockwork_sim::settle::{Batch, Verdict, BATCHES};
use lockwork_sim::Simulated;

/// A settled ratio.
pub(crate) fn ratio(value: f64, half: f64) -> Figure {
    Figure::of_test(value, half)
}

/// So many acquisitions in 1 ms, evenly spread, none of them shared.
pub(crate) fn simulated(lock: &'static str, threads: usize, acquisitions: u64) -> Simulated {
    let batch = Batch {
        ns: 1e6 / BATCHES as f64,
        acquisitions,
        ns_in_lock: 0.0,
        ns_busy: 0.0,
    };
    let mut waits = Histogram::new(3).expect("a histogram");
    waits.record_n(1000, acquisitions).expect("recorded");
    Simulated {
        lock,
        threads,
        outcome: Outcome {
            ns: 1e6,
            by_thread: vec![acquisitions / threads as u64; threads],
            reads: 0,
            waits,
            read_waits: Histogram::new(3).expect("a histogram"),
            overtakes: Histogram::new(3).expect("a histogram"),
            split: WaitSplit::default(),
            ns_in_lock: 0.0,
            ns_waited: 0.0,
            ns_busy: 1.0,
            counts: Counts::default(),
            batches: vec![batch; BATCHES],
            settled: Some(Verdict::Settled),
            finished_ns: None,
            operations: 0,
            seconds: 0.0,
            timeline: Vec::new(),
            program: None,
            vms: Vec::new(),
        },
    }
}
