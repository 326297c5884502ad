// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tables that people read, and why.

use crate::account::{Account, Seen};
use crate::quantity::{Quantity, Unit};
use crate::rules;
use lockwork_report::table;
use lockwork_report::text::cut;

/// Locks beside one another in a table.
const ABREAST: usize = 4;
/// Columns of the setting.
const WIDE: usize = 90;

/// A table for each setting, and a sentence for each lock in it.
pub(crate) fn render(accounts: &[Account]) -> String {
    let alike = |a: &Account, b: &Account| a.setting == b.setting;
    let settings = accounts.chunk_by(alike);
    let texts: Vec<String> = settings.map(setting).collect();
    texts.join("\n")
}

fn setting(accounts: &[Account]) -> String {
    let first = &accounts[0];
    let mut text = format!("{}: {}\n", first.world, cut(&first.setting, WIDE));
    for some in accounts.chunks(ABREAST) {
        text += &columns(some);
        text += "\n";
    }
    for account in accounts {
        text += &explained(account);
    }
    text + &notes(accounts)
}

fn columns(accounts: &[Account]) -> String {
    let locks = accounts.iter().map(|account| account.lock.clone());
    let header: Vec<String> = std::iter::once("For each acquisition".to_owned())
        .chain(locks)
        .collect();
    let rows = Quantity::ALL.map(|one| {
        let label = match one.unit() {
            Unit::Count => format!("{}, in all", one.label()),
            _ => one.label().to_owned(),
        };
        let cells = accounts
            .iter()
            .map(|account| account.get(one).text(one.unit()));
        std::iter::once(label).chain(cells).collect::<Vec<String>>()
    });
    table::render(header, rows)
}

fn explained(account: &Account) -> String {
    let found = rules::why(account);
    let mut text = format!("\n{}: {}\n", account.lock, found.why);
    for line in &found.evidence {
        text += &format!("  {line}\n");
    }
    text + &format!("  try: {}\n", found.advice)
}

/// What is to be kept in mind, and why some figures are not seen: each reason once.
fn notes(accounts: &[Account]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (account, one) in accounts
        .iter()
        .flat_map(|account| Quantity::ALL.map(|one| (account, one)))
    {
        let Seen::Not(why) = account.get(one) else {
            continue;
        };
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, of)) if of.contains(&one.label()) => {}
            Some((_, of)) => of.push(one.label()),
            None => reasons.push((why, vec![one.label()])),
        }
    }
    let mut text = String::new();
    for (why, of) in reasons {
        let of = match of.as_slice() {
            [one] => (*one).to_owned(),
            [first, .., last] => format!("{first} … {last}"),
            [] => continue,
        };
        text += &format!("\nnot seen here ({of}): {why}");
    }
    let mut said: Vec<&String> = Vec::new();
    for note in accounts.iter().flat_map(|account| &account.notes) {
        if !said.contains(&note) {
            text += &format!("\nnote: {note}");
            said.push(note);
        }
    }
    match text.is_empty() {
        true => text,
        false => text + "\n",
    }
}
