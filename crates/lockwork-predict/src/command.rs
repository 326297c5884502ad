// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command: read, plan, simulate, print.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{bail, Context, Result};
use lockwork_profile::demand::{self, Demand, Program};
use lockwork_report::interrupt::{Interrupt, Interrupted};
use lockwork_report::machine::cpus;
use lockwork_report::{pool, progress, text};

use crate::args::PredictArgs;
use crate::plan::{self, Plan};
use crate::rows::{Point, Results};
use crate::{doubt, json, policy, report, workload};

/// Does what the arguments say. Failure: simulated threads got stuck.
///
/// # Errors
/// The file, the arguments, or the host.
pub fn run(args: &PredictArgs) -> Result<ExitCode> {
    let machines = plan::machines(&args.machines)?;
    // So that a wrong name is refused before anything is said.
    policy::models(demand::Kind::Mutex, &args.locks)?;
    let program = demand::program(&args.file)?;
    if program.dropped >= doubt::TOO_MANY_DROPPED {
        bail!(
            "nothing can be predicted: the file {} had no room for {} of the acquisitions; record \
             the program again where there is more room",
            args.file.display(),
            text::percent(program.dropped)
        );
    }
    let at_once = machines.iter().map(|machine| {
        let most = plan::threads(args, machine.cpus()).into_iter().max();
        most.unwrap_or(1).min(machine.cpus())
    });
    let at_once = at_once.max().unwrap_or(1);
    if !doubt::is_worth_it(&program, at_once) {
        if program.damaged {
            let why = program.notes.first().map_or("", String::as_str);
            bail!("nothing can be predicted: {why}; record it again");
        }
        text::print(&match args.json {
            true => json::nothing(&program),
            false => report::nothing(&program, at_once),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let hot = plan::hot(&program, args.top as usize);
    let plan = Arc::new(Plan::of(args, &program, &hot, &machines)?);
    if let Some(dir) = &args.workloads {
        write(dir, args, &plan, &hot)?;
    }
    if !args.json {
        text::print(&report::head(&program, &hot, at_once))?;
    }
    match simulate(args, &plan) {
        Ok((results, stuck)) => tell(args, &program, &hot, &plan, &results, &stuck),
        Err(error) => {
            let signal = error.downcast::<Interrupted>()?;
            text::complain("lockwork: interrupted; nothing is predicted\n");
            Ok(signal.into())
        }
    }
}

fn tell(
    args: &PredictArgs,
    program: &Program,
    hot: &[&Demand],
    plan: &Plan,
    results: &Results,
    stuck: &[String],
) -> Result<ExitCode> {
    text::print(&match args.json {
        true => json::prediction(program, hot, plan, results),
        false => report::prediction(program, hot, plan, results),
    })?;
    for sentence in stuck {
        text::complain(&format!("lockwork: {sentence}\n"));
    }
    Ok(match stuck.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// All results, and what got stuck.
fn simulate<'a>(args: &PredictArgs, plan: &'a Arc<Plan>) -> Result<(Results<'a>, Vec<String>)> {
    let interrupt = Interrupt::listen().context("cannot watch for signals")?;
    let bar = progress::bar(plan.jobs.len());
    bar.set_message("simulations");
    let jobs = args.jobs.map_or_else(cpus, |jobs| jobs as usize);
    let (mut results, mut stuck) = (Results::new(plan), Vec::new());
    let work = (0..plan.jobs.len()).map(|at| {
        let plan = Arc::clone(plan);
        move || plan.simulate(at)
    });
    let over = pool::all(work, jobs, &interrupt, |done| {
        if let Some((at, found)) = done {
            let job = &plan.jobs[at];
            match found? {
                Ok(outcome) => results.put(at, Point::of(&outcome)),
                Err(why) => stuck.push(format!(
                    "{} with {}, seed {}: {}",
                    job.lock,
                    text::counted(job.threads, "thread"),
                    job.seed,
                    why.what
                )),
            }
            bar.inc(1);
        }
        bar.tick();
        Ok(ControlFlow::Continue(()))
    });
    bar.finish_and_clear();
    over.map(|()| (results, stuck))
}

/// The locks' workloads, as files.
fn write(dir: &Path, args: &PredictArgs, plan: &Plan, hot: &[&Demand]) -> Result<()> {
    let failed = || format!("cannot write workloads into {}", dir.display());
    // As elsewhere, the folder that it is in has to be there: a wrong path makes no folders.
    match std::fs::create_dir(dir) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error).with_context(failed);
        }
        _ => {}
    }
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    // The machine makes no difference to them: those of the first one.
    for (at, (lock, case)) in hot.iter().zip(&plan.cases).enumerate() {
        let locks: Vec<&str> = case.models.iter().map(|model| model.lock).collect();
        let from = format!("profile {}", args.file.display());
        let text = workload::file(case.workload(), lock, &locks, &from)?;
        let path = dir.join(format!("{stem}-{}.toml", at + 1));
        std::fs::write(&path, text).with_context(failed)?;
        text::complain(&format!("workload: {}\n", path.display()));
    }
    Ok(())
}
