// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is counted adds up.

use super::{locks, machine, outcome, setup, workload, CROWDED};
use crate::machine::Distance;
use crate::outcome::WaitSplit;
use crate::workload::{Time, Workload};
use crate::{Placement, Rules, Setup};

#[test]
fn an_uncontended_loop_costs_the_hits_of_the_machine_file() {
    let (machine, mut workload) = (machine(), workload());
    let own = machine.costs[Distance::Own as usize];
    workload.think = Time::Fixed(100.0);
    workload.section = Time::Fixed(50.0);
    // Some loads would hide behind what is computed, and that would take more or less.
    let rules = ["early-load", "uneven-work"].map(str::to_owned);
    let rules = Rules::without(&rules).expect("rules");
    for lock in [
        "tas_lock",
        "ticket_lock",
        "mcs_lock",
        "qspinlock_fair",
        "qrwlock",
    ] {
        let [short, long] = [1000, 2000].map(|loops| {
            workload.loops = Some(loops);
            outcome(&Setup {
                threads: 1,
                rules,
                ..setup(&machine, lock, &workload)
            })
        });
        let more = |count: fn(&crate::outcome::Counts) -> u64| {
            (count(&long.counts) - count(&short.counts)) as f64
        };
        let expected = 1000.0 * (100.0 + 50.0 + machine.cpu.call)
            + more(|counts| counts.loads) * own.load
            + more(|counts| counts.stores) * own.store
            + more(|counts| counts.rmws) * own.rmw;
        let found = long.finished_ns.expect("loops") - short.finished_ns.expect("loops");
        assert!(
            (found - expected).abs() < 0.01,
            "{lock}: {found} ns, not {expected}"
        );
        assert_eq!(long.ns_waited, 0.0, "{lock}");
        assert_eq!(
            long.counts.moved, short.counts.moved,
            "{lock}: a line moved"
        );
        assert_eq!(
            long.counts.handovers[Distance::Own as usize],
            1999,
            "{lock}"
        );
    }
}

#[test]
fn the_parts_of_the_waits_add_up_to_the_waits() {
    let (machine, mut workload) = (machine(), workload());
    workload.section = Time::Fixed(2000.0);
    for lock in locks() {
        for guests in [None, CROWDED] {
            let outcome = outcome(&Setup {
                threads: 20,
                guests,
                ..setup(&machine, lock, &workload)
            });
            let waits = outcome.waits.mean() * outcome.waits.len() as f64;
            let WaitSplit {
                queueing,
                transfer,
                preempted_holder,
                preempted_next,
                asleep,
                waking,
            } = outcome.split;
            let parts = queueing + transfer + preempted_holder + preempted_next + asleep + waking;
            assert!(waits > 0.0, "{lock}");
            assert!(
                (parts / waits - 1.0).abs() < 0.01,
                "{lock}: {parts} of {waits}"
            );
            assert_eq!(outcome.waits.len(), outcome.acquisitions(), "{lock}");
            // One of 20 threads holds. Those that have had a CPU wait, some since before the
            // measured time.
            let waiting = outcome.ns_waited / (outcome.ns * 20.0);
            assert!((0.3..=0.97).contains(&waiting), "{lock}: {waiting}");
        }
    }
}

#[test]
fn time_in_the_lock_is_cpu_time_and_cpu_time_is_what_the_cpus_have() {
    let (machine, workload) = (machine(), workload());
    for lock in locks() {
        for guests in [None, CROWDED] {
            let outcome = outcome(&Setup {
                threads: 20,
                guests,
                ..setup(&machine, lock, &workload)
            });
            let (inside, busy) = (outcome.ns_in_lock, outcome.ns_busy);
            assert!(inside > 0.0 && inside <= busy, "{lock}: {inside} of {busy}");
            // A switch counts for the thread that comes, a little before it runs.
            let there_is = 8.0 * outcome.ns * 1.02;
            assert!(busy <= there_is, "{lock}: {busy} of {there_is}");
        }
    }
}

#[test]
fn each_acquisition_but_the_first_is_a_handover() {
    let (machine, mut workload) = (machine(), workload());
    for loops in [None, Some(30)] {
        workload.loops = loops;
        for lock in locks() {
            let outcome = outcome(&setup(&machine, lock, &workload));
            let handovers: u64 = outcome.counts.handovers.iter().sum();
            let first = outcome.acquisitions() - handovers;
            assert_eq!(first, u64::from(loops.is_some()), "{lock}");
        }
    }
}

#[test]
fn bytes_go_over_links_between_sockets_only() {
    let (machine, workload) = (machine(), workload());
    for lock in locks() {
        let spread = outcome(&setup(&machine, lock, &workload)).counts.link_bytes;
        let within = outcome(&Setup {
            placement: Placement::Compact,
            ..setup(&machine, lock, &workload)
        });
        assert_eq!(spread.len(), 16, "{lock}");
        for (at, &bytes) in spread.iter().enumerate() {
            assert!(
                at % 5 > 0 || bytes == 0,
                "{lock}: {bytes} from a socket to itself"
            );
        }
        assert!(spread.iter().sum::<u64>() > 0, "{lock}: no bytes");
        assert_eq!(
            within.counts.link_bytes, [0; 16],
            "{lock}: all in one socket"
        );
    }
}

/// Threads with entries of their own, in shared lines, and short holds.
#[test]
fn entries_of_threads_share_lines() {
    let machine = machine();
    let entries = crate::workload::Workload {
        entry_bytes: 16,
        short_hold: Some((4.0, 2000.0)),
        lines: 0,
        ..workload()
    };
    let apart = crate::workload::Workload {
        entry_bytes: 64,
        ..entries.clone()
    };
    let [shared, apart] = [&entries, &apart].map(|workload| {
        let found = outcome(&setup(&machine, "mcs_lock", workload));
        found.counts.moved.iter().sum::<u64>() as f64 / found.acquisitions() as f64
    });
    assert!(shared > apart + 0.2, "{shared} and {apart} lines");
}

/// A holder whose lock lies in the line of its data has one line less to fetch.
#[test]
fn an_embedded_lock_comes_with_its_data() {
    let machine = machine();
    let lines = |embedded| {
        let quiet = Workload {
            embedded,
            think: Time::Exponential(20_000.0),
            measure_us: 2000.0,
            ..workload()
        };
        let found = outcome(&Setup {
            threads: 2,
            ..setup(&machine, "tas_lock", &quiet)
        });
        let moved: u64 = found.counts.moved.iter().sum();
        moved as f64 / found.acquisitions() as f64
    };
    let (apart, embedded) = (lines(false), lines(true));
    assert!(embedded < 0.7 * apart, "{embedded} and {apart}");
}
