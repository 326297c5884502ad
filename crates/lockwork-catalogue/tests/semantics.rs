// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What each operation does to a lock that nobody else uses, and what the
//! catalogue says about each kind.
use lockwork_catalogue::{by_name, catalogue, knobs, set_knob, KnobError, Lock, Promises};
use std::time::Duration;

#[test]
fn kinds_are_well_described() {
    for kind in catalogue() {
        let (name, size, align) = (kind.name(), kind.size(), kind.align());
        assert!(
            align.is_power_of_two() && align <= 64,
            "{name} is aligned to {align}"
        );
        assert_eq!(
            size % align,
            0,
            "{name}: an array of them would not be aligned"
        );
        assert!(
            !kind.summary().is_empty() && !kind.summary().contains('\n'),
            "{name}"
        );
        let at = kind.create().as_ptr() as usize;
        assert_eq!(at % align.max(64), 0, "{name} is not on a line of its own");
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = catalogue().iter().map(|kind| kind.name()).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn promises_come_with_their_operations() {
    for kind in catalogue() {
        let (name, flags) = (kind.name(), kind.flags());
        assert_eq!(flags.contains(Promises::RW), kind.has_read(), "{name}");
        assert_eq!(
            flags.contains(Promises::CANCEL),
            kind.has_attempt(),
            "{name}"
        );
        assert!(
            !flags.contains(Promises::FIFO) || kind.has_last_waiter(),
            "{name}"
        );
        let known = Promises::FIFO | Promises::RW | Promises::CANCEL | Promises::SLEEPS;
        let known = known | Promises::KEEPS_NODE | Promises::FORKS | Promises::CLUSTERS;
        assert!(
            known.contains(flags),
            "{name} promises something unheard of: {flags:?}"
        );
    }
}

/// A way to take a lock, by name.
type Way = (&'static str, unsafe fn(&Lock) -> Option<bool>);

const WAYS: [Way; 6] = [
    ("lock", |lock| {
        // SAFETY: as in way().
        unsafe { lock.lock() };
        Some(true)
    }),
    // SAFETY: as in way().
    ("trylock", |lock| unsafe { lock.try_lock() }),
    // SAFETY: as in way().
    ("timedlock(0)", |lock| unsafe {
        lock.timed_lock(Duration::ZERO)
    }),
    // SAFETY: as in way().
    ("timedlock(1 ms)", |lock| unsafe {
        lock.timed_lock(Duration::from_millis(1))
    }),
    // SAFETY: as in way().
    ("timedlock(for ever)", |lock| unsafe {
        lock.timed_lock(Duration::MAX)
    }),
    // SAFETY: as in way().
    ("attempt", |lock| unsafe { lock.attempt() }),
];

#[test]
fn a_free_lock_is_taken_in_each_way() {
    for kind in catalogue() {
        let lock = kind.create();
        for (way, take) in WAYS.iter().chain(WAYS.iter().rev()) {
            let what = format!("{}: {way}", kind.name());
            // SAFETY: only this thread uses the lock, and gives back what it takes.
            unsafe {
                match take(&lock) {
                    None => continue,
                    Some(got) => assert!(got, "{what} failed on a free lock"),
                }
                assert_ne!(lock.try_lock(), Some(true), "{what}, then a try took it");
                assert_ne!(
                    lock.read_try_lock(),
                    Some(true),
                    "{what}, then a reader got in"
                );
                let queued = lock.last_waiter().unwrap_or(0) != 0;
                let keeps = kind.flags().contains(Promises::KEEPS_NODE);
                assert!(
                    !queued || keeps,
                    "{what}: last_waiter names somebody, nobody waits"
                );
                lock.unlock();
            }
        }
    }
}

#[test]
fn a_downgraded_lock_is_held_shared() {
    for kind in catalogue().into_iter().filter(|kind| kind.has_downgrade()) {
        let (name, lock) = (kind.name(), kind.create());
        // SAFETY: only this thread uses the lock, and gives back what it takes.
        unsafe {
            lock.lock();
            assert_ne!(
                lock.read_timed_lock(Duration::from_micros(50)),
                Some(true),
                "{name}: a reader got in to a writer"
            );
            lock.downgrade();
            let second = lock.read_timed_lock(Duration::ZERO);
            assert_ne!(second, Some(false), "{name}: a second reader was refused");
            assert_ne!(
                lock.try_lock(),
                Some(true),
                "{name}: a writer got in to a reader that was a writer"
            );
            lock.read_unlock();
            if second == Some(true) {
                lock.read_unlock();
            }
            assert_ne!(
                lock.try_lock(),
                Some(false),
                "{name}: readers that left still hold it"
            );
        }
    }
}

#[test]
fn readers_share_a_free_lock() {
    for kind in catalogue().into_iter().filter(|kind| kind.has_read()) {
        let (name, lock) = (kind.name(), kind.create());
        // SAFETY: only this thread uses the lock, and gives back what it takes.
        unsafe {
            lock.read_lock();
            assert_ne!(
                lock.read_try_lock(),
                Some(false),
                "{name}: a second reader was refused"
            );
            assert_ne!(
                lock.try_lock(),
                Some(true),
                "{name}: a writer got in to readers"
            );
            lock.read_unlock();
            if kind.has_read_try() {
                assert_ne!(
                    lock.try_lock(),
                    Some(true),
                    "{name}: a reader was forgotten"
                );
                lock.read_unlock();
            }
            assert_ne!(
                lock.try_lock(),
                Some(false),
                "{name}: readers that left still hold it"
            );
        }
    }
}

#[test]
fn what_is_not_offered_is_none() {
    for kind in catalogue() {
        let lock = kind.create();
        // SAFETY: only this thread uses the lock; it is dropped held.
        unsafe {
            assert_eq!(lock.try_lock().is_some(), kind.has_try());
        }
        let lock = kind.create();
        // SAFETY: as above.
        unsafe {
            assert_eq!(lock.timed_lock(Duration::ZERO).is_some(), kind.has_timed());
        }
        assert_eq!(lock.last_waiter().is_some(), kind.has_last_waiter());
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let text = by_name("nolock").expect_err("no such lock").to_string();
    for kind in catalogue() {
        assert!(text.contains(kind.name()), "{text}");
        assert_eq!(
            by_name(kind.name()).expect("in the catalogue").name(),
            kind.name()
        );
    }
}

#[test]
fn knobs_take_their_range_and_nothing_else() {
    assert!(!knobs().is_empty());
    for knob in knobs() {
        let (name, before) = (knob.name(), knob.get());
        assert!(
            knob.min() <= knob.default() && knob.default() <= knob.max(),
            "{name}"
        );
        assert_eq!(
            before,
            knob.default(),
            "{name} does not start with its default"
        );
        let words = knob.words();
        for value in [knob.min(), knob.max(), before] {
            let word = words.get(value as usize).map(ToString::to_string);
            let text = word.unwrap_or_else(|| value.to_string());
            assert_eq!(set_knob(name, &text), Ok(()));
            assert_eq!(knob.get(), value, "{name}");
        }
        let above = u64::from(knob.max()) + 1;
        for value in [
            above.to_string().as_str(),
            "",
            "-1",
            "x",
            "1x",
            "4294967296",
            "1\0",
        ] {
            let refused = set_knob(name, value);
            assert!(
                matches!(refused, Err(KnobError::Range { .. })),
                "{name}={value:?}"
            );
            assert_eq!(knob.get(), before, "{name} changed by {value:?}");
        }
    }
    let text = set_knob("noknob", "1")
        .expect_err("no such knob")
        .to_string();
    assert!(text.contains(knobs()[0].name()), "{text}");
}
