// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The parts of the comparison: which commands of `lockwork sim` each has.

/// A section of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// What users type.
    pub(super) name: String,
    /// The section's heading.
    pub(super) title: String,
    /// The words behind `lockwork sim`, of each command.
    pub(super) commands: Vec<String>,
    /// The same with a kick that yields: for each way a row of its own.
    pub(super) yields: Vec<(Yields, String)>,
    /// One column with something other: a table of its own.
    pub(super) besides: Vec<Beside>,
}

/// What a kick does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Yields {
    /// It has the kicked virtual CPU run at once.
    Directed,
    /// The kicker gives it the rest of its slice.
    Donates,
}

/// A command like one of a part's, with another hypervisor, machine or section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Beside {
    /// What is other, as a heading has it.
    pub(super) title: &'static str,
    /// The same in a column's name.
    pub(super) name: &'static str,
    /// The column that it is compared with.
    pub(super) column: usize,
    /// The words behind `lockwork sim`.
    pub(super) command: String,
}

impl Part {
    /// All commands, in the order in which the page has them.
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        let yields = self.yields.iter().map(|(_, command)| command);
        let besides = self.besides.iter().map(|beside| &beside.command);
        self.commands.iter().chain(yields).chain(besides)
    }
}

impl Part {
    /// It is of virtual machines, and its columns are degrees of overcommitment.
    pub(super) fn has_guests(&self) -> bool {
        self.name.starts_with("guests-")
    }
}

/// The machines, and on how many threads spinlocks are compared there: those of
/// [`super::every::threads`], and some more. The largest is small enough for a look at 480
/// threads.
const SPIN: [(&str, &str); 8] = [
    ("skylake-sp-4s", "1,2,8,28,30,56,112,224"),
    ("sapphire-rapids-4s", "1,2,8,60,64,120,240,480"),
    ("epyc-7763-nps4", "1,2,8,9,32,64,128,256"),
    ("epyc-9654", "1,2,8,9,64,96,192,384"),
    ("ampere-altra-2s", "1,2,8,40,80,85,160"),
    ("kunpeng-920-2s", "1,2,8,32,34,64,128"),
    ("graviton-3", "1,2,8,32,64"),
    ("power9-2s", "1,2,3,8,16,32,64,128"),
];

/// The same of mutexes.
const SLEEP: [(&str, &str); 4] = [
    ("sapphire-rapids-2s", "1,2,8,28,56,60,112,224"),
    ("epyc-7763-nps1", "1,2,8,9,32,64,128,256"),
    ("epyc-9654", "1,2,8,9,64,96,192,384"),
    ("kunpeng-920-2s", "1,2,8,32,34,64,128"),
];

/// Virtual machines: of how many CPUs, and which.
const GUESTS: (&str, usize) = ("ice-lake-sp-2s", 16);
/// Virtual CPUs that a CPU may have, and threads, each on a virtual CPU of its own: with 24,
/// half of the CPUs have two.
const CROWDS: [(usize, usize); 4] = [(1, 16), (2, 24), (2, 32), (3, 48)];
/// What is compared there: the workloads' locks, and those made for guests.
const LOCKS: [(&str, &str, &str); 2] = [
    (
        "spin",
        "Spinlocks",
        "qspinlock_fair,qspinlock_steal,qspinlock_tas,qspinlock_pv,qspinlock_auto,numa_spinlock,numa_osq,mcs_lock,\
         ticket_lock,tas_lock,qspinlock_owner,mcs_tp,malthusian,reciprocating,cohort,cna,cna_spinlock,\
         shfl_lock,hq_spinlock",
    ),
    (
        "sleep",
        "Mutexes",
        "mutex,mutex_numa,mutex_xchg,rwsem,mutex_no_osq,mutex_numa_2024,glibc_mutex,std_mutex",
    ),
];

/// What is compared where virtual CPUs move, and of several virtual machines.
const FEW: [(&str, &str); 2] = [
    (
        "spin",
        "qspinlock_fair,qspinlock_steal,qspinlock_tas,qspinlock_pv,qspinlock_auto,tas_lock,\
         qspinlock_owner,mcs_tp",
    ),
    ("sleep", "mutex,mutex_numa,glibc_mutex,std_mutex"),
];
/// What is other in a table of its own: in a heading and in a column's name; the place of the
/// crowd; the machine; and the options.
const BESIDES: [(&str, &str, usize, &str, &str); 4] = [
    (
        "Virtual CPUs that migrate",
        "migrating",
        1,
        GUESTS.0,
        " --vcpus migrate",
    ),
    (
        "Two virtual machines, each with half of the threads and a lock of its own",
        "two",
        2,
        GUESTS.0,
        " --vms 2",
    ),
    (
        "Sections of 5 µs, 10 µs apart",
        "5 µs",
        1,
        GUESTS.0,
        " --section-ns 5000 --think-ns 10000",
    ),
    (
        "On epyc-9654, whose clusters have 8 CPUs",
        "epyc-9654",
        1,
        "epyc-9654",
        "",
    ),
];

