// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The benchmark: locks in one process, on this machine.

use crate::account::{Account, Seen};
use crate::quantity::Quantity;
use crate::user;
use lockwork_bench::{contenders, Case, Data, Sample};
use lockwork_catalogue::Promises;
use lockwork_report::resources::Resources;
use std::collections::BTreeMap;

/// An account for each lock in each case, of all rounds.
pub(crate) fn accounts(data: &Data) -> Vec<Account> {
    let plan = &data.header.plan;
    let mut all = Vec::new();
    for case in &plan.cases {
        for lock in &plan.locks {
            let of = |sample: &&Sample| sample.case == *case && sample.lock == *lock;
            let rounds: Vec<&Sample> = data.samples.iter().filter(of).collect();
            if !rounds.is_empty() {
                all.push(account(case, lock, &rounds));
            }
        }
    }
    all
}

fn account(case: &Case, lock: &str, rounds: &[&Sample]) -> Account {
    let mut account = user::account("bench", lock, case.to_string());
    let mut used = Resources::default();
    let mut events: BTreeMap<String, u64> = BTreeMap::new();
    let mut all = 0;
    for sample in rounds {
        all += sample.measured.operations();
        used.cpu += sample.measured.cpu;
        used.voluntary += sample.measured.voluntary;
        used.involuntary += sample.measured.involuntary;
        for (name, sum) in &sample.events {
            *events.entry(name.clone()).or_default() += sum;
        }
    }
    let all = all as f64;
    account.put(Quantity::Acquisitions, Seen::Value(all));
    user::put_resources(&mut account, &used, all);
    let known = contenders().into_iter().find(|one| one.name() == lock);
    if let Some(known) = known {
        let sleeps = known.kind.flags().contains(Promises::SLEEPS);
        account.sleeps = Some(sleeps);
        if known.is_ours() {
            user::put_events(&mut account, &events, sleeps, all);
        }
    }
    account
}
