// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What an uncontended pair of lock and unlock costs one thread.
use super::{plain, present, rows, sources, Defaults};
use crate::args::BenchArgs;
use crate::contender::{BARE, LOCKWORK};
use crate::journal::{Data, LockInfo};
use crate::plan::Form;
use crate::sample::{per, Calls, Case};
use crate::summary::Ratio;
use lockwork_report::{stats, table};
use std::collections::HashMap;

const PUBLISHED: &str = include_str!("../../../../data/published/qrwlock_single_thread.csv");
/// The published rows: their name, our lock, and whether it is shared.
const ROWS: [(&str, &str, bool); 5] = [
    ("ticket_spinlock", "ticket_lock", false),
    ("read_lock", "rwlock", true),
    ("write_lock", "rwlock", false),
    ("queue_read_lock", "qrwlock", true),
    ("queue_write_lock", "qrwlock", false),
];
/// About a millisecond: mostly over before the scheduler comes.
const PAIRS: u64 = 50_000;

pub(crate) fn defaults(_: &BenchArgs) -> Defaults {
    Defaults {
        form: Form::SingleThread,
        locks: vec!["all".to_owned()],
        missing: present(&ROWS.map(|row| row.1)).1,
        rounds: 101,
        loops: Some(PAIRS),
        ..plain()
    }
}

/// Nanoseconds of a pair in each round.
type Rounds = HashMap<u32, f64>;

/// All rounds, by lock, way of calling and kind of acquisition.
struct Costs<'a> {
    data: &'a Data,
    all: HashMap<(String, Calls, bool), Rounds>,
}

