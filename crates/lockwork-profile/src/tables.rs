// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The rows of the report's tables. The terminal and the page both print them.

use lockwork_report::text::{duration, grouped, percent, whole};

use crate::model::{mean, Lock, Profile, Use};
use crate::names::Names;

/// Locks that are listed on the terminal.
pub const LISTED: usize = 10;
/// Condition variables that are listed.
const CONDVARS: usize = 5;

/// What the columns of [`locks`] are.
pub const LOCKS: [&str; 10] = [
    "lock",
    "waited",
    "share",
    "acquired",
    "contended",
    "wait p50",
    "p99",
    "hold p50",
    "p99",
    "queue",
];

/// Those of them that a narrow terminal goes without, the first one first.
pub const LESS: &[&[usize]] = &[&[9], &[7, 8], &[2], &[5, 6], &[3]];

/// A row for each of `locks`, in their order.
pub fn locks(profile: &Profile, names: &Names<'_>, locks: &[&Lock]) -> Vec<[String; LOCKS.len()]> {
    let all = profile.sum().waited;
    let quantile = |ticks: u64| match ticks {
        0 => "-".to_owned(),
        ticks => format!("≤ {}", duration(profile.ns(ticks as f64))),
    };
    let row = |lock: &&Lock| {
        let sum = &lock.sum;
        [
            format!("{} {}", lock.kind(), names.lock(lock)),
            duration(profile.ns(sum.waited as f64)),
            percent(mean(sum.waited as f64, all)),
            whole(sum.count),
            percent(sum.contention()),
            quantile(sum.wait_times.quantile(0.5)),
            quantile(sum.wait_times.quantile(0.99)),
            quantile(sum.hold_times.quantile(0.5)),
            quantile(sum.hold_times.quantile(0.99)),
            grouped(mean(sum.queue as f64, sum.watched), 2),
        ]
    };
    locks.iter().map(row).collect()
}

/// The same of [`CONDVAR`].
pub const LESS_CONDVAR: &[&[usize]] = &[&[6], &[8], &[3], &[5]];

/// What the columns of [`condvars`] are.
pub const CONDVAR: [&str; 9] = [
    "condition variable",
    "waits",
    "mean wait",
    "timed out",
    "again at once",
    "signals",
    "unheard",
    "broadcasts",
    "woken by each",
];

/// A row for each of the condition variables with the most waits.
pub fn condvars(profile: &Profile, names: &Names<'_>) -> Vec<[String; CONDVAR.len()]> {
    let all = profile.locks.iter();
    let mut all: Vec<&Lock> = all.filter(|lock| lock.kind() == "condvar").collect();
    all.sort_by_key(|condvar| u64::MAX - condvar.of(Use::Wait).count);
    let row = |condvar: &&Lock| {
        let (waits, signals) = (condvar.of(Use::Wait), condvar.of(Use::Signal));
        let broadcasts = condvar.of(Use::Broadcast);
        [
            names.lock(condvar),
            whole(waits.count),
            match waits.count {
                0 => "-".to_owned(),
                n => duration(profile.ns(mean(waits.waited as f64, n))),
            },
            whole(waits.timeouts),
            whole(waits.at_once),
            whole(signals.count),
            whole(signals.failed),
            whole(broadcasts.count),
            grouped(mean(broadcasts.queue as f64, broadcasts.count), 1),
        ]
    };
    all.iter().take(CONDVARS).map(row).collect()
}
