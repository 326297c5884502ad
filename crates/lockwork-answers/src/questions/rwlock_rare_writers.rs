// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What if writers are rare?

use crate::evidence::Evidence;
use crate::figure::{listed, times, Figure, Side};
use crate::mails::QRWLOCK;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::text::number;

/// The shares of readers, and what the page says of the writers.
const SHARES: [(&str, &str); 4] = [
    ("0.9", "1 in 10"),
    ("0.99", "1 in 100"),
    ("0.999", "1 in 1,000"),
    ("0.9999", "1 in 10,000"),
];
const THREADS: usize = 80;
const LOCKS: [&str; 2] = ["rwlock", "qrwlock"];

pub(crate) const QUESTION: Question = Question {
    name: "rwlock-rare-writers",
    title: "What does it cost or bring where writers are rare?",
    asked: QRWLOCK,
    simulations,
    checks: &[],
    answer,
    limit: "As with `rwlock-readers`. A mean of the writers' waits rests on few writers where \
            they are 1 in 10,000. Waits have no interval. Locks that give each CPU its own \
            count of readers are not compared.",
};

fn simulations() -> Vec<String> {
    let command = |(share, _): &(&str, &str)| {
        format!(
            "--workload rw-mix-90 --machine dl980 --threads {THREADS} --read-ratio {share} \
             --measure-us 50000 --settle --seeds 1"
        )
    };
    SHARES.iter().map(command).collect()
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Writers",
        "Lock",
        "Mops/s",
        "qrwlock over rwlock",
        "readers wait, µs",
        "writers wait, µs",
        "longest of a writer, µs",
    ]);
    let mut gains = Vec::new();
    let mut waits = Vec::new();
    for (command, (_, writers)) in SHARES.iter().enumerate() {
        let gain = evidence.gain(command, "qrwlock", "rwlock", THREADS)?;
        let mut of_writers = Vec::new();
        for lock in LOCKS {
            let one = evidence.of(command, lock, THREADS)?;
            let write = one.outcome.write_waits();
            of_writers.push(write.mean());
            table.row([
                (*writers).to_owned(),
                lock.to_owned(),
                Figure::rate(one).text(),
                if lock == LOCKS[0] {
                    String::new()
                } else {
                    gain.change()
                },
                number(one.outcome.read_waits.mean() / 1e3),
                number(write.mean() / 1e3),
                number(write.max() as f64 / 1e3),
            ]);
        }
        gains.push(((*writers).to_owned(), gain));
        waits.push(((*writers).to_owned(), of_writers[0] / of_writers[1]));
    }
    Ok(Answer {
        verdict: verdict(&gains, &waits),
        table,
        notes: Vec::new(),
    })
}

/// `waits`: how many times as long a writer waits with the rwlock.
fn verdict(gains: &[(String, Figure)], waits: &[(String, f64)]) -> String {
    let of = |side| -> Vec<String> {
        let all = gains.iter().filter(|(_, gain)| gain.side() == side);
        all.map(|(writers, gain)| format!("{} ({writers})", gain.change()))
            .collect()
    };
    let (more, less) = (of(Side::More), of(Side::Less));
    let head = match (more.is_empty(), less.is_empty()) {
        (true, true) => "Nothing in throughput.".to_owned(),
        (false, true) => format!("It brings throughput: {}.", listed(&more)),
        (true, false) => format!("It costs throughput: {}.", listed(&less)),
        _ => format!(
            "It brings throughput with {}, and costs some with {}.",
            listed(&more),
            listed(&less)
        ),
    };
    let longer = |(writers, factor): &(String, f64)| match *factor >= 1.0 {
        true => format!("{} as long ({writers})", times(*factor)),
        false => format!("less long, by {} ({writers})", times(1.0 / factor)),
    };
    let waits: Vec<String> = waits.iter().map(longer).collect();
    format!("{head} With the rwlock a writer waits {}.", listed(&waits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn throughput_and_waits_are_told_apart() {
        let one = |value| [("1 in 10".to_owned(), ratio(value, 0.01))];
        let wait = |factor| [("1 in 10".to_owned(), factor)];
        let text = verdict(&one(2.0), &wait(8.0));
        assert!(text.starts_with("It brings throughput: +100.0 %"), "{text}");
        assert!(
            text.ends_with("waits 8.0 times as long (1 in 10)."),
            "{text}"
        );
        let text = verdict(&one(0.9), &wait(0.5));
        assert!(
            text.starts_with("It costs") && text.contains("by 2.0 times"),
            "{text}"
        );
        assert!(verdict(&one(1.0), &wait(1.0)).starts_with("Nothing"));
    }
}
