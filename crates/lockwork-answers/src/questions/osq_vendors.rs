// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Is it of use on one vendor's machines only?

use crate::evidence::Evidence;
use crate::figure::{listed, Figure, Side};
use crate::mails::NUMA_OSQ;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::text::signed_percent;

/// A machine, its vendor, and its CPUs.
const MACHINES: [(&str, &str, usize); 9] = [
    ("skylake-sp-4s", "Intel", 224),
    ("sapphire-rapids-2s", "Intel", 224),
    ("epyc-7551", "AMD", 128),
    ("epyc-9654", "AMD", 384),
    ("ampere-altra-2s", "Ampere", 160),
    ("kunpeng-920-2s", "HiSilicon", 128),
    ("power9-2s", "IBM", 128),
    ("kh-40000-2s", "Zhaoxin", 64),
    ("kh-40000-1s", "Zhaoxin", 32),
];
const BASE: &str = "mutex";
const LOCKS: [&str; 2] = ["mutex_numa", "mutex_numa_2024"];

pub(crate) const QUESTION: Question = Question {
    name: "osq-vendor-specific",
    title: "Is a NUMA-aware OSQ of use on one vendor's machines only?",
    asked: NUMA_OSQ,
    simulations,
    checks: &[],
    answer,
    limit: "Machines are files of published latencies, and where none are published, of assumed \
            ones: all of `kh-40000`'s are assumed, and it was the series' own machine. What is \
            compared is one hot mutex with sections of 1 µs, and a thread on each CPU: a load \
            that favours such a queue. `mutex_numa_2024` is written from the mails, and not \
            their code.",
};

fn simulations() -> Vec<String> {
    let command = |(machine, _, cpus): &(&str, &str, usize)| {
        format!(
            "--workload rivals-sleep --machine {machine} --threads {cpus} --lock \
             mutex,mutex_numa,mutex_numa_2024 --settle --seeds 1"
        )
    };
    MACHINES.iter().map(command).collect()
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Machine",
        "Vendor",
        "Threads",
        "mutex, Mops/s",
        "mutex\\_numa",
        "mutex\\_numa\\_2024",
    ]);
    let (mut gains, mut behind) = (Vec::new(), Vec::new());
    for (command, &(machine, vendor, cpus)) in MACHINES.iter().enumerate() {
        let [ours, theirs] = LOCKS.map(|lock| evidence.gain(command, lock, BASE, cpus));
        let (ours, theirs) = (ours?, theirs?);
        table.row([
            machine.to_owned(),
            vendor.to_owned(),
            cpus.to_string(),
            evidence.rate(command, BASE, cpus)?.text(),
            ours.change(),
            theirs.change(),
        ]);
        gains.push((machine, vendor, ours));
        if theirs.over(ours).side() == Side::More {
            behind.push(machine);
        }
    }
    Ok(Answer {
        verdict: format!("{}{}", verdict(&gains), more(&behind)),
        table,
        notes: vec!["The last two columns are changes against the mutex.".into()],
    })
}

/// Where the published lock gains more than ours.
fn more(behind: &[&str]) -> String {
    match behind {
        [] => " The published lock gains more than ours on none.".to_owned(),
        _ => format!(
            " The published lock gains more than ours on {}.",
            listed(behind)
        ),
    }
}

fn verdict(gains: &[(&str, &str, Figure)]) -> String {
    let of = |side| gains.iter().filter(move |(_, _, gain)| gain.side() == side);
    let mut vendors: Vec<&str> = of(Side::More).map(|(_, vendor, _)| *vendor).collect();
    vendors.dedup();
    let values = || of(Side::More).map(|(_, _, gain)| gain.value - 1.0);
    let head = match vendors.as_slice() {
        [] => "It is of use on none of these machines.".to_owned(),
        [one] => format!("Yes: it gains on {one}'s machines only."),
        _ => format!(
            "No: mutex\\_numa gains on {} of {} machines, of {} vendors ({}), from {} to {}.",
            of(Side::More).count(),
            gains.len(),
            vendors.len(),
            listed(&vendors),
            signed_percent(values().fold(f64::INFINITY, f64::min)),
            signed_percent(values().fold(f64::NEG_INFINITY, f64::max))
        ),
    };
    let rest = |side, words: &str| {
        let all: Vec<String> = of(side)
            .map(|(machine, _, gain)| format!("{machine} ({})", gain.change()))
            .collect();
        match all.is_empty() {
            true => String::new(),
            false => format!(" It {words} on {}.", listed(&all)),
        }
    };
    format!(
        "{head}{}{}",
        rest(Side::Less, "loses"),
        rest(Side::Even, "makes no difference")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ratio;

    #[test]
    fn where_ours_is_behind_is_told() {
        assert!(more(&[]).ends_with("on none."));
        assert!(more(&["a", "b"]).ends_with("on a and b."));
    }

    #[test]
    fn vendors_with_a_gain_are_counted() {
        let one = |machine, vendor, value| (machine, vendor, ratio(value, 0.01));
        let text = verdict(&[one("a", "A", 1.5), one("b", "B", 2.0), one("c", "C", 0.9)]);
        assert!(
            text.starts_with("No: mutex\\_numa gains on 2 of 3 machines, of 2 vendors (A and B)")
        );
        assert!(
            text.contains("from +50.0 % to +100.0 %") && text.contains("loses on c"),
            "{text}"
        );
        assert!(
            verdict(&[one("a", "A", 1.5), one("b", "B", 1.0)]).starts_with("Yes: it gains on A's")
        );
        assert!(verdict(&[one("b", "B", 1.0)]).starts_with("It is of use on none"));
    }

    #[test]
    fn each_machine_has_so_many_cpus() {
        for (machine, _, cpus) in MACHINES {
            let there = lockwork_sim::machine::load(machine).expect(machine);
            assert_eq!(there.cpus(), cpus, "{machine}");
        }
    }
}
