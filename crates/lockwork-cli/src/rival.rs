// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A rival is in simulations only: a command that does not know it says where it can be tried.
use crate::cli::Command;
use lockwork_report::usage;

/// `error` of `command`, or, if that names a rival, what to do with one.
pub fn explained(command: &Command, error: anyhow::Error) -> anyhow::Error {
    let rival = match usage::is(&error) {
        true => names(command).into_iter().find(|name| is_rival(name)),
        false => None,
    };
    match rival {
        None => error,
        Some(name) => usage::error(format!(
            "{name} is a rival, which is in the simulator and the model checker only: use \
             'lockwork sim --lock {name}'; 'lockwork check --rivals' checks those that are to be right"
        )),
    }
}

/// The locks that the command line names, where no rival may be.
fn names(command: &Command) -> Vec<&str> {
    let all: &[String] = match command {
        Command::Run(args) => std::slice::from_ref(&args.lock),
        Command::Profile(args) => std::slice::from_ref(&args.lock),
        Command::Torture(args) => std::slice::from_ref(&args.lock),
        Command::Compare(args) => &args.locks,
        Command::Bench(args) => &args.locks,
        Command::Check(args) if !args.rivals => &args.locks,
        _ => &[],
    };
    // Knobs stand behind the name.
    all.iter()
        .filter_map(|name| name.split(':').next())
        .collect()
}

fn is_rival(name: &str) -> bool {
    // Without the simulator's world nothing is known of rivals, and the error stays.
    lockwork_sim::locks()
        .is_ok_and(|all| all.iter().any(|lock| lock.name == name && lock.is_baseline))
}
