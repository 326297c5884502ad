// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What does hyper-threading do?

use crate::evidence::Evidence;
use crate::figure::{Figure, Side};
use crate::mails::QRWLOCK;
use crate::published;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::text::{grouped, signed_percent};

/// Workload, what the page calls it, what is compared.
const LOADS: [(&str, &str, [&str; 2]); 2] = [
    (
        "j-state-lock",
        "fserver, 25 % writers",
        ["qrwlock", "rwlock"],
    ),
    (
        "mb-cache",
        "disk, all exclusive",
        ["qrwlock", "ticket_lock"],
    ),
];
/// Without, and with.
const THREADS: [usize; 2] = [80, 160];

pub(crate) const QUESTION: Question = Question {
    name: "rwlock-hyper-threading",
    title: "What does hyper-threading do, and are the mail's labels swapped?",
    asked: QRWLOCK,
    simulations,
    checks: &[],
    answer,
    limit: "What two threads of a core take from each other is one assumed number \
            (`smt_slowdown` of `dl980`). The share of writers of fserver is assumed as well, and its think time is fitted to \
            the 1 to 2 % of CPU time in the lock that the author names without hyper-threading. \
            fserver and new_fserver are one load here, so their difference is out of reach. The \
            rwlock's losses are too large ([fidelity.md](fidelity.md), `j-state`).",
};

fn simulations() -> Vec<String> {
    let command = |(load, _, locks): &(&str, &str, [&str; 2])| {
        format!(
            "--workload {load} --machine dl980 --threads 80,160 --lock {},{} --settle --seeds 1",
            locks[1], locks[0]
        )
    };
    LOADS.iter().map(command).collect()
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Load",
        "Hyper-threading",
        "qrwlock over",
        "change",
        "CPU time in the other lock",
        "published",
    ]);
    for (command, (_, name, [queued, base])) in LOADS.iter().enumerate() {
        for threads in THREADS {
            let smt = threads == THREADS[1];
            let outcome = &evidence.of(command, base, threads)?.outcome;
            let published = match command {
                0 => published::j_state("fserver", smt)?,
                _ => published::mb_cache("qrwlock", smt)?,
            };
            table.row([
                (*name).to_owned(),
                if smt { "on" } else { "off" }.to_owned(),
                lockwork_report::page::escaped(base),
                evidence.gain(command, queued, base, threads)?.change(),
                format!(
                    "{} %",
                    grouped(outcome.ns_in_lock / outcome.ns_busy * 100.0, 1)
                ),
                signed_percent(published),
            ]);
        }
    }
    let with = |command: usize| -> Result<Figure> {
        let [queued, base] = LOADS[command].2;
        let [off, on] = THREADS.map(|threads| evidence.gain(command, queued, base, threads));
        Ok(on?.over(off?))
    };
    let printed = [
        ("fserver", true),
        ("fserver", false),
        ("new_fserver", true),
        ("new_fserver", false),
    ]
    .map(|(load, smt)| published::j_state(load, smt));
    let [on, off, new_on, new_off] = printed;
    let [disk_off, disk_on] = [false, true].map(|smt| published::mb_cache("qrwlock", smt));
    let disk_printed = (1.0 + disk_on?) / (1.0 + disk_off?);
    Ok(Answer {
        verdict: verdict(
            with(0)?,
            with(1)?,
            disk_printed,
            [on? > off?, new_on? > new_off?],
        ),
        table,
        notes: vec![
            "Published are 200 to 1000 users; simulated is a thread for each CPU. Off: 80 \
             threads, one on each core; on: 160."
                .into(),
        ],
    })
}

/// The gains with hyper-threading over those without, of the disk load also as published; and whether the mail prints the
/// larger gain for on, of both loads.
fn verdict(journal: Figure, disk: Figure, printed: f64, larger_on: [bool; 2]) -> String {
    let word = |of: Figure| match of.side() {
        Side::More => "larger",
        Side::Less => "smaller",
        Side::Even => "no different",
    };
    let mut text = format!(
        "With hyper-threading the gain is {} on the journal's lock, and {} on the disk load's \
         (published: {} there, {}).",
        word(journal),
        word(disk),
        if printed < 1.0 { "smaller" } else { "larger" },
        signed_percent(printed - 1.0)
    );
    text += match (journal.side(), larger_on) {
        (Side::More, [true, false]) | (Side::Less, [false, true]) => {
            " That fits the mail's labels of fserver, and not those of new\\_fserver, which \
             Gleixner took for swapped."
        }
        (Side::Less, [true, false]) | (Side::More, [false, true]) => {
            " That fits the mail's labels of new\\_fserver, and not those of fserver."
        }
        _ => " That says nothing of the mail's labels.",
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn the_labels_are_judged_by_the_sign() {
        let (more, even, less) = (ratio(1.5, 0.01), ratio(1.0, 0.01), ratio(0.6, 0.01));
        let printed = [true, false];
        assert!(verdict(more, less, 0.98, printed).contains("labels of fserver, and not"));
        assert!(verdict(less, less, 0.98, printed).contains("labels of new\\_fserver, and not"));
        assert!(verdict(even, even, 0.98, printed).contains("says nothing"));
        let text = verdict(more, even, 0.98, printed);
        assert!(
            text.contains("larger on the journal's lock, and no different"),
            "{text}"
        );
        assert!(
            text.contains("(published: smaller there, -2.0 %)"),
            "{text}"
        );
    }
}
