// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is to be simulated.

use super::args::{SimArgs, Switch, VirtualCpus};
use super::locks::{self, Ground};
use crate::engine::placed_on;
use crate::knobs::settings;
use crate::machine::{self, Machine};
use crate::settle::MOST_OPERATIONS;
use crate::simulate::threads_are_enough;
use crate::workload::{self, Time, Workload};
use crate::{Clusters, Guests, Knob, Lock, Placement, Rules, Setting, Setup, Vcpus};
use anyhow::Result;
use lockwork_report::bail_usage;
use lockwork_report::settings::{read_by_one, reads};
use lockwork_report::text::counted;

/// What a timeline records if nobody says, µs.
const WINDOW: (f64, f64) = (0.0, 100.0);

/// What the world of the locks has.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) locks: Vec<Lock>,
    pub(super) knobs: Vec<Knob>,
    pub(super) events: Vec<&'static str>,
}

impl Known {
    /// Of the locks in this program.
    pub(super) fn load() -> Result<Known> {
        Ok(Known {
            locks: crate::locks()?,
            knobs: crate::knobs()?,
            events: crate::events()?,
        })
    }
}

/// All simulations of a command.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) machine: Machine,
    pub(super) locks: Vec<Lock>,
    pub(super) workload: Workload,
    /// What the command line has changed of it: "section 5000 ns".
    pub(super) changed: Vec<String>,
    /// The rules of the model that it keeps.
    pub(super) rules: Rules,
    /// The workload, for locks without readers.
    exclusive: Workload,
    pub(super) threads: Vec<usize>,
    pub(super) placement: Placement,
    /// 0: all.
    cpus: usize,
    pub(super) guests: Option<Guests>,
    pub(super) clusters: Clusters,
    pub(super) settings: Vec<Setting>,
    pub(super) seeds: u64,
    /// What a static key adds to the price of a call, which the machine has already.
    pub(super) static_key_ns: f64,
    settle: Option<u64>,
    window: Option<(f64, f64)>,
    /// What is odd about the machine's file, and what of the plan does not fit it.
    pub(super) oddities: Vec<String>,
    /// The names of what locks count.
    pub(super) events: Vec<&'static str>,
}

/// One simulation of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) threads: usize,
    /// Its place in the plan's list.
    pub(super) lock: usize,
    /// From 1 on.
    pub(super) seed: u64,
}

/// Refuses a knob that none of `locks` reads. The baselines take these knobs for limits of their
/// own, so nothing is said of them.
fn are_read(settings: &[Setting], locks: &[Lock], known: &Known) -> Result<()> {
    let is_ours = |lock: &&Lock| !lock.is_baseline;
    let ours: Vec<&str> = known
        .locks
        .iter()
        .filter(is_ours)
        .map(|lock| lock.name)
        .collect();
    let named: Vec<&str> = locks.iter().map(|lock| lock.name).collect();
    let reads = |lock: &Lock, knob: &str| lock.is_baseline || reads(lock.name, knob);
    let knobs = settings.iter().map(|setting| setting.knob);
    read_by_one(knobs, &named, &ours, |name, knob| {
        known
            .locks
            .iter()
            .any(|lock| lock.name == name && reads(lock, knob))
    })
}

impl Plan {
    /// What the arguments ask for.
    pub(super) fn of(args: &SimArgs, known: &Known) -> Result<Plan> {
        let mut loaded = machine::open(&args.machine)?;
        if let Some(yields) = args.directed_yield {
            loaded.machine.hypervisor.directed_yield = yields.directed();
        }
        let static_key_ns = args.static_key_ns.unwrap_or(0.0);
        loaded.machine.cpu.call += static_key_ns;
        let workload = overridden(workload::load(&args.workload)?, args)?;
        let names = match args.locks.is_empty() {
            true => &workload.locks,
            false => &args.locks,
        };
        let (threads, too_many) = threads(args, &workload, &loaded.machine)?;
        let ground = Ground {
            machine: &loaded.machine,
            clusters: args.clusters.clusters(),
            placement: args.placement.placement(),
            cpus: args.cpus.unwrap_or(0),
        };
        let named = locks::named(names, !args.locks.is_empty(), &known.locks, &ground)?;
        let mut oddities = loaded.warnings;
        oddities.extend(too_many);
        oddities.extend(left_out(&named.left_out, &ground));
        let settings = settings(&args.set, &known.knobs)?;
        are_read(&settings, &named.locks, known)?;
        one_has_readers(args, &named.locks)?;
        let plan = Plan {
            changed: changed(args),
            locks: named.locks,
            exclusive: Workload {
                reads: 0.0,
                ..workload.clone()
            },
            threads,
            placement: args.placement.placement(),
            cpus: args.cpus.unwrap_or(0),
            guests: guests(args),
            clusters: args.clusters.clusters(),
            settings,
            seeds: args.seeds,
            static_key_ns,
            settle: args.settle.then_some(MOST_OPERATIONS),
            rules: Rules::without(&args.without)?,
            window: args
                .timeline
                .as_ref()
                .map(|_| args.window.unwrap_or(WINDOW)),
            oddities,
            events: known.events.clone(),
            machine: loaded.machine,
            workload,
        };
        plan.possible()
    }

