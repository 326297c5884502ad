// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! When the NUMA-aware queue divides itself, and when it joins: the model checker
//! sees that each step is right, this that they are taken for a reason.

use super::{contended, counted, crowd, epyc, wanting};
use crate::outcome::Outcome;
use crate::Setting;

const LOCK: &str = "mutex_numa";

fn set(knob: &'static str, value: u32) -> Setting {
    Setting { knob, value }
}

fn handed(outcome: &Outcome) -> (u64, u64) {
    let [local, remote] = ["numa_local", "numa_remote"].map(|name| counted(outcome, name));
    (local, remote)
}

fn closed(outcome: &Outcome) -> u64 {
    let how = ["numa_closed_idle", "numa_closed_poor", "numa_closed_off"];
    how.iter().map(|name| counted(outcome, name)).sum()
}

#[test]
fn a_long_queue_is_divided_and_a_short_one_is_not() {
    let long = contended(LOCK, 48, &[]);
    let (local, remote) = handed(&long);
    assert_eq!(long.counts.divided, 1);
    assert!(local > 20 * remote && remote > 0, "{local} and {remote}");
    let short = contended(LOCK, 4, &[]);
    assert_eq!(
        (counted(&short, "numa_opened"), handed(&short)),
        (0, (0, 0))
    );
}

/// It is as long as the one that is divided above. But all of it is of one cluster.
#[test]
fn a_long_queue_of_one_cluster_is_not_divided() {
    let mut machine = epyc();
    let last = machine.places.len() - 1;
    for (cpu, place) in machine.places.iter_mut().enumerate() {
        place.cluster = u16::from(cpu == last);
    }
    let outcome = crowd(&machine, LOCK, 48, &[], &wanting());
    assert_eq!(
        (counted(&outcome, "numa_opened"), handed(&outcome)),
        (0, (0, 0))
    );
}

#[test]
fn its_knobs_decide() {
    for setting in [
        set("dynamic_enable", 0),
        set("osq_lock_depth", 32),
        set("osq_keep_times", 2048),
        set("osq_pool", 0),
    ] {
        let outcome = contended(LOCK, 24, &[setting]);
        assert_eq!(handed(&outcome), (0, 0), "{setting:?}");
        let refused = counted(&outcome, "numa_no_entry") > 0;
        assert_eq!(refused, setting.knob == "osq_pool", "{setting:?}");
    }
}

#[test]
fn a_cluster_keeps_the_lock_for_osq_node_max_hand_overs() {
    for most in [5, 64] {
        let (local, remote) = handed(&contended(LOCK, 48, &[set("osq_node_max", most)]));
        let turns = remote + 1;
        assert!(
            local <= u64::from(most) * turns,
            "{most}: {local}, {remote}"
        );
        assert!(
            local > u64::from(most) * turns / 2,
            "{most}: {local}, {remote}"
        );
    }
}

/// Each CPU is a cluster, so that division brings nothing. There are no more clusters
/// than queues for them.
#[test]
fn what_is_not_worth_while_is_tried_ever_less() {
    let mut machine = epyc();
    for place in &mut machine.places {
        place.cluster = place.core % 32;
    }
    let mut workload = wanting();
    workload.measure_us = 6000.0;
    let outcome = crowd(&machine, LOCK, 24, &[], &workload);
    let (opened, (local, remote)) = (counted(&outcome, "numa_opened"), handed(&outcome));
    assert_eq!(local, 0, "no cluster has two threads");
    // After 32, 64, 128 hand-overs and so on: not after 32 each time, some 60 times.
    assert!((2..=8).contains(&opened), "{opened}");
    assert_eq!(closed(&outcome), counted(&outcome, "numa_closed_poor"));
    // The rest's last one and 64 that bring nothing; joining, one for each that waits.
    assert!(remote <= opened * (1 + 64 + 24), "{opened}: {remote}");
}

#[test]
fn a_lock_that_nobody_uses_is_one_queue() {
    let mut workload = wanting();
    workload.loops = Some(200);
    let outcome = crowd(&epyc(), LOCK, 48, &[], &workload);
    let (local, _) = handed(&outcome);
    assert!(local > 0 && closed(&outcome) > 0, "{local}");
    assert_eq!(counted(&outcome, "numa_opened"), closed(&outcome));
    assert_eq!(outcome.counts.divided, 0);
}
