// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What about small machines?

use crate::evidence::Evidence;
use crate::figure::{Figure, Side};
use crate::mails::QRWLOCK;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::text::{counted, signed_percent};

/// A machine, its name on the page, and numbers of threads.
const MACHINES: [(&str, &str, &[usize]); 2] = [
    ("vm-2cpu", "2 CPUs", &[1, 2]),
    ("westmere-ex-4s", "one socket of 10", &[1, 2, 4, 8]),
];
const SHARES: [(&str, &str); 2] = [("0", "0 %"), ("0.9", "90 %")];

pub(crate) const QUESTION: Question = Question {
    name: "rwlock-small-machines",
    title: "Does it pay, or harm, on small machines?",
    asked: QRWLOCK,
    simulations,
    checks: &[],
    answer,
    limit: "`vm-2cpu` is a virtual machine whose costs were measured in it; its two CPUs are \
            never taken away here. With two threads on one die the simulator is least exact \
            ([fidelity.md](fidelity.md), `spin-micro`). Code size and instruction cache are not \
            modelled.",
};

/// In the order of [`simulations`].
fn cases() -> Vec<(usize, usize)> {
    let machines = 0..MACHINES.len();
    machines
        .flat_map(|machine| (0..SHARES.len()).map(move |share| (machine, share)))
        .collect()
}

fn simulations() -> Vec<String> {
    let command = |(machine, share): (usize, usize)| {
        let (machine, _, threads) = MACHINES[machine];
        let threads: Vec<String> = threads.iter().map(usize::to_string).collect();
        format!(
            "--workload rw-mix-90 --machine {machine} --threads {} --read-ratio {} --lock \
             rwlock,qrwlock --settle --seeds 1",
            threads.join(","),
            SHARES[share].0
        )
    };
    cases().into_iter().map(command).collect()
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Machine",
        "Threads",
        "Shared",
        "rwlock, Mops/s",
        "qrwlock, Mops/s",
        "qrwlock over rwlock",
    ]);
    let mut gains = Vec::new();
    for (command, (machine, share)) in cases().into_iter().enumerate() {
        let (_, name, threads) = MACHINES[machine];
        for &threads in threads {
            let rate = |lock| evidence.rate(command, lock, threads);
            let gain = evidence.gain(command, "qrwlock", "rwlock", threads)?;
            table.row([
                name.to_owned(),
                threads.to_string(),
                SHARES[share].1.to_owned(),
                rate("rwlock")?.text(),
                rate("qrwlock")?.text(),
                gain.change(),
            ]);
            let case = format!(
                "{name}, {}, {} shared",
                counted(threads, "thread"),
                SHARES[share].1
            );
            gains.push((case, gain));
        }
    }
    Ok(Answer {
        verdict: verdict(&gains),
        table,
        notes: Vec::new(),
    })
}

fn verdict(gains: &[(String, Figure)]) -> String {
    let count = |side| gains.iter().filter(|(_, gain)| gain.side() == side).count();
    let (more, less) = (count(Side::More), count(Side::Less));
    let end = |worst: bool| {
        let by = |a: &&(String, Figure), b: &&(String, Figure)| a.1.value.total_cmp(&b.1.value);
        let found = if worst {
            gains.iter().min_by(by)
        } else {
            gains.iter().max_by(by)
        };
        found.map_or_else(String::new, |(case, gain)| {
            format!("{} ({case})", signed_percent(gain.value - 1.0))
        })
    };
    let head = match (more, less) {
        (0, 0) => "Neither: no case differs.".to_owned(),
        (_, 0) => format!(
            "It does not harm: it gains in {more} of {} cases.",
            gains.len()
        ),
        (0, _) => format!("It harms: it loses in {less} of {} cases.", gains.len()),
        _ => format!(
            "Both: of {} cases it gains in {more} and loses in {less}.",
            gains.len()
        ),
    };
    format!("{head} From {} to {}.", end(true), end(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn losses_are_told_as_plainly_as_gains() {
        let case = |name: &str, value| (name.to_owned(), ratio(value, 0.01));
        let both = verdict(&[case("a", 0.9), case("b", 1.0), case("c", 1.3)]);
        assert_eq!(
            both,
            "Both: of 3 cases it gains in 1 and loses in 1. From -10.0 % (a) to +30.0 % (c)."
        );
        assert!(verdict(&[case("a", 0.9)]).starts_with("It harms"));
        assert!(verdict(&[case("a", 1.9)]).starts_with("It does not harm"));
        assert!(verdict(&[case("a", 1.0)]).starts_with("Neither"));
    }
}
