// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Each lock keeps sections apart, as plain loads and stores of simulated memory
//! see it: a store that was not visible when the next section began would show.

use super::{machine, reset, setup, workload, CROWDED, SECTIONS, WRONG};
use crate::{locks, simulate, Guests, Setup};

fn sections_are_apart(setup: &Setup) {
    reset(None);
    let outcome = simulate(setup)
        .expect("a possible setup")
        .unwrap_or_else(|stuck| panic!("{}: {stuck:?}", setup.lock));
    let wrong = WRONG.take();
    let name = setup.lock;
    assert_eq!(wrong, [""; 0], "{name}, {} threads", setup.threads);
    let exclusive = outcome.acquisitions() - outcome.reads;
    assert!(exclusive > 0, "{name}: nobody had it");
    // The last holder may not have looked yet.
    assert!(
        SECTIONS.get() + 1 >= exclusive,
        "{name}: too few were looked at"
    );
}

fn all_locks(reads: f64, guests: Option<Guests>) {
    let (machine, mut workload) = (machine(), workload());
    workload.reads = reads;
    for lock in locks().expect("they load") {
        if reads > 0.0 && !lock.is_rw {
            continue;
        }
        for threads in [2, 9, 40] {
            let setup = setup(&machine, lock.name, &workload);
            sections_are_apart(&Setup {
                threads,
                guests,
                ..setup
            });
        }
    }
}

#[test]
fn sections_are_apart_under_each_lock() {
    all_locks(0.0, None);
}

#[test]
fn and_with_virtual_cpus_that_lose_theirs() {
    all_locks(0.0, CROWDED);
}

#[test]
fn readers_see_what_the_last_writer_left() {
    all_locks(0.7, None);
    all_locks(0.7, CROWDED);
}

#[test]
fn all_loops_are_made_and_each_counts() {
    let (machine, mut workload) = (machine(), workload());
    workload.loops = Some(50);
    for lock in locks().expect("they load") {
        sections_are_apart(&setup(&machine, lock.name, &workload));
        assert_eq!(SECTIONS.get(), 9 * 50, "{}", lock.name);
    }
}

/// Locks nothing.
unsafe extern "C" fn nothing(_lock: *mut std::ffi::c_void) {}

#[test]
fn sections_that_nothing_keeps_apart_are_noticed() {
    let (machine, workload) = (machine(), workload());
    reset(None);
    crate::world::with(|world| {
        let mut none = *world.locks().next().expect("a lock");
        (none.lock, none.unlock) = (nothing, nothing);
        crate::simulate::run(
            &setup(&machine, "none", &workload),
            world,
            Box::leak(Box::new(none)),
        )
    })
    .expect("it loads")
    .expect("nobody waits");
    assert!(!WRONG.take().is_empty(), "sections overlapped, unnoticed");
}
