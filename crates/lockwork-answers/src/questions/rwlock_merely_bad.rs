// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Is the rwlock merely bad?

use crate::evidence::Evidence;
use crate::figure::{Figure, Side};
use crate::mails::QRWLOCK;
use crate::published;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::page::escaped;
use lockwork_report::text::{number, signed_percent};

const LOCKS: [&str; 3] = ["ticket_lock", "rwlock", "qrwlock"];
const THREADS: usize = 80;

pub(crate) const QUESTION: Question = Question {
    name: "rwlock-merely-bad",
    title: "Is the queue good, or the rwlock merely bad?",
    asked: QRWLOCK,
    simulations,
    checks: &[],
    answer,
    limit: "The rwlock is ours, written as the kernel's is described: a waiting writer tries by \
            compare-and-exchange as soon as it sees the word at 0. A real machine orders such \
            attempts by rules that the model does not have; that is where the difference from \
            the published figures is.",
};

fn simulations() -> Vec<String> {
    vec![
        format!(
            "--workload mb-cache --machine dl980 --threads {THREADS} --lock {} --settle --seeds 1",
            LOCKS.join(",")
        ),
        format!(
            "--workload rw-mix-90 --machine dl980 --threads {THREADS} --read-ratio 1 --lock \
             rwlock,qrwlock --settle --seeds 1"
        ),
    ]
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Load",
        "Lock",
        "Mops/s",
        "change",
        "published",
        "lines",
        "atomic operations, also failed ones",
    ]);
    for (command, load) in ["all exclusive", "all shared"].iter().enumerate() {
        let locks = &LOCKS[command..];
        for &lock in locks {
            let one = evidence.of(command, lock, THREADS)?;
            let change = match lock == locks[0] {
                true => String::new(),
                false => evidence.gain(command, lock, locks[0], THREADS)?.change(),
            };
            let published = match command == 0 && lock != LOCKS[0] {
                true => signed_percent(published::mb_cache(lock, false)?),
                false => String::new(),
            };
            table.row([
                (*load).to_owned(),
                escaped(lock),
                Figure::rate(one).text(),
                change,
                published,
                number(one.each(one.outcome.counts.lines_moved() as f64)),
                number(one.each(one.outcome.counts.rmws as f64)),
            ]);
        }
    }
    Ok(Answer {
        verdict: verdict(
            evidence.gain(0, "rwlock", "ticket_lock", THREADS)?,
            published::mb_cache("rwlock", false)?,
            evidence.gain(1, "qrwlock", "rwlock", THREADS)?,
        ),
        table,
        notes: vec!["The change is against the first lock of the same load.".into()],
    })
}

/// The rwlock over the ticket lock, simulated and as a published share; and the queued
/// lock over the rwlock if all only read.
fn verdict(rwlock: Figure, published: f64, readers: Figure) -> String {
    let sided = match published {
        p if p > 0.02 => Side::More,
        p if p < -0.02 => Side::Less,
        _ => Side::Even,
    };
    let (change, printed) = (rwlock.change(), signed_percent(published));
    let writers = match rwlock.side() {
        side if side != sided => format!(
            "The simulator cannot tell for writers: it has {change} for the rwlock over the ticket \
             lock, and the mail measured {printed}.{}",
            match sided {
                Side::More => " By the mail's own figure the rwlock is not merely bad.",
                _ => "",
            }
        ),
        Side::More => format!(
            "The rwlock is not merely bad: used by writers only it is faster than the ticket \
             lock, {change} (published {printed})."
        ),
        _ => format!(
            "With writers only the rwlock is no better than the ticket lock: {change} (published \
             {printed})."
        ),
    };
    let readers = match readers.side() {
        Side::Even => format!(
            "With readers only the queue changes nothing ({}).",
            readers.change()
        ),
        Side::More => format!("With readers only the queue gains {}.", readers.change()),
        Side::Less => format!("With readers only the queue loses {}.", readers.change()),
    };
    format!("{writers} {readers}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn against_the_published_sign_there_is_no_answer() {
        let (more, even, less) = (ratio(1.5, 0.01), ratio(1.0, 0.01), ratio(0.6, 0.01));
        let text = verdict(less, 0.633, even);
        assert!(text.starts_with("The simulator cannot tell"), "{text}");
        assert!(
            text.contains("+63.3 %") && text.contains("changes nothing"),
            "{text}"
        );
        assert!(verdict(more, 0.633, less).starts_with("The rwlock is not merely bad"));
        assert!(verdict(less, -0.5, more).contains("no better"));
    }
}
