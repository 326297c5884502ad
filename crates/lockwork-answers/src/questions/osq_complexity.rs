// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How complex is it?

use crate::evidence::Evidence;
use crate::figure::times;
use crate::mails::NUMA_OSQ;
use crate::question::{Answer, Question, Table};
use crate::sources::{lines_of_published, Size};
use anyhow::Result;
use lockwork_report::text::whole;

pub(crate) const QUESTION: Question = Question {
    name: "osq-complexity",
    title: "Is it too complex for what it brings?",
    asked: NUMA_OSQ,
    simulations,
    checks: &["osq_lock numa_osq --client exclusion --bound 3x1@1 --fuzz 0"],
    answer,
    limit: "Counted is ours, which has other faults and mends than the published code: that \
            adds a control file and a periodic worker, and is not here to be counted. Lines are no \
            measure of how hard code is to read. What it brings is in the other questions. \
            `lockwork check numa_osq --list` has the clients and mistakes, `lockwork check \
            --pairs` the orderings.",
};

fn simulations() -> Vec<String> {
    Vec::new()
}

/// The files of both, and those that both use.
fn sizes() -> [Size; 2] {
    let shared = |stem: &str| stem.starts_with("cancel_");
    // A user of the queue is no part of it.
    let numa = |stem: &str| stem.starts_with("numa_") && stem != "numa_spinlock";
    [
        Size::of(|stem| stem == "osq_lock" || shared(stem)),
        Size::of(|stem| numa(stem) || shared(stem)),
    ]
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let [plain, numa] = sizes();
    let executions = |lock| evidence.client(lock, "exclusion").map(|run| run.executions);
    let executions = [executions("osq_lock")?, executions("numa_osq")?];
    let mut table = Table::new(["", "osq\\_lock", "numa\\_osq", "times"]);
    let counts = |of: &Size| {
        [
            of.files,
            of.lines,
            of.accesses,
            of.orderings,
            of.clients,
            of.mistakes,
        ]
    };
    let names = [
        "files in `locks/`",
        "lines of code",
        "accesses to shared memory",
        "orderings with a tag",
        "clients of the model checker",
        "mistakes in logic that these must find",
    ];
    let mut row = |name: &str, a: u64, b: u64| {
        table.row([
            name.to_owned(),
            whole(a),
            whole(b),
            times(b as f64 / a.max(1) as f64),
        ]);
    };
    for (name, (a, b)) in names
        .iter()
        .zip(counts(&plain).into_iter().zip(counts(&numa)))
    {
        row(name, a as u64, b as u64);
    }
    row(
        "executions of `exclusion`, 3x1@1",
        executions[0],
        executions[1],
    );
    let holds = evidence.all_hold();
    Ok(Answer {
        verdict: verdict(&plain, &numa, executions, holds),
        table,
        notes: vec![
            format!(
                "The published protocol, as the simulator has it for comparison (`numa_osq_2024`: \
                 no control file, no periodic worker, its faults kept), has {} lines.",
                whole(lines_of_published() as u64)
            ),
            "Lines without comments. In both columns: how a waiter leaves a queue \
             (`cancel_queue.h`, `cancel_retire.h`)."
                .into(),
        ],
    })
}

fn verdict(plain: &Size, numa: &Size, executions: [u64; 2], holds: bool) -> String {
    let factor = |a: usize, b: usize| b as f64 / a.max(1) as f64;
    let lines = factor(plain.lines, numa.lines);
    let head = match lines {
        f if f < 1.5 => "It is hardly larger than the OSQ",
        f if f < 4.0 => "It is larger than the OSQ",
        _ => "It is far larger than the OSQ",
    };
    let proof = match holds {
        true => "it passes",
        false => "it fails",
    };
    format!(
        "{head}: {} the lines, {} the orderings, and {} the executions of the same client at the \
         same bound, which {proof}. Whether that is too much is no matter of figures.",
        times(lines),
        times(factor(plain.orderings, numa.orderings)),
        times(executions[1] as f64 / executions[0].max(1) as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_locks_are_found_in_the_sources() {
        let [plain, numa] = sizes();
        assert!(
            plain.lines > 50 && plain.orderings > 1 && plain.clients > 5,
            "{plain:?}"
        );
        assert!(numa.lines > plain.lines && numa.files > 4, "{numa:?}");
    }

    #[test]
    fn the_words_follow_from_the_lines() {
        let size = |lines| Size {
            lines,
            orderings: 2,
            ..Size::default()
        };
        let words = |lines| verdict(&size(100), &size(lines), [10, 30], true);
        assert!(words(120).starts_with("It is hardly larger"));
        assert!(words(300).starts_with("It is larger"));
        assert!(words(900).starts_with("It is far larger than the OSQ: 9.0 times the lines"));
        assert!(words(900).contains("3.0 times the executions") && words(900).contains("passes"));
    }
}
