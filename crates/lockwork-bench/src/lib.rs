// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every lock of the catalogue, and the locks of other libraries, measured in
//! one process by one loop through one table of functions.
//!
//! `docs/bench.md` says what is measured, how, and what each figure means.
mod args;
mod contender;
mod front;
mod inlined;
mod journal;
mod list;
mod object;
mod pareto;
mod plan;
mod round;
mod sample;
mod session;
mod summary;
mod table;
mod tools;
mod waits;
mod work;
mod worker;

pub use args::BenchArgs;
pub use contender::{contenders, flagships, select, Contender, Selection, LOCKWORK};
pub use inlined::{Loops, Pairs};
pub use journal::{AbsentInfo, Data, End, Ended, Header, Journal, LockInfo, SCHEMA};
pub use pareto::{dominators, Point};
pub use plan::{Form, Plan};
pub use round::{measure, Conditions, Trouble};
pub use sample::{jain, Calls, Cell, Measured, Sample};
pub use session::Session;
pub use summary::{summaries, Line, Ratio, Summary};
pub use table::render;
pub use tools::{spin, Calibration, Clock, Tools};
pub use waits::Waits;
pub use work::{Outside, Work};

use anyhow::{bail, Result};
use lockwork_peers::peers;
use lockwork_report::machine::Machine;
use lockwork_report::text;
use lockwork_user::set_knob;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

const ROUNDS: u32 = 5;
const TIME_MS: u64 = 200;

/// Does what the arguments say. Failure: a lock hung or let two in.
pub fn run(args: &BenchArgs) -> Result<ExitCode> {
    if args.list {
        text::print(&list::list())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &args.from {
        let (data, _) = Data::read(path)?;
        text::print(&render(&data))?;
        return Ok(ExitCode::SUCCESS);
    }
    let selection = choose(args)?;
    let plan = plan(args, &selection)?;
    set_knobs(&plan.knobs)?;
    let mut journal = Journal::open(args.json.as_deref())?;
    let tools = Tools::calibrate();
    let header = header(plan, &selection.locks, tools.check());
    journal.header(&header)?;
    let mut data = Data::new(header);
    finish(&selection.locks, &tools, &mut data, &mut journal)
}

/// Measures what `data` lacks, prints all of it, and says how it went.
fn finish(
    locks: &[Contender],
    tools: &Tools,
    data: &mut Data,
    journal: &mut Journal,
) -> Result<ExitCode> {
    let ended = Session::new(locks, tools, data, journal)?.run()?;
    let end = End {
        ended,
        calibration: tools.check(),
    };
    journal.end(&end)?;
    data.end = Some(end.clone());
    let shown = render(data);
    if matches!(journal, Journal::Stdout) {
        text::complain(&shown);
    } else {
        text::print(&shown)?;
    }
    match end.ended {
        Ended::Completed => Ok(ExitCode::SUCCESS),
        Ended::Failed { why } => {
            text::complain(&format!("lockwork: {why}\n"));
            Ok(ExitCode::FAILURE)
        }
        Ended::Interrupted { signal } => Ok(ExitCode::from(128 + signal as u8)),
    }
}

fn choose(args: &BenchArgs) -> Result<Selection> {
    let shared = args.reads.iter().any(|reads| *reads > 0);
    let default = if shared { "rw" } else { "mutex" };
    let words = match args.locks.is_empty() {
        true => vec![default.to_owned()],
        false => args.locks.clone(),
    };
    let mut selection = select(&words)?;
    if shared {
        let exclusive = |c: &&Contender| !c.kind.has_read();
        let named = |c: &&Contender| words.iter().any(|word| word == c.name());
        let wrong = selection.locks.iter().filter(exclusive).find(named);
        if let Some(lock) = wrong.filter(|c| c.name() != "mutex") {
            bail!(
                "{} has no readers, so --reads means nothing to it; choose read/write locks, or leave --reads out",
                lock.name()
            );
        }
        selection.locks.retain(|c| c.kind.has_read());
        if selection.locks.is_empty() {
            bail!("none of these locks has readers; with --reads choose read/write locks, as --locks rw");
        }
    }
    Ok(selection)
}

fn plan(args: &BenchArgs, selection: &Selection) -> Result<Plan> {
    let mut cells = Vec::new();
    let time_ms = args.time.unwrap_or(TIME_MS);
    let only_shared = selection.locks.iter().all(|c| c.kind.has_read());
    let threads = or(&args.threads, default_threads());
    let reads = or(&args.reads, vec![if only_shared { 90 } else { 0 }]);
    for &threads in &threads {
        for &inside in &args.inside {
            for outside in &args.outside {
                let Some(outside) = outside.beside(inside) else {
                    bail!("--outside cannot be a multiple of {inside}; give it a time");
                };
                for &reads in &reads {
                    let cell = Cell {
                        threads,
                        inside,
                        outside,
                        reads,
                        objects: args.objects,
                        time_ms,
                        loops: None,
                        calls: None,
                    };
                    if !cells.contains(&cell) {
                        cells.push(cell);
                    }
                }
            }
        }
    }
    Ok(Plan {
        form: Form::Cells,
        cells,
        locks: selection.locks.iter().map(|c| c.name().into()).collect(),
        under_test: selection.under_test.clone(),
        rounds: args.rounds.unwrap_or(ROUNDS),
        pin: args.pin,
        patience: args.patience,
        seed: args.seed,
        knobs: args.set.clone(),
    })
}

fn or<T: Clone>(given: &[T], default: Vec<T>) -> Vec<T> {
    match given {
        [] => default,
        some => some.to_vec(),
    }
}

fn default_threads() -> Vec<u32> {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let mut all = vec![1, cpus, 4 * cpus];
    all.dedup();
    all
}

fn set_knobs(settings: &[String]) -> Result<()> {
    for setting in settings {
        let Some((name, value)) = setting.split_once('=') else {
            bail!("'{setting}' sets no knob; write --set KNOB=VALUE");
        };
        set_knob(name, value)?;
    }
    Ok(())
}

fn header(plan: Plan, locks: &[Contender], calibration: Calibration) -> Header {
    let started = SystemTime::now().duration_since(UNIX_EPOCH);
    let locks = locks.iter().map(|c| LockInfo {
        name: c.name().to_owned(),
        library: c.library.to_owned(),
        family: c.family.name().to_owned(),
        version: c.version.clone(),
    });
    let absent = peers().absent.iter().map(|absent| AbsentInfo {
        name: absent.name.to_owned(),
        family: absent.family.name().to_owned(),
        reason: absent.reason.clone(),
    });
    Header {
        schema: SCHEMA,
        lockwork: env!("CARGO_PKG_VERSION").to_owned(),
        started: started.map_or(0, |since| since.as_secs()),
        machine: Machine::look(),
        plan,
        locks: locks.collect(),
        absent: absent.collect(),
        calibration,
    }
}
