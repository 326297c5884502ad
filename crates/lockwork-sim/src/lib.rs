// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks' own C on a simulated NUMA machine.

mod command;
pub mod machine;
pub mod outcome;
mod simulate;
pub mod workload;

pub use command::{run, SimArgs, Switch, Where, AFTER_HELP, HELP};
pub use simulate::{simulate, Guests, Placement, Setup};

/// The locks of the catalogue: name, one line, `LK_*` flags.
pub fn locks() -> Vec<(String, String, u32)> {
    let lock = |kind: &lockwork_user::LockKind| {
        let (name, summary) = (kind.name().to_owned(), kind.summary().to_owned());
        (name, summary, kind.flags().bits())
    };
    lockwork_user::catalogue().iter().map(lock).collect()
}
