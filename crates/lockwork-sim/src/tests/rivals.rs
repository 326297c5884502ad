// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The rivals under load: each thread gets the lock and all of its turns, with many
//! seeds, on several machines, with virtual CPUs that lose theirs, and with threads that
//! share CPUs. A waiter that was forgotten would be a deadlock, which a simulation
//! reports. (That sections are apart, exclusion.rs looks at, for all locks.)

use super::{machine, reset, setup, workload, SECTIONS, WRONG};
use crate::machine::{self, Machine};
use crate::workload::Workload;
use crate::{locks, simulate, Guests, Lock, Placement, Setup};

const TURNS: u64 = 25;

fn rivals() -> Vec<Lock> {
    let mut all = locks().expect("they load");
    all.retain(|lock| lock.is_baseline);
    all
}

/// Each thread makes its turns, however the others hurry.
fn turns() -> Workload {
    Workload {
        loops: Some(TURNS),
        ..workload()
    }
}

/// All turns of all threads were made, one after the other.
fn all_get_it(setup: &Setup) {
    reset(None);
    let outcome = simulate(setup)
        .expect("a possible setup")
        .unwrap_or_else(|stuck| panic!("{}, seed {}: {stuck:?}", setup.lock, setup.seed));
    let name = setup.lock;
    assert_eq!(WRONG.take(), [""; 0], "{name}, seed {}", setup.seed);
    assert_eq!(SECTIONS.get(), setup.threads as u64 * TURNS, "{name}");
    assert!(
        outcome.by_thread.iter().all(|&n| n == TURNS),
        "{name}, seed {}: {:?}",
        setup.seed,
        outcome.by_thread
    );
}

fn on(machine: &Machine, workload: &Workload, change: impl Fn(&mut Setup)) {
    for lock in rivals() {
        for seed in 1..=4 {
            let mut setup = Setup {
                seed,
                cpus: 0,
                threads: 24,
                placement: Placement::Spread,
                ..setup(machine, lock.name, workload)
            };
            change(&mut setup);
            all_get_it(&setup);
        }
    }
}

#[test]
fn every_thread_gets_each_rival_on_small_and_large_machines() {
    for name in ["westmere-ex-4s", "epyc-7551", "epyc-9654"] {
        let machine = machine::load(name).expect("it is in the program");
        on(&machine, &turns(), |_| ());
    }
}

#[test]
fn and_when_virtual_cpus_lose_theirs() {
    let machine = machine();
    for overcommit in [2, 3] {
        on(&machine, &turns(), |setup| {
            setup.guests = Some(Guests { overcommit });
            setup.cpus = 8;
            setup.threads = 8 * overcommit as usize;
        });
    }
}

#[test]
fn and_when_threads_share_cpus() {
    let machine = machine();
    let workload = Workload {
        preemptible: true,
        ..turns()
    };
    on(&machine, &workload, |setup| setup.cpus = 6);
}

#[test]
fn and_when_they_go_to_sleep_between_turns() {
    let machine = machine();
    let workload = Workload {
        sleep: Some(crate::workload::Time::Exponential(3000.0)),
        ..turns()
    };
    on(&machine, &workload, |setup| setup.cpus = 16);
}

#[test]
fn groups_by_cluster_hand_over_nearby() {
    // Without clusters 23 of 24 hand-overs would leave theirs.
    let machine = super::epyc();
    let workload = super::wanting();
    for name in ["cna", "cohort", "hq_spinlock", "shfl_lock"] {
        let outcome = super::crowd(&machine, name, 48, &[], &workload);
        let near = &outcome.counts.handovers;
        let all: u64 = near.iter().sum();
        let cluster = near[machine::Distance::Own as usize]
            + near[machine::Distance::Smt as usize]
            + near[machine::Distance::Cluster as usize];
        assert!(cluster * 2 > all, "{name}: {cluster} of {all}");
    }
}
