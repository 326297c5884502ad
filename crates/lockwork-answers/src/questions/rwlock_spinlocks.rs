// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Why not for spinlocks?

use crate::evidence::Evidence;
use crate::figure::{number, Figure, Side};
use crate::mails::QRWLOCK;
use crate::question::{Answer, Question, Table};
use anyhow::{Context, Result};
use lockwork_report::page::escaped;

const LOCKS: [&str; 4] = ["ticket_lock", "qrwlock", "qspinlock_fair", "mcs_lock"];
const THREADS: [usize; 2] = [1, 80];

pub(crate) const QUESTION: Question = Question {
    name: "rwlock-why-not-spinlocks",
    title: "If a queue is that good, why not for spinlocks?",
    asked: QRWLOCK,
    simulations,
    checks: &[],
    answer,
    limit: "As with `rwlock-why-faster`. What else a spinlock has to fit into (its size in \
            structures, virtual machines) is not in these figures; for the latter see the \
            questions on the unfair lock.",
};

fn simulations() -> Vec<String> {
    vec![format!(
        "--workload mb-cache --machine dl980 --threads 1,80 --lock {} --settle --seeds 1",
        LOCKS.join(",")
    )]
}

fn size(lock: &str) -> Result<usize> {
    let all = lockwork_catalogue::catalogue();
    let kind = all.iter().find(|kind| kind.name() == lock);
    Ok(kind.with_context(|| format!("no {lock}"))?.size())
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Lock",
        "bytes",
        "1 thread, Mops/s",
        "80 threads, Mops/s",
        "over ticket\\_lock",
        "lines",
    ]);
    let [one, many] = THREADS;
    for lock in LOCKS {
        let busy = evidence.of(0, lock, many)?;
        let gain = evidence.gain(0, lock, LOCKS[0], many)?;
        table.row([
            escaped(lock),
            size(lock)?.to_string(),
            evidence.rate(0, lock, one)?.text(),
            Figure::rate(busy).text(),
            if lock == LOCKS[0] {
                String::new()
            } else {
                gain.change()
            },
            number(busy.each(busy.outcome.counts.lines_moved() as f64)),
        ]);
    }
    let queued = evidence.gain(0, "qspinlock_fair", "qrwlock", many)?;
    let gain = evidence.gain(0, "qspinlock_fair", LOCKS[0], many)?;
    Ok(Answer {
        verdict: verdict(gain, queued, [size("qspinlock_fair")?, size("qrwlock")?]),
        table,
        notes: Vec::new(),
    })
}

/// The queued spinlock over the ticket lock, and over the queued read/write lock.
fn verdict(gain: Figure, queued: Figure, bytes: [usize; 2]) -> String {
    let change = gain.change();
    if gain.side() != Side::More {
        return format!("Because a queued spinlock gains nothing there: {change}.");
    }
    let beside = match queued.side() {
        Side::More => format!(
            "more than the read/write lock's write side ({} over it)",
            queued.change()
        ),
        Side::Less => format!(
            "less than the read/write lock's write side ({} against it)",
            queued.change()
        ),
        Side::Even => "as much as the read/write lock's write side".to_owned(),
    };
    format!(
        "Nothing speaks against it: a queued spinlock gains {change} over the ticket lock, {beside}, \
         in {} bytes in place of {}. The kernel's spinlocks became queued ones later.",
        bytes[0], bytes[1]
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn a_spinlock_that_gains_nothing_is_no_reason() {
        let (more, even, less) = (ratio(1.5, 0.01), ratio(1.0, 0.01), ratio(0.8, 0.01));
        assert!(verdict(even, even, [4, 8]).starts_with("Because"));
        assert!(verdict(more, even, [4, 8]).contains("as much as"));
        assert!(verdict(more, less, [4, 8]).contains("less than"));
        assert!(verdict(more, more, [4, 8]).contains("more than"));
        assert!(verdict(more, more, [4, 8]).contains("4 bytes in place of 8"));
    }

    #[test]
    fn the_sizes_are_those_of_the_catalogue() {
        assert_eq!(
            (size("qspinlock_fair").ok(), size("qrwlock").ok()),
            (Some(4), Some(8))
        );
    }
}
