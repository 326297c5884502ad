// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The rivals under load: each thread gets the lock and all of its turns, with many
//! seeds, on several machines, with virtual CPUs that lose theirs, and with threads that
//! share CPUs. A waiter that was forgotten would be a deadlock, which a simulation
//! reports. (That sections are apart, exclusion.rs looks at, for all locks.)

use super::{machine, reset, setup, SECTIONS, WRONG};
use crate::machine::{load, Distance, Machine};
use crate::workload::{self, Workload};
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
        ..super::workload()
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

/// Each rival, and each seed; `change` makes the setup another one, or leaves it out.
fn on(machine: &Machine, workload: &Workload, change: impl Fn(&Lock, &mut Setup) -> bool) {
    for lock in rivals() {
        for seed in 1..=4 {
            let mut setup = Setup {
                seed,
                cpus: 0,
                threads: 24,
                placement: Placement::Spread,
                ..setup(machine, lock.name, workload)
            };
            if change(&lock, &mut setup) {
                all_get_it(&setup);
            }
        }
    }
}

#[test]
fn every_thread_gets_each_rival_on_small_and_large_machines() {
    for name in ["westmere-ex-4s", "epyc-7551", "epyc-9654"] {
        let machine = load(name).expect("it is in the program");
        on(&machine, &turns(), |_, _| true);
    }
}

#[test]
fn and_when_virtual_cpus_lose_theirs() {
    let machine = machine();
    for overcommit in [2, 3] {
        on(&machine, &turns(), |_, setup| {
            setup.guests = Some(Guests::pinned(overcommit));
            setup.cpus = 8;
            setup.threads = 8 * overcommit as usize;
            true
        });
    }
}

#[test]
fn and_when_threads_share_cpus() {
    let machine = machine();
    on(&machine, &turns(), |_, setup| {
        setup.cpus = 6;
        true
    });
    // Holders that lose their CPU, and those of spinlocks, which do not.
    let workload = Workload {
        preemptible: true,
        ..turns()
    };
    on(&machine, &workload, |_, setup| {
        setup.cpus = 6;
        true
    });
}

#[test]
fn and_when_they_go_to_sleep_between_turns() {
    let machine = machine();
    let workload = Workload {
        sleep: Some(workload::Time::Exponential(3000.0)),
        ..turns()
    };
    on(&machine, &workload, |_, setup| {
        setup.cpus = 16;
        true
    });
}

/// That of docs/rivals.md, for so long.
fn compared(us: f64) -> Workload {
    Workload {
        measure_us: us,
        ..workload::load("rivals-spin").expect("it is in the program")
    }
}

#[test]
fn those_that_go_by_clusters_hand_over_nearby() {
    let machine = machine();
    let workload = compared(1000.0);
    let near = |name| {
        let outcome = super::crowd(&machine, name, 40, &[], &workload);
        let by = &outcome.counts.handovers;
        let all: u64 = by.iter().sum();
        let cluster = by[Distance::Own as usize] + by[Distance::Cluster as usize];
        (cluster * 100 / all, name)
    };
    // 9 of 39 others are in the cluster.
    let plain = near("mcs_lock");
    assert!(plain.0 < 50, "{plain:?}");
    for name in ["cna", "cna_spinlock", "cohort", "hq_spinlock", "shfl_lock"] {
        let share = near(name);
        assert!(share.0 > 60, "{share:?} against {plain:?}");
    }
}

#[test]
fn a_waiter_off_its_cpu_is_skipped() {
    // With three virtual CPUs on one, a FIFO lock waits for the next of them each time.
    let machine = load("ice-lake-sp-2s").expect("it is in the program");
    let workload = compared(60_000.0);
    let rate = |lock| {
        super::outcome(&Setup {
            guests: Some(Guests::pinned(3)),
            cpus: 16,
            threads: 48,
            ..setup(&machine, lock, &workload)
        })
        .rate()
    };
    let (skips, waits) = (rate("mcs_tp"), rate("mcs_lock"));
    assert!(skips > 2.0 * waits, "{skips} and {waits}");
}
