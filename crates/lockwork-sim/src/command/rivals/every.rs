// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The parts that have every machine: which commands of `lockwork sim` they have, and on how
//! many threads a machine's locks are compared.

use super::counters::Counters;
use super::found::Found;
use super::parts::{self, Part};
use super::shared::{entries, Entry, Shared};
use crate::command::commands;
use crate::command::plan::Known;
use crate::command::rows;
use crate::machine::{self, Machine};
use anyhow::Result;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;

/// What the names of these parts begin with.
const NAME: &str = "every-";

/// What is compared: the locks that we offer, and all rivals; the two rivals that each row has
/// ours against; and the two of ours whose ratio it has.
pub(super) struct Kind {
    pub(super) name: &'static str,
    title: &'static str,
    locks: &'static str,
    /// Those beside, on a machine with several clusters of CPUs.
    clustered: &'static str,
    pub(super) against: [&'static str; 2],
    pub(super) divided: &'static str,
    pub(super) plain: &'static str,
    /// What machines without a section of their own are simulated with.
    pub(super) brief: &'static str,
}

pub(super) const KINDS: [Kind; 2] = [
    Kind {
        name: "spin",
        title: "Spinlocks on every machine",
        locks: "qspinlock_fair,qspinlock_steal,mcs_tp,malthusian,reciprocating",
        clustered: "numa_spinlock,cohort,cna,cna_spinlock,shfl_lock,hq_spinlock",
        against: ["cna", "hq_spinlock"],
        divided: "numa_spinlock",
        plain: "qspinlock_fair",
        brief: "--seeds 1",
    },
    Kind {
        name: "sleep",
        title: "Mutexes on every machine",
        locks: "mutex,mutex_no_osq,glibc_mutex,std_mutex",
        clustered: "mutex_numa,mutex_numa_2024",
        against: ["mutex_numa_2024", "glibc_mutex"],
        divided: "mutex_numa",
        plain: "mutex",
        brief: "--seeds 1",
    },
];

impl Kind {
    /// What is compared where there are several clusters.
    pub(super) fn all_locks(&self) -> String {
        format!("{},{}", self.locks, self.clustered)
    }
}

/// The kind of a part that has every machine.
pub(super) fn kind(part: &Part) -> Option<&'static Kind> {
    let name = part.name.strip_prefix(NAME)?;
    KINDS.iter().find(|kind| kind.name == name)
}

/// The numbers of threads: 2, 8, a cluster's cores, a sixteenth more, all cores, all CPUs.
/// With a sixteenth more one cluster is full, and the next one has few threads. A machine
/// with fewer than 8 CPUs has one thread beside what is left of these.
pub(super) fn threads(machine: &Machine) -> Vec<usize> {
    let places = &machine.places;
    let cores = |of: &dyn Fn(usize) -> bool| {
        let mut cores: Vec<(u16, u16, u16, u16)> = (0..places.len())
            .filter(|&cpu| of(cpu))
            .map(|cpu| &places[cpu])
            .map(|place| (place.socket, place.die, place.cluster, place.core))
            .collect();
        cores.sort_unstable();
        cores.dedup();
        cores.len()
    };
    let in_cluster = |cpu: usize| places[cpu].cluster == places[0].cluster;
    let (one, all) = (cores(&in_cluster), cores(&|_| true));
    let mut all = match one < all {
        true => vec![2, 8, one, (one * 17).div_ceil(16), all, machine.cpus()],
        false => vec![2, 8, all, machine.cpus()],
    };
    if machine.cpus() < 8 {
        all.push(1);
    }
    all.retain(|&threads| threads <= machine.cpus());
    all.sort_unstable();
    all.dedup();
    all
}

/// All parts of the page, in its order: those of every machine stand before the virtual ones.
pub(super) fn all() -> Vec<Part> {
    let mut all = parts::parts();
    let every = of_every_machine(&all);
    let guests = all.iter().position(Part::has_guests).unwrap_or(all.len());
    all.splice(guests..guests, every);
    all
}

