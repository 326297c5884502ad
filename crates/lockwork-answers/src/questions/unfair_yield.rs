// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Is a directed yield enough?

use super::unfair_bound::{guests, short, CPUS};
use crate::evidence::Evidence;
use crate::figure::{listed, Figure, Side};
use crate::mails::UNFAIR;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::page::escaped;
use lockwork_report::text::number;

/// A kick is the only yield that is directed here: what never halts is never kicked.
const LOCKS: [&str; 3] = ["qspinlock_fair", "qspinlock_steal", "qspinlock_pv"];
const OVERCOMMIT: [usize; 2] = [2, 3];
type Command = fn(usize, &str) -> String;

/// The section, as the page has it, and its command.
const SECTIONS: [(&str, Command); 2] = [("2 µs", guests), ("0.1 µs", short)];
const SWITCH: [&str; 2] = ["off", "on"];

pub(crate) const QUESTION: Question = Question {
    name: "unfair-directed-yield",
    title: "Would a directed yield do, in place of an unfair lock?",
    asked: UNFAIR,
    simulations,
    checks: &[],
    answer,
    limit: "The simulator does not model a hypervisor that finds spinning virtual CPUs by itself \
            (pause-loop exiting), so it cannot say whether that would do. It models a yield to a \
            virtual CPU that a guest names by a kick. That one runs at once, and whoever has its \
            CPU loses it, the holder too. A hypervisor that gives away the yielder's own time \
            takes it from nobody else. Costs \
            of a kick, and slices, are assumed.",
};

/// The section, and the degree of overcommitment: each has two commands, without and with.
fn cases() -> Vec<(usize, usize)> {
    let sections = 0..SECTIONS.len();
    sections
        .flat_map(|section| OVERCOMMIT.map(|overcommit| (section, overcommit)))
        .collect()
}

fn simulations() -> Vec<String> {
    let locks = LOCKS.join(",");
    let both = |(section, overcommit): (usize, usize)| {
        let command = SECTIONS[section].1(overcommit, &locks);
        SWITCH.map(|switch| format!("{command} --directed-yield {switch}"))
    };
    cases().into_iter().flat_map(both).collect()
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Threads",
        "Section",
        "Lock",
        "off, Mops/s",
        "on, Mops/s",
        "change",
        "longest wait, off, µs",
        "on, µs",
    ]);
    let (mut effect, mut fair) = (Vec::new(), Vec::new());
    for (at, (section, overcommit)) in cases().into_iter().enumerate() {
        let threads = CPUS * overcommit;
        let section = SECTIONS[section].0;
        let name = format!("{threads} on 1/{overcommit}");
        let [off, on] = [2 * at, 2 * at + 1];
        for lock in LOCKS {
            let [without, with] = [off, on].map(|command| evidence.of(command, lock, threads));
            let both = [without?, with?];
            let change = Figure::rate(both[1]).over(Figure::rate(both[0]));
            let [longest_off, longest_on] =
                both.map(|one| number(one.outcome.waits.max() as f64 / 1e3));
            let [without, with] = both.map(|one| Figure::rate(one).text());
            table.row([
                name.clone(),
                section.to_owned(),
                escaped(lock),
                without,
                with,
                change.change(),
                longest_off,
                longest_on,
            ]);
            if lock == "qspinlock_pv" {
                effect.push((format!("{name}, {section}"), change));
            }
        }
        fair.push(evidence.gain(on, "qspinlock_fair", "qspinlock_steal", threads)?);
    }
    Ok(Answer {
        verdict: verdict(&effect, &fair),
        table,
        notes: Vec::new(),
    })
}

/// What the yield changes for the lock that kicks; and with it the fair lock over the
/// unfair one.
fn verdict(effect: &[(String, Figure)], fair: &[Figure]) -> String {
    let of = |side| -> Vec<String> {
        let all = effect.iter().filter(|(_, change)| change.side() == side);
        all.map(|(name, change)| format!("{} ({name})", change.change()))
            .collect()
    };
    let (more, less) = (of(Side::More), of(Side::Less));
    let head = match (more.is_empty(), less.is_empty()) {
        (true, true) => "does nothing for the lock that halts and kicks".to_owned(),
        (false, true) => format!("helps the lock that halts and kicks: {}", listed(&more)),
        (true, false) => format!("harms the lock that halts and kicks: {}", listed(&less)),
        (false, false) => format!(
            "helps the lock that halts and kicks, {}, or harms it, {}",
            listed(&more),
            listed(&less)
        ),
    };
    let lost = fair.iter().filter(|gain| gain.side() == Side::Less).count();
    let fair = match lost {
        0 => "The fair lock loses nothing to the unfair one, with or without it.".to_owned(),
        _ => format!(
            "It is no substitute for stealing: the fair lock's waiters never halt, so nobody kicks \
             them, and that lock loses to the unfair one in {lost} of {} cases.",
            fair.len()
        ),
    };
    format!("A directed yield {head}. {fair}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn help_harm_and_nothing() {
        let (more, even, less) = (ratio(1.5, 0.01), ratio(1.0, 0.01), ratio(0.1, 0.01));
        let of = |change| ("32 on 1/2".to_owned(), change);
        let text = verdict(&[of(more), of(even)], &[less, even]);
        assert!(
            text.starts_with("A directed yield helps the lock that halts"),
            "{text}"
        );
        assert!(
            text.contains("no substitute") && text.contains("in 1 of 2 cases"),
            "{text}"
        );
        assert!(verdict(&[of(less)], &[less]).starts_with("A directed yield harms"));
        assert!(verdict(&[of(even)], &[even]).contains("loses nothing"));
        let text = verdict(&[of(more), of(less)], &[less]);
        assert!(
            text.contains("+50.0 %") && text.contains("or harms it, -90.0 %"),
            "{text}"
        );
    }
}
