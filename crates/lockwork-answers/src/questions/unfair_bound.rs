// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Is starvation bounded?

use crate::evidence::Evidence;
use crate::figure::{listed, number};
use crate::mails::UNFAIR;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::page::escaped;
use lockwork_report::text::whole;

/// CPUs of the virtual machine.
pub(super) const CPUS: usize = 16;
pub(super) const OVERCOMMIT: [usize; 3] = [1, 2, 3];
const LOCKS: [&str; 5] = [
    "qspinlock_fair",
    "qspinlock_steal",
    "qspinlock_pv",
    "qspinlock_tas",
    "tas_lock",
];
/// Those whose head loses a bounded number of counted races.
const BOUNDED: [&str; 2] = ["qspinlock_steal", "qspinlock_pv"];
/// The slice of a virtual CPU in the machine's file, µs.
const SLICE_US: f64 = 6000.0;

pub(crate) const QUESTION: Question = Question {
    name: "unfair-starvation-bound",
    title: "Is there a bound on how long the unfair lock lets a waiter starve?",
    asked: UNFAIR,
    simulations,
    checks: &[
        "qspinlock_fair qspinlock_steal qspinlock_pv --client fifo --client stop --client \
               stop_all --fuzz 0",
    ],
    answer,
    limit: "A simulation shows what happened, and no bound: the model checker's clients prove \
            that a head stops the stealing, with three threads. The lock of 2014 had other \
            rules than ours for how often a head may lose. A waiter that is still waiting at \
            the end is in no longest wait. Slices of the hypervisor are 6 ms (assumed); with \
            slices of another length waits scale with them. The overtakings of `tas_lock` and \
            `qspinlock_tas` depend on which CPU a free line favours, which differs by machine.",
};

/// The load of all questions on the unfair lock.
pub(super) fn guests(overcommit: usize, locks: &str) -> String {
    format!(
        "--workload rivals-spin --machine ice-lake-sp-2s --placement spread --cpus {CPUS} \
         --overcommit {overcommit} --threads {} --lock {locks} --measure-us 288000 --settle \
         --seeds 1",
        CPUS * overcommit
    )
}

pub(super) fn simulations() -> Vec<String> {
    let locks = LOCKS.join(",");
    OVERCOMMIT
        .map(|overcommit| guests(overcommit, &locks))
        .to_vec()
}

/// What one lock did with one degree of overcommitment.
#[derive(Clone, Copy, Debug)]
struct Found {
    longest_us: f64,
    overtaken: u64,
    never: usize,
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut header = vec!["Lock".to_owned()];
    for overcommit in OVERCOMMIT {
        let threads = CPUS * overcommit;
        header.push(format!("{threads} on 1/{overcommit}: longest wait, µs"));
        header.push("overtaken at most".to_owned());
    }
    header.push("never served".to_owned());
    let mut table = Table::new(header);
    let mut all = Vec::new();
    for lock in LOCKS {
        let mut cells = vec![escaped(lock)];
        let mut of_lock = Vec::new();
        for (command, overcommit) in OVERCOMMIT.into_iter().enumerate() {
            let outcome = &evidence.of(command, lock, CPUS * overcommit)?.outcome;
            let found = Found {
                longest_us: outcome.waits.max() as f64 / 1e3,
                overtaken: outcome.overtakes.max(),
                never: outcome.by_thread.iter().filter(|&&n| n == 0).count(),
            };
            cells.extend([number(found.longest_us), whole(found.overtaken)]);
            of_lock.push(found);
        }
        let never: usize = of_lock.iter().map(|found| found.never).sum();
        cells.push(never.to_string());
        table.row(cells);
        all.push((lock, of_lock));
    }
    let runs: Vec<String> = evidence
        .checked
        .iter()
        .flatten()
        .map(|run| run.text())
        .collect();
    let holds = evidence.checked.iter().flatten().all(|run| run.holds());
    Ok(Answer {
        verdict: verdict(&all, holds),
        table,
        notes: vec![
            format!(
                "Overtaken: acquisitions by threads that came later, during one wait. 1/3: three \
                 virtual CPUs share a CPU, {} ms each.",
                SLICE_US / 1e3
            ),
            format!("The model checker: {}.", listed(&runs)),
        ],
    })
}

fn verdict(all: &[(&str, Vec<Found>)], holds: bool) -> String {
    let proof = match holds {
        true => {
            "In the number of races, yes: a head of the queue that lost 64 counted races stops \
                 the stealing, which the model checker's clients confirm."
        }
        false => "The bound does not hold: a client of the model checker failed.",
    };
    let most = |names: &[&str]| -> u64 {
        let own = all.iter().filter(|(lock, _)| names.contains(lock));
        own.flat_map(|(_, found)| found)
            .map(|f| f.overtaken)
            .max()
            .unwrap_or(0)
    };
    let seen = format!(
        "The most that a waiter was overtaken is {} with a lock of that rule, and {} with a \
         test-and-set lock.",
        whole(most(&BOUNDED)),
        whole(most(&["qspinlock_tas", "tas_lock"]))
    );
    let crowded = all
        .iter()
        .flat_map(|(_, found)| found.iter().skip(1))
        .map(|found| found.longest_us)
        .fold(f64::INFINITY, f64::min);
    let time = match crowded >= SLICE_US {
        true => format!(
            "In time, no: where virtual CPUs share a CPU, each lock, the fair one too, has waits \
             of {} slices of the hypervisor or more.",
            number((crowded / SLICE_US).floor())
        ),
        false => "In time it depends on the lock.".to_owned(),
    };
    format!("{proof} {seen} {time}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn races_and_time_are_told_apart() {
        let found = |longest_us, overtaken| Found {
            longest_us,
            overtaken,
            never: 0,
        };
        let of = |longest| {
            vec![
                ("qspinlock_steal", vec![found(10.0, 70), found(longest, 90)]),
                ("tas_lock", vec![found(10.0, 7000), found(longest, 9000)]),
            ]
        };
        let text = verdict(&of(18_500.0), true);
        assert!(text.starts_with("In the number of races, yes"), "{text}");
        assert!(
            text.contains("is 90 with") && text.contains("9,000 with"),
            "{text}"
        );
        assert!(
            text.contains("waits of 3.000 slices") || text.contains("of 3 slices"),
            "{text}"
        );
        let text = verdict(&of(100.0), false);
        assert!(
            text.contains("does not hold") && text.contains("depends on the lock"),
            "{text}"
        );
    }

    #[test]
    fn the_slice_is_that_of_the_machine() {
        let machine = lockwork_sim::machine::load("ice-lake-sp-2s").expect("it is there");
        assert_eq!(machine.hypervisor.slice_us, SLICE_US);
    }
}
