// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two faults that no execution shows in which a read-modify-write always reads
//! the newest store, and what mends each.
use super::*;

/// A thread that sets `BUSY` waits until as many have said that they are done; the others
/// learn by `SEALED` that they are to.
mod count {
    use super::*;

    const BUSY: usize = 0;
    const SEALED: usize = 1;

    fn sets() {
        store!(BUSY, 1);
        store!(SEALED, 1, RELEASE);
        wait!(load!(BUSY, ACQUIRE) == 0);
    }

    fn is_done(order: u32) {
        if load!(SEALED, order) == 1 {
            add!(BUSY, u64::MAX, RELEASE);
        } else {
            wait!(load!(SEALED, order) == 1);
            add!(BUSY, u64::MAX, RELEASE);
        }
    }

    #[test]
    fn a_decrement_is_lost_if_the_seal_orders_nothing() {
        fn relaxed() {
            is_done(RELAXED);
        }
        assert_eq!(fault(&[sets, relaxed]), Some(Kind::Deadlock));
    }

    #[test]
    fn none_is_lost_if_the_seal_is_acquired() {
        fn acquires() {
            is_done(ACQUIRE);
        }
        assert_eq!(fault(&[sets, acquires]), None);
    }
}

/// The holder frees the lock and then says so to the sleeper, which looks at the
/// lock each time before it sleeps.
mod sleep {
    use super::*;

    const LOCK: usize = 0;
    const STATE: usize = 1;
    const ASLEEP: u64 = 0;
    const READY: u64 = 1;

    fn unlocks(order: u32) {
        add!(LOCK, u64::MAX);
        store!(STATE, READY, order);
        ffi::lwc_wake(word(STATE), site!());
    }

    fn holder() -> u64 {
        add!(LOCK, 1)
    }

    fn sleeper() {
        // The other has the lock, or has had it.
        wait!(load!(HELD) == 1);
        loop {
            xchg!(STATE, ASLEEP, FULL);
            if cas!(LOCK, 0, 1, ACQUIRE) == 0 {
                return;
            }
            ffi::lwc_sleep(word(STATE), ASLEEP as u32, false, false, site!());
        }
    }

    const HELD: usize = 2;

    #[test]
    fn a_sleeper_that_sees_a_relaxed_ready_may_find_the_lock_held() {
        fn relaxed() {
            holder();
            store!(HELD, 1, RELEASE);
            unlocks(RELAXED);
        }
        assert_eq!(fault(&[relaxed, sleeper]), Some(Kind::LostWakeup));
    }

    #[test]
    fn after_a_release_it_finds_the_lock_free() {
        fn releases() {
            holder();
            store!(HELD, 1, RELEASE);
            unlocks(RELEASE);
        }
        assert_eq!(fault(&[releases, sleeper]), None);
    }
}
