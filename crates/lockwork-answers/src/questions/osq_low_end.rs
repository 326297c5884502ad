// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What does it lose at the low end?

use crate::evidence::Evidence;
use crate::figure::{listed, Figure, Side};
use crate::mails::NUMA_OSQ;
use crate::published;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::text::{counted, signed_percent};

/// A workload, a machine, and whether the series printed a figure.
const CASES: [(&str, &str, bool); 3] = [
    ("locktorture-mutex", "epyc-7551", true),
    ("rivals-sleep", "kh-40000-1s", false),
    ("rivals-sleep", "sapphire-rapids-2s", false),
];
const THREADS: [usize; 4] = [1, 2, 4, 8];
const BASE: &str = "mutex";
const LOCKS: [&str; 2] = ["mutex_numa", "mutex_numa_2024"];

pub(crate) const QUESTION: Question = Question {
    name: "osq-low-end",
    title: "What do few threads lose by it?",
    asked: NUMA_OSQ,
    simulations,
    checks: &["numa_osq --client single --client short --client none --shallow --fuzz 0"],
    answer,
    limit: "On a machine with one cluster nothing is divided, and the simulator refuses such a \
            lock there: the clients `single` and `none` check it, and the cost is that of a \
            queue that counts. Rare long holds keep the intervals of locktorture wide: \
            they are \
            marked where that is so. The series does not say how long its runs were.",
};

fn simulations() -> Vec<String> {
    let command = |(workload, machine, _): &(&str, &str, bool)| {
        format!(
            "--workload {workload} --machine {machine} --threads 1,2,4,8 --lock \
             mutex,mutex_numa,mutex_numa_2024 --settle --seeds 1"
        )
    };
    CASES.iter().map(command).collect()
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Load",
        "Machine",
        "Threads",
        "mutex, Mops/s",
        "mutex\\_numa",
        "mutex\\_numa\\_2024",
        "published",
    ]);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (command, &(workload, machine, printed)) in CASES.iter().enumerate() {
        for threads in THREADS {
            let [one, other] = LOCKS.map(|lock| evidence.gain(command, lock, BASE, threads));
            let (one, other) = (one?, other?);
            let published = match printed {
                true => signed_percent(published::locktorture(threads)?),
                false => String::new(),
            };
            table.row([
                workload.to_owned(),
                machine.to_owned(),
                threads.to_string(),
                evidence.rate(command, BASE, threads)?.text(),
                one.change(),
                other.change(),
                published,
            ]);
            let case = format!("{machine}, {}", counted(threads, "thread"));
            ours.push((case.clone(), one));
            theirs.push((case, other));
        }
    }
    Ok(Answer {
        verdict: verdict(&ours, &theirs),
        table,
        notes: vec![
            "The columns of the two locks are changes against the mutex.".into(),
            format!(
                "One cluster, none, and a queue that is never long: {}.",
                evidence.checked_text()
            ),
        ],
    })
}

type Cases = [(String, Figure)];

fn verdict(ours: &Cases, theirs: &Cases) -> String {
    let losses = |all: &Cases| -> Vec<String> {
        let lost = all.iter().filter(|(_, gain)| gain.side() == Side::Less);
        lost.map(|(case, gain)| format!("{} ({case})", gain.change()))
            .collect()
    };
    let said = |name: &str, all: &Cases| match losses(all).as_slice() {
        [] => format!(
            "{name} loses in none of {} cases by more than its interval and 2 %",
            all.len()
        ),
        lost => format!(
            "{name} loses in {} of {} cases: {}",
            lost.len(),
            all.len(),
            listed(lost)
        ),
    };
    format!(
        "{}. {}.",
        said("mutex\\_numa", ours),
        said("The published lock, mutex\\_numa\\_2024,", theirs)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn each_loss_is_named() {
        let cases = |value| [("m, 4 threads".to_owned(), ratio(value, 0.01))];
        let text = verdict(&cases(1.0), &cases(0.9));
        assert!(
            text.starts_with("mutex\\_numa loses in none of 1 cases"),
            "{text}"
        );
        assert!(
            text.contains("loses in 1 of 1 cases: -10.0 % ±0.9 (m, 4 threads)"),
            "{text}"
        );
    }
}
