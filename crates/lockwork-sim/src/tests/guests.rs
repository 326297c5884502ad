// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Virtual CPUs that move, and kicks that yield.

use super::{locks, machine, outcome, reset, setup, workload, CROWDED, SECTIONS, WRONG};
use crate::machine::{DirectedYield, Machine};
use crate::outcome::{Doing, Outcome};
use crate::workload::{Time, Workload};
use crate::{simulate, Guests, Placement, Setup, Vcpus};
use std::collections::BTreeSet;

const MIGRATE: Option<Guests> = Some(Guests {
    overcommit: 2,
    vcpus: Vcpus::Migrate,
    vms: 1,
});

/// `threads` on up to 16 virtual CPUs of 8 real ones.
fn crowd(
    machine: &Machine,
    workload: &Workload,
    lock: &str,
    threads: usize,
    guests: Option<Guests>,
) -> Outcome {
    outcome(&Setup {
        threads,
        guests,
        ..setup(machine, lock, workload)
    })
}

/// Threads that only compute, each for most of the time: as good as no lock.
fn computing() -> Workload {
    Workload {
        think: Time::Fixed(2000.0),
        affinity: true,
        measure_us: 4000.0,
        ..workload()
    }
}

#[test]
fn sections_are_apart_while_virtual_cpus_move() {
    let (machine, mut workload) = (machine(), workload());
    // Long enough for a real CPU to be idle at times, also with 40 threads.
    workload.sleep = Some(Time::Exponential(20_000.0));
    workload.measure_us = 1000.0;
    for lock in locks() {
        for threads in [9, 12, 40] {
            reset(None);
            let found = simulate(&Setup {
                threads,
                guests: MIGRATE,
                ..setup(&machine, lock, &workload)
            });
            let found = found.expect("a possible setup");
            let found = found.unwrap_or_else(|stuck| panic!("{lock}, {threads}: {stuck:?}"));
            assert_eq!(WRONG.take(), [""; 0], "{lock}, {threads} threads");
            assert!(found.acquisitions() > 2, "{lock}, {threads} threads");
            // With a thread for each of some virtual CPUs only, real ones have fewer to run.
            let moves = found.counts.migrations;
            assert!(moves > 0, "{lock}, {threads} threads: nobody moved");
        }
    }
}

#[test]
fn who_may_not_move_does_not() {
    let (machine, workload) = (machine(), workload());
    for lock in locks() {
        let found = crowd(&machine, &workload, lock, 12, CROWDED);
        assert_eq!(found.counts.migrations, 0, "{lock}");
    }
}

#[test]
fn virtual_cpus_that_move_share_the_real_ones() {
    let (machine, workload) = (machine(), computing());
    let shares = |guests| {
        let found = crowd(&machine, &workload, "tas_lock", 12, guests);
        let counts = found.by_thread.iter().map(|&n| n as f64);
        let most = counts.clone().fold(0.0, f64::max);
        (counts.fold(f64::MAX, f64::min) / most, found)
    };
    // Of 12 on 8, 4 have a real CPU alone, and 8 have half of one.
    let (pinned, _) = shares(CROWDED);
    assert!(pinned < 0.6, "{pinned}");
    let (moving, found) = shares(MIGRATE);
    assert!(moving > 0.8, "{moving}");
    assert!(found.counts.migrations > 50, "{}", found.counts.migrations);
}

#[test]
fn no_real_cpu_is_idle_while_a_virtual_one_waits() {
    let machine = machine();
    let sleeping = Workload {
        // Half of the time asleep: the real CPUs are enough, were they shared well.
        sleep: Some(Time::Exponential(40_000.0)),
        think: Time::Fixed(0.0),
        reads: 1.0,
        read_section: Time::Exponential(40_000.0),
        measure_us: 20_000.0,
        ..computing()
    };
    let [pinned, moving] = [CROWDED, MIGRATE].map(|guests| {
        let found = crowd(&machine, &sleeping, "rwlock", 16, guests);
        found.rate()
    });
    assert!(moving > 1.05 * pinned, "{moving} and {pinned}");
}

#[test]
fn what_a_virtual_cpu_leaves_behind_is_fetched_again() {
    let machine = machine();
    let lines = |guests| {
        let own = Workload {
            entry_bytes: 64,
            lines: 0,
            ..computing()
        };
        let found = crowd(&machine, &own, "tas_lock", 12, guests);
        found.counts.lines_moved() as f64 / found.acquisitions() as f64
    };
    let (pinned, moving) = (lines(CROWDED), lines(MIGRATE));
    assert!(moving > pinned, "{moving} and {pinned} lines");
}

