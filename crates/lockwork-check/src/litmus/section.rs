// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sections that exclude each other.
use super::*;
use crate::engine::{enter_section, leave_section};

const COUNT: usize = 0;
const OTHER: usize = 1;

const LOCK: usize = 2;

/// Adds 1 in two steps, in a section with the lock that the fuzzer needs.
fn add_one(object: usize, register: usize) {
    enter_section(object);
    wait!(xchg!(LOCK, 1, ACQUIRE) == 0);
    let found = load!(COUNT);
    store!(COUNT, found + 1);
    store!(LOCK, 0, RELEASE);
    leave_section();
    set(register, found);
}

fn first() {
    add_one(1, 0);
}

#[test]
fn nobody_waits_who_enters_a_section() {
    fn second() {
        add_one(1, 1);
    }
    fn of_another() {
        add_one(2, 1);
    }
    let expected = BTreeSet::from([[0, 1, 0, 0], [1, 0, 0, 0]]);
    assert_eq!(results(&[first, second]), expected);
    assert_eq!(results(&[first, of_another]), expected);
    let count = |bodies| explore(bodies).1.executions;
    assert!(count(&[first, second]) < count(&[first, of_another]));
}

#[test]
fn a_section_sees_what_the_last_one_did() {
    fn in_section(object: usize) {
        enter_section(object);
        plain!(COUNT, true);
        leave_section();
    }
    fn of_one() {
        in_section(1);
    }
    fn of_two() {
        in_section(2);
    }
    assert_eq!(fault(&[of_one, of_one, of_one]), None);
    assert_eq!(fault(&[of_one, of_two]), Some(Kind::Race));
}

#[test]
fn a_section_orders_nothing_for_who_is_in_none() {
    fn stores() {
        enter_section(1);
        store!(COUNT, 1);
        store!(OTHER, 1);
        leave_section();
    }
    fn loads() {
        set(0, load!(OTHER));
        set(1, load!(COUNT));
    }
    assert!(results(&[stores, loads]).contains(&[1, 0, 0, 0]));
}

#[test]
fn who_never_ends_a_section_is_reported() {
    fn waits() {
        enter_section(1);
        wait!(load!(COUNT) == 1);
        leave_section();
    }
    assert_eq!(fault(&[waits, waits]), Some(Kind::Deadlock));
}
