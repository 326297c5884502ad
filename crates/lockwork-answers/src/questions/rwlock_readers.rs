// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who wins with readers?

use crate::evidence::Evidence;
use crate::figure::{listed, Side};
use crate::mails::QRWLOCK;
use crate::published;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::text::signed_percent;

/// Shares of readers.
const SHARES: [&str; 5] = ["0", "0.5", "0.9", "0.99", "1"];
const THREADS: usize = 80;

pub(crate) const QUESTION: Question = Question {
    name: "rwlock-readers",
    title: "Who wins when some of them read?",
    asked: QRWLOCK,
    simulations,
    checks: &[],
    answer,
    limit: "`rw-mix-90` follows no program: its times are assumed, and each thread chooses by \
            chance whether it reads. Where many writers spin on the rwlock's word, the \
            simulator has the wrong sign against the published table \
            ([fidelity.md](fidelity.md), `mb-cache`): there the rwlock's losses are too large.",
};

fn simulations() -> Vec<String> {
    let command = |share: &&str| {
        format!(
            "--workload rw-mix-90 --machine dl980 --threads {THREADS} --read-ratio {share} \
             --lock rwlock,qrwlock,qspinlock_fair --settle --seeds 1"
        )
    };
    SHARES.iter().map(command).collect()
}

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Shared",
        "rwlock, Mops/s",
        "qrwlock, Mops/s",
        "qrwlock over rwlock",
        "qspinlock\\_fair, Mops/s",
    ]);
    let mut sides = Vec::new();
    for (command, share) in SHARES.iter().enumerate() {
        let rate = |lock| evidence.rate(command, lock, THREADS);
        let gain = evidence.gain(command, "qrwlock", "rwlock", THREADS)?;
        let share = format!("{} %", share.parse::<f64>()? * 100.0);
        table.row([
            share.clone(),
            rate("rwlock")?.text(),
            rate("qrwlock")?.text(),
            gain.change(),
            rate("qspinlock_fair")?.text(),
        ]);
        sides.push((share, gain.side()));
    }
    let [queued, stock] = ["qrwlock", "rwlock"].map(|lock| published::mb_cache(lock, false));
    let published = (1.0 + queued?) / (1.0 + stock?);
    let text = format!("{}{}", verdict(&sides), doubt(sides[0].1, published));
    Ok(Answer {
        verdict: text,
        table,
        notes: vec![
            "The queued spinlock has no readers: all its acquisitions exclude each other.".into(),
        ],
    })
}

fn verdict(sides: &[(String, Side)]) -> String {
    let of = |side: Side| -> Vec<&str> {
        let all = sides.iter().filter(|(_, found)| *found == side);
        all.map(|(share, _)| share.as_str()).collect()
    };
    let mut parts = Vec::new();
    for (side, words) in [
        (Side::More, "the queued lock wins with"),
        (Side::Less, "the rwlock wins with"),
        (Side::Even, "neither wins with"),
    ] {
        let shares = of(side);
        if !shares.is_empty() {
            parts.push(format!("{words} {} shared", listed(&shares)));
        }
    }
    format!("On {THREADS} CPUs {}.", parts.join("; "))
}

/// What a published load without readers says of the first share's side: the queued lock
/// over the rwlock.
fn doubt(side: Side, published: f64) -> String {
    let agrees = match side {
        Side::More => published > 1.0,
        Side::Less => published < 1.0,
        Side::Even => true,
    };
    match agrees {
        true => String::new(),
        false => format!(
            " But the mail measured the opposite where nobody reads ({} for the queued lock over \
             the rwlock): rows with many writers are too hard on the rwlock here.",
            signed_percent(published - 1.0)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sign_raises_a_doubt() {
        assert!(doubt(Side::More, 0.95).contains("-5.0 %"));
        assert_eq!(doubt(Side::More, 1.05) + &doubt(Side::Less, 0.95), "");
    }

    #[test]
    fn each_share_is_on_its_side() {
        let sides = [
            ("0 %", Side::More),
            ("50 %", Side::More),
            ("99 %", Side::Less),
        ];
        let sides = sides.map(|(share, side)| (share.to_owned(), side));
        assert_eq!(
            verdict(&sides),
            "On 80 CPUs the queued lock wins with 0 % and 50 % shared; the rwlock wins with 99 % \
             shared."
        );
    }
}
