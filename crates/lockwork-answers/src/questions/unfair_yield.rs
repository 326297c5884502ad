// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Is a directed yield enough?

use super::unfair_bound::{guests, short, CPUS};
use crate::evidence::Evidence;
use crate::figure::{listed, Figure, Side};
use crate::mails::UNFAIR;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::page::escaped;
use lockwork_report::text::{number, whole};
use lockwork_sim::Simulated;

/// What never halts is never kicked.
const UNKICKED: [&str; 2] = ["qspinlock_fair", "qspinlock_steal"];
const KICKED: &str = "qspinlock_pv";
/// Its waiters spin, and yield to the holder.
const YIELDS_TO_HOLDER: &str = "qspinlock_owner";
/// What that is compared with.
const OURS: [&str; 2] = ["qspinlock_steal", KICKED];
const OVERCOMMIT: [usize; 2] = [2, 3];
type Command = fn(usize, &str) -> String;

/// The section, as the page has it, and its command.
const SECTIONS: [(&str, Command); 2] = [("2 µs", guests), ("0.1 µs", short)];
/// What a kick does; all locks are simulated with the first, the one that kicks with each.
const YIELDS: [&str; 3] = ["off", "on", "donate"];

pub(crate) const QUESTION: Question = Question {
    name: "unfair-directed-yield",
    title: "Would a directed yield do, in place of an unfair lock?",
    asked: UNFAIR,
    simulations,
    checks: &[],
    answer,
    limit: "Some hypervisors find spinning virtual CPUs by themselves (pause-loop exiting), and \
            a spinner may yield to nobody in particular. The simulator models neither, and cannot \
            say whether one of them would do. A yield to the holder needs the holder's virtual CPU in \
            the lock's word, as powerpc and s390 have it; KVM on x86 has a call for it too, which its \
            guests use for interrupts. Here it has the holder run at once on its own CPU, and the \
            waiter's CPU goes to the next that waits for it. The other two yields are to a virtual CPU \
            that a guest names by a kick. \
            With the first, the kicked virtual CPU preempts the one that runs. It does so even \
            if that one holds the lock. It runs for the rest of the slice. With the \
            second, the kicker gives what is left of its own slice, if the two share a CPU; if \
            not, the kicked one is the next on its own. Each virtual CPU stays on one CPU. Costs \
            of a kick, and slices, are assumed.",
};

/// The section, and the degree of overcommitment: each has a command for each yield.
fn cases() -> Vec<(usize, usize)> {
    let sections = 0..SECTIONS.len();
    sections
        .flat_map(|section| OVERCOMMIT.map(|overcommit| (section, overcommit)))
        .collect()
}

fn simulations() -> Vec<String> {
    let all = format!("{},{KICKED},{YIELDS_TO_HOLDER}", UNKICKED.join(","));
    let each = |(section, overcommit): (usize, usize)| {
        YIELDS.map(|yields| {
            let locks = if yields == YIELDS[0] {
                all.as_str()
            } else {
                KICKED
            };
            let command = SECTIONS[section].1(overcommit, locks);
            format!("{command} --directed-yield {yields}")
        })
    };
    cases().into_iter().flat_map(each).collect()
}

