// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which store a read-modify-write reads.
use super::*;

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

/// Two stores, to x and then to y.
fn stores() {
    store!(X, 1);
    store!(Y, 1);
}

/// The same, and who sees the second sees the first.
fn stores_in_order() {
    store!(X, 1);
    store!(Y, 1, RELEASE);
}

/// The same with a full fence.
fn stores_with_fence() {
    store!(X, 1);
    mb!();
    store!(Y, 1);
}

#[test]
fn it_may_stand_before_a_store_that_nothing_makes_it_see() {
    fn reader() {
        set(0, load!(Y));
        set(1, add!(X, 10));
    }
    let seen = results(&[stores, reader]);
    assert!(seen.contains(&[1, 0, 0, 0]), "{seen:?}");
    assert!(seen.contains(&[1, 1, 0, 0]), "{seen:?}");
}

#[test]
fn it_sees_what_happens_before_it() {
    fn reader() {
        set(0, load!(Y, ACQUIRE));
        set(1, add!(X, 10));
    }
    let seen = results(&[stores_in_order, reader]);
    assert!(!seen.contains(&[1, 0, 0, 0]), "{seen:?}");
    assert!(seen.contains(&[1, 1, 0, 0]), "{seen:?}");
    // Either order alone is none.
    assert!(results(&[stores, reader]).contains(&[1, 0, 0, 0]));
    fn relaxed() {
        set(0, load!(Y));
        set(1, add!(X, 10));
    }
    assert!(results(&[stores_in_order, relaxed]).contains(&[1, 0, 0, 0]));
}

#[test]
fn it_sees_what_a_fence_before_it_orders() {
    fn reader() {
        set(0, load!(Y));
        mb!();
        set(1, add!(X, 10));
    }
    let seen = results(&[stores_with_fence, reader]);
    assert!(!seen.contains(&[1, 0, 0, 0]), "{seen:?}");
    assert!(results(&[stores, reader]).contains(&[1, 0, 0, 0]));
}

/// The fences of a full exchange count as well.
#[test]
fn a_full_one_sees_what_its_own_fence_orders() {
    fn reader() {
        set(0, load!(Y));
        set(1, xchg!(X, 10, FULL));
    }
    let seen = results(&[stores_with_fence, reader]);
    assert!(!seen.contains(&[1, 0, 0, 0]), "{seen:?}");
    assert!(results(&[stores, reader]).contains(&[1, 0, 0, 0]));
    fn compare() {
        set(0, load!(Y));
        set(1, cas!(X, 0, 10, FULL));
    }
    let seen = results(&[stores_with_fence, compare]);
    assert!(seen.contains(&[1, 1, 0, 0]), "{seen:?}");
}

#[test]
fn its_thread_never_reads_again_what_it_replaced() {
    fn reader() {
        set(0, load!(Y));
        set(1, add!(X, 10));
        set(2, load!(X));
        set(3, add!(X, 0));
    }
    let seen = results(&[stores, reader]);
    assert!(seen.contains(&[1, 0, 1, 1]), "{seen:?}");
    let late = seen.iter().filter(|r| r[1] == 0);
    for result in late {
        assert_ne!(result[2], 0, "{seen:?}");
        assert_ne!(result[3], 0, "{seen:?}");
    }
}

/// Nor does a thread that it happens before.
#[test]
fn whom_it_happens_before_does_not_read_what_it_replaced() {
    fn reader() {
        set(0, load!(Y));
        set(1, add!(X, 10));
        store!(Z, 1, RELEASE);
    }
    fn third() {
        set(2, load!(Z, ACQUIRE));
        set(3, load!(X));
    }
    let seen = results(&[stores, reader, third]);
    assert!(seen.contains(&[1, 0, 1, 1]), "{seen:?}");
    assert!(!seen.contains(&[1, 0, 1, 0]), "{seen:?}");
    // Without the order it does.
    fn relaxed() {
        set(2, load!(Z));
        set(3, load!(X));
    }
    assert!(results(&[stores, reader, relaxed]).contains(&[1, 0, 1, 0]));
}

#[test]
fn two_increments_make_two() {
    fn first() {
        set(0, add!(X, 1));
        store!(Y, 1);
    }
    fn second() {
        load!(Y);
        set(1, add!(X, 1));
    }
    let seen = results(&[first, second]);
    assert_eq!(seen, [[0, 1, 0, 0], [1, 0, 0, 0]].into());
}

/// Nothing comes between one and the store that it read.
#[test]
fn two_do_not_read_the_same_store() {
    fn first() {
        if load!(Y) == 1 {
            set(0, 1 + add!(X, 10));
        }
    }
    fn second() {
        if load!(Y) == 1 {
            set(1, 1 + add!(X, 10));
        }
    }
    let seen = results(&[stores, first, second]);
    assert!(seen.iter().any(|r| r[0] == 1), "{seen:?}");
    assert!(seen.iter().any(|r| r[1] == 1), "{seen:?}");
    for result in &seen {
        let both = result[0] != 0 && result[1] != 0;
        assert!(!both || result[0] != result[1], "{seen:?}");
    }
}

/// Behind the store is another's read-modify-write.
#[test]
fn none_is_pushed_from_what_it_read() {
    fn first() {
        add!(X, 1);
        store!(Y, 1);
    }
    fn compare() {
        set(0, load!(Y));
        set(1, cas!(X, 0, 10, ACQUIRE));
    }
    fn fails() {
        set(0, load!(Y));
        set(1, cas!(X, 1, 10, ACQUIRE));
    }
    let seen = results(&[first, compare]);
    assert!(!seen.contains(&[1, 0, 0, 0]), "{seen:?}");
    // A compare that fails stores nothing, so it may read that.
    let seen = results(&[first, fails]);
    assert!(seen.contains(&[1, 0, 0, 0]), "{seen:?}");
    assert!(seen.contains(&[1, 1, 0, 0]), "{seen:?}");
}

#[test]
fn a_compare_may_succeed_on_an_older_store() {
    fn compare() {
        set(0, load!(Y));
        set(1, cas!(X, 0, 10, ACQUIRE));
    }
    let seen = results(&[stores, compare]);
    assert!(seen.contains(&[1, 0, 0, 0]), "{seen:?}");
    assert!(seen.contains(&[1, 1, 0, 0]), "{seen:?}");
}

/// A failed test-and-set does not outlive the holder's store of 0.
#[test]
fn a_store_that_runs_later_comes_later() {
    fn holder() {
        xchg!(X, 1, ACQUIRE);
        store!(X, 0, RELEASE);
    }
    fn second() {
        xchg!(X, 1, ACQUIRE);
        store!(X, 0, RELEASE);
        add!(X, 0);
    }
    fn waits() {
        wait!(load!(X) == 0);
    }
    assert_eq!(fault(&[holder, second, waits]), None);
}
