// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Looks at one line of C that are no repetition: the line is in a function which is
//! called, or inlined, twice. They are told apart from the rounds of a loop.
use super::*;

const X: usize = 0;
const Y: usize = 1;

/// x is written first, so who sees y = 1 may see an old x only by an old look.
fn writer() {
    store!(X, 1);
    store!(Y, 1);
}

/// The line.
fn look(pc: usize) -> u64 {
    ffi::lwc_load(word(X), 4, RELAXED, site!(), pc)
}

/// Old, then new: what a pruning by lines alone would cut.
const OLD_THEN_NEW: Registers = [1, 0, 1, 0];

#[test]
fn inlined_twice() {
    fn reader() {
        set(0, load!(Y));
        set(1, look(1));
        set(2, look(2));
    }
    let seen = results(&[writer, reader]);
    assert!(seen.contains(&OLD_THEN_NEW), "{seen:?}");
    assert!(seen.contains(&[1, 0, 0, 0]), "{seen:?}");
    assert!(!seen.contains(&[1, 1, 0, 0]), "{seen:?}");
}

#[test]
fn called_twice() {
    fn called(from: usize) -> u64 {
        ffi::lwc_call_begins(from);
        let seen = look(HERE);
        ffi::lwc_call_ends();
        seen
    }
    fn reader() {
        set(0, load!(Y));
        set(1, called(1));
        set(2, called(2));
    }
    let seen = results(&[writer, reader]);
    assert!(seen.contains(&OLD_THEN_NEW), "{seen:?}");
}

#[test]
fn a_loop_is_cut() {
    fn reader() {
        set(0, load!(Y));
        set(1, look(HERE));
        set(2, look(HERE));
    }
    let seen = results(&[writer, reader]);
    assert!(!seen.contains(&OLD_THEN_NEW), "{seen:?}");
    assert!(seen.contains(&[1, 1, 1, 0]), "{seen:?}");
}