    fn possible(self) -> Result<Plan> {
        if self.settle.is_some() && self.workload.loops.is_some() {
            bail_usage!(
                "the workload {} ends after a number of loops, which --settle cannot lengthen",
                self.workload.name
            );
        }
        let (name, cpus) = (&self.machine.name, self.machine.cpus());
        if self.cpus > cpus {
            bail_usage!("{name} has {cpus} CPUs; --cpus must be 1 to {cpus}");
        }
        if self.window.is_some() && (self.locks.len() > 1 || self.threads.len() > 1) {
            bail_usage!(
                "a timeline is of one simulation; name one lock (--lock) and one number of \
                 threads (--threads)"
            );
        }
        // The first has the fewest threads.
        threads_are_enough(&self.setup(self.job(0)))?;
        Ok(self)
    }

    /// How many simulations.
    pub(super) fn len(&self) -> usize {
        self.threads.len() * self.locks.len() * self.seeds as usize
    }

    /// The simulation at a place, of `len()`: the threads change last.
    pub(super) fn job(&self, at: usize) -> Job {
        let seeds = self.seeds as usize;
        Job {
            seed: (at % seeds) as u64 + 1,
            lock: at / seeds % self.locks.len(),
            threads: self.threads[at / seeds / self.locks.len()],
        }
    }

    /// What a simulation is told.
    pub(super) fn setup(&self, job: Job) -> Setup<'_> {
        let lock = &self.locks[job.lock];
        Setup {
            machine: &self.machine,
            lock: lock.name,
            workload: match lock.is_rw {
                true => &self.workload,
                false => &self.exclusive,
            },
            threads: job.threads,
            placement: self.placement,
            cpus: self.cpus,
            guests: self.guests,
            clusters: self.clusters,
            settings: &self.settings,
            settle: self.settle,
            rules: self.rules,
            seed: job.seed,
            window: self.window.filter(|_| job.seed == 1),
        }
    }

    /// The machine's CPUs, as simulations number them.
    pub(super) fn placed(&self) -> Vec<usize> {
        placed_on(&self.machine, self.placement, self.cpus)
    }

    /// CPUs in use.
    pub(super) fn cpus(&self) -> usize {
        match self.cpus {
            0 => self.machine.cpus(),
            cpus => cpus,
        }
    }
}

/// The hypervisor, if there is to be one.
fn guests(args: &SimArgs) -> Option<Guests> {
    Some(Guests {
        overcommit: args.overcommit?,
        vcpus: args.vcpus.map_or(Vcpus::Pinned, VirtualCpus::vcpus),
        vms: args.vms.unwrap_or(1),
    })
}

/// The numbers of threads; and what is left out of the workload's, because the machine is
/// too small. On CPUs that are named, or virtual ones, any number may crowd.
fn threads(
    args: &SimArgs,
    workload: &Workload,
    machine: &Machine,
) -> Result<(Vec<usize>, Option<String>)> {
    let asked = !args.threads.is_empty();
    let mut threads = match asked {
        true => args.threads.clone(),
        false => workload.threads.clone(),
    };
    threads.sort_unstable();
    threads.dedup();
    let (name, cpus) = (&machine.name, machine.cpus());
    let most = threads.last().copied().unwrap_or(0);
    if most <= cpus || args.overcommit.is_some() || args.cpus.is_some() {
        return Ok((threads, None));
    }
    threads.retain(|&threads| threads <= cpus);
    if asked || threads.is_empty() {
        bail_usage!(
            "{name} has {}, fewer than {most} threads; take fewer threads, or --overcommit N \
             for N virtual CPUs on each, or --cpus {cpus} for threads that share CPUs",
            counted(cpus, "CPU")
        );
    }
    let note = format!(
        "{} has more numbers of threads than fit on {}: up to {most}",
        workload.name,
        counted(cpus, "CPU")
    );
    Ok((threads, Some(note)))
}

