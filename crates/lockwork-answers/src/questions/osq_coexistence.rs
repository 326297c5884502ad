// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Can it live beside the stock OSQ?

use crate::evidence::Evidence;
use crate::figure::{listed, Figure, Side};
use crate::mails::NUMA_OSQ;
use crate::question::{Answer, Question, Table};
use anyhow::Result;

const THREADS: usize = 128;
/// What is set, and what the page says of it.
const SETTINGS: [(&str, &str); 3] = [
    ("", "as it is"),
    (" --set dynamic_enable=0", "switched off"),
    (" --set osq_pool=0", "no entry left in the pool"),
];
const CLIENTS: [(&str, &str); 4] = [
    ("switch_off", "Switched off while the queue is divided"),
    ("no_pool", "No entry in the pool"),
    ("shared", "Two locks compete for one entry"),
    ("clusters_change", "The number of clusters changes"),
];

pub(crate) const QUESTION: Question = Question {
    name: "osq-coexistence",
    title: "Can it live beside the stock OSQ, and be switched off?",
    asked: NUMA_OSQ,
    simulations,
    checks: &[
        "numa_osq --client switch_off --client no_pool --client shared --client \
               clusters_change --shallow --fuzz 0",
    ],
    answer,
    limit:
        "These simulations have one lock: that many locks share the pool's 64 entries is in the model \
            checker's client `shared` only, with two. Two kinds of OSQ in one kernel, chosen for \
            each lock, are not simulated. `--shallow` is one preemption less than the bound of \
            `lockwork check`.",
};

fn simulations() -> Vec<String> {
    let command = |(set, _): &(&str, &str)| {
        format!(
            "--workload rivals-sleep --machine epyc-7763-nps1 --threads {THREADS} --lock \
             mutex,mutex_numa{set} --settle --seeds 1"
        )
    };
    SETTINGS.iter().map(command).collect()
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "numa\\_osq",
        "mutex, Mops/s",
        "mutex\\_numa, Mops/s",
        "change",
    ]);
    let mut gains = Vec::new();
    for (command, (_, name)) in SETTINGS.iter().enumerate() {
        let gain = evidence.gain(command, "mutex_numa", "mutex", THREADS)?;
        table.row([
            (*name).to_owned(),
            evidence.rate(command, "mutex", THREADS)?.text(),
            evidence.rate(command, "mutex_numa", THREADS)?.text(),
            gain.change(),
        ]);
        gains.push((*name, gain));
    }
    let mut notes = Vec::new();
    let mut failed = Vec::new();
    for (client, what) in CLIENTS {
        let run = evidence.client("numa_osq", client)?;
        notes.push(format!("{what}: {}.", run.text()));
        if !run.holds() {
            failed.push(client);
        }
    }
    Ok(Answer {
        verdict: verdict(&gains, &failed),
        table,
        notes: vec![notes.join(" ")],
    })
}

fn verdict(gains: &[(&str, Figure)], failed: &[&str]) -> String {
    let undivided = &gains[1..];
    let losses: Vec<String> = undivided
        .iter()
        .filter(|(_, gain)| gain.side() == Side::Less)
        .map(|(name, gain)| format!("{name} ({})", gain.change()))
        .collect();
    let changes: Vec<String> = undivided
        .iter()
        .map(|(name, gain)| format!("{} {name}", gain.change()))
        .collect();
    let speed = match losses.is_empty() {
        true => format!(
            "Without its division it is no slower than the stock queue: {}",
            listed(&changes)
        ),
        false => format!(
            "Without its division it is slower than the stock queue: {}",
            listed(&losses)
        ),
    };
    let proof = match failed {
        [] => "In all four cases that were checked no waiter is lost, and one holds at a time."
            .to_owned(),
        _ => format!("It fails in the model checker: {}.", listed(failed)),
    };
    format!("{speed} ({} divided). {proof}", gains[0].1.change())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn a_loss_without_division_and_a_failed_client_are_told() {
        let gains = |off| {
            [
                ("as it is", ratio(2.0, 0.01)),
                ("switched off", ratio(off, 0.01)),
                ("no entry left in the pool", ratio(1.0, 0.01)),
            ]
        };
        let text = verdict(&gains(1.0), &[]);
        assert!(
            text.contains("no slower") && text.contains("all four cases"),
            "{text}"
        );
        assert!(text.contains("(+100.0 % ±2.0 divided)"), "{text}");
        let text = verdict(&gains(0.8), &["shared"]);
        assert!(
            text.contains("slower than the stock queue: switched off"),
            "{text}"
        );
        assert!(
            text.contains("fails in the model checker: shared"),
            "{text}"
        );
    }
}
