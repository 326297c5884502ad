// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The measured time: what was counted in each part of it.

use super::caches::ps;
use super::tree::Ps;
use crate::settle::{two_turns, Batch, Verdict, BATCHES};
use crate::setup::Setup;

/// What had been counted at a moment.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    pub(super) time: Ps,
    pub(super) acquisitions: u64,
    pub(super) in_lock: Ps,
    pub(super) busy: Ps,
}

/// The measured time so far.
pub(super) struct Measured {
    pub(super) marks: Vec<Mark>,
    /// How long it is to be.
    pub(super) length: Ps,
    /// Operations that may be simulated for the sake of a steady state; none: it ends as
    /// the workload says.
    pub(super) limit: Option<u64>,
    pub(super) lengthened: u32,
    /// Operations before it began.
    pub(super) before: u64,
    /// Acquisitions in a batch, of a workload that ends after a number of loops.
    pub(super) each: Option<u64>,
    pub(super) acquisitions: u64,
    pub(super) verdict: Option<Verdict>,
    /// What two turns of all threads on the CPUs take.
    pub(super) two_turns: Ps,
}

impl Measured {
    pub(super) fn new(setup: &Setup) -> Measured {
        let loops = setup.workload.loops;
        let all = loops.map(|loops| loops * setup.threads as u64);
        Measured {
            marks: vec![Mark::default()],
            length: ps(setup.workload.measure_us * 1000.0),
            limit: setup.settle,
            lengthened: 0,
            before: 0,
            each: all.map(|all| (all / BATCHES as u64).max(1)),
            acquisitions: 0,
            verdict: None,
            two_turns: turns_of(setup),
        }
    }

    /// When the batch that begins now is over: batches are of equal length, to a picosecond.
    pub(super) fn next(&self) -> Ps {
        let begin = self.marks.first().map_or(0, |mark| mark.time);
        begin + self.length * self.marks.len() as Ps / BATCHES as Ps
    }

    /// What was counted in each of its parts.
    pub(super) fn batches(&self) -> Vec<Batch> {
        let ns = |time: Ps| time as f64 / 1000.0;
        let between = |pair: &[Mark]| Batch {
            ns: ns(pair[1].time.saturating_sub(pair[0].time)),
            acquisitions: pair[1].acquisitions - pair[0].acquisitions,
            ns_in_lock: ns(pair[1].in_lock.saturating_sub(pair[0].in_lock)),
            ns_busy: ns(pair[1].busy.saturating_sub(pair[0].busy)),
        };
        self.marks.windows(2).map(between).collect()
    }
}

/// Two turns of all threads. Virtual CPUs share the real ones in slices of the hypervisor, so
/// that it is the real ones that count.
fn turns_of(setup: &Setup) -> Ps {
    let cpus = match setup.cpus {
        0 => setup.machine.cpus(),
        cpus => cpus,
    };
    let own = setup.machine.scheduler.slice_us;
    let slice_us = match setup.guests {
        Some(_) => own.max(setup.machine.hypervisor.slice_us),
        None => own,
    };
    two_turns(setup.threads, cpus, ps(slice_us * 1000.0))
}
