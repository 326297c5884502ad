// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the tables share: which lock stands for which, parts of a machine, and
//! how long to simulate.

use crate::machine::{self, Machine};
use crate::workload::{self, Workload};
use anyhow::{bail, Result};
use std::collections::HashSet;
use std::sync::Arc;

/// Our locks by the names of the published tables.
const LOCKS: [(&str, &str); 21] = [
    // [PATCH v10 10/19] qspinlock: the columns of its micro-benchmark …
    ("ticket", "ticket_lock"),
    ("fair_queue", "qspinlock_fair"),
    ("unfair_queue", "qspinlock_steal"),
    ("unfair_byte", "tas_lock"),
    // … that queue as it was before its head took the lock by a store …
    ("head_by_rmw", "qspinlock_fair_rmw"),
    // … and the kernels of its other tables.
    ("ticketlock", "ticket_lock"),
    ("qspinlock", "qspinlock_fair"),
    ("test-and-set", "tas_lock"),
    ("unfair_qspinlock", "qspinlock_steal"),
    // [PATCH RFC 1/2] qrwlock, and v11.
    ("ticket_spinlock", "ticket_lock"),
    ("read_lock", "rwlock"),
    ("write_lock", "rwlock"),
    ("queue_read_lock", "qrwlock"),
    ("queue_write_lock", "qrwlock"),
    ("ticket_vanilla", "ticket_lock"),
    ("qrwlock", "qrwlock"),
    ("rwlock", "rwlock"),
    // mutex: Make more scalable by doing less atomic operations.
    ("mutex_without", "mutex_2013_xchg"),
    ("mutex_with", "mutex_2013_read"),
    // [PATCH v2 0/3] locking/osq_lock: the kernel as it was.
    ("stock", "mutex"),
    // … and as it then became.
    ("dyn_enabled", "mutex_numa_2024"),
];

/// Our lock for the published one.
///
/// # Errors
/// None stands for it.
pub(crate) fn lock(published: &str) -> Result<&'static str> {
    match LOCKS.iter().find(|(name, _)| *name == published) {
        Some((_, ours)) => Ok(ours),
        None => bail!("no lock of the catalogue stands for the published '{published}'"),
    }
}

/// A machine by its name.
///
/// # Errors
/// There is none of that name.
pub(crate) fn machine(name: &str) -> Result<Arc<Machine>> {
    Ok(Arc::new(machine::load(name)?))
}

/// The first `nodes` NUMA nodes of a machine; without `smt`, one thread of each
/// core.
///
/// # Errors
/// It has not so many nodes, or no second threads.
pub(crate) fn part(whole: &Machine, nodes: usize, smt: bool) -> Result<Arc<Machine>> {
    if nodes == 0 || nodes > whole.nodes() {
        bail!(
            "the machine {} has {} NUMA nodes, not {nodes}",
            whole.name,
            whole.nodes()
        );
    }
    let mut seen = HashSet::new();
    let mut part = whole.clone();
    part.places.retain(|place| {
        let first = seen.insert(place.core);
        usize::from(place.node) < nodes && (smt || first)
    });
    if smt && seen.len() == whole.places.len() {
        bail!(
            "the machine {} has one thread for each core, and the table has two",
            whole.name
        );
    }
    Ok(Arc::new(part))
}

/// What the tables with ranges of users say of them.
pub(crate) const USERS: &str =
    "10-100 users are the mean of 10, 20, and so on; greater ranges are \
     their geometric middle: 450 and 1500 threads.";

/// The middle of a range of users as the tables write it, "200-1000": the
/// geometric one, in round numbers, because the mails have a mean over steps
/// that they do not name. For few users see [`steps`].
///
/// # Errors
/// Another range than those of the tables.
pub(crate) fn users(range: &str) -> Result<usize> {
    match range {
        "200-1000" => Ok(450),
        "1100-2000" => Ok(1500),
        _ => bail!("'{range}' is no range of users that has a middle here"),
    }
}

/// The numbers of users of which a range has the mean. "10-100" is ten of them: the ranges that
/// follow begin at 200 and at 1100, so that their steps are 100, and its steps are 10. With 200
/// and more users all CPUs are busy, and the middle stands for them.
///
/// # Errors
/// As [`users`].
pub(crate) fn steps(range: &str) -> Result<Vec<usize>> {
    match range {
        "10-100" => Ok((1..=10).map(|step| 10 * step).collect()),
        _ => Ok(vec![users(range)?]),
    }
}

/// A workload by its name.
///
/// # Errors
/// There is none of that name.
pub(crate) fn workload(name: &str) -> Result<Workload> {
    workload::load(name)
}

/// Ends after so many loops of each thread.
pub(crate) fn looped(workload: Workload, loops: u64) -> Workload {
    Workload {
        loops: Some(loops),
        warmup_us: 0.0,
        ..workload
    }
}

/// Measures for so long, after a tenth of it.
pub(crate) fn timed(workload: Workload, measure_us: f64) -> Workload {
    Workload {
        loops: None,
        warmup_us: measure_us / 10.0,
        measure_us,
        ..workload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lock_that_stands_for_one_is_in_the_catalogue() {
        let catalogue = crate::locks().expect("the catalogue");
        let names: Vec<&str> = catalogue.iter().map(|lock| lock.name).collect();
        for (published, ours) in LOCKS {
            assert!(names.contains(&ours), "{published}: {ours}");
            assert_eq!(lock(published).expect(published), ours);
        }
        let error = lock("futex").expect_err("none").to_string();
        assert!(error.contains("'futex'"), "{error}");
    }

    #[test]
    fn parts_of_a_machine_have_whole_nodes_and_one_or_two_threads_a_core() {
        let whole = machine("dl980").expect("the machine");
        for (nodes, smt, cpus) in [
            (1, false, 10),
            (1, true, 20),
            (4, false, 40),
            (8, false, 80),
            (8, true, 160),
        ] {
            let part = part(&whole, nodes, smt).expect("a part");
            assert_eq!(part.cpus(), cpus, "{nodes} nodes, {smt}");
            assert_eq!(part.nodes(), nodes);
            let cores: HashSet<u16> = part.places.iter().map(|place| place.core).collect();
            assert_eq!(cores.len(), nodes * 10);
        }
        assert!(part(&whole, 0, false).is_err() && part(&whole, 9, false).is_err());
        let flat = machine("westmere-ex-4s").expect("the machine");
        let error = part(&flat, 4, true).expect_err("one thread a core");
        assert!(error.to_string().contains("one thread for each core"));
    }

    #[test]
    fn ranges_of_users_have_a_middle() {
        for (range, users_wanted) in [("200-1000", 450.0), ("1100-2000", 1500.0)] {
            let (low, high) = range.split_once('-').expect("a range");
            let [low, high] = [low, high].map(|end| end.parse::<f64>().expect("a number"));
            let middle = (low * high).sqrt();
            let found = users(range).expect(range) as f64;
            assert!((found / middle - 1.0).abs() < 0.02, "{range}: {middle}");
            assert_eq!(found, users_wanted);
        }
        assert!(users("1-2").is_err());
        let few = steps("10-100").expect("a range");
        assert_eq!((few.len(), few[0], few[9]), (10, 10, 100));
        assert_eq!(steps("200-1000").expect("a range"), [450]);
    }
}
