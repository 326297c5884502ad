// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Is starvation bounded?

use crate::evidence::Evidence;
use crate::mails::UNFAIR;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::page::escaped;
use lockwork_report::text::{number, whole};

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
            that a head stops the stealing, with three threads that all run. Sections are 2 µs: \
            with shorter ones there are more overtakings. The lock of 2014 had other \
            rules than ours for how often a head may lose. A waiter that is still waiting at \
            the end is in no longest wait. Slices of the hypervisor are 6 ms (assumed); with \
            slices of another length waits scale with them. The overtakings of `tas_lock` and \
            `qspinlock_tas` depend on which CPU a free line favours, which differs by machine.",
};

/// The load of the questions on the unfair lock: sections of 2 µs.
pub(super) fn guests(overcommit: usize, locks: &str) -> String {
    format!(
        "--workload rivals-spin --machine ice-lake-sp-2s --placement spread --cpus {CPUS} \
         --overcommit {overcommit} --threads {} --lock {locks} --section-ns 2000 --think-ns 10000 \
         --measure-us 576000 --settle --seeds 1",
        CPUS * overcommit
    )
}

/// The same with sections of 0.1 µs.
pub(super) fn short(overcommit: usize, locks: &str) -> String {
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
    let holds = evidence.all_hold();
    Ok(Answer {
        verdict: verdict(&all, holds),
        table,
        notes: vec![
            format!(
                "Overtaken: acquisitions by threads that came later, during one wait. 1/3: three \
                 virtual CPUs share a CPU, {} ms each.",
                SLICE_US / 1e3
            ),
            format!("The model checker: {}.", evidence.checked_text()),
        ],
    })
}

/// The greatest number of overtakings that the rule allows a queue of all threads: each
/// head loses so many races.
const RACES: u64 = 64;

fn verdict(all: &[(&str, Vec<Found>)], holds: bool) -> String {
    let most = |names: &[&str], from: usize, to: usize| -> u64 {
        let own = all.iter().filter(|(lock, _)| names.contains(lock));
        let found = own.flat_map(|(_, found)| &found[from..to]);
        found.map(|one| one.overtaken).max().unwrap_or(0)
    };
    let columns = OVERCOMMIT.len();
    let (alone, crowded) = (most(&BOUNDED, 0, 1), most(&BOUNDED, 1, columns));
    let [few, many] = [OVERCOMMIT[0], OVERCOMMIT[columns - 1]].map(|n| RACES * (CPUS * n) as u64);
    let proof = match holds {
        true => format!(
            "A head of the queue that saw {RACES} races lost stops the stealing; the model \
             checker's clients confirm it."
        ),
        false => "The bound does not hold: a client of the model checker failed.".to_owned(),
    };
    let races = match (alone <= few, crowded <= many) {
        (true, true) => format!(
            "That is a bound here: at most {} and {} overtakings, without and with CPUs that are \
             shared.",
            whole(alone),
            whole(crowded)
        ),
        (true, false) => format!(
            "That is a bound where each virtual CPU has a CPU (at most {} overtakings), and none \
             where they share CPUs ({}): a head that is off its CPU sees no race.",
            whole(alone),
            whole(crowded)
        ),
        _ => format!(
            "That is no bound: {} and {} overtakings, without and with CPUs that are shared.",
            whole(alone),
            whole(crowded)
        ),
    };
    let unbounded = most(&["qspinlock_tas", "tas_lock"], 0, columns);
    let longest = |names: &[&str]| {
        let own = all.iter().filter(|(lock, _)| names.contains(lock));
        let found = own.flat_map(|(_, found)| &found[1..]);
        let longest = found.map(|one| one.longest_us).fold(0.0, f64::max);
        number(longest / 1e3)
    };
    format!(
        "{proof} {races} A test-and-set lock had {}. The longest waits with CPUs that are shared are \
         {} ms with the fair lock, {} with those of that rule, and {} with a test-and-set lock.",
        whole(unbounded),
        longest(&["qspinlock_fair"]),
        longest(&BOUNDED),
        longest(&["qspinlock_tas", "tas_lock"])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(longest_us: f64, overtaken: u64) -> Found {
        Found {
            longest_us,
            overtaken,
            never: 0,
        }
    }

    fn of(alone: u64, crowded: u64) -> Vec<(&'static str, Vec<Found>)> {
        let one = |overtaken| found(18_500.0, overtaken);
        vec![
            ("qspinlock_fair", vec![one(0); 3]),
            (
                "qspinlock_steal",
                vec![one(alone), one(crowded), one(crowded)],
            ),
            ("tas_lock", vec![one(9_000); 3]),
        ]
    }

    #[test]
    fn a_bound_is_told_from_none() {
        let text = verdict(&of(70, 90), true);
        assert!(
            text.contains("That is a bound here: at most 70 and 90"),
            "{text}"
        );
        assert!(
            text.contains("had 9,000.") && text.contains("18.50 ms with the fair"),
            "{text}"
        );
        let text = verdict(&of(70, 100_000), true);
        assert!(
            text.contains("none where they share CPUs (100,000)"),
            "{text}"
        );
        let text = verdict(&of(5_000, 100_000), false);
        assert!(text.starts_with("The bound does not hold"), "{text}");
        assert!(text.contains("That is no bound: 5,000"), "{text}");
    }

    #[test]
    fn the_slice_is_that_of_the_machine() {
        let machine = lockwork_sim::machine::load("ice-lake-sp-2s").expect("it is there");
        assert_eq!(machine.hypervisor.slice_us, SLICE_US);
    }
}
