// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Why is the queued lock faster?

use crate::evidence::Evidence;
use crate::figure::{times, Figure, Side};
use crate::mails::QRWLOCK;
use crate::published;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::page::escaped;
use lockwork_report::text::{number, signed_percent};
use lockwork_sim::Simulated;

const THREADS: [usize; 3] = [20, 40, 80];
const BASE: &str = "ticket_lock";
/// Fewer lines than this share of the other's explain something.
const FEWER: f64 = 1.25;

pub(crate) const QUESTION: Question = Question {
    name: "rwlock-why-faster",
    title: "Why is the queued read/write lock faster, where nobody reads?",
    asked: QRWLOCK,
    simulations,
    checks: &[],
    answer,
    limit: "The load is AIM7's disk on ext4 as `mb-cache` has it: think time and section are \
            derived or assumed, because the mail has shares of CPU time only. Published are 200 \
            to 1000 users on 80 CPUs; simulated is one thread for each CPU.",
};

fn simulations() -> Vec<String> {
    vec![
        "--workload mb-cache --machine dl980 --threads 20,40,80 --lock ticket_lock,qrwlock \
         --settle --seeds 1"
            .to_owned(),
    ]
}

fn lines(of: &Simulated) -> f64 {
    of.each(of.outcome.counts.lines_moved() as f64)
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Threads",
        "Lock",
        "Mops/s",
        "over ticket_lock",
        "lines",
        "atomic operations",
        "wait for lines, µs",
    ]);
    table.header[3] = escaped(&table.header[3]);
    let mut since = None;
    for threads in THREADS {
        for lock in [BASE, "qrwlock"] {
            let one = evidence.of(0, lock, threads)?;
            let gain = evidence.gain(0, lock, BASE, threads)?;
            if gain.side() == Side::More {
                since.get_or_insert(threads);
            }
            table.row([
                threads.to_string(),
                escaped(lock),
                Figure::rate(one).text(),
                if lock == BASE {
                    String::new()
                } else {
                    gain.change()
                },
                number(lines(one)),
                number(one.each(one.outcome.counts.rmws as f64)),
                number(one.each(one.outcome.split.transfer) / 1e3),
            ]);
        }
    }
    let most = THREADS[THREADS.len() - 1];
    let gain = evidence.gain(0, "qrwlock", BASE, most)?;
    let [stock, queued] = [BASE, "qrwlock"].map(|lock| evidence.of(0, lock, most).map(lines));
    Ok(Answer {
        verdict: verdict(gain, stock?, queued?, since),
        table,
        notes: vec![format!(
            "Lines, atomic operations and waits are for each acquisition. Published for 200 to \
             1000 users without hyper-threading: {}.",
            signed_percent(published::mb_cache("qrwlock", false)?)
        )],
    })
}

/// `stock` and `queued`: lines for each acquisition.
fn verdict(gain: Figure, stock: f64, queued: f64, since: Option<usize>) -> String {
    let most = THREADS[THREADS.len() - 1];
    let change = gain.change();
    if gain.side() != Side::More {
        return format!("Here it is not faster: {change} with {most} threads.");
    }
    let from = match since {
        Some(threads) if threads < most => format!(" It begins with {threads} threads."),
        _ => " With fewer threads, which seldom meet, there is no difference.".to_owned(),
    };
    match stock > FEWER * queued {
        true => format!(
            "Because its waiters do not all watch one word: with {most} threads an acquisition \
             moves {} cache lines in place of {}, {} fewer, and the lock passes on sooner \
             ({change}).{from}",
            number(queued),
            number(stock),
            times(stock / queued)
        ),
        false => format!(
            "It is faster ({change} with {most} threads), but not because of cache lines: {} in \
             place of {} for each acquisition.{from}",
            number(queued),
            number(stock)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn the_words_follow_from_the_figures() {
        let faster = ratio(1.3, 0.01);
        let lines = verdict(faster, 80.0, 20.0, Some(80));
        assert!(
            lines.starts_with("Because") && lines.contains("4.0 times fewer"),
            "{lines}"
        );
        assert!(lines.contains("With fewer threads"), "{lines}");
        assert!(verdict(faster, 80.0, 20.0, Some(40)).contains("begins with 40"));
        assert!(verdict(faster, 20.0, 20.0, None).contains("not because of cache lines"));
        assert!(verdict(ratio(1.0, 0.01), 80.0, 20.0, None).contains("not faster"));
    }
}
