// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command: plan, measure, print.
use crate::args::BenchArgs;
use crate::contender::{bare, contenders, Contender, BARE};
use crate::journal::{AbsentInfo, Data, End, Ended, Header, Journal, LockInfo, SCHEMA};
use crate::plan::{Form, Plan};
use crate::planning::{planned, Planned};
use crate::scoring::scores;
use crate::session::Session;
use crate::table::{announced, render};
use crate::tools::{Calibration, Tools};
use crate::{journal, list, plots};
use anyhow::{bail, Result};
use lockwork_catalogue::set_knob;
use lockwork_peers::peers;
use lockwork_report::bail_usage;
use lockwork_report::interrupt::Interrupted;
use lockwork_report::machine::Machine;
use lockwork_report::settings::{read_by_one, reads, settings};
use lockwork_report::text;
use std::hash::{DefaultHasher, Hasher};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Does what the arguments say. Failure: a lock hung or let two in.
pub fn run(args: &BenchArgs) -> Result<ExitCode> {
    if args.list {
        text::print(&list::list())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &args.from {
        let (data, _) = Data::read(path)?;
        drawable(&data, args.plots.as_deref())?;
        show(&data, &Journal::None, args.plots.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &args.resume {
        return resume(path, args.patience, args.plots.as_deref());
    }
    let Planned { mut plan, locks } = planned(args)?;
    plan.knobs = set_knobs(&plan.knobs, &locks)?;
    journal::without_rounds(args.json.as_deref())?;
    if let Some(dir) = &args.plots {
        plots::make(dir)?;
    }
    let mut journal = Journal::open(args.json.as_deref())?;
    let tools = Tools::calibrate();
    let header = header(plan, &locks, tools.calibration());
    journal.header(&header)?;
    let mut data = Data::new(header);
    finish(
        &locks,
        &tools,
        &mut data,
        &mut journal,
        args.plots.as_deref(),
    )
}

/// Measures what the arguments say, for a command that prints it in its own way. Break: it is
/// over, with this exit code, and why was said.
///
/// # Errors
/// The arguments or the host.
pub fn samples(args: &BenchArgs) -> Result<ControlFlow<ExitCode, Data>> {
    let Planned { mut plan, locks } = planned(args)?;
    plan.knobs = set_knobs(&plan.knobs, &locks)?;
    let tools = Tools::calibrate();
    let mut data = Data::new(header(plan, &locks, tools.calibration()));
    text::complain(&announced(&data.header.plan));
    let ended = Session::new(&locks, &tools, &mut data, &mut Journal::None)?.run()?;
    Ok(match code(&ended) {
        None => ControlFlow::Continue(data),
        Some(code) => ControlFlow::Break(code),
    })
}

/// Goes on with what is in `path`, and adds to it.
fn resume(path: &Path, patience: Option<u64>, plots: Option<&Path>) -> Result<ExitCode> {
    let (mut data, whole) = Data::read(path)?;
    drawable(&data, plots)?;
    if let Some(patience) = patience {
        data.header.plan.patience = patience;
    }
    let plan = data.header.plan.clone();
    let locks = plan
        .locks
        .iter()
        .map(|name| again(name))
        .collect::<Result<Vec<Contender>>>()?;
    set_knobs(&plan.knobs, &locks)?;
    let mut journal = Journal::append(path, whole)?;
    let tools = Tools::calibrate();
    let header = header(plan, &locks, tools.calibration());
    journal.header(&header)?;
    data.resumed.push(header);
    finish(&locks, &tools, &mut data, &mut journal, plots)
}

/// The lock of a plan, which was there when it began.
fn again(name: &str) -> Result<Contender> {
    if name == BARE {
        return Ok(bare());
    }
    match contenders().into_iter().find(|lock| lock.name() == name) {
        Some(lock) => Ok(lock),
        None => bail!("the lock '{name}' of this run is no longer there; begin a new one"),
    }
}

/// Measures what `data` lacks, prints all of it, and says how it went.
fn finish(
    locks: &[Contender],
    tools: &Tools,
    data: &mut Data,
    journal: &mut Journal,
    plots: Option<&Path>,
) -> Result<ExitCode> {
    text::complain(&announced(&data.header.plan));
    let began = Instant::now();
    let ended = match Session::new(locks, tools, data, journal)?.run() {
        Ok(ended) => ended,
        Err(error) => {
            // What was measured is shown for all that.
            if !data.samples.is_empty() {
                let _ = show(data, journal, None);
            }
            return Err(error);
        }
    };
    let end = End {
        ended,
        calibration: tools.calibration(),
        seconds: Some(began.elapsed().as_secs_f64()),
        scores: scores(data),
    };
    let written = journal.end(&end);
    data.end = Some(end.clone());
    show(data, journal, plots)?;
    written?;
    if let (Ended::Interrupted { .. }, Some(how)) = (&end.ended, journal.resumed_by(plots)) {
        text::complain(&how);
    }
    Ok(code(&end.ended).unwrap_or(ExitCode::SUCCESS))
}

/// The exit code of a run that did not complete; says why.
fn code(ended: &Ended) -> Option<ExitCode> {
    match ended {
        Ended::Completed => None,
        Ended::Failed { why } => {
            text::complain(&format!("lockwork: {why}\n"));
            Some(ExitCode::FAILURE)
        }
        Ended::Interrupted { signal } => Some(Interrupted(*signal).into()),
    }
}

/// Refuses to draw what has no throughput and waits by threads.
fn drawable(data: &Data, plots: Option<&Path>) -> Result<()> {
    if plots.is_some() && data.header.plan.form != Form::Cases {
        bail_usage!("this run has no throughput and waits by threads to draw; leave --plots out");
    }
    Ok(())
}

/// Prints `data`, and draws it if that is wanted.
fn show(data: &Data, journal: &Journal, plots: Option<&Path>) -> Result<()> {
    let print = |shown: &str| match journal {
        Journal::Stdout => {
            text::complain(shown);
            Ok(())
        }
        _ => text::print(shown),
    };
    print(&render(data))?;
    for file in plots.map_or(Ok(Vec::new()), |dir| plots::draw(data, dir))? {
        print(&format!("plot: {}\n", file.display()))?;
    }
    Ok(())
}

/// Returns what was set, each knob once.
fn set_knobs(texts: &[String], locks: &[Contender]) -> Result<Vec<String>> {
    let set = settings(texts, |name, value| Ok(set_knob(name, value)?))?;
    let reads = |one: &Contender, knob: &str| one.is_ours() && reads(one.name(), knob);
    let all = contenders();
    read_by_one(
        set.iter().map(|(name, _)| name.as_str()),
        &locks.iter().map(Contender::name).collect::<Vec<_>>(),
        &all.iter().map(Contender::name).collect::<Vec<_>>(),
        |name, knob| {
            locks
                .iter()
                .chain(&all)
                .any(|one| one.name() == name && reads(one, knob))
        },
    )?;
    let text = |(name, value)| format!("{name}={value}");
    Ok(set.into_iter().map(text).collect())
}

fn header(plan: Plan, locks: &[Contender], calibration: Calibration) -> Header {
    let started = SystemTime::now().duration_since(UNIX_EPOCH);
    let family = |lock: &Contender| match lock.library {
        BARE => BARE,
        _ => lock.family.name(),
    };
    let locks = locks.iter().map(|lock| LockInfo {
        name: lock.name().to_owned(),
        library: lock.library.to_owned(),
        family: family(lock).to_owned(),
        version: lock.version.clone(),
    });
    let absent = peers().absent.iter().map(|absent| AbsentInfo {
        name: absent.name.to_owned(),
        family: absent.family.name().to_owned(),
        reason: absent.reason.clone(),
    });
    Header {
        schema: SCHEMA,
        lockwork: env!("CARGO_PKG_VERSION").to_owned(),
        build: build(),
        debug: cfg!(debug_assertions),
        started: started.map_or(0, |since| since.as_secs()),
        machine: Machine::look(),
        plan,
        locks: locks.collect(),
        absent: absent.collect(),
        calibration,
    }
}

/// A number of the running program's file, by which two builds differ; nothing if it cannot be read.
fn build() -> String {
    let number = |bytes: Vec<u8>| {
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        format!("{:016x}", hasher.finish())
    };
    std::fs::read("/proc/self/exe").map_or_else(|_| String::new(), number)
}
