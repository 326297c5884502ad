// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command: run a world, print what it saw.

use crate::account::Account;
use crate::args::{ExplainArgs, World};
use crate::output::Output;
use crate::{bench, json, report, sim, torture};
use anyhow::{bail, Result};
use lockwork_bench::BenchArgs;
use lockwork_report::{bail_usage, text};
use lockwork_sim::{SimArgs, Simulator};
use lockwork_torture::TortureArgs;
use std::ops::ControlFlow;
use std::process::ExitCode;

/// What a world came to.
type Told = ControlFlow<ExitCode, Vec<Account>>;

/// Does what the arguments say, for all worlds but a program.
///
/// # Errors
/// The arguments, a file or the host.
pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let Some(world) = &args.world else {
        bail_usage!("name a world (sim, bench or torture), or a program behind --");
    };
    if !args.command.is_empty() {
        bail_usage!("give a world or a program, not both");
    }
    if args.lock.is_some() || !args.set.is_empty() {
        bail_usage!(
            "--lock and --set before the world are for a program; put a world's options behind \
             its name"
        );
    }
    let output = Output::open(args.output.as_deref())?;
    let (told, is_json, code) = match world {
        World::Sim(sim) => (simulated(sim)?, sim.json, ExitCode::SUCCESS),
        World::Bench(bench) => (measured(bench)?, false, ExitCode::SUCCESS),
        World::Torture(torture) => {
            let (told, code) = stressed(torture)?;
            (told, torture.json, code)
        }
    };
    let accounts = match told {
        ControlFlow::Continue(accounts) => accounts,
        ControlFlow::Break(code) => return Ok(code),
    };
    if accounts.is_empty() && code == ExitCode::SUCCESS {
        bail!("nothing ran, so nothing is explained: choose locks, threads or a time that can run");
    }
    let said = rendered(&accounts, args.json || is_json);
    output.write(&said, text::print)?;
    Ok(code)
}

/// Accounts, as text.
pub fn rendered(accounts: &[Account], is_json: bool) -> String {
    match is_json {
        true => json::lines(accounts),
        false => report::render(accounts),
    }
}

/// Refuses the first option that is given and does not go with an explanation.
fn refuse(world: &str, given: &[(bool, &str)]) -> Result<()> {
    if let Some((_, option)) = given.iter().find(|(given, _)| *given) {
        bail_usage!("{option} is for lockwork {world}, not for lockwork explain; leave it out");
    }
    Ok(())
}

fn simulated(args: &SimArgs) -> Result<Told> {
    refuse(
        "sim",
        &[
            (args.list, "--list"),
            (args.plot.is_some(), "--plot"),
            (args.timeline.is_some(), "--timeline"),
        ],
    )?;
    let simulator = Simulator::new(args.jobs)?;
    let setting = format!("{} on {}", args.workload, args.machine);
    Ok(match simulator.run_args(args, "explain")? {
        ControlFlow::Continue(all) => ControlFlow::Continue(sim::accounts(&all, &setting)),
        ControlFlow::Break(code) => ControlFlow::Break(code),
    })
}

fn measured(args: &BenchArgs) -> Result<Told> {
    refuse(
        "bench",
        &[
            (args.list, "--list"),
            (args.json.is_some(), "--json FILE"),
            (args.from.is_some(), "--from"),
            (args.resume.is_some(), "--resume"),
            (args.plots.is_some(), "--plots"),
            (args.preset.is_some(), "--preset"),
        ],
    )?;
    let mut args = args.clone();
    args.events = true;
    Ok(match lockwork_bench::samples(&args)? {
        ControlFlow::Continue(data) => ControlFlow::Continue(bench::accounts(&data)),
        ControlFlow::Break(code) => ControlFlow::Break(code),
    })
}

fn stressed(args: &TortureArgs) -> Result<(Told, ExitCode)> {
    refuse(
        "torture",
        &[
            (args.list, "--list"),
            (!args.properties.is_empty(), "--property"),
        ],
    )?;
    let mut accounts = Vec::new();
    let code = lockwork_torture::stress(args, &mut |report, kind, used| {
        accounts.extend(torture::account(report, kind, used));
    })?;
    Ok((ControlFlow::Continue(accounts), code))
}
