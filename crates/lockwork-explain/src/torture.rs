// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The stress test of one lock: every operation at random, by many threads.

use crate::account::{Account, Seen};
use crate::quantity::Quantity;
use crate::user;
use lockwork_catalogue::{LockKind, Promises};
use lockwork_report::resources::Resources;
use lockwork_report::text::counted;
use lockwork_torture::LockReport;

/// What is said of it: tries and waits with a limit are among its operations.
const NOTE: &str = "the stress tries, times out and lingers at random: its figures compare locks \
                    under the same stress, and say little about a program";

/// The account of one lock; nothing if the stress did not get to its numbers.
pub(crate) fn account(report: &LockReport, kind: LockKind, used: &Resources) -> Option<Account> {
    let numbers = report.numbers.as_ref()?;
    let setting = format!("stress by {}", counted(numbers.threads, "thread"));
    let mut account = user::account("torture", report.lock, setting);
    let all = numbers.acquisitions as f64;
    account.put(Quantity::Acquisitions, Seen::Value(all));
    user::put_resources(&mut account, used, all);
    let sleeps = kind.flags().contains(Promises::SLEEPS);
    account.sleeps = Some(sleeps);
    user::put_events(&mut account, &report.events, sleeps, all);
    account.notes.push(NOTE.to_owned());
    Some(account)
}