impl<'a> Costs<'a> {
    fn of(data: &'a Data) -> Costs<'a> {
        let mut all: HashMap<_, Rounds> = HashMap::new();
        for sample in &data.samples {
            let Case { calls, reads, .. } = sample.case;
            let measured = &sample.measured;
            let ns = per(measured.seconds * 1e9, measured.operations() as f64);
            if let Some(calls) = calls {
                let key = (sample.lock.clone(), calls, reads > 0);
                all.entry(key).or_default().insert(sample.round, ns);
            }
        }
        Costs { data, all }
    }

    fn rounds(&self, lock: &str, calls: Calls, shared: bool) -> Option<&Rounds> {
        self.all.get(&(lock.to_owned(), calls, shared))
    }

    fn median(&self, lock: &str, calls: Calls, shared: bool) -> Option<f64> {
        let rounds = self.rounds(lock, calls, shared)?;
        Some(stats::median(
            &rounds.values().copied().collect::<Vec<f64>>(),
        ))
    }

    /// The cost of `lock` over that of `other`, in rounds that have both.
    fn ratio(
        &self,
        lock: &str,
        other: (&str, Calls, bool),
        calls: Calls,
        shared: bool,
    ) -> Option<Ratio> {
        let own = self.rounds(lock, calls, shared)?;
        let others = self.rounds(other.0, other.1, other.2)?;
        let paired = own
            .iter()
            .filter_map(|(round, ns)| Some(ns / others.get(round)?));
        Ratio::of(&paired.collect::<Vec<f64>>())
    }

    /// The peer of that family whose pair costs least.
    fn fastest_peer(&self, family: &str, calls: Calls, shared: bool) -> Option<&LockInfo> {
        let peers = self.data.header.locks.iter();
        peers
            .filter(|lock| lock.family == family && lock.library != LOCKWORK)
            .filter_map(|lock| Some((lock, self.median(&lock.name, calls, shared)?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(lock, _)| lock)
    }
}

pub(crate) fn body(data: &Data) -> String {
    let costs = Costs::of(data);
    let mut text = "Nanoseconds of an uncontended lock and unlock, median of rounds\n\n".to_owned();
    text += &published(&costs);
    text += "\n\n";
    for calls in [Calls::Pointer, Calls::Inlined] {
        let lines: Vec<Vec<String>> = lines(&costs, calls);
        if lines.is_empty() {
            continue;
        }
        text += match calls {
            Calls::Pointer => "Called by pointer, through the lock's table:\n",
            Calls::Inlined => "In a loop that is compiled together with the lock:\n",
        };
        let header = [
            "Lock",
            "Pair",
            "ns",
            "CV",
            "Ratio",
            "Quartiles",
            "Fastest peer",
            "To bare",
        ];
        text += &table::render(header, lines);
        text += "\n\n";
    }
    text += "Ratio is to the fastest peer of the family, paired by round; To bare is to a bare\n\
             compare-and-exchange and a store, inlined. Less is better.\n\n";
    text
}

/// Our locks in the rows and beside the columns of the published table.
fn published(costs: &Costs) -> String {
    let mut theirs = rows(PUBLISHED);
    let columns = theirs.next().unwrap_or_default();
    let theirs: Vec<Vec<&str>> = theirs.collect();
    let mut header = vec![
        "Published as".to_owned(),
        "lock".into(),
        "pointer".into(),
        "inlined".into(),
    ];
    header.extend(columns.iter().skip(1).map(|column| (*column).to_owned()));
    let lines = ROWS.iter().map(|(name, lock, shared)| {
        let ns = |calls| {
            let ns = costs.median(lock, calls, *shared);
            ns.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.2}"))
        };
        let here = costs.data.lock(lock).is_some();
        let missing = costs.data.header.plan.missing.iter().any(|m| m == lock);
        let shown = match (here, missing) {
            (true, _) => (*lock).to_owned(),
            (_, true) => format!("{lock} (missing)"),
            _ => format!("{lock} (not measured)"),
        };
        let mut row = vec![
            (*name).to_owned(),
            shown,
            ns(Calls::Pointer),
            ns(Calls::Inlined),
        ];
        let published = theirs.iter().find(|row| row.first() == Some(name));
        row.extend(
            published
                .into_iter()
                .flatten()
                .skip(1)
                .map(|s| (*s).to_owned()),
        );
        row
    });
    sources(PUBLISHED) + &table::render(header, lines)
}

fn lines(costs: &Costs, calls: Calls) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for lock in &costs.data.header.locks {
        for shared in [false, true] {
            lines.extend(line(costs, lock, calls, shared));
        }
    }
    lines
}

fn line(costs: &Costs, lock: &LockInfo, calls: Calls, shared: bool) -> Option<Vec<String>> {
    let name = &lock.name;
    let rounds = costs.rounds(name, calls, shared)?;
    let all: Vec<f64> = rounds.values().copied().collect();
    let dash = || "-".to_owned();
    let two = |x: f64| format!("{x:.2}");
    let peer = costs
        .fastest_peer(&lock.family, calls, shared)
        .filter(|_| lock.library != BARE);
    let ratio = peer.and_then(|peer| costs.ratio(name, (&peer.name, calls, shared), calls, shared));
    let bare = costs.ratio(name, (BARE, Calls::Inlined, false), calls, shared);
    Some(vec![
        name.clone(),
        if shared { "read" } else { "write" }.to_owned(),
        two(stats::median(&all)),
        stats::variation(&all).map_or_else(dash, |cv| format!("{:.1} %", cv * 100.0)),
        ratio.map_or_else(dash, |r| two(r.median)),
        ratio.map_or_else(dash, |r| format!("{} … {}", two(r.low), two(r.high))),
        peer.map_or_else(dash, |peer| peer.name.clone()),
        bare.map_or_else(dash, |r| two(r.median)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_rows_are_found() {
        let names: Vec<&str> = rows(PUBLISHED).map(|row| row[0]).collect();
        for (name, _, _) in ROWS {
            assert!(names.contains(&name), "{name}");
        }
        assert!(sources(PUBLISHED).contains("Waiman Long"));
    }
}
