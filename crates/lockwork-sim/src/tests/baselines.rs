// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The published locks that only simulations have: marked as such; and those that change
//! how they queue do so when they should.

use super::{contended, counted};
use crate::Setting;

const LOCK: &str = "mutex_numa_2024";

#[test]
fn baselines_are_marked_and_come_last() {
    let locks = crate::locks().expect("they load");
    let (rest, baselines) = locks.split_at(locks.iter().position(|l| l.is_baseline).expect("one"));
    assert!(rest.len() > 10 && baselines.iter().all(|lock| lock.is_baseline));
    assert!(rest.iter().all(|lock| !lock.is_baseline));
    assert!(baselines.iter().any(|lock| lock.name == LOCK));
    assert!(baselines.len() > 10, "{}", baselines.len());
}

#[test]
fn a_long_queue_is_divided_and_a_short_one_is_not() {
    let long = contended(LOCK, 48, &[]);
    let (local, remote) = (counted(&long, "numa_local"), counted(&long, "numa_remote"));
    assert!(local > 5 * remote && remote > 0, "{local} and {remote}");
    let short = contended(LOCK, 8, &[]);
    assert_eq!(counted(&short, "numa_local"), 0);
}

#[test]
fn its_knobs_decide() {
    for setting in [
        ("dynamic_enable", 0),
        ("osq_lock_depth", 32),
        ("osq_keep_times", 2048),
    ] {
        let [set, usual] = [&[setting][..], &[]].map(|settings| {
            let settings = settings.iter();
            let settings = settings.map(|&(knob, value)| Setting { knob, value });
            contended(LOCK, 24, &settings.collect::<Vec<_>>())
        });
        assert!(counted(&usual, "numa_local") > 0);
        assert_eq!(counted(&set, "numa_local"), 0, "{setting:?}");
        assert_ne!(set.by_thread, usual.by_thread, "{setting:?}");
    }
}
