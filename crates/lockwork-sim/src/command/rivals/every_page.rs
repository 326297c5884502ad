// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The section of a part that has every machine.

use super::ahead::{fastest, of, TIE};
use super::every::{Kind, Of};
use super::found::{range, Cell, Found};
use super::parts::Part;
use super::{page, why};
use lockwork_report::page::{escaped, table};
use lockwork_report::text::number;
use std::fmt::Write;

/// What has less than this of the other's throughput is named.
const LESS: f64 = 0.98;

/// The section, its marks included; `charts` is the folder, as the page names it.
pub(super) fn section(part: &Part, kind: &Kind, all: &[Of], charts: &str) -> String {
    let mut text = format!(
        "## {}\n\n```\nlockwork sim --workload rivals-{} --machine MACHINE --threads THREADS --lock {}\n```\n\n{}\n",
        part.title,
        kind.name,
        kind.all_locks(),
        page::charts(part, charts)
    );
    text +=
        "Of the charts: each lock beside the fastest of its row; geometric means over the rows \
             with 2 to 3 threads, 4 to 7, 8 to 15, and so on.\n\n";
    let [first, second] = kind.against.map(escaped);
    let _ = writeln!(
        text,
        "Every file of data/machines, with 2 and 8 threads, as many as a cluster has cores, a sixteenth more, \
         as many as the machine has cores, and as it has CPUs; a machine with fewer than 8 CPUs has 1 beside. A machine with a section of \
         its own has that section's figures, and the others are of one seed (`{}`). These are short: \
         some have not settled, and with hundreds of threads some threads never got a lock that is not fair. \
         Their waits are in no column. *Ours* is the fastest lock that we offer, \
         *rival* the fastest rival. A pair *a / b* is ours against a rival: *a* times its \
         throughput, *b* times its longest wait. *–*: the machine has one cluster, and the lock needs \
         several.\n\n{}",
        kind.brief,
        summary(kind, all)
    );
    let header = [
        "Machine".to_owned(),
        "Threads".to_owned(),
        "ours".to_owned(),
        "Mops/s".to_owned(),
        "Longest".to_owned(),
        "rival".to_owned(),
        "Mops/s".to_owned(),
        "Longest".to_owned(),
        "against it".to_owned(),
        format!("against {first}"),
        format!("against {second}"),
        format!("{} / {}", escaped(kind.divided), escaped(kind.plain)),
    ];
    let rows: Vec<Vec<String>> = rows(all).map(|row| line(kind, &row)).collect();
    text += &table(&header, &rows);
    text += &waits(all);
    page::KIND.section(&part.name, &text)
}

/// A machine with a number of threads.
struct Row<'a> {
    of: &'a Of,
    at: usize,
    ours: (&'static str, Cell),
    rival: (&'static str, Cell),
}

impl Row<'_> {
    fn found(&self) -> &Found {
        &self.of.found
    }

    fn cell(&self, lock: &str) -> Option<&Cell> {
        self.found().plain(lock)?.cells.get(self.at)
    }

    fn name(&self) -> String {
        format!("{} ({})", self.of.machine, self.found().columns[self.at])
    }

    /// What `one` has of the throughput of `other`.
    fn share(&self, one: &str, other: &str) -> Option<f64> {
        Some(self.cell(one)?.rate / self.cell(other)?.rate)
    }
}

fn rows(all: &[Of]) -> impl Iterator<Item = Row<'_>> {
    all.iter().flat_map(|of| {
        (0..of.found.columns.len()).filter_map(move |at| {
            Some(Row {
                of,
                at,
                ours: fastest(&of.found, false, at)?,
                rival: fastest(&of.found, true, at)?,
            })
        })
    })
}

/// Ours against it: throughput and longest wait.
fn ratios(ours: &Cell, other: &Cell) -> [f64; 2] {
    [ours.rate / other.rate, ours.longest / other.longest]
}

fn pair([rate, longest]: [f64; 2]) -> String {
    format!("{rate:.2} / {longest:.2}")
}

fn line(kind: &Kind, row: &Row) -> Vec<String> {
    let mut cells = vec![row.of.machine.clone(), row.found().columns[row.at].clone()];
    for (lock, cell) in [&row.ours, &row.rival] {
        cells.extend([escaped(lock), number(cell.rate), number(cell.longest)]);
    }
    cells.push(pair(ratios(&row.ours.1, &row.rival.1)));
    let none = || "–".to_owned();
    for other in kind.against {
        let against = row.cell(other);
        cells.push(against.map_or_else(none, |other| pair(ratios(&row.ours.1, other))));
    }
    let share = row.share(kind.divided, kind.plain);
    cells.push(share.map_or_else(none, |share| format!("{share:.2}")));
    cells
}