/// What the page has of one simulation: rate and longest wait.
fn cells(one: &Simulated, change: String) -> [String; 4] {
    let counts = &one.outcome.counts;
    let kicks = match (counts.wakeups, counts.yields) {
        (0, 0) => "0".to_owned(),
        (0, yields) => format!("0; {} yields", whole(yields)),
        (kicks, _) => format!(
            "{}, {:.0} %",
            whole(kicks),
            100.0 * counts.donations as f64 / kicks as f64
        ),
    };
    let longest = number(one.outcome.waits.max() as f64 / 1e3);
    [Figure::rate(one).text(), change, longest, kicks]
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Threads",
        "Section",
        "Lock",
        "Yield",
        "Mops/s",
        "over off",
        "longest wait, µs",
        "Kicks, donated",
    ]);
    let (mut effects, mut fair) = ([Vec::new(), Vec::new()], Vec::new());
    let mut to_holder = [Vec::new(), Vec::new()];
    let mut kicked = 0;
    for (at, (section, overcommit)) in cases().into_iter().enumerate() {
        let threads = CPUS * overcommit;
        let section = SECTIONS[section].0;
        let name = format!("{threads} on 1/{overcommit}");
        let off = YIELDS.len() * at;
        let mut row = |lock: &str, yields: &str, cells: [String; 4]| {
            let first = [name.as_str(), section, &escaped(lock), yields].map(str::to_owned);
            table.row(first.into_iter().chain(cells));
        };
        for lock in UNKICKED {
            let one = evidence.of(off, lock, threads)?;
            kicked += one.outcome.counts.wakeups;
            row(lock, "any", cells(one, String::new()));
        }
        let without = evidence.of(off, KICKED, threads)?;
        row(KICKED, YIELDS[0], cells(without, String::new()));
        for (at, yields) in YIELDS.iter().enumerate().skip(1) {
            let one = evidence.of(off + at, KICKED, threads)?;
            let change = Figure::rate(one).over(Figure::rate(without));
            row(KICKED, yields, cells(one, change.change()));
            effects[at - 1].push((format!("{name}, {section}"), change));
        }
        let one = evidence.of(off, YIELDS_TO_HOLDER, threads)?;
        let change = Figure::rate(one).over(Figure::rate(without));
        row(YIELDS_TO_HOLDER, "to holder", cells(one, change.change()));
        for (gains, base) in to_holder.iter_mut().zip(OURS) {
            let gain = evidence.gain(off, YIELDS_TO_HOLDER, base, threads)?;
            gains.push((format!("{name}, {section}"), gain));
        }
        fair.push(evidence.gain(off, "qspinlock_fair", "qspinlock_steal", threads)?);
    }
    Ok(Answer {
        verdict: format!("{} {}", verdict(&effects, &fair, kicked), holder(&to_holder)),
        table,
        notes: vec![
            "Any: a yield comes with a kick, and waiters of the first two locks never halt. *Kicks, \
             donated*: how many kicks there were, and the share of them with which the kicker gave \
             the rest of its slice. The others found somebody else, or nobody, on the CPU of the \
             kicked one. *To holder*: waiters of `qspinlock_owner`, a rival, yield to the holder; \
             *over off* is then over qspinlock\\_pv without a yield."
                .into(),
        ],
    })
}

/// What a yield does to the lock that kicks.
fn effect(changes: &[(String, Figure)]) -> String {
    let of = |side| -> Vec<String> {
        let all = changes.iter().filter(|(_, change)| change.side() == side);
        all.map(|(name, change)| format!("{} ({name})", change.change()))
            .collect()
    };
    let (more, less) = (of(Side::More), of(Side::Less));
    match (more.is_empty(), less.is_empty()) {
        (true, true) => "does nothing for the lock that halts and kicks".to_owned(),
        (false, true) => format!("helps the lock that halts and kicks: {}", listed(&more)),
        (true, false) => format!("harms the lock that halts and kicks: {}", listed(&less)),
        (false, false) => format!(
            "helps the lock that halts and kicks, {}, or harms it, {}",
            listed(&more),
            listed(&less)
        ),
    }
}

/// What each yield changes for the lock that kicks; and the fair lock over the unfair one,
/// whose waiters were kicked so many times.
fn verdict([on, donate]: &[Vec<(String, Figure)>; 2], fair: &[Figure], kicked: u64) -> String {
    let lost = fair.iter().filter(|gain| gain.side() == Side::Less).count();
    let fair = match (lost, kicked) {
        (0, _) => "The fair lock loses nothing to the unfair one.".to_owned(),
        (_, 0) => format!(
            "Neither is a substitute for stealing: the fair lock's waiters never halt, so nobody \
             kicks them, and that lock loses to the unfair one in {lost} of {} cases.",
            fair.len()
        ),
        _ => format!(
            "The fair lock loses to the unfair one in {lost} of {} cases.",
            fair.len()
        ),
    };
    format!(
        "A directed yield that preempts the running virtual CPU {}. One that gives the kicker's own \
         slice {}. {fair}",
        effect(on),
        effect(donate)
    )
}

