// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is simulated: which locks, on which machines, with how many threads.

use anyhow::Result;
use lockwork_profile::demand::{Demand, Program};
use lockwork_sim::machine::{self, Machine};
use lockwork_sim::workload::Workload;
use lockwork_sim::{Clusters, Found, Placement, Rules, Setup};

use crate::args::PredictArgs;
use crate::policy::{self, Model};
use crate::workload;

/// A lock with less of the waiting than this is not predicted.
const LITTLE: f64 = 0.05;
/// Memory operations that a simulation may take to come to a steady state: a second or two.
const MOST_OPERATIONS: u64 = 3_000_000;

/// One of the program's locks on one machine.
#[derive(Debug)]
pub struct Case {
    /// The machine.
    pub machine: Machine,
    /// The lock.
    pub lock: Demand,
    /// What is simulated for each policy.
    pub models: Vec<Model>,
    /// Models that cannot wait but by spinning.
    spins: Vec<&'static str>,
    /// Policies that need a machine with several clusters of CPUs, which this is not.
    pub left_out: Vec<String>,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// The model of the lock that was profiled, if there is one.
    pub profiled: Option<&'static str>,
    /// By how thinking times are distributed.
    workloads: Vec<Workload>,
}

/// One simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its place in the plan's cases.
    pub case: usize,
    /// The simulator's lock.
    pub lock: &'static str,
    /// Threads.
    pub threads: usize,
    /// From 1 on.
    pub seed: u64,
    /// Its place in what [`workload::thinkings`] says of the lock.
    pub thinking: usize,
}

/// All simulations of a command.
#[derive(Debug)]
pub struct Plan {
    /// What they are about.
    pub cases: Vec<Case>,
    /// The simulations.
    pub jobs: Vec<Job>,
}

/// The locks that are worth a prediction; if each has little of the waiting, the first one.
pub fn hot(program: &Program, most: usize) -> Vec<&Demand> {
    let waited = program.locks.iter().any(|lock| lock.of_waiting > 0.0);
    let much = |lock: &Demand| !waited || lock.of_waiting >= LITTLE;
    let all = program.locks.iter().enumerate();
    let chosen = all.filter(|(at, lock)| *at == 0 || much(lock));
    chosen.map(|(_, lock)| lock).take(most).collect()
}

impl Plan {
    /// What the arguments ask for, of these locks of a program.
    ///
    /// # Errors
    /// A lock has no such name, or a workload makes no sense.
    pub fn of(
        args: &PredictArgs,
        program: &Program,
        locks: &[&Demand],
        machines: &[Machine],
    ) -> Result<Plan> {
        let mut cases = Vec::new();
        for machine in machines {
            for lock in locks {
                cases.push(Case::of(args, program, lock, machine)?);
            }
        }
        let mut jobs = Vec::new();
        for (at, case) in cases.iter().enumerate() {
            for (lock, threads) in case.simulated() {
                for seed in 1..=args.seeds {
                    jobs.extend((0..case.workloads.len()).map(|thinking| Job {
                        case: at,
                        lock,
                        threads,
                        seed,
                        thinking,
                    }));
                }
            }
        }
        Ok(Plan { cases, jobs })
    }

    /// Simulates the job at a place of the list.
    ///
    /// # Errors
    /// The setup is impossible.
    pub fn simulate(&self, at: usize) -> Result<Found> {
        let job = &self.jobs[at];
        let case = &self.cases[job.case];
        let workload = &case.workloads[job.thinking];
        lockwork_sim::simulate(&Setup {
            machine: &case.machine,
            lock: job.lock,
            workload: &workload::long_enough(workload, &case.machine, job.threads),
            threads: job.threads,
            placement: Placement::Compact,
            cpus: 0,
            guests: None,
            clusters: Clusters::Llc,
            settings: &[],
            settle: Some(MOST_OPERATIONS),
            rules: Rules::default(),
            seed: job.seed,
            window: None,
        })
    }

    /// Whether some lock is not predicted because it would spin on shared CPUs.
    pub fn is_crowded(&self) -> bool {
        self.cases.iter().any(|case| {
            let models = case.models.iter().map(|model| model.lock);
            let crowds = |lock| case.threads.iter().any(|&n| !case.fits(lock, n));
            models.into_iter().any(crowds)
        })
    }
}

/// Up to twice the CPUs, by powers of two.
fn by_twos(cpus: usize) -> Vec<usize> {
    let steps = std::iter::successors(Some(2), |n| Some(n * 2));
    steps.take_while(|&n| n <= (2 * cpus).max(2)).collect()
}

