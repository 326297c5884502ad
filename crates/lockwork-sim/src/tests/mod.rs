// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The simulator as a whole: that it repeats itself, that each lock makes progress
//! and keeps sections apart, and that what it counts adds up. Hooks in the threads'
//! code see what sections load, and have a thread forget to unlock.

mod accounting;
mod ahead;
mod baselines;
mod behaviour;
mod determinism;
mod exclusion;
mod glibc_rwlock;
mod guests;
mod knobs;
mod numa_osq;
mod plain;
mod plain_c;
mod program;
mod rivals;
mod rules;
mod settling;
mod sleeping;
mod stuck;

use crate::machine::{self, Machine};
use crate::outcome::Outcome;
use crate::workload::{Time, Workload};
use crate::{simulate, Clusters, Guests, Placement, Rules, Setting, Setup};
use std::cell::{Cell, RefCell};

thread_local! {
    /// Exclusive sections so far, and what was wrong with what a section saw.
    static SECTIONS: Cell<u64> = const { Cell::new(0) };
    static WRONG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Sections after which a thread forgets to unlock.
    static FORGETS_AFTER: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A section has loaded `value`, which each exclusive section adds one to: it has
/// to be the number of those before.
pub(crate) fn saw(lock: usize, line: u32, value: u64, shared: bool) {
    if lock > 0 || line > 0 {
        return;
    }
    let before = SECTIONS.get();
    if value != before {
        let wrong = format!("{value} after {before} exclusive sections, shared: {shared}");
        WRONG.with_borrow_mut(|list| list.push(wrong));
    }
    SECTIONS.set(before + u64::from(!shared));
}

/// Whether the running thread keeps the lock and goes on without it.
pub(crate) fn forgets() -> bool {
    match FORGETS_AFTER.get() {
        Some(0) => true,
        left => {
            FORGETS_AFTER.set(left.map(|left| left - 1));
            false
        }
    }
}

/// Begins anew.
fn reset(forgets_after: Option<u64>) {
    SECTIONS.set(0);
    WRONG.with_borrow_mut(Vec::clear);
    FORGETS_AFTER.set(forgets_after);
}

/// Four sockets whose slices are short, so that a short simulation has many.
fn machine() -> Machine {
    let mut machine = machine::load("westmere-ex-4s").expect("it is in the program");
    machine.scheduler.slice_us = 20.0;
    machine.hypervisor.slice_us = 20.0;
    machine
}

/// A short think, a shorter section with one line of data.
fn workload() -> Workload {
    Workload {
        name: "test".to_owned(),
        summary: String::new(),
        locks: Vec::new(),
        think: Time::Exponential(300.0),
        sleep: None,
        section: Time::Fixed(20.0),
        read_section: Time::Fixed(20.0),
        lines: 1,
        embedded: false,
        reads: 0.0,
        long_hold: None,
        short_hold: None,
        entry_bytes: 0,
        affinity: false,
        preemptible: false,
        loops: None,
        warmup_us: 10.0,
        measure_us: 300.0,
        threads: vec![1],
        fitted_to: Vec::new(),
        program: None,
    }
}

/// Nine threads on eight CPUs, two of each socket.
fn setup<'a>(machine: &'a Machine, lock: &'a str, workload: &'a Workload) -> Setup<'a> {
    Setup {
        machine,
        lock,
        workload,
        threads: 9,
        placement: Placement::Spread,
        cpus: 8,
        guests: None,
        clusters: Clusters::Llc,
        settings: &[],
        settle: None,
        rules: Rules::default(),
        seed: 1,
        window: None,
    }
}

/// Twice as many virtual CPUs as there are real ones.
const CROWDED: Option<Guests> = Some(Guests::pinned(2));

fn outcome(setup: &Setup) -> Outcome {
    match simulate(setup).expect("a possible setup") {
        Ok(outcome) => outcome,
        Err(stuck) => panic!("{}: {}", setup.lock, stuck.what),
    }
}

/// 1.5 ms of two sockets with eight clusters of four CPUs each; `threads` that want
/// nothing but the lock.
fn contended(lock: &str, threads: usize, settings: &[Setting]) -> Outcome {
    crowd(&epyc(), lock, threads, settings, &wanting())
}

fn epyc() -> Machine {
    machine::load("epyc-7551").expect("it is in the program")
}

fn wanting() -> Workload {
    Workload {
        affinity: true,
        think: Time::Exponential(100.0),
        measure_us: 1500.0,
        ..workload()
    }
}

fn crowd(
    machine: &Machine,
    lock: &str,
    threads: usize,
    settings: &[Setting],
    workload: &Workload,
) -> Outcome {
    outcome(&Setup {
        threads,
        cpus: 0,
        placement: Placement::Compact,
        settings,
        ..setup(machine, lock, workload)
    })
}

/// What was counted, by its name in platform/events.def.
fn counted(outcome: &Outcome, event: &str) -> u64 {
    let names = crate::events().expect("they load");
    let at = names.iter().position(|name| *name == event).expect(event);
    outcome.counts.events.get(at).copied().unwrap_or(0)
}

/// The names of all locks.
fn locks() -> Vec<&'static str> {
    let locks = crate::locks().expect("they load");
    locks.iter().map(|lock| lock.name).collect()
}