fn left_out(locks: &[&str], ground: &Ground) -> Option<String> {
    (!locks.is_empty()).then(|| {
        format!(
            "left out, because {} one cluster of CPUs: {}",
            ground.says(),
            locks.join(", ")
        )
    })
}

/// The time with another mean.
fn scaled(option: &str, time: &Time, ns: f64) -> Result<Time> {
    if ns > 0.0 && matches!(time, Time::Histogram(_)) && time.mean() == 0.0 {
        bail_usage!(
            "{option} {ns}: all classes of the workload's histogram are 0, which no factor makes \
             longer; change its file"
        );
    }
    Ok(time.with_mean(ns))
}

/// Refuses a share of readers that no lock would use.
fn one_has_readers(args: &SimArgs, locks: &[Lock]) -> Result<()> {
    let shared = args.read_ratio.iter().any(|&ratio| ratio > 0.0);
    if !shared || locks.iter().any(|lock| lock.is_rw) {
        return Ok(());
    }
    let names: Vec<&str> = locks.iter().map(|lock| lock.name).collect();
    bail_usage!(
        "{} no shared acquisitions, so --read-ratio does not apply; choose a read/write lock, as \
         --lock rwlock, or leave --read-ratio out",
        match names[..] {
            [name] => format!("{name} has"),
            _ => format!("{} have", names.join(", ")),
        }
    );
}

/// What the command line changes of a workload.
fn changed(args: &SimArgs) -> Vec<String> {
    let ns = |what: &str, ns: f64| format!("{what} {ns} ns");
    let mut all = Vec::new();
    all.extend(args.section_ns.first().map(|&of| ns("section", of)));
    all.extend(args.think_ns.map(|of| ns("think time", of)));
    let share = args.read_ratio.first();
    all.extend(share.map(|of| format!("shared acquisitions {} %", of * 100.0)));
    all.extend(args.loops.map(|of| counted(of as usize, "loop")));
    all.extend(args.measure_us.map(|of| format!("measured time {of} µs")));
    let without = args.without.iter();
    all.extend(without.map(|rule| format!("rule {rule} left out")));
    all
}

/// The workload, with what the command line changes.
fn overridden(mut workload: Workload, args: &SimArgs) -> Result<Workload> {
    let of_one_lock = [
        ("--section-ns", !args.section_ns.is_empty()),
        ("--think-ns", args.think_ns.is_some()),
        ("--read-ratio", !args.read_ratio.is_empty()),
        ("--embedded", args.embedded.is_some()),
        ("--loops", args.loops.is_some()),
    ];
    if let Some((option, _)) = of_one_lock.iter().find(|(_, given)| *given) {
        if workload.program.is_some() {
            bail_usage!(
                "{option} is for workloads with one lock, and {} has roles: copy its file and \
                 change that",
                workload.name
            );
        }
    }
    // Of lists, the command makes a plan for each value.
    if let Some(&ns) = args.section_ns.first() {
        workload.section = scaled("--section-ns", &workload.section, ns)?;
        workload.read_section = scaled("--section-ns", &workload.read_section, ns)?;
    }
    if let Some(ns) = args.think_ns {
        workload.think = scaled("--think-ns", &workload.think, ns)?;
    }
    if let Some(&reads) = args.read_ratio.first() {
        workload.reads = reads;
    }
    if let Some(switch) = args.embedded {
        workload.embedded = switch == Switch::On;
        if workload.embedded && workload.lines == 0 {
            bail_usage!(
                "the sections of {} use no data that the lock could lie in: give its file `lines`",
                workload.name
            );
        }
    }
    if let Some(switch) = args.affinity {
        workload.affinity = switch == Switch::On;
    }
    match (workload.loops, args.loops, args.measure_us) {
        (Some(_), _, Some(_)) => bail_usage!(
            "the workload {} ends after a number of loops; give --loops instead of --measure-us",
            workload.name
        ),
        (None, Some(_), _) => bail_usage!(
            "the workload {} ends after a time; give --measure-us instead of --loops",
            workload.name
        ),
        (_, loops, measure) => {
            workload.loops = loops.or(workload.loops);
            workload.measure_us = measure.unwrap_or(workload.measure_us);
        }
    }
    Ok(workload)
}

/// As the command line names it.
pub(super) fn placed(placement: Placement) -> &'static str {
    match placement {
        Placement::Compact => "compact",
        Placement::Spread => "spread",
        Placement::SpreadClusters => "spread-clusters",
        Placement::PerNode => "per-node",
    }
}
