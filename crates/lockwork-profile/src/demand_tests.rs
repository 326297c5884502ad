// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;
use crate::model::{Idle, Inside, Site, Usage};

#[test]
fn condition_waits_are_of_the_threads_that_use_the_lock() {
    let idle = |thread, waits, waited| Idle {
        thread,
        waits,
        waited,
    };
    let mut profile = Profile {
        ns_per_tick: 1.0,
        idle: vec![idle(2, 1, 1_000_000)],
        ..Profile::default()
    };
    assert_eq!(super::idle(&profile, &[(0, 500), (1, 500)]), (0.0, 0.0));
    // It took the lock once, and waits all the time.
    let (ns, _) = super::idle(&profile, &[(0, 500), (1, 500), (2, 1)]);
    assert!(ns < 5_000.0, "{ns}");
    profile.idle.push(idle(1, 10, 7_000));
    assert_eq!(
        super::idle(&profile, &[(0, 500), (1, 500)]),
        (7_000.0, 10.0)
    );
}

/// Two threads that hold a lock for 1 ms, mostly asleep, and then compute for 300 µs.
#[test]
fn sleep_inside_of_sections_is_no_sleep_between_them() {
    let counts = Counts {
        count: 1_000,
        contended: 1_000,
        waited: 700_000_000,
        held: 1e9,
        holds: 1_000,
        timed: 1_000,
        holds_asked: 900,
        holds_slept: 900,
        ..Counts::default()
    };
    let lock = Lock {
        address: 64,
        sites: vec![Site {
            address: 1,
            how: Use::Mutex,
            counts: counts.clone(),
        }],
        sum: counts,
        by_thread: vec![(0, 500), (1, 500)],
        ..Lock::default()
    };
    let profile = Profile {
        ns_per_tick: 1.0,
        seconds: 1.0,
        usage: Some(Usage {
            cpu: 0.3,
            slept: 1_900,
            preempted: 0,
        }),
        locks: vec![lock],
        ..Profile::default()
    };
    let case = Case::of(&profile);
    assert!(matches!(case.off, Off::Asleep(..)), "{:?}", case.off);
    let demand = case.demand(&profile.locks[0], String::new());
    assert_eq!(demand.sleep, None);
    assert!((demand.think.mean - 300_000.0).abs() < 1.0, "{demand:?}");
    let notes = case.notes();
    assert!(notes[0].contains("inside of sections"), "{notes:?}");
    assert_eq!(notes.len(), 1, "{notes:?}");
}

#[test]
fn a_wait_inside_a_section_is_not_taken_from_the_time_between() {
    let lock = |address, held: f64, waited, inside| {
        let sum = Counts {
            count: 100,
            contended: 50,
            waited,
            held,
            holds: 100,
            ..Counts::default()
        };
        Lock {
            address,
            sites: vec![Site {
                address,
                how: Use::Mutex,
                counts: sum.clone(),
            }],
            sum,
            inside,
            by_thread: vec![(0, 50), (1, 50)],
            ..Lock::default()
        }
    };
    let inside = Inside {
        outer: 64,
        count: 100,
        waited: 600,
    };
    let profile = Profile {
        ns_per_tick: 1.0,
        seconds: 1e-6,
        locks: vec![
            lock(64, 1_000.0, 0, Vec::new()),
            lock(128, 200.0, 600, vec![inside]),
        ],
        ..Profile::default()
    };
    let demand = Case::of(&profile).demand(&profile.locks[0], String::new());
    // 2,000 ns of two threads, of which 1,000 are held.
    assert_eq!(demand.think.mean, 10.0);
}

#[test]
fn sections_that_are_not_known_are_said_to_be() {
    let used = Lock {
        held_beyond: true,
        ..Lock::used_by(64, &[(0, 500), (1, 500)])
    };
    let profile = Profile {
        ns_per_tick: 1.0,
        seconds: 1.0,
        locks: vec![used],
        ..Profile::default()
    };
    let program = super::of(&profile);
    assert!(program.locks[0].held_beyond);
    let said = |note: &String| note.contains("the holds of 1 lock, estimated from samples");
    assert!(program.notes.iter().any(said), "{:?}", program.notes);
}

#[test]
fn a_run_whose_end_nobody_saw_is_said_to_be_one() {
    let of = |at_least| {
        super::of(&Profile {
            ns_per_tick: 1.0,
            seconds: 0.089,
            at_least,
            ..Profile::default()
        })
    };
    let said = |note: &String| note.contains("89.0 ms or longer");
    let notes = of(true).notes;
    assert!(notes.iter().any(said), "{notes:?}");
    assert!(!of(false).notes.iter().any(said));
}

/// 256-512 ticks are 102-205 ns here.
fn holds(short: u32, long: u32, held: f64) -> Counts {
    let mut classes = [0; crate::histogram::BUCKETS];
    (classes[8], classes[22]) = (short, long);
    let mut counts = Counts {
        count: u64::from(short + long),
        holds: u64::from(short + long),
        held,
        ..Counts::default()
    };
    counts.hold_times.add(&classes);
    counts
}

fn of(counts: &Counts) -> (Times, Option<(u64, f64)>) {
    super::times(&[counts], 0.4)
}

#[test]
fn holds_of_those_who_lost_their_cpu_are_left_out() {
    // 99,990 holds of 300 ticks, and 10 of 6 million, which is their class's middle.
    let held = 99_990.0 * 300.0 + 10.0 * 1.5 * f64::from(1 << 22);
    let (times, left) = of(&holds(99_990, 10, held));
    assert!((times.mean - 120.0).abs() < 0.1, "{}", times.mean);
    assert_eq!(times.classes.len(), 1);
    let (lost, share) = left.expect("some");
    assert!(lost == 10 && share > 0.6, "{share}");
    // Of another call site, all of whose holds are so long, they are what it does.
    let (short, long) = (
        holds(99_990, 0, 99_990.0 * 300.0),
        holds(0, 10, 10.0 * 1.5 * f64::from(1 << 22)),
    );
    let (times, left) = super::times(&[&short, &long], 0.4);
    assert!(left.is_none() && times.classes.len() == 2);
    assert!((times.mean - held / 1e5 * 0.4).abs() < 1e-6);
    // A sampled hold stands for many. At a small site it is no less an accident.
    let small = holds(
        99_800,
        200,
        99_800.0 * 300.0 + 200.0 * 1.5 * f64::from(1 << 22),
    );
    let large = holds(1_000_000, 0, 3e8);
    let (times, left) = super::times(&[&small, &large], 0.4);
    assert!(times.classes.len() == 1 && left.is_some_and(|(lost, _)| lost == 200));
    // As many are no accident.
    let (times, left) = of(&holds(900, 100, held));
    assert!(left.is_none() && times.classes.len() == 2);
    assert!((times.mean - held / 1000.0 * 0.4).abs() < 1e-6);
}
