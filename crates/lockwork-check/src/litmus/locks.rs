// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks of a compare-and-exchange and a plain store still exclude.
use super::*;

const LOCK: usize = 0;
const HINT: usize = 1;
const DATA: usize = 2;

/// `HINT` leads from one section to the next and orders nothing.
fn section(release: u32) {
    load!(HINT);
    wait!(cas!(LOCK, 0, 1, ACQUIRE) == 0);
    plain!(DATA, false);
    plain!(DATA, true);
    store!(LOCK, 0, release);
    store!(HINT, 1);
}

#[test]
fn a_lock_excludes() {
    fn holder() {
        section(RELEASE);
    }
    assert_eq!(fault(&[holder, holder]), None);
}

#[test]
fn one_that_is_released_by_a_relaxed_store_does_not() {
    fn holder() {
        section(RELAXED);
    }
    assert_eq!(fault(&[holder, holder]), Some(Kind::Race));
}

#[test]
fn so_does_one_by_exchange() {
    fn holder() {
        load!(HINT);
        wait!(xchg!(LOCK, 1, ACQUIRE) == 0);
        plain!(DATA, true);
        store!(LOCK, 0, RELEASE);
        store!(HINT, 1);
    }
    assert_eq!(fault(&[holder, holder]), None);
}
