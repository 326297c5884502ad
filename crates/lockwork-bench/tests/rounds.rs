// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Single rounds: every lock there is, every kind of work, and broken locks.
use lockwork_bench::{contenders, measure, Case, Conditions, Contender, Tools, Trouble, Work};
use lockwork_torture::canaries;
use std::time::Duration;

fn case(threads: u32) -> Case {
    Case {
        threads,
        inside: Work::Ns(100),
        outside: Work::Ns(100),
        reads: 0,
        objects: 1,
        time_ms: 3,
        loops: None,
        calls: None,
    }
}

fn conditions(patience: u64) -> Conditions {
    Conditions {
        pin: false,
        patience: Duration::from_secs(patience),
        seed: 7,
    }
}

fn lock(name: &str) -> Contender {
    let mut all = contenders().into_iter();
    all.find(|lock| lock.name() == name).expect("that lock")
}

fn canary(name: &str) -> Contender {
    let mut all = canaries().into_iter();
    Contender::ours(all.find(|kind| kind.name() == name).expect("that canary"))
}

#[test]
fn every_lock_can_be_measured() {
    let tools = Tools::calibrate();
    for lock in contenders() {
        for threads in [1, 2, 5] {
            let case = case(threads);
            let measured = measure(lock.kind, &case, &conditions(600), &tools, &|| false)
                .unwrap_or_else(|trouble| panic!("{}: {trouble}", lock.name()));
            let visits: u64 = measured.writes.iter().sum();
            assert!(visits > 0, "{}", lock.name());
            assert_eq!(measured.writes.len(), threads as usize);
            assert!(measured.reads.is_empty());
            assert!(measured.seconds > 0.0);
            let waits = measured.write_waits.expect("waits");
            assert_eq!(waits.count(), visits, "{}", lock.name());
        }
    }
}

#[test]
fn readers_and_writers_are_counted_apart() {
    let tools = Tools::calibrate();
    for lock in contenders() {
        if !lock.kind.has_read() {
            continue;
        }
        for reads in [50, 100] {
            let case = Case {
                reads,
                time_ms: 10,
                ..case(3)
            };
            // On a busy machine a thread may have no time to do both.
            let measured = loop {
                let measured = measure(lock.kind, &case, &conditions(600), &tools, &|| false)
                    .unwrap_or_else(|trouble| panic!("{}: {trouble}", lock.name()));
                if measured.operations() > 100 {
                    break measured;
                }
            };
            let count = |of: &[u64]| of.iter().sum::<u64>();
            assert_eq!(count(&measured.writes) > 0, reads < 100, "{}", lock.name());
            let waits = measured.read_waits.expect("waits of readers");
            assert_eq!(waits.count(), count(&measured.reads), "{}", lock.name());
            assert_eq!(measured.write_waits.is_some(), reads < 100);
        }
    }
}

#[test]
fn every_kind_of_work() {
    let tools = Tools::calibrate();
    let lock = lock("mutex");
    let works = [Work::Ns(0), Work::Ns(2000), Work::Lines(9), Work::Torture];
    for inside in works {
        for outside in works {
            for objects in [1, 7] {
                let case = Case {
                    inside,
                    outside,
                    objects,
                    ..case(2)
                };
                let conditions = Conditions {
                    pin: true,
                    ..conditions(600)
                };
                let measured = measure(lock.kind, &case, &conditions, &tools, &|| false);
                assert!(measured.is_ok(), "{case}: {measured:?}");
            }
        }
    }
}

#[test]
fn a_number_of_loops_is_kept_to() {
    let tools = Tools::calibrate();
    let lock = lock("mutex");
    let case = Case {
        loops: Some(500),
        time_ms: 600_000,
        ..case(4)
    };
    let measured = measure(lock.kind, &case, &conditions(600), &tools, &|| false).expect("all");
    assert_eq!(measured.writes, [500; 4]);
    assert_eq!(measured.overrun, 0.0);
    assert!(measured.write_waits.is_none(), "nobody looked at a clock");

    let case = Case {
        loops: Some(u64::MAX),
        time_ms: 5,
        ..case
    };
    let measured = measure(lock.kind, &case, &conditions(600), &tools, &|| false).expect("some");
    assert!(measured.operations() > 0);
}

/// The watchdog must not be what ends a sound round; a hang must not stay one.
#[test]
fn a_lock_that_hangs_is_an_error() {
    let tools = Tools::calibrate();
    let broken = canary("canary_lost_wakeup");
    let case = Case {
        inside: Work::Ns(20_000),
        outside: Work::Ns(0),
        time_ms: 200,
        ..case(8)
    };
    // Two threads that wait for the same visit to end are enough, as a rule.
    let hung = (0..200).any(|_| {
        let measured = measure(broken.kind, &case, &conditions(5), &tools, &|| false);
        matches!(measured, Err(Trouble::Hung(_)))
    });
    assert!(hung, "the lock that loses wake-ups never hung");
}

/// A visit outlasts a thread's turn on its CPU, so that with one CPU as well
/// another thread comes while one is inside.
#[test]
fn a_lock_that_lets_two_in_is_an_error() {
    let tools = Tools::calibrate();
    let broken = canary("canary_exclusion");
    let case = Case {
        inside: Work::Ns(20_000_000),
        outside: Work::Ns(0),
        time_ms: 100,
        ..case(8)
    };
    let lost = (0..200).any(|_| {
        let measured = measure(broken.kind, &case, &conditions(600), &tools, &|| false);
        matches!(measured, Err(Trouble::Lost(visits, counted)) if counted < visits)
    });
    assert!(lost, "exclusion was never seen to be lost");
}

#[test]
fn an_interruption_ends_the_round() {
    let tools = Tools::calibrate();
    let case = Case {
        time_ms: 3_600_000,
        ..case(2)
    };
    let measured = measure(lock("mutex").kind, &case, &conditions(600), &tools, &|| {
        true
    });
    assert_eq!(measured, Err(Trouble::Interrupted));
}
