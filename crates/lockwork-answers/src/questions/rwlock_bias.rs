// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Does it favour writers?

use crate::evidence::Evidence;
use crate::figure::times;
use crate::mails::QRWLOCK;
use crate::question::{Answer, Question, Table};
use anyhow::Result;
use lockwork_report::text::{grouped, number};

const SHARES: [(&str, &str); 2] = [("0.5", "50 %"), ("0.9", "90 %")];
const THREADS: usize = 80;
const LOCKS: [&str; 2] = ["rwlock", "qrwlock"];
/// A kind that waits less than this factor longer is not at a disadvantage.
const EVEN: f64 = 1.5;

pub(crate) const QUESTION: Question = Question {
    name: "rwlock-writer-bias",
    title: "Does it favour writers?",
    asked: QRWLOCK,
    simulations,
    checks: &["qrwlock --client fifo --client nested --fuzz 0"],
    answer,
    limit: "Waits have no interval. A thread that is still waiting at the end is in no mean. \
            Readers in interrupts, which in the kernel do not wait behind a waiting writer, are \
            not simulated; the client `nested` has them.",
};

fn simulations() -> Vec<String> {
    let command = |(share, _): &(&str, &str)| {
        format!(
            "--workload rw-mix-90 --machine dl980 --threads {THREADS} --read-ratio {share} \
             --measure-us 20000 --settle --seeds 1"
        )
    };
    SHARES.iter().map(command).collect()
}

/// How many times as long writers wait, by lock, of each share.
type Factors = Vec<[f64; LOCKS.len()]>;

fn answer(evidence: &Evidence) -> Result<Answer> {
    let mut table = Table::new([
        "Shared",
        "Lock",
        "readers wait, µs",
        "writers wait, µs",
        "writers over readers",
        "longest of a reader, µs",
        "longest of a writer, µs",
    ]);
    let mut factors = Factors::new();
    for (command, (_, share)) in SHARES.iter().enumerate() {
        let mut of_share = [0.0; LOCKS.len()];
        for (at, lock) in LOCKS.iter().enumerate() {
            let outcome = &evidence.of(command, lock, THREADS)?.outcome;
            let (read, write) = (&outcome.read_waits, outcome.write_waits());
            of_share[at] = write.mean() / read.mean();
            table.row([
                (*share).to_owned(),
                (*lock).to_owned(),
                number(read.mean() / 1e3),
                number(write.mean() / 1e3),
                times(of_share[at]),
                number(read.max() as f64 / 1e3),
                number(write.max() as f64 / 1e3),
            ]);
        }
        factors.push(of_share);
    }
    let fifo = evidence.client("qrwlock", "fifo")?;
    let nested = evidence.client("qrwlock", "nested")?;
    Ok(Answer {
        verdict: verdict(&factors, fifo.holds()),
        table,
        notes: vec![format!(
            "The model checker: {}; {}. The first asks that no reader passes a waiting writer.",
            fifo.text(),
            nested.text()
        )],
    })
}

fn verdict(factors: &Factors, fifo: bool) -> String {
    let of = |lock: usize| {
        let all = factors.iter().map(|of_share| of_share[lock]);
        let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), factor| {
            (low.min(factor), high.max(factor))
        });
        let range = format!("{} to {} as long as readers", grouped(low, 1), times(high));
        match (low, high) {
            (_, high) if high < 1.0 / EVEN => format!("favours writers, who wait {range}"),
            (low, _) if low > EVEN => format!("favours readers; writers wait {range}"),
            (low, high) if low > 1.0 / EVEN && high < EVEN => {
                format!("favours neither; writers wait {range}")
            }
            _ => format!("favours one kind or the other, by the load: writers wait {range}"),
        }
    };
    let order = match fifo {
        true => " No reader passes a waiting writer in the model checker's client.",
        false => " The model checker found a reader that passed a waiting writer.",
    };
    format!("The queued lock {}. The rwlock {}.{order}", of(1), of(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bias_is_that_of_the_waits() {
        let text = verdict(&vec![[10.0, 1.2], [8.0, 1.1]], true);
        assert!(
            text.starts_with("The queued lock favours neither"),
            "{text}"
        );
        assert!(text.contains("The rwlock favours readers"), "{text}");
        assert!(text.contains("No reader passes"), "{text}");
        let text = verdict(&vec![[1.0, 0.5], [8.0, 0.2]], false);
        assert!(
            text.starts_with("The queued lock favours writers"),
            "{text}"
        );
        assert!(
            text.contains("by the load") && text.contains("found a reader"),
            "{text}"
        );
    }
}
