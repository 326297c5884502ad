// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What bench, torture and interposed programs have in common: they run in user space.

use crate::account::{Account, Seen};
use crate::quantity::Quantity;
use lockwork_report::resources::Resources;
use std::collections::BTreeMap;

/// Locked instructions, lines, hand-overs, holders.
pub(crate) const NO_COUNTER: &str =
    "user space has no counter of locked instructions and lines that works on each machine; \
     lockwork explain sim has them";
/// Hand-overs.
pub(crate) const NO_PLACE: &str =
    "nobody notes on which CPU the holder before ran; lockwork explain sim does";
/// Preempted holders.
pub(crate) const NO_SCHEDULER: &str = "the kernel does not tell user space who lost its CPU";
/// Contention.
pub(crate) const NO_CONTENTION: &str =
    "a lock call does not say whether it waited; lockwork explain -- PROGRAM and sim see that";
/// Waits.
pub(crate) const NO_WAITS: &str =
    "lockwork explain -- PROGRAM and sim see that; lockwork bench prints waits";
/// Of locks of other libraries.
pub(crate) const NOT_OURS: &str =
    "only Lockwork's locks count sleeps and wake-ups; context switches are the kernel's count";
/// Of locks that spin and halt.
pub(crate) const HALTS: &str =
    "a spinlock's waiter that halts may look at the lock again at any time, so nobody can say \
     which wake-up was useful";

/// An account in which no figure is known yet.
pub(crate) fn account(world: &'static str, lock: &str, setting: String) -> Account {
    let mut account = Account::new(world, lock, setting, NO_COUNTER);
    account.put(Quantity::Contended, Seen::Not(NO_CONTENTION));
    account.put(Quantity::Waited, Seen::Not(NO_WAITS));
    account.put(Quantity::PreemptedHolders, Seen::Not(NO_SCHEDULER));
    for one in Quantity::HANDOVERS {
        account.put(one, Seen::Not(NO_PLACE));
    }
    hide_sleeps(&mut account, NOT_OURS);
    account
}

/// Sleeps and wake-ups are not seen because of `why`.
pub(crate) fn hide_sleeps(account: &mut Account, why: &'static str) {
    for one in [
        Quantity::Sleeps,
        Quantity::Wakeups,
        Quantity::UsefulWakeups,
        Quantity::FutileWakeups,
    ] {
        account.put(one, Seen::Not(why));
    }
}

/// What the kernel accounted the threads for.
pub(crate) fn put_resources(account: &mut Account, used: &Resources, acquisitions: f64) {
    account.each(Quantity::Voluntary, used.voluntary as f64, acquisitions);
    account.each(Quantity::Involuntary, used.involuntary as f64, acquisitions);
    account.each(Quantity::Cpu, used.cpu * 1e9, acquisitions);
}

/// What the world counted; a name that is not there was never counted. `sleepers`: the waiters
/// sleep, rather than halt.
pub(crate) fn put_events(
    account: &mut Account,
    events: &BTreeMap<String, u64>,
    sleepers: bool,
    acquisitions: f64,
) {
    let sum = |name: &str| events.get(name).copied().unwrap_or(0) as f64;
    let wakeups = sum("woke") + sum("woke_nobody");
    account.each(Quantity::Sleeps, sum("slept"), acquisitions);
    account.each(Quantity::Wakeups, wakeups, acquisitions);
    let useful = (sum("woke") - sum("slept_again")).max(0.0);
    let useful = match sleepers {
        true => Seen::share(useful, wakeups),
        false => Seen::Not(HALTS),
    };
    account.put(Quantity::UsefulWakeups, useful);
    let futile = Seen::share(sum("woke_nobody"), wakeups);
    account.put(Quantity::FutileWakeups, futile);
}
