// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Test-and-set instead?

use super::unfair_bound::{simulations as crowded, CPUS, OVERCOMMIT};
use crate::evidence::Evidence;
use crate::figure::{listed, number, Figure, Side};
use crate::mails::TEST_AND_SET;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::page::escaped;
use lockwork_report::stats::jain;

const BASE: &str = "qspinlock_steal";
const LOCKS: [&str; 3] = ["qspinlock_steal", "qspinlock_tas", "tas_lock"];
/// Without a hypervisor.
const BARE: (&str, usize) = ("skylake-sp-4s", 112);

pub(crate) const QUESTION: Question = Question {
    name: "unfair-test-and-set",
    title: "Would a plain test-and-set lock do in virtual machines?",
    asked: TEST_AND_SET,
    simulations,
    checks: &[],
    answer,
    limit: "The published measurement of both is on bare metal, and `lockwork reproduce` has it. \
            Nothing is published for virtual machines in this project's data. Which CPU gets a \
            free line is a rule of the model with a chosen number (`near_bias`), and a \
            test-and-set lock hangs on it more than others. The kernel later took the \
            test-and-set lock for guests without paravirtual locks.",
};

fn simulations() -> Vec<String> {
    let mut all = crowded();
    all.push(format!(
        "--workload rivals-spin --machine {} --threads {} --lock {} --settle --seeds 1",
        BARE.0,
        BARE.1,
        LOCKS.join(",")
    ));
    all
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Threads",
        "Lock",
        "Mops/s",
        "over qspinlock\\_steal",
        "longest wait, µs",
        "Jain",
    ]);
    let mut cases: Vec<(String, usize, usize)> = OVERCOMMIT
        .into_iter()
        .enumerate()
        .map(|(command, n)| (format!("{} on 1/{n}", CPUS * n), command, CPUS * n))
        .collect();
    cases.push((
        format!("{} on {}", BARE.1, BARE.0),
        OVERCOMMIT.len(),
        BARE.1,
    ));
    let mut gains = Vec::new();
    for (name, command, threads) in cases {
        let mut longest = Vec::new();
        for lock in LOCKS {
            let one = evidence.of(command, lock, threads)?;
            let gain = evidence.gain(command, lock, BASE, threads)?;
            let counts: Vec<f64> = one.outcome.by_thread.iter().map(|&n| n as f64).collect();
            longest.push(one.outcome.waits.max() as f64);
            table.row([
                name.clone(),
                escaped(lock),
                Figure::rate(one).text(),
                if lock == BASE {
                    String::new()
                } else {
                    gain.change()
                },
                number(one.outcome.waits.max() as f64 / 1e3),
                format!("{:.2}", jain(&counts)),
            ]);
        }
        let gain = evidence.gain(command, "qspinlock_tas", BASE, threads)?;
        gains.push((name, gain, longest[1] / longest[0]));
    }
    Ok(Answer {
        verdict: verdict(&gains),
        table,
        notes: vec![
            "Jain's index is 1 if all threads acquire as often, and 1/threads if one does.".into(),
        ],
    })
}

/// The test-and-set mode over the unfair queue: its rate, and its longest wait.
fn verdict(gains: &[(String, Figure, f64)]) -> String {
    let of = |side| -> Vec<String> {
        let all = gains.iter().filter(|(_, gain, _)| gain.side() == side);
        all.map(|(name, gain, _)| format!("{} ({name})", gain.change()))
            .collect()
    };
    let (more, less) = (of(Side::More), of(Side::Less));
    let head = match (more.is_empty(), less.is_empty()) {
        (true, true) => "Yes, as far as throughput goes: the two are equal.".to_owned(),
        (false, true) => format!("Yes: it gains {}.", listed(&more)),
        (true, false) => format!("No: it loses {}.", listed(&less)),
        _ => format!(
            "It depends: it gains {} and loses {}.",
            listed(&more),
            listed(&less)
        ),
    };
    let worse = gains.iter().filter(|(_, _, wait)| *wait > 1.1).count();
    format!(
        "{head} Its longest wait is longer than that of the unfair queue in {worse} of {} cases.",
        gains.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn gains_and_losses_are_both_told() {
        let case = |value, wait| ("32 on 1/2".to_owned(), ratio(value, 0.01), wait);
        assert!(verdict(&[case(1.0, 1.0)]).starts_with("Yes, as far as"));
        assert!(verdict(&[case(1.5, 1.0)]).starts_with("Yes: it gains +50.0 %"));
        assert!(verdict(&[case(0.5, 1.0)]).starts_with("No: it loses -50.0 %"));
        let text = verdict(&[case(0.5, 3.0), case(1.5, 1.0)]);
        assert!(
            text.starts_with("It depends") && text.contains("in 1 of 2 cases"),
            "{text}"
        );
    }
}
