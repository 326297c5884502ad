// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a read-modify-write of an older store orders.
use super::*;

const X: usize = 0;
const Y: usize = 1;
const DATA: usize = 2;

/// The first store to x makes the data visible, the second does not.
fn publisher() {
    store!(DATA, 5);
    store!(X, 1, RELEASE);
    store!(X, 2);
    store!(Y, 1);
}

#[test]
fn an_acquire_sees_what_the_store_that_it_read_released() {
    fn reader() {
        set(0, load!(Y));
        set(1, add!(X, 10, ACQUIRE));
        set(2, load!(DATA));
    }
    let seen = results(&[publisher, reader]);
    assert!(seen.contains(&[1, 1, 5, 0]), "{seen:?}");
    assert!(!seen.contains(&[1, 1, 0, 0]), "{seen:?}");
    // The one of before released nothing.
    assert!(seen.contains(&[1, 0, 0, 0]), "{seen:?}");
}

#[test]
fn so_does_a_compare_that_succeeds_and_no_other() {
    fn succeeds() {
        set(0, load!(Y));
        set(1, cas!(X, 1, 10, ACQUIRE));
        set(2, load!(DATA));
    }
    fn fails() {
        set(0, load!(Y));
        set(1, cas!(X, 2, 10, ACQUIRE));
        set(2, load!(DATA));
    }
    let seen = results(&[publisher, succeeds]);
    assert!(seen.contains(&[1, 1, 5, 0]), "{seen:?}");
    assert!(!seen.contains(&[1, 1, 0, 0]), "{seen:?}");
    let seen = results(&[publisher, fails]);
    assert!(seen.contains(&[1, 1, 0, 0]), "{seen:?}");
}

#[test]
fn a_relaxed_one_orders_nothing() {
    fn reader() {
        set(0, load!(Y));
        set(1, add!(X, 10));
        set(2, load!(DATA));
    }
    let seen = results(&[publisher, reader]);
    assert!(seen.contains(&[1, 1, 0, 0]), "{seen:?}");
}

/// Each thread stores to its word and looks at the other's: one sees the other.
#[test]
fn fences_forbid_that_both_read_old_values() {
    fn first() {
        store!(X, 1);
        mb!();
        set(0, add!(Y, 10));
    }
    fn second() {
        store!(Y, 1);
        mb!();
        set(1, add!(X, 10));
    }
    let seen = results(&[first, second]);
    assert!(!seen.contains(&[0, 0, 0, 0]), "{seen:?}");
    // Without the fences, read-modify-writes of two words order nothing.
    fn plain_first() {
        store!(X, 1);
        set(0, add!(Y, 10));
    }
    fn plain_second() {
        store!(Y, 1);
        set(1, add!(X, 10));
    }
    let seen = results(&[plain_first, plain_second]);
    assert!(seen.contains(&[0, 0, 0, 0]), "{seen:?}");
}

/// Either fence may come first, whichever ran first.
#[test]
fn fences_are_tried_in_both_orders() {
    fn writer() {
        store!(Y, 1);
        store!(X, 1);
        mb!();
    }
    fn reader() {
        set(0, load!(X));
        mb!();
        set(1, load!(Y));
    }
    let seen = results(&[writer, reader]);
    assert!(seen.contains(&[1, 0, 0, 0]), "{seen:?}");
    assert!(seen.contains(&[1, 1, 0, 0]), "{seen:?}");
}

#[test]
fn so_a_race_across_two_fences_is_found() {
    fn before() {
        plain!(DATA, true);
        mb!();
    }
    fn behind() {
        mb!();
        plain!(DATA, true);
    }
    assert_eq!(fault(&[before, behind]), Some(Kind::Race));
}