/// Those with machines of their own, and those of virtual machines, in the order of the page.
pub(super) fn parts() -> Vec<Part> {
    let mut all = Vec::new();
    for (kind, title, machines) in [
        ("spin", "Spinlocks", &SPIN[..]),
        ("sleep", "Mutexes", &SLEEP[..]),
    ] {
        all.extend(machines.iter().map(|(machine, threads)| Part {
            name: format!("{kind}-{machine}"),
            title: format!("{title} on {machine}"),
            commands: vec![format!(
                "--workload rivals-{kind} --machine {machine} --threads {threads}"
            )],
            yields: Vec::new(),
            besides: Vec::new(),
        }));
    }
    all.extend(LOCKS.map(|(kind, title, locks)| guests(kind, title, locks)));
    all
}

/// Locks in virtual machines, by overcommitment. Slices last for milliseconds: what is
/// measured first is a start, and so it goes on until it has settled.
fn guests(kind: &str, title: &str, locks: &str) -> Part {
    let (machine, cpus) = GUESTS;
    let command_on = |machine: &str, (overcommit, threads): (usize, usize), locks: &str| {
        format!(
            "--workload rivals-{kind} --machine {machine} --placement spread --cpus {cpus} \
             --overcommit {overcommit} --threads {threads} --lock {locks} --measure-us 288000 \
             --settle --seeds 1"
        )
    };
    let command = |crowd, locks: &str| command_on(machine, crowd, locks);
    let yields = |(yields, word): (Yields, &str)| {
        let command = |crowd| command(crowd, "qspinlock_pv") + " --directed-yield " + word;
        CROWDS.map(|crowd| (yields, command(crowd)))
    };
    let few = FEW.iter().find(|(name, _)| *name == kind);
    let few = few.map_or("", |(_, locks)| locks);
    let besides = BESIDES.map(|(title, name, column, machine, options)| Beside {
        title,
        name,
        column,
        command: command_on(machine, CROWDS[column], few) + options,
    });
    Part {
        name: format!("guests-{kind}"),
        title: format!("{title} in virtual machines"),
        commands: CROWDS.map(|crowd| command(crowd, locks)).to_vec(),
        yields: match kind {
            "spin" => [(Yields::Directed, "on"), (Yields::Donates, "donate")]
                .into_iter()
                .flat_map(yields)
                .collect(),
            _ => Vec::new(),
        },
        besides: besides.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::commands::plan;
    use crate::command::plan::{Known, Plan};

    #[test]
    fn every_command_can_be_simulated_and_has_rivals_and_ours() {
        let known = Known::load().expect("the locks");
        for part in parts() {
            for command in &part.commands {
                let plan = plan(command, &known).unwrap_or_else(|e| panic!("{}: {e:#}", part.name));
                let rivals = plan.locks.iter().filter(|lock| lock.is_baseline).count();
                assert!(rivals > 2 && rivals < plan.locks.len(), "{}", part.name);
            }
        }
    }

    #[test]
    fn a_column_of_guests_says_how_many_share_a_cpu() {
        let known = Known::load().expect("the locks");
        let part = parts().pop().expect("guests");
        assert!(part.has_guests());
        let mut found = super::super::found::Found::default();
        for command in &part.commands {
            found.add(&plan(command, &known).expect("a plan"), &[]);
        }
        let shares = ["16 on 1/1", "24 on 1/1.5", "32 on 1/2", "48 on 1/3"];
        assert_eq!(found.columns, shares);
    }

    #[test]
    fn what_is_other_has_a_column_to_be_compared_with() {
        let known = Known::load().expect("the locks");
        for part in parts() {
            for beside in &part.besides {
                let [with, without] = [&beside.command, &part.commands[beside.column]]
                    .map(|command| plan(command, &known).expect("a plan"));
                assert_eq!(with.threads, without.threads, "{}", part.name);
                let known = |lock: &str| without.locks.iter().any(|other| other.name == lock);
                assert!(
                    with.locks.iter().all(|lock| known(lock.name)),
                    "{}",
                    part.name
                );
                assert_ne!(
                    beside.command, part.commands[beside.column],
                    "{}",
                    part.name
                );
            }
        }
    }

    #[test]
    fn names_are_there_once() {
        let all = parts();
        for part in &all {
            let same = all.iter().filter(|other| other.name == part.name);
            assert_eq!(same.count(), 1, "{}", part.name);
        }
    }

    #[test]
    fn every_rival_is_compared_somewhere() {
        let known = Known::load().expect("the locks");
        let all: Vec<Plan> = parts()
            .iter()
            .flat_map(|part| part.commands.clone())
            .map(|command| plan(&command, &known).expect("a plan"))
            .collect();
        // What qspinlock_fair and mutex were: `reproduce` compares them. And the read/write
        // lock that `predict` compares ours with: the page has no read/write locks.
        let elsewhere = [
            "qspinlock_fair_rmw",
            "mutex_2013_xchg",
            "mutex_2013_read",
            "glibc_rwlock",
        ];
        let rivals = known.locks.iter().filter(|lock| lock.is_baseline);
        for lock in rivals.filter(|lock| !elsewhere.contains(&lock.name)) {
            let has = |plan: &Plan| plan.locks.iter().any(|one| one.name == lock.name);
            assert!(all.iter().any(has), "{}", lock.name);
        }
    }
}
