// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Completions for shells: the commands, their options, and the names that options take.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use clap_complete::{generate, Shell};

use crate::policy::POLICIES;

/// The script that completes `command` in `shell`.
///
/// # Errors
/// The simulator cannot say which locks it has.
pub fn script(command: &Command, shell: Shell) -> Result<String> {
    let simulated: Vec<&'static str> = (lockwork_sim::locks()?.iter())
        .map(|lock| lock.name)
        .collect();
    // clap offers hidden commands, too: another command gets all but those.
    let shown = command.get_subcommands().filter(|of| !of.is_hide_set());
    let mut all = Command::new("lockwork")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(shown.map(|of| described(of.clone(), &simulated)))
        .disable_help_subcommand(true);
    let mut script = Vec::new();
    generate(shell, &mut all, "lockwork", &mut script);
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// With the values that shells shall offer, in all subcommands.
fn described(command: Command, simulated: &[&'static str]) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(
            |arg| match values(&name, arg.get_id().as_str(), simulated) {
                Some(names) => arg.value_parser(PossibleValuesParser::new(names)),
                None => hinted(arg),
            },
        )
        .mut_subcommands(|subcommand| described(subcommand, simulated))
}

/// What `argument` of `command` may be. Some take files or groups of these, too.
fn values(command: &str, argument: &str, simulated: &[&'static str]) -> Option<Vec<&'static str>> {
    let policies = || POLICIES.iter().map(|policy| policy.name).collect();
    match (command, argument) {
        ("run" | "profile" | "explain", "lock") | ("compare", "locks") => Some(policies()),
        ("predict", "locks") => Some(lockwork_predict::policies().collect()),
        ("predict", "machines") | ("sim" | "show" | "answers", "machine") => {
            Some(lockwork_sim::machine::names())
        }
        ("sim", "workload") => Some(lockwork_sim::workload::names()),
        ("sim", "locks") => Some(simulated.to_vec()),
        ("check", "locks") | ("torture", "lock") => Some(lockwork_check::locks()),
        _ => None,
    }
}

/// Says what kind of name an argument is, by its type.
fn hinted(arg: Arg) -> Arg {
    let of = arg.get_value_parser().type_id();
    if arg.is_trailing_var_arg_set() && of == std::any::TypeId::of::<OsString>() {
        arg.value_hint(ValueHint::CommandWithArguments)
    } else if of == std::any::TypeId::of::<PathBuf>() {
        arg.value_hint(ValueHint::AnyPath)
    } else {
        arg
    }
}