/// Of few real CPUs, so that waiter and kicker often share one.
fn kicked(directed_yield: DirectedYield) -> Outcome {
    let (mut machine, mut workload) = (machine(), workload());
    machine.hypervisor.slice_us = 300.0;
    machine.hypervisor.directed_yield = directed_yield;
    workload.measure_us = 100_000.0;
    workload.think = Time::Exponential(1000.0);
    outcome(&Setup {
        threads: 9,
        cpus: 3,
        placement: Placement::Compact,
        guests: Some(Guests::pinned(3)),
        ..setup(&machine, "qspinlock_pv", &workload)
    })
}

#[test]
fn a_kick_that_donates_takes_the_cpu_from_the_kicker_alone() {
    let all = [DirectedYield::Off, DirectedYield::Donate, DirectedYield::On];
    let [off, donate, on] = all.map(|yields| kicked(yields).counts);
    assert!(off.wakeups > 20, "{}", off.wakeups);
    assert_eq!((off.donations, on.donations), (0, 0));
    // The other kicks are of virtual CPUs whose real one somebody else has, or nobody.
    let (given, kicks) = (donate.donations, donate.wakeups);
    assert!(0 < given && 2 * given < kicks, "{given} of {kicks}");
    // Where each kick takes a CPU from somebody, more lose theirs.
    let [off, donate, on] = [off, donate, on].map(|counts| counts.preemptions);
    assert!(on > donate && on > off, "{on}, {donate}, {off}");
}

#[test]
fn no_virtual_cpu_starves_where_kicks_yield() {
    // As on the page of answers, where one thread had the lock for ever.
    let mut machine = crate::machine::load("ice-lake-sp-2s").expect("it is in the program");
    let loads = crate::workload::load("rivals-spin").expect("it is in the program");
    for directed_yield in [DirectedYield::On, DirectedYield::Donate] {
        machine.hypervisor.directed_yield = directed_yield;
        for overcommit in [2, 3] {
            let threads = 16 * overcommit as usize;
            let guests = Guests::pinned(overcommit);
            let late = Workload {
                warmup_us: 400_000.0,
                measure_us: 300_000.0,
                ..loads.clone()
            };
            let found = outcome(&Setup {
                threads,
                cpus: 16,
                guests: Some(guests),
                ..setup(&machine, "qspinlock_pv", &late)
            });
            let served = found.by_thread.iter().filter(|&&n| n > 0).count();
            assert_eq!(served, threads, "{directed_yield:?}, {overcommit}");
        }
    }
}

/// Few real CPUs, and sections that are long beside a slice.
fn yielding(overcommit: u32, guests: fn(Guests) -> Guests) -> Outcome {
    let (mut machine, mut workload) = (machine(), workload());
    machine.hypervisor.slice_us = 300.0;
    workload.measure_us = 100_000.0;
    workload.think = Time::Exponential(1000.0);
    outcome(&Setup {
        threads: 3 * overcommit as usize,
        cpus: 3,
        placement: Placement::Compact,
        guests: Some(guests(Guests::pinned(overcommit))),
        ..setup(&machine, "qspinlock_owner", &workload)
    })
}

#[test]
fn a_yield_needs_somebody_off_its_cpu() {
    let alone = yielding(1, |guests| guests).counts;
    assert_eq!((alone.yields, alone.preemptions), (0, 0));
    let shared = yielding(3, |guests| guests).counts;
    assert!(shared.yields > 20, "{}", shared.yields);
    // Each takes a real CPU from somebody, and is no kick.
    assert!(shared.preemptions > shared.yields / 2);
    assert_eq!((shared.donations, shared.wakeups), (0, 0));
}

#[test]
fn a_yield_to_the_holder_brings_long_sections_forward() {
    let machine = crate::machine::load("westmere-ex-4s").expect("it is in the program");
    let loads = crate::workload::load("rivals-spin").expect("it is in the program");
    let long = Workload {
        think: Time::Exponential(300.0),
        section: Time::Fixed(20_000.0),
        measure_us: 200_000.0,
        ..loads
    };
    let rate = |lock| {
        let found = outcome(&Setup {
            threads: 9,
            cpus: 3,
            guests: Some(Guests::pinned(3)),
            ..setup(&machine, lock, &long)
        });
        found.rate()
    };
    let (yields, steals) = (rate("qspinlock_owner"), rate("qspinlock_steal"));
    assert!(yields > 1.5 * steals, "{yields} and {steals}");
}

