// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An unmodified program: the recorder saw its acquisitions, the interposer counted sleeps and
//! wake-ups, and the kernel its CPU time.

use crate::account::{Account, Seen};
use crate::quantity::Quantity;
use crate::rules::nothing_to_win;
use crate::user;
use lockwork_profile::Locking;
use lockwork_report::finding::Finding;
use lockwork_report::resources::Resources;
use std::collections::{BTreeMap, BTreeSet};

/// Where no event was written.
const NO_END: &str = "the program ended without its exit handlers, or no lock of it was ever \
                      contended, so that its sums were not written";
/// Where the end of the process that waited most was not seen.
const NO_LENGTH: &str = "a process ended unseen, so nobody knows how long its threads lived";
/// Where glibc's locks ran.
const GLIBCS: &str = "glibc's locks ran, and they count nothing; take one of Lockwork's by --lock";

/// Preempted holders.
const LONG_HOLDS: &str =
    "the recorder counts in long holds only who lost its CPU; where that explains the \
                          waits, the sentence on the lock says so";

/// What is known of a run of a program.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its command line, as one would type it.
    pub program: String,
    /// The lock that it ran with.
    pub lock: String,
    /// Whether it counts.
    pub is_ours: bool,
    /// What the recorder saw.
    pub locking: Locking,
    /// Why its threads waited for locks, if they did: [`lockwork_profile::explained`].
    pub why: Option<Finding>,
    /// What the interposer wrote: [`event_sums`].
    pub events: Option<BTreeMap<String, u64>>,
    /// What it took.
    pub used: Resources,
}

/// The sums of all processes that wrote `text`, by name; none if there was no process.
pub fn event_sums(text: &str) -> Option<BTreeMap<String, u64>> {
    let mut sums = BTreeMap::new();
    let mut processes = BTreeSet::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (process, name, sum) = (words.next()?, words.next()?, words.next()?);
        processes.insert(process);
        *sums.entry(name.to_owned()).or_default() += sum.parse::<u64>().ok()?;
    }
    (!processes.is_empty()).then_some(sums)
}

impl Ran {
    /// What is said of it.
    pub fn account(&self) -> Account {
        let mut account = user::account("program", &self.lock, self.program.clone());
        let all = self.locking.acquisitions as f64;
        account.put(Quantity::Acquisitions, Seen::Value(all));
        let contended = self.locking.found_it_held() as f64;
        account.each(Quantity::Contended, contended, all);
        let waited = match self.locking.at_least {
            false => Seen::Value(self.locking.waited),
            true => Seen::Not(NO_LENGTH),
        };
        account.put(Quantity::Waited, waited);
        account.put(Quantity::PreemptedHolders, Seen::Not(LONG_HOLDS));
        user::put_resources(&mut account, &self.used, all);
        match &self.events {
            Some(events) if self.is_ours => {
                user::put_events(&mut account, events, true, all);
            }
            _ if self.is_ours => user::hide_sleeps(&mut account, NO_END),
            _ => user::hide_sleeps(&mut account, GLIBCS),
        }
        account.recorded = self.recorded(&account);
        account.notes.push(
            "context switches and CPU time are of all that the program did; sleeps and wake-ups \
             are of its locks and condition variables"
                .to_owned(),
        );
        account
    }

    fn recorded(&self, account: &Account) -> Option<Finding> {
        match self.locking.acquisitions {
            0 => None,
            _ => self.why.clone().or_else(|| {
                let (tried, unseen) = (self.locking.tried(), self.locking.unseen());
                Some(nothing_to_win(account, tried, unseen))
            }),
        }
    }
}
