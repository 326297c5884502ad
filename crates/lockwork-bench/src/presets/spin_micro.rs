// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The micro benchmark of the queued spinlock's patch mails: how long tasks
//! need for a fixed number of loops.
use super::{missing, present, rows, sources, Defaults};
use crate::args::BenchArgs;
use crate::journal::Data;
use crate::plan::Form;
use crate::sample::{Case, Measured};
use crate::work::{Outside, Work};
use lockwork_report::{stats, table, text};

const PUBLISHED: &str = include_str!("../../../../data/published/qspinlock_micro.csv");
/// In the order of the published columns.
const LOCKS: [&str; 4] = [
    "ticket_lock",
    "qspinlock_fair",
    "qspinlock_steal",
    "tas_lock",
];
const LOOPS: u64 = 1_000_000;

pub(crate) fn defaults(_: &BenchArgs) -> Defaults {
    let (locks, missing) = present(&LOCKS);
    Defaults {
        form: Form::SpinMicro,
        locks,
        missing,
        threads: (1..=8).collect(),
        inside: vec![Work::Ns(0)],
        outside: |_| vec![Outside::Work(Work::Ns(0))],
        rounds: 3,
        seconds: None,
        time_ms: |_| 2000,
        loops: Some(LOOPS),
    }
}

pub(crate) fn body(data: &Data) -> String {
    let plan = &data.header.plan;
    let loops = plan.cases.first().and_then(|case| case.loops).unwrap_or(0);
    let mut text = format!(
        "Milliseconds until every task has locked and unlocked {} times; median of rounds\n",
        text::grouped(loops as f64, 0)
    );
    let mut locks = plan.locks.clone();
    let place = |name: &String| LOCKS.iter().position(|own| own == name);
    locks.sort_by_key(|name| place(name).unwrap_or(LOCKS.len()));
    let header = std::iter::once("Tasks".to_owned()).chain(locks.iter().cloned());
    let rows = plan.cases.iter().map(|case| {
        let locks = locks.iter().map(|lock| entry(data, case, lock));
        std::iter::once(case.threads.to_string())
            .chain(locks)
            .collect::<Vec<String>>()
    });
    text += &table::render(header, rows);
    text += "\n";
    if text.contains('>') {
        text +=
            "> a: stopped after a ms; (≈ b): what all loops would take at the rate until then\n";
    }
    text + &missing(data) + "\n" + &published()
}

/// Milliseconds, or what is known of them.
fn entry(data: &Data, case: &Case, lock: &str) -> String {
    let wanted = u64::from(case.threads) * case.loops.unwrap_or(0);
    let rounds: Vec<&Measured> = data
        .samples
        .iter()
        .filter(|s| s.case == *case && s.lock == lock)
        .map(|s| &s.measured)
        .collect();
    let (Some(longest), Some(all)) = (
        rounds.iter().map(|m| m.seconds).reduce(f64::max),
        rounds
            .iter()
            .map(|m| whole(m, wanted))
            .collect::<Option<Vec<f64>>>(),
    ) else {
        return "-".to_owned();
    };
    let estimate = text::short(1e3 * stats::median(&all));
    match rounds.iter().all(|m| m.operations() >= wanted) {
        true => estimate,
        false => format!("> {} (≈ {estimate})", text::short(1e3 * longest)),
    }
}

/// Seconds for all that was wanted, at the rate of what was done.
fn whole(measured: &Measured, wanted: u64) -> Option<f64> {
    let done = measured.operations();
    (done > 0).then(|| measured.seconds * wanted as f64 / done as f64)
}

fn published() -> String {
    let mut all = rows(PUBLISHED).map(|row| row.into_iter().map(str::to_owned));
    let Some(header) = all.next() else {
        return String::new();
    };
    let table = table::render(header, all);
    sources(PUBLISHED) + &table + "\n\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_done_is_estimated() {
        let measured = Measured {
            seconds: 2.0,
            writes: vec![300, 100],
            ..Measured::default()
        };
        assert_eq!(whole(&measured, 400), Some(2.0));
        assert_eq!(whole(&measured, 4000), Some(20.0));
        assert_eq!(whole(&Measured::default(), 1), None);
    }

    #[test]
    fn the_published_table_is_there() {
        let text = published();
        assert!(text.contains("Waiman Long"), "{text}");
        assert!(
            text.contains("unfair_byte_ms") && text.contains("21555"),
            "{text}"
        );
    }
}