/// What the table says, as text.
fn summary(kind: &Kind, all: &[Of]) -> String {
    let all: Vec<Row> = rows(all).collect();
    let ahead = |row: &&Row| row.rival.1.rate <= TIE * row.ours.1.rate;
    let no_longer = |row: &&Row| row.ours.1.longest <= row.rival.1.longest;
    let both = all.iter().filter(ahead).filter(no_longer).count();
    let mut text = format!(
        "Of {} rows, ours has the highest throughput, or 1 % less at most, in {}; in {both} of these it also \
         waits no longer than the fastest rival. The other rows are, with the reason, under [Where ours is \
         behind](#where-ours-is-behind).",
        all.len(),
        all.iter().filter(ahead).count()
    );
    for other in kind.against {
        let against = all
            .iter()
            .filter_map(|row| Some(ratios(&row.ours.1, row.cell(other)?)));
        let (least, most) = range(against.clone().map(|[rate, _]| rate));
        let (shortest, longest) = range(against.map(|[_, wait]| wait));
        let _ = write!(
            text,
            " Against `{other}` ours has {least:.2} to {most:.2} times the throughput, and {shortest:.2} to \
             {longest:.2} times the longest wait."
        );
    }
    text + "\n\n" + &slower(kind, &all)
}

/// Where the lock that divides itself is slower than the one that does not.
fn slower(kind: &Kind, all: &[Row]) -> String {
    let mut names = Vec::new();
    let mut why_not = None;
    for row in all {
        let share = row.share(kind.divided, kind.plain);
        let Some(share) = share.filter(|share| *share < LESS) else {
            continue;
        };
        names.push(format!("{} {share:.2}", row.name()));
        if why_not.as_ref().is_none_or(|(least, _, _)| share < *least) {
            let [plain, divided] =
                [kind.plain, kind.divided].map(|lock| row.of.counters.of(row.at, lock));
            why_not = Some((share, row.name(), why::faster(&plain, &divided)));
        }
    }
    let (divided, plain) = (kind.divided, kind.plain);
    match why_not {
        None => format!("`{divided}` has {LESS} of the throughput of `{plain}` or more in each row.\n"),
        Some((_, least, why)) => format!(
            "`{divided}` has less than {LESS} of the throughput of `{plain}` on: {}. On {least}, where it is \
             least, `{plain}` is *it* and `{divided}` *ours* in this: {why}.\n",
            names.join(", ")
        ),
    }
}

/// How one of ours and a rival that waits less compare.
struct Pair<'a> {
    names: [&'static str; 2],
    rows: Vec<(&'a Row<'a>, [f64; 2])>,
}

/// Which rivals wait less than the fastest of ours, and why; whatever their throughput.
fn waits(all: &[Of]) -> String {
    let all: Vec<Row> = rows(all).collect();
    let mut pairs: Vec<Pair> = Vec::new();
    for row in &all {
        for (line, cell) in of(row.found(), true, row.at) {
            if cell.longest * TIE >= row.ours.1.longest {
                continue;
            }
            let names = [row.ours.0, line.lock];
            let one = (row, ratios(cell, &row.ours.1));
            match pairs.iter_mut().find(|pair| pair.names == names) {
                Some(pair) => pair.rows.push(one),
                None => pairs.push(Pair {
                    names,
                    rows: vec![one],
                }),
            }
        }
    }
    pairs.sort_by_key(|pair| (pair.names[0], std::cmp::Reverse(pair.rows.len())));
    let mut text = String::from(
        "\nRivals whose longest wait is shorter than that of the fastest of ours, by more than 1 %; what they \
         have of our longest wait and of our throughput; and why in the row with the least of our \
         wait:\n\n| ours | rival | Rows | Longest | Throughput | Why |\n|---|---|---:|---:|---:|---|\n",
    );
    for pair in &pairs {
        let of = |which: usize| {
            let (least, most) = range(pair.rows.iter().map(|(_, ratios)| ratios[which]));
            format!("{least:.2} to {most:.2}")
        };
        let least = pair.rows.iter().min_by(|a, b| a.1[1].total_cmp(&b.1[1]));
        let why = least.map_or_else(String::new, |(row, _)| {
            let [ours, rival] = pair.names.map(|lock| row.of.counters.of(row.at, lock));
            format!("{}: {}", row.name(), why::longer(&rival, &ours))
        });
        let [ours, rival] = pair.names.map(escaped);
        let _ = writeln!(
            text,
            "| {ours} | {rival} | {} | {} | {} | {why} |",
            pair.rows.len(),
            of(1),
            of(0)
        );
    }
    text
}