/// One part for spinlocks, one for mutexes. `own` are the parts with a machine each: where
/// these have a machine, its figures are theirs.
fn of_every_machine(own: &[Part]) -> Vec<Part> {
    let part = |kind: &Kind| Part {
        name: format!("{NAME}{}", kind.name),
        title: kind.title.to_owned(),
        commands: machine::names()
            .into_iter()
            .filter_map(|name| command(kind, name, own))
            .collect(),
        yields: Vec::new(),
        besides: Vec::new(),
    };
    KINDS.iter().map(part).collect()
}

/// None: the machine's file is wrong, which a test tells.
fn command(kind: &Kind, name: &str, own: &[Part]) -> Option<String> {
    let machine = machine::load(name).ok()?;
    let threads = threads(&machine)
        .iter()
        .map(usize::to_string)
        .collect::<Vec<_>>();
    let has_own = own
        .iter()
        .any(|part| part.name == format!("{}-{name}", kind.name));
    let first = machine.places.first()?.cluster;
    let locks = match machine.places.iter().all(|place| place.cluster == first) {
        true => kind.locks.to_owned(),
        false => kind.all_locks(),
    };
    let brief = match has_own {
        true => String::new(),
        false => format!(" {}", kind.brief),
    };
    Some(format!(
        "--workload rivals-{} --machine {name}{brief} --threads {} --lock {}",
        kind.name,
        threads.join(","),
        locks
    ))
}

/// What was found on a machine.
pub(super) struct Of {
    pub(super) machine: String,
    /// Its figures are of this part alone.
    pub(super) is_new: bool,
    pub(super) found: Found,
    pub(super) counters: Counters,
}

/// Takes what is there, and simulates the rest. Break: it is over, with this exit code.
pub(super) fn simulate(
    part: &Part,
    known: &Known,
    jobs: usize,
    shared: &mut Shared,
) -> Result<ControlFlow<ExitCode, Vec<Of>>> {
    let brief = kind(part).map_or("", |kind| kind.brief);
    let mut all = Vec::new();
    for command in &part.commands {
        let plan = commands::plan(command, known)?;
        let is_there = |threads: usize| {
            let mut locks = plan.locks.iter();
            locks.all(|lock| shared.find(command, lock.name, threads).is_some())
        };
        let missing: Vec<String> = plan
            .threads
            .iter()
            .filter(|&&threads| !is_there(threads))
            .map(usize::to_string)
            .collect();
        if !missing.is_empty() {
            let asked: Vec<String> = plan.threads.iter().map(usize::to_string).collect();
            let [asked, missing] =
                [asked, missing].map(|list| format!(" --threads {} ", list.join(",")));
            let plan = Arc::new(commands::plan(&command.replace(&asked, &missing), known)?);
            match commands::carry_out(&plan, jobs, &part.name)? {
                ControlFlow::Continue(done) => {
                    shared.keep(command, &entries(&plan, &rows(&plan, &done)));
                }
                ControlFlow::Break(code) => return Ok(ControlFlow::Break(code)),
            }
        }
        let columns = plan.threads.iter().map(|&threads| {
            let locks = plan.locks.iter();
            let of = locks.filter_map(|lock| shared.find(command, lock.name, threads));
            of.collect()
        });
        all.push(Of {
            machine: plan.machine.name.clone(),
            is_new: command.contains(brief),
            ..grid(&columns.collect::<Vec<Vec<Entry>>>())
        });
    }
    Ok(ControlFlow::Continue(all))
}

/// Entries as a grid, a column for each number of threads.
fn grid(columns: &[Vec<Entry>]) -> Of {
    let (mut found, mut counters) = (Found::default(), Counters::default());
    for column in columns {
        let Some(first) = column.first() else {
            continue;
        };
        found.threads.push(first.threads);
        found.columns.push(first.threads.to_string());
        counters.add(column.iter().map(|one| (one.lock, one.counter)));
        for entry in column {
            let line = found.line(entry.lock, None, entry.is_rival);
            line.cells.push(entry.cell);
        }
    }
    Of {
        machine: String::new(),
        is_new: false,
        found,
        counters,
    }
}