/// What a yield to the holder is worth against each of [`OURS`].
fn holder(gains: &[Vec<(String, Figure)>; 2]) -> String {
    let against = |(gains, base): (&Vec<(String, Figure)>, &str)| {
        let of = |side| -> Vec<String> {
            let all = gains.iter().filter(|(_, gain)| gain.side() == side);
            all.map(|(name, gain)| format!("{} ({name})", gain.change()))
                .collect()
        };
        let (more, less) = (of(Side::More), of(Side::Less));
        let base = escaped(base);
        match (more.is_empty(), less.is_empty()) {
            (true, true) => format!("equals {base}"),
            (false, true) => format!("gains {} over {base}", listed(&more)),
            (true, false) => format!("loses {} to {base}", listed(&less)),
            _ => format!(
                "gains {} over {base} and loses {}",
                listed(&more),
                listed(&less)
            ),
        }
    };
    let all: Vec<String> = gains.iter().zip(OURS).map(against).collect();
    format!(
        "A lock that steals too, and whose spinning waiters yield to the holder, {}.",
        all.join("; it ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn help_harm_and_nothing_of_each_yield() {
        let (more, even, less) = (ratio(1.5, 0.01), ratio(1.0, 0.01), ratio(0.1, 0.01));
        let of = |change| ("32 on 1/2".to_owned(), change);
        let both = [vec![of(less)], vec![of(more), of(even)]];
        let text = verdict(&both, &[less, even], 0);
        assert!(
            text.starts_with("A directed yield that preempts the running virtual CPU harms"),
            "{text}"
        );
        assert!(
            text.contains("the kicker's own slice helps the lock that halts and kicks: +50.0 %"),
            "{text}"
        );
        assert!(
            text.contains("substitute") && text.contains("in 1 of 2 cases"),
            "{text}"
        );
        let text = verdict(&[vec![of(even)], vec![of(more), of(less)]], &[even], 0);
        assert!(text.contains("running virtual CPU does nothing"), "{text}");
        assert!(
            text.contains("+50.0 %") && text.contains("or harms it, -90.0 %"),
            "{text}"
        );
        assert!(text.contains("loses nothing"), "{text}");
        let text = verdict(&both, &[less], 7);
        assert!(!text.contains("never halt"), "{text}");
    }

    #[test]
    fn a_yield_to_the_holder_is_held_against_both_of_ours() {
        let of = |change| ("32 on 1/2".to_owned(), ratio(change, 0.01));
        let text = holder(&[vec![of(1.5), of(1.0)], vec![of(1.2), of(0.5)]]);
        assert!(text.contains("gains +50.0 %"), "{text}");
        assert!(
            text.contains("over qspinlock\\_steal; it gains +20.0 %"),
            "{text}"
        );
        assert!(text.contains("and loses -50.0 %"), "{text}");
        let text = holder(&[vec![of(1.0)], vec![of(0.5)]]);
        assert!(text.contains("holder, equals qspinlock\\_steal;"), "{text}");
        assert!(text.contains("loses -50.0 %"), "{text}");
    }

    #[test]
    fn each_yield_is_simulated_once_where_it_can_matter() {
        let all = simulations();
        assert_eq!(all.len(), cases().len() * YIELDS.len());
        for (command, yields) in all.iter().zip(YIELDS.iter().cycle()) {
            assert!(command.ends_with(yields), "{command}");
            let fair = command.contains("qspinlock_fair");
            assert_eq!(fair, *yields == "off", "{command}");
        }
    }
}
