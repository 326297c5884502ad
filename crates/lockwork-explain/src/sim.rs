// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The simulator: it sees all.

use crate::account::{Account, Seen};
use crate::quantity::Quantity;
use lockwork_report::text::counted;
use lockwork_sim::machine::Distance;
use lockwork_sim::outcome::{Counts, Outcome};
use lockwork_sim::Simulated;

/// An account for each lock with each number of threads, of all seeds.
pub(crate) fn accounts(all: &[Simulated], setting: &str) -> Vec<Account> {
    let alike = |a: &Simulated, b: &Simulated| (a.lock, a.threads) == (b.lock, b.threads);
    let groups = all.chunk_by(alike);
    groups.map(|seeds| account(seeds, setting)).collect()
}

fn account(seeds: &[Simulated], setting: &str) -> Account {
    let setting = format!("{}, {setting}", counted(seeds[0].threads, "thread"));
    let mut account = Account::new("sim", seeds[0].lock, setting, "nothing was simulated");
    let known = lockwork_sim::locks().unwrap_or_default().into_iter();
    let mut known = known.filter(|lock| lock.name == seeds[0].lock);
    account.sleeps = known.next().map(|lock| lock.sleeps);
    let of = |what: &dyn Fn(&Outcome) -> f64| -> f64 {
        seeds.iter().map(|seed| what(&seed.outcome)).sum()
    };
    let count = |what: fn(&Counts) -> u64| of(&|outcome| what(&outcome.counts) as f64);
    let all = of(&|outcome| outcome.acquisitions() as f64);
    account.put(Quantity::Acquisitions, Seen::Value(all));
    let waited = of(&|outcome| outcome.ns_waited);
    let threads_time = of(&|outcome| outcome.ns * outcome.by_thread.len() as f64);
    account.put(Quantity::Waited, Seen::share(waited, threads_time));
    let mut each = |one, total| account.each(one, total, all);
    each(Quantity::Contended, count(|c| c.contended));
    each(Quantity::LockedInstructions, count(|c| c.rmws));
    each(
        Quantity::LinesMemory,
        count(|c| c.from_memory.iter().sum::<u64>()),
    );
    each(Quantity::Sleeps, count(|c| c.sleeps));
    each(Quantity::Wakeups, count(|c| c.wakeups));
    each(Quantity::Voluntary, count(|c| c.voluntary));
    each(Quantity::Involuntary, count(|c| c.involuntary));
    each(Quantity::PreemptedHolders, count(|c| c.preempted_holders));
    each(Quantity::Cpu, of(&|outcome| outcome.ns_busy));
    let wakeups = count(|c| c.wakeups);
    let useful = Seen::share(count(|c| c.useful_wakeups), wakeups);
    account.put(Quantity::UsefulWakeups, useful);
    let futile = Seen::share(count(|c| c.futile_wakeups), wakeups);
    account.put(Quantity::FutileWakeups, futile);
    let handovers = count(|c| c.handovers.iter().sum());
    for (reach, lines, handover) in REACHES {
        let total = |by: fn(&Counts) -> &[u64; Distance::COUNT]| -> f64 {
            let far = |outcome: &Outcome| -> f64 {
                let counts = by(&outcome.counts);
                reach.iter().map(|&at| counts[at as usize] as f64).sum()
            };
            of(&far)
        };
        account.each(lines, total(|c| &c.moved), all);
        let share = Seen::share(total(|c| &c.handovers), handovers);
        account.put(handover, share);
    }
    account
}

/// The simulator's distances as users of any machine know them.
const REACHES: [(&[Distance], Quantity, Quantity); 4] = [
    (
        &[Distance::Own, Distance::Smt],
        Quantity::LinesCore,
        Quantity::HandoverCore,
    ),
    (
        &[Distance::Cluster],
        Quantity::LinesCluster,
        Quantity::HandoverCluster,
    ),
    (
        &[Distance::Die, Distance::Socket],
        Quantity::LinesSocket,
        Quantity::HandoverSocket,
    ),
    (
        &[Distance::Hop1, Distance::Hop2, Distance::Controller],
        Quantity::LinesRemote,
        Quantity::HandoverRemote,
    ),
];
