// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Why not for spinlocks?

use crate::evidence::Evidence;
use crate::figure::{listed, Figure, Side};
use crate::mails::QRWLOCK;
use crate::question::{Answer, Question, Table};
use anyhow::{Context, Result};
use lockwork_report::page::escaped;
use lockwork_report::text::{counted, number};

const LOCKS: [&str; 4] = ["ticket_lock", "qrwlock", "qspinlock_fair", "mcs_lock"];
/// Where they seldom meet, in a load of short sections.
const FEW: [usize; 3] = [1, 2, 4];
const MANY: usize = 80;

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
    [
        "rivals-spin --machine dl980 --threads 1,2,4",
        "mb-cache --machine dl980 --threads 80",
    ]
    .map(|load| {
        format!(
            "--workload {load} --lock {} --settle --seeds 1",
            LOCKS.join(",")
        )
    })
    .to_vec()
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
        "1 thread",
        "2",
        "4",
        "mb-cache, 80",
        "over ticket\\_lock",
        "lines",
    ]);
    for lock in LOCKS {
        let busy = evidence.of(1, lock, MANY)?;
        let gain = evidence.gain(1, lock, LOCKS[0], MANY)?;
        let mut cells = vec![escaped(lock), size(lock)?.to_string()];
        for threads in FEW {
            cells.push(evidence.rate(0, lock, threads)?.text());
        }
        cells.extend([
            Figure::rate(busy).text(),
            if lock == LOCKS[0] {
                String::new()
            } else {
                gain.change()
            },
            number(busy.each(busy.outcome.counts.lines_moved() as f64)),
        ]);
        table.row(cells);
    }
    let queued = evidence.gain(1, "qspinlock_fair", "qrwlock", MANY)?;
    let gain = evidence.gain(1, "qspinlock_fair", LOCKS[0], MANY)?;
    let mut few = Vec::new();
    for threads in FEW {
        few.push(evidence.gain(0, "qspinlock_fair", LOCKS[0], threads)?);
    }
    Ok(Answer {
        verdict: verdict(
            gain,
            queued,
            &few,
            [size("qspinlock_fair")?, size("qrwlock")?],
        ),
        table,
        notes: vec!["Rates are Mops/s; lines are for each acquisition of the last load.".into()],
    })
}

/// The queued spinlock over the ticket lock, and over the queued read/write lock; and over
/// the ticket lock with few threads.
fn verdict(gain: Figure, queued: Figure, few: &[Figure], bytes: [usize; 2]) -> String {
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
    let lost: Vec<String> = FEW
        .iter()
        .zip(few)
        .filter(|(_, gain)| gain.side() == Side::Less)
        .map(|(threads, gain)| format!("{} with {}", gain.change(), counted(*threads, "thread")))
        .collect();
    let few = match lost.is_empty() {
        true => "With 1 to 4 threads it loses nothing".to_owned(),
        false => format!("But it loses {}", listed(&lost)),
    };
    format!(
        "It is good for them too: a queued spinlock gains {change} over the ticket lock, {beside}, \
         in {} bytes in place of {}. {few}. The kernel's spinlocks became queued ones later.",
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
        let words = |gain, queued| verdict(gain, queued, &[even, less, more], [4, 8]);
        assert!(words(even, even).starts_with("Because"));
        assert!(words(more, even).contains("as much as"));
        assert!(words(more, less).contains("less than"));
        assert!(words(more, more).contains("more than"));
        assert!(words(more, more).contains("4 bytes in place of 8"));
        assert!(words(more, more).contains("But it loses -20.0 % ±0.8 with 2 threads"));
        assert!(verdict(more, more, &[even], [4, 8]).contains("loses nothing"));
    }

    #[test]
    fn the_sizes_are_those_of_the_catalogue() {
        assert_eq!(
            (size("qspinlock_fair").ok(), size("qrwlock").ok()),
            (Some(4), Some(8))
        );
    }
}
