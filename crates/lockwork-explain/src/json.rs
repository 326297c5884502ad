// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--json`: one object for each lock; docs/explain.md has the schema.

use crate::account::{Account, Seen};
use crate::quantity::Quantity;
use crate::rules;
use serde_json::{json, Map, Value};

/// A line for each account.
pub(crate) fn lines(accounts: &[Account]) -> String {
    let line = |account| format!("{}\n", object(account));
    accounts.iter().map(line).collect()
}

fn object(account: &Account) -> Value {
    let (mut figures, mut unseen) = (Map::new(), Map::new());
    for one in Quantity::ALL {
        let seen = account.get(one);
        figures.insert(one.key().to_owned(), json!(seen.value()));
        if let Seen::Not(why) = seen {
            unseen.insert(one.key().to_owned(), json!(why));
        }
    }
    let found = rules::why(account);
    json!({
        "lockwork": env!("CARGO_PKG_VERSION"),
        "world": account.world,
        "lock": account.lock,
        "setting": account.setting,
        "figures": figures,
        "not_seen": unseen,
        "why": {
            "rule": found.rule,
            "sentence": found.why,
            "evidence": found.evidence,
            "advice": found.advice,
        },
        "notes": account.notes,
    })
}
