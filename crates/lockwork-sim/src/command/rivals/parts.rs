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
    /// The same with a kick that has the kicked virtual CPU run at once: a row of its own.
    pub(super) yields: Vec<String>,
}

impl Part {
    /// It is of virtual machines, and its columns are degrees of overcommitment.
    pub(super) fn has_guests(&self) -> bool {
        self.name.starts_with("guests-")
    }
}

/// The machines, and on how many threads spinlocks are compared there: up to the number
/// of cores, and of CPUs. The largest is small enough for a look at 384 threads.
const SPIN: [(&str, &str); 8] = [
    ("skylake-sp-4s", "1,2,8,28,56,112,224"),
    ("sapphire-rapids-4s", "1,2,8,60,120,240,480"),
    ("epyc-7763-nps4", "1,2,8,32,64,128,256"),
    ("epyc-9654", "1,2,8,64,96,192,384"),
    ("ampere-altra-2s", "1,2,8,40,80,160"),
    ("kunpeng-920-2s", "1,2,8,32,64,128"),
    ("graviton-3", "1,2,8,32,64"),
    ("power9-2s", "1,2,8,16,32,64,128"),
];

/// The same of mutexes.
const SLEEP: [(&str, &str); 4] = [
    ("sapphire-rapids-2s", "1,2,8,28,56,112,224"),
    ("epyc-7763-nps1", "1,2,8,32,64,128,256"),
    ("epyc-9654", "1,2,8,64,96,192,384"),
    ("kunpeng-920-2s", "1,2,8,32,64,128"),
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
        "qspinlock_fair,qspinlock_steal,qspinlock_tas,qspinlock_pv,numa_osq,mcs_lock,ticket_lock,\
         tas_lock,mcs_tp,malthusian,reciprocating,cohort,cna,shfl_lock,hq_spinlock",
    ),
    (
        "sleep",
        "Mutexes",
        "mutex,mutex_numa,mutex_xchg,rwsem,mutex_no_osq,mutex_numa_2024,glibc_mutex,std_mutex",
    ),
];

/// All, in the order of the page.
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
        }));
    }
    all.extend(LOCKS.map(|(kind, title, locks)| guests(kind, title, locks)));
    all
}

/// Locks in virtual machines, by overcommitment. Slices last for milliseconds: what is
/// measured first is a start, and so it goes on until it has settled.
fn guests(kind: &str, title: &str, locks: &str) -> Part {
    let (machine, cpus) = GUESTS;
    let command = |(overcommit, threads): (usize, usize), locks: &str| {
        format!(
            "--workload rivals-{kind} --machine {machine} --placement spread --cpus {cpus} \
             --overcommit {overcommit} --threads {threads} --lock {locks} --measure-us 288000 \
             --settle --seeds 1"
        )
    };
    let yields = |crowd| command(crowd, "qspinlock_pv") + " --directed-yield on";
    Part {
        name: format!("guests-{kind}"),
        title: format!("{title} in virtual machines"),
        commands: CROWDS.map(|crowd| command(crowd, locks)).to_vec(),
        yields: match kind {
            "spin" => CROWDS.map(yields).to_vec(),
            _ => Vec::new(),
        },
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
        // What qspinlock_fair was: `reproduce` compares it.
        let earlier = "qspinlock_fair_rmw";
        let rivals = known.locks.iter().filter(|lock| lock.is_baseline);
        for lock in rivals.filter(|lock| lock.name != earlier) {
            let has = |plan: &Plan| plan.locks.iter().any(|one| one.name == lock.name);
            assert!(all.iter().any(has), "{}", lock.name);
        }
    }
}
