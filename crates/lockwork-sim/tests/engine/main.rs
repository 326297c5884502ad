// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The engine, through `simulate`: that it repeats itself, that each lock makes
//! progress, and that what it counts adds up.

mod accounting;
mod behaviour;
mod determinism;

use lockwork_sim::machine::{self, Machine};
use lockwork_sim::outcome::Outcome;
use lockwork_sim::workload::{Time, Workload};
use lockwork_sim::{simulate, Guests, Placement, Setup};

/// Four sockets of ten cores, whose slices are short, so that a short simulation
/// has many.
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
        reads: 0.0,
        long_hold: None,
        affinity: false,
        preemptible: false,
        loops: None,
        warmup_us: 10.0,
        measure_us: 300.0,
        threads: vec![1],
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
        seed: 1,
        window: None,
    }
}

/// Twice as many virtual CPUs as there are real ones.
const CROWDED: Option<Guests> = Some(Guests { overcommit: 2 });

fn outcome(setup: &Setup) -> Outcome {
    match simulate(setup).expect("a possible setup") {
        Ok(outcome) => outcome,
        Err(stuck) => panic!("{}: {}", setup.lock, stuck.what),
    }
}

/// The names of all locks.
fn locks() -> Vec<&'static str> {
    let locks = lockwork_sim::locks().expect("they load");
    locks.iter().map(|lock| lock.name).collect()
}
