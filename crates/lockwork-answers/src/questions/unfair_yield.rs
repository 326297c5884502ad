// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Is a directed yield enough?

use super::unfair_bound::{guests, CPUS};
use crate::evidence::Evidence;
use crate::figure::{number, Figure, Side};
use crate::mails::UNFAIR;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::page::escaped;

/// A kick is the only yield that is directed here: what never halts is never kicked.
const LOCKS: [&str; 3] = ["qspinlock_fair", "qspinlock_steal", "qspinlock_pv"];
const OVERCOMMIT: [usize; 2] = [2, 3];
const SWITCH: [&str; 2] = ["off", "on"];

pub(crate) const QUESTION: Question = Question {
    name: "unfair-directed-yield",
    title: "Would a directed yield do, in place of an unfair lock?",
    asked: UNFAIR,
    simulations,
    checks: &[],
    answer,
    limit: "A hypervisor that finds spinning virtual CPUs by itself (pause-loop exiting), and \
            guesses whom to run in their place, is not modelled: whether that would do, the \
            simulator cannot answer. Simulated is a yield to a virtual CPU that a guest names \
            by a kick. Costs of a kick, and slices, are assumed.",
};

/// Without and with, of 2 and then of 3 virtual CPUs.
fn simulations() -> Vec<String> {
    let locks = LOCKS.join(",");
    let mut all = Vec::new();
    for overcommit in OVERCOMMIT {
        for switch in SWITCH {
            let command = guests(overcommit, &locks);
            all.push(format!("{command} --directed-yield {switch}"));
        }
    }
    all
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Lock",
        "Threads",
        "off, Mops/s",
        "on, Mops/s",
        "change",
        "longest wait, off, µs",
        "on, µs",
    ]);
    let mut effect = Vec::new();
    for (at, overcommit) in OVERCOMMIT.into_iter().enumerate() {
        let threads = CPUS * overcommit;
        let [off, on] = [2 * at, 2 * at + 1];
        for lock in LOCKS {
            let both = [
                evidence.of(off, lock, threads)?,
                evidence.of(on, lock, threads)?,
            ];
            let change = Figure::rate(both[1]).over(Figure::rate(both[0]));
            let longest = both.map(|one| number(one.outcome.waits.max() as f64 / 1e3));
            let [without, with] = both.map(|one| Figure::rate(one).text());
            let [longest_off, longest_on] = longest;
            table.row([
                escaped(lock),
                format!("{threads} on 1/{overcommit}"),
                without,
                with,
                change.change(),
                longest_off,
                longest_on,
            ]);
            if lock == "qspinlock_pv" {
                effect.push(change);
            }
        }
    }
    let (last, threads) = (
        2 * OVERCOMMIT.len() - 1,
        CPUS * OVERCOMMIT[OVERCOMMIT.len() - 1],
    );
    let fair = evidence.gain(last, "qspinlock_fair", "qspinlock_steal", threads)?;
    let kicked = evidence.gain(last, "qspinlock_pv", "qspinlock_steal", threads)?;
    Ok(Answer {
        verdict: verdict(&effect, fair, kicked),
        table,
        notes: Vec::new(),
    })
}

/// What the yield changes for the lock that kicks; and with it, and most virtual CPUs, the
/// fair lock and that one over the one that is unfair.
fn verdict(effect: &[Figure], fair: Figure, kicked: Figure) -> String {
    let side = |wanted| effect.iter().any(|one| one.side() == wanted);
    let head = match (side(Side::More), side(Side::Less)) {
        (false, false) => "A directed yield changes nothing",
        (true, false) => "A directed yield helps",
        (false, true) => "A directed yield harms",
        (true, true) => "A directed yield helps here and harms there",
    };
    let changes: Vec<String> = effect.iter().map(|one| one.change()).collect();
    let fair = match fair.side() {
        Side::Less => format!(
            "It is no substitute for the fair lock, whose waiters halt nowhere and so are never \
             kicked: that has {} against the unfair one",
            fair.change()
        ),
        _ => format!(
            "The fair lock is no slower than the unfair one: {}",
            fair.change()
        ),
    };
    let kicked = match kicked.side() {
        Side::More => "faster than",
        Side::Less => "slower than",
        Side::Even => "as fast as",
    };
    format!(
        "{head} the lock that halts and kicks ({}), which with it is {kicked} the unfair one. {fair}.",
        changes.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn help_harm_and_nothing() {
        let (more, even, less) = (ratio(1.5, 0.01), ratio(1.0, 0.01), ratio(0.1, 0.01));
        let text = verdict(&[more, even], less, even);
        assert!(
            text.starts_with("A directed yield helps the lock"),
            "{text}"
        );
        assert!(
            text.contains("as fast as") && text.contains("no substitute"),
            "{text}"
        );
        assert!(verdict(&[less, even], even, less).starts_with("A directed yield harms"));
        assert!(verdict(&[even], even, more).contains("no slower than"));
        assert!(verdict(&[more, less], even, more).contains("helps here and harms there"));
    }
}