/// The numbers of threads on a machine with so many CPUs.
pub fn threads(args: &PredictArgs, cpus: usize) -> Vec<usize> {
    let mut threads: Vec<usize> = match args.threads.is_empty() {
        true => by_twos(cpus),
        false => args.threads.iter().map(|&n| n as usize).collect(),
    };
    threads.sort_unstable();
    threads.dedup();
    threads
}

impl Case {
    fn of(args: &PredictArgs, program: &Program, lock: &Demand, machine: &Machine) -> Result<Case> {
        let known = lockwork_sim::locks()?;
        let is = |name: &str, what: fn(&lockwork_sim::Lock) -> bool| {
            let found = known.iter().find(|lock| lock.name == name);
            found.is_some_and(what)
        };
        let clusters = machine.places.iter().map(|place| place.cluster).max();
        let one_cluster = clusters.unwrap_or(0) == 0;
        let (out, models): (Vec<Model>, Vec<Model>) = policy::models(lock.kind, &args.locks)?
            .into_iter()
            .partition(|model| one_cluster && is(model.lock, |lock| lock.needs_clusters));
        let spins = known.iter().filter(|lock| !lock.sleeps);
        let workloads = workload::thinkings(lock)
            .iter()
            .map(|thinking| workload::of(lock, *thinking, "predicted"));
        Ok(Case {
            profiled: policy::lock_of(lock.kind, &program.lock),
            machine: machine.clone(),
            threads: threads(args, machine.cpus()),
            spins: spins.map(|lock| lock.name).collect(),
            left_out: out.into_iter().map(|model| model.policies).collect(),
            workloads: workloads.collect::<Result<_>>()?,
            lock: lock.clone(),
            models,
        })
    }

    /// Whether the simulator can say what this lock does with so many threads.
    pub fn fits(&self, lock: &'static str, threads: usize) -> bool {
        threads <= self.machine.cpus() || !self.spins.contains(&lock)
    }

    /// As many threads as were profiled.
    pub fn profiled_threads(&self) -> usize {
        self.lock.threads.round().max(1.0) as usize
    }

    /// Locks and numbers of threads, each once; as profiled first.
    fn simulated(&self) -> Vec<(&'static str, usize)> {
        let mut all: Vec<(&'static str, usize)> = Vec::new();
        let profiled = self.profiled.map(|lock| (lock, self.profiled_threads()));
        let models = self.models.iter().map(|model| model.lock);
        let models: Vec<&'static str> = models.collect();
        let rows = self
            .threads
            .iter()
            .flat_map(|&threads| models.iter().map(move |&lock| (lock, threads)));
        for (lock, threads) in profiled.into_iter().chain(rows) {
            if self.fits(lock, threads) && !all.contains(&(lock, threads)) {
                all.push((lock, threads));
            }
        }
        all
    }

    /// The workload with the first distribution of thinking times.
    pub fn workload(&self) -> &Workload {
        &self.workloads[0]
    }
}

/// Reads the machines, each once.
///
/// # Errors
/// There is no such machine, or its file is wrong.
pub fn machines(names: &[String]) -> Result<Vec<Machine>> {
    let mut machines: Vec<Machine> = Vec::new();
    for name in names {
        let machine = machine::load(name)?;
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    Ok(machines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::lock;

    fn program(shares: &[f64]) -> Program {
        let locks = shares.iter().map(|&of_waiting| Demand {
            of_waiting,
            ..lock()
        });
        Program {
            command: "x".to_owned(),
            again: "x".to_owned(),
            lock: "glibc".to_owned(),
            seconds: 1.0,
            threads: 2.0,
            waited: 0.1,
            locks: locks.collect(),
            ..Program::default()
        }
    }

    #[test]
    fn hot_locks_have_much_of_the_waiting() {
        let hot = |shares: &[f64], most| hot(&program(shares), most).len();
        assert_eq!(hot(&[0.9, 0.06, 0.04], 3), 2);
        assert_eq!(hot(&[0.4, 0.3, 0.2, 0.1], 3), 3);
        assert_eq!(hot(&[0.01; 100], 3), 1, "many shards");
        assert_eq!(hot(&[0.0, 0.0], 3), 2, "nobody waited");
        assert_eq!(hot(&[], 3), 0);
    }

    #[test]
    fn numbers_of_threads_are_powers_of_two() {
        assert_eq!(by_twos(2), [2, 4]);
        assert_eq!(by_twos(1), [2]);
        assert_eq!(by_twos(24), [2, 4, 8, 16, 32]);
    }
}
