// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The measured time: what was counted in each part of it.

use super::caches::ps;
use super::tree::Ps;
use crate::settle::{two_turns, Batch, Flow, Parts, Verdict, BATCHES};
use crate::setup::Setup;

/// What had been counted at a moment.
#[derive(Clone, Default)]
pub(super) struct Mark {
    pub(super) time: Ps,
    pub(super) acquisitions: u64,
    pub(super) in_lock: Ps,
    pub(super) busy: Ps,
    /// By role: rounds.
    pub(super) rounds: Vec<u64>,
    /// By queue.
    pub(super) queues: Vec<Passed>,
}

/// What had passed through a queue at a moment, and what was in it then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Passed {
    pub came: u64,
    pub items: u64,
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
    /// By thread: its role; nothing if there are none.
    pub(super) roles: Vec<usize>,
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
            roles: setup
                .workload
                .program
                .as_ref()
                .map_or_else(Vec::new, |program| {
                    let threads = 0..setup.threads;
                    threads.map(|thread| program.role_of(thread)).collect()
                }),
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

    /// What the roles and queues did in each of its parts.
    pub(super) fn parts(&self) -> Parts {
        let first = self.marks.first();
        let [roles, queues] = [
            first.map_or(0, |mark| mark.rounds.len()),
            first.map_or(0, |mark| mark.queues.len()),
        ];
        let differences = |of: &dyn Fn(&Mark) -> u64| -> Vec<f64> {
            let pairs = self.marks.windows(2);
            pairs
                .map(|pair| (of(&pair[1]) - of(&pair[0])) as f64)
                .collect()
        };
        let items = |queue: usize| {
            let ends = self.marks.iter().skip(1);
            ends.map(|mark| mark.queues[queue].items as f64).collect()
        };
        let flow = |queue: usize| Flow {
            items: items(queue),
            came: differences(&|mark| mark.queues[queue].came),
        };
        Parts {
            rounds: (0..roles)
                .map(|role| differences(&|mark| mark.rounds[role]))
                .collect(),
            queues: (0..queues).map(flow).collect(),
        }
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
