// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Test-and-set instead?

use super::unfair_bound::{short, simulations as crowded, CPUS, OVERCOMMIT};
use crate::evidence::Evidence;
use crate::figure::{listed, Figure, Side};
use crate::mails::TEST_AND_SET;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::page::escaped;
use lockwork_report::stats::jain;
use lockwork_report::text::number;

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
            Of virtual machines, kernel builds are published (Waiman Long, 2015-07-11): with the unfair \
            queue they are 1.4, 2.1 and 2.1 times as fast as with the byte lock, with 1, 1.5 and 1.9 \
            virtual CPUs on a CPU. The short sections here agree in direction; the long ones \
            say the reverse with shared CPUs, which no published figure shows. \
            [rivals.md](rivals.md#spinlocks-in-virtual-machines) has all that is compared. Which CPU gets a \
            free line is a rule of the model with a chosen number (`near_bias`), and a \
            test-and-set lock depends on it more than others. The kernel later took the \
            test-and-set lock for guests without paravirtual locks.",
};

/// The sections of the first commands, and of those that follow.
const SECTIONS: [&str; 2] = ["2 µs", "0.1 µs"];

fn simulations() -> Vec<String> {
    let mut all = crowded();
    let locks = LOCKS.join(",");
    all.extend(OVERCOMMIT.map(|overcommit| short(overcommit, &locks)));
    all.push(format!(
        "--workload rivals-spin --machine {} --threads {} --lock {locks} --settle --seeds 1",
        BARE.0, BARE.1
    ));
    all
}

/// In the order of the commands: threads as the page has them, the section, threads.
fn cases() -> Vec<(String, &'static str, usize)> {
    let crowded =
        |section| OVERCOMMIT.map(move |n| (format!("{} on 1/{n}", CPUS * n), section, CPUS * n));
    let mut all: Vec<_> = SECTIONS.into_iter().flat_map(crowded).collect();
    all.push((format!("{} on {}", BARE.1, BARE.0), SECTIONS[1], BARE.1));
    all
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Threads",
        "Section",
        "Lock",
        "Mops/s",
        "over qspinlock\\_steal",
        "longest wait, µs",
        "Jain",
    ]);
    let mut gains = Vec::new();
    for (command, (name, section, threads)) in cases().into_iter().enumerate() {
        let mut longest = Vec::new();
        for lock in LOCKS {
            let one = evidence.of(command, lock, threads)?;
            let gain = evidence.gain(command, lock, BASE, threads)?;
            let counts: Vec<f64> = one.outcome.by_thread.iter().map(|&n| n as f64).collect();
            longest.push(one.outcome.waits.max() as f64);
            table.row([
                name.clone(),
                section.to_owned(),
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
        gains.push((format!("{name}, {section}"), gain, longest[1] / longest[0]));
    }
    Ok(Answer {
        verdict: verdict(&gains),
        table,
        notes: vec![
            "Jain's index is 1 if all threads acquire as often, and 1/threads if one does.".into(),
            "A thread that has queued waits for all before it, also while these are off their CPU. \
             One that waits by test-and-set waits for the holder alone."
                .into(),
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
        (false, true) => format!(
            "Yes: our unfair queue loses to it. It gains {}.",
            listed(&more)
        ),
        (true, false) => format!("No: it loses {} to the unfair queue.", listed(&less)),
        _ => format!(
            "It depends on the load. Our unfair queue loses to it where it gains {}; it loses {}.",
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
        assert!(verdict(&[case(1.5, 1.0)]).contains("It gains +50.0 %"));
        assert!(verdict(&[case(0.5, 1.0)]).starts_with("No: it loses -50.0 %"));
        let text = verdict(&[case(0.5, 3.0), case(1.5, 1.0)]);
        assert!(
            text.starts_with("It depends")
                && text.contains("gains +50.0 %")
                && text.contains("in 1 of 2 cases"),
            "{text}"
        );
    }
}