#[test]
fn nobody_starves_where_waiters_yield() {
    let all: [fn(Guests) -> Guests; 3] = [
        |guests| guests,
        |guests| Guests {
            vcpus: Vcpus::Migrate,
            ..guests
        },
        |guests| Guests { vms: 3, ..guests },
    ];
    for guests in all {
        let found = yielding(3, guests);
        let served = found.by_thread.iter().filter(|&&n| n > 0).count();
        assert_eq!(served, 9, "{:?}", found.by_thread);
    }
}

const VMS: Option<Guests> = Some(Guests {
    overcommit: 2,
    vcpus: Vcpus::Pinned,
    vms: 2,
});

#[test]
fn each_virtual_machine_has_a_lock_of_its_own() {
    let (machine, workload) = (machine(), workload());
    for lock in locks() {
        for threads in [4, 20] {
            reset(None);
            let found = crowd(&machine, &workload, lock, threads, VMS);
            // What is looked at is the first one's data.
            assert_eq!(WRONG.take(), [""; 0], "{lock}, {threads} threads");
            let by: Vec<u64> = found.vms.iter().map(|vm| vm.acquisitions).collect();
            assert_eq!(by.iter().sum::<u64>(), found.acquisitions(), "{lock}");
            assert!(by.len() == 2 && by.iter().all(|&n| n > 2), "{lock}: {by:?}");
            for (vm, by) in by.into_iter().enumerate() {
                let own = found.by_thread.iter().skip(vm).step_by(2);
                assert_eq!(own.sum::<u64>(), by, "{lock}");
            }
            let first = found.vms[0].acquisitions;
            assert!(SECTIONS.get() >= first && SECTIONS.get() < found.acquisitions() + first);
        }
    }
}

#[test]
fn two_locks_serve_more_than_one() {
    let machine = machine();
    let wanting = Workload {
        think: Time::Fixed(0.0),
        affinity: true,
        ..workload()
    };
    let rate = |vms| {
        let guests = Guests {
            vms,
            ..Guests::pinned(1)
        };
        crowd(&machine, &wanting, "mcs_lock", 8, Some(guests)).rate()
    };
    let (one, two) = (rate(1), rate(2));
    assert!(two > 1.5 * one, "{two} and {one}");
}

#[test]
fn threads_stay_in_their_virtual_machine() {
    let (machine, mut workload) = (machine(), workload());
    workload.sleep = Some(Time::Exponential(3000.0));
    for guests in [
        VMS,
        VMS.map(|vms| Guests {
            vcpus: Vcpus::Migrate,
            ..vms
        }),
    ] {
        let found = outcome(&Setup {
            threads: 40,
            guests,
            window: Some((0.0, 300.0)),
            ..setup(&machine, "mutex", &workload)
        });
        // 16 virtual CPUs, 8 of each machine.
        let held = found
            .timeline
            .iter()
            .filter(|event| event.doing == Doing::Hold);
        let held: Vec<(u32, u32)> = held.map(|event| (event.thread, event.cpu)).collect();
        let wrong = held.iter().find(|(thread, cpu)| thread % 2 != cpu / 8);
        assert!(held.len() > 100 && wrong.is_none(), "{wrong:?}");
        let places: BTreeSet<&(u32, u32)> = held.iter().collect();
        let threads: BTreeSet<u32> = held.iter().map(|(thread, _)| *thread).collect();
        assert!(places.len() > threads.len(), "no thread ever moved");
    }
}

#[test]
fn virtual_machines_that_cannot_be_are_refused() {
    let (machine, workload) = (machine(), workload());
    let error = |vms, threads| {
        let guests = Guests {
            vms,
            ..Guests::pinned(2)
        };
        let setup = Setup {
            threads,
            guests: Some(guests),
            ..setup(&machine, "tas_lock", &workload)
        };
        simulate(&setup).expect_err("impossible").to_string()
    };
    assert!(error(3, 2).contains("3 virtual machines for 2 threads and 16 virtual CPUs"));
    assert!(error(17, 20).contains("take 1 to 16"));
    assert!(error(0, 2).contains("take 1 to 16"));
}
