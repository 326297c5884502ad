// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the threads of a round share.
use crate::object::Object;
use crate::sample::Case;
use crate::tools::Tools;
use crate::work::Work;
use lockwork_catalogue::LockKind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// How a round is run, beside its case.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Each thread stays on one CPU, in turn.
    pub pin: bool,
    /// No operation of any thread for so long is a hang.
    pub patience: Duration,
    /// Seeds what threads choose at random.
    pub seed: u64,
}

/// What the watchdog sees of a thread.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Seat {
    /// Operations that are over.
    pub(crate) beats: AtomicU64,
}

/// Where threads wait until all are there.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Gate {
    Shut,
    Open,
    Off,
}

/// What the threads of a round share. Threads that hang keep it alive.
pub(crate) struct Round {
    pub(crate) case: Case,
    pub(crate) tools: Tools,
    pub(crate) objects: Vec<Object>,
    pub(crate) seats: Vec<Seat>,
    pub(crate) stop: AtomicBool,
    pub(crate) seed: u64,
    /// Delay rounds inside and outside, where those are times.
    pub(crate) inside_rounds: u64,
    pub(crate) outside_rounds: u64,
    gate: Mutex<Gate>,
    moved: Condvar,
}

impl Round {
    pub(crate) fn new(
        kind: LockKind,
        case: &Case,
        conditions: &Conditions,
        tools: &Tools,
    ) -> Round {
        let guarded = match case.inside {
            Work::Lines(n) => n,
            _ => 1,
        };
        let rounds = |work| match work {
            Work::Ns(ns) => tools.rounds(ns),
            _ => 0,
        };
        Round {
            case: case.clone(),
            tools: tools.clone(),
            objects: (0..case.objects)
                .map(|_| Object::new(kind, guarded))
                .collect(),
            seats: (0..case.threads).map(|_| Seat::default()).collect(),
            stop: AtomicBool::new(false),
            seed: conditions.seed,
            inside_rounds: rounds(case.inside),
            outside_rounds: rounds(case.outside),
            gate: Mutex::new(Gate::Shut),
            moved: Condvar::new(),
        }
    }

    /// All threads wait here until they may start; false: they shall not.
    pub(crate) fn wait_for_start(&self) -> bool {
        let gate = self.gate.lock().unwrap_or_else(|e| e.into_inner());
        let shut = |gate: &mut Gate| *gate == Gate::Shut;
        let gate = self.moved.wait_while(gate, shut);
        *gate.unwrap_or_else(|e| e.into_inner()) == Gate::Open
    }

    /// Opens the gate, or sends all away.
    pub(crate) fn set(&self, to: Gate) {
        *self.gate.lock().unwrap_or_else(|e| e.into_inner()) = to;
        self.moved.notify_all();
    }

    /// Operations of all threads.
    pub(crate) fn beats(&self) -> u64 {
        self.seats.iter().map(|seat| seat.beats.load(Relaxed)).sum()
    }
}
