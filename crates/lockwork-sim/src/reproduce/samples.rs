// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Outcomes and cells made by hand, for tests.

use super::cell::{Cell, Measure, Role, Unit};
use crate::outcome::{Counts, Outcome, Stuck, WaitSplit};
use crate::settle::{Batch, Verdict, BATCHES};
use hdrhistogram::Histogram;

/// So many acquisitions of one thread in so many ns.
pub(crate) fn outcome(acquisitions: u64, ns: f64) -> Outcome {
    // Evenly spread, whatever the number of acquisitions.
    let batch = Batch {
        ns: ns / BATCHES as f64,
        acquisitions,
        ns_in_lock: 0.0,
        ns_busy: 0.0,
    };
    Outcome {
        ns,
        by_thread: vec![acquisitions],
        reads: 0,
        waits: Histogram::new(3).expect("a histogram"),
        read_waits: Histogram::new(3).expect("a histogram"),
        overtakes: Histogram::new(3).expect("a histogram"),
        split: WaitSplit::default(),
        ns_in_lock: 0.0,
        ns_waited: 0.0,
        ns_busy: 0.0,
        counts: Counts::default(),
        batches: vec![batch; BATCHES],
        settled: Some(Verdict::Settled),
        finished_ns: None,
        operations: 0,
        seconds: 0.0,
        timeline: Vec::new(),
        program: None,
        vms: Vec::new(),
    }
}

/// A simulation that cannot go on.
pub(crate) fn stuck() -> Stuck {
    Stuck {
        what: "deadlock at 5 µs".to_owned(),
        threads: Vec::new(),
    }
}

/// A prediction in ms, ranked within its row.
pub(crate) fn cell(row: &str, column: &str, published: f64) -> Cell {
    Cell {
        row: row.to_owned(),
        column: column.to_owned(),
        group: row.to_owned(),
        published,
        unit: Unit::Ms,
        role: Role::Prediction,
        base: None,
        trials: vec![0],
        measure: Measure::Finished(1.0),
    }
}
