// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks in virtual machines: one table by overcommitment, and one answer.

use super::besides::{self, figures, heads};
use super::found::{Cell, Found, Line};
use super::mails;
use super::parts::Part;
use lockwork_report::page;
use lockwork_report::text::number;

/// Waiters of it yield to a holder off its CPU.
const OWNER: &str = "qspinlock_owner";

const WHY_NOT: &str = "\nWhy none of ours yields to the holder: `qspinlock_owner` names the holder's \
    virtual CPU in its word. The 4 bytes of `qspinlock` name the last waiter, and keep 6 bits for forks. So \
    only a kick can name a virtual CPU, that of the kicked waiter. Where sections are short, waiters \
    that yield also leave the line of the lock alone. The table of longer sections shows what remains of \
    it.\n";

/// Tables and answer.
pub(super) fn text(part: &Part, found: &Found) -> String {
    let mut header = vec!["Lock".to_owned()];
    for column in &found.columns {
        header.extend(heads(column));
    }
    header.extend(["holder off", "next off"].map(str::to_owned));
    let rows: Vec<Vec<String>> = found.lines.iter().map(row).collect();
    let mut text = format!(
        "**Answer.** {}\n\n{}\nBy overcommitment: throughput, the longest wait, Jain's index of the threads, and the CPU time in \
         lock and unlock for each acquisition, which is what waiting burns. Of the last column, the \
         shares of all waiting in which the holder was off its CPU, and in which the lock was free \
         and the next to get it was off its own. A simulation goes on until it has settled \
         ([sim.md](sim.md#the-model)); *n. s.*: it had not within its limit, and the figure \
         may be that of a start. *Not told apart*: something that has not settled looks better than \
         the best that has. One seed. Longest waits grow with the simulated time, which is \
         longer for slow locks. In this table virtual CPUs do not move to other CPUs, \
         and there is one virtual machine with one lock. Nobody only reads. \
         [machines.md](machines.md#a-guest-with-two-cpus-measured-and-simulated) has what a guest \
         measured.\n",
        answer(found),
        page::table(&header, &rows)
    );
    for (beside, lines) in part.besides.iter().zip(&found.besides) {
        text += &format!("\n{}", besides::table(beside, found, lines));
    }
    if part.all().any(|command| command.contains(OWNER)) {
        text += WHY_NOT;
    }
    text + &mails::text(found).expect("the file is in the program, and has all")
}

fn row(line: &Line) -> Vec<String> {
    let mut row = vec![line.name()];
    row.extend(line.cells.iter().flat_map(figures));
    let last = line.cells.last();
    row.extend(
        last.iter()
            .flat_map(|cell| cell.off.map(|share| format!("{:.0} %", share * 100.0))),
    );
    row
}

/// What is best, by a measure.
#[derive(Debug, PartialEq)]
struct Best {
    name: String,
    value: f64,
    /// What looks better, and has not settled: the two are not told apart.
    contender: Option<(String, f64)>,
}

/// The best of those that have settled. `all` has each one's value, and whether it has settled.
fn best<'a>(all: impl Iterator<Item = (&'a Line, f64, bool)>) -> Option<Best> {
    let (settled, not): (Vec<_>, Vec<_>) = all.partition(|one| one.2);
    let most = |all: Vec<(&Line, f64, bool)>| {
        let most = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(line, value, _)| (line.name(), value))
    };
    let (name, value) = most(settled)?;
    let contender = most(not).filter(|other| other.1 > value);
    Some(Best {
        name,
        value,
        contender,
    })
}

/// The best in a column.
fn best_in(found: &Found, column: usize, value: impl Fn(&Cell) -> f64) -> Option<Best> {
    best(found.lines.iter().filter_map(|line| {
        let cell = line.cells.get(column)?;
        Some((line, value(cell), cell.settled))
    }))
}

/// One sentence for each thing that a guest wants of its lock, chosen by the figures: of the
/// columns in which CPUs are shared.
fn answer(found: &Found) -> String {
    let shared = 1..found.columns.len();
    let each = |value: fn(&Cell) -> f64, sign: f64, unit: &str| {
        let one = |column: usize| {
            let at = &found.columns[column];
            let text = |value: f64| number(sign * value) + unit;
            match best_in(found, column, |cell| sign * value(cell)) {
                Some(Best {
                    name,
                    value,
                    contender: None,
                }) => format!("{name} ({at}: {})", text(value)),
                Some(Best {
                    name,
                    value,
                    contender: Some((other, looks)),
                }) => format!(
                    "not told apart ({at}: {name} {}, {other} {} n. s.)",
                    text(value),
                    text(looks)
                ),
                None => format!("nothing that has settled ({at})"),
            }
        };
        shared.clone().map(one).collect::<Vec<_>>().join(", ")
    };
    let kept = match kept(found) {
        Some(text) => format!(" {text}"),
        None => String::new(),
    };
    format!(
        "Where virtual CPUs share CPUs, the fastest is {}; the shortest longest wait has {}; the least \
         CPU time burns {}.{kept}",
        each(|cell| cell.rate, 1.0, " Mops/s"),
        each(|cell| cell.longest, -1.0, " µs"),
        each(|cell| cell.cpu, -1.0, " µs")
    )
}

/// How much of its throughput with a CPU for each virtual one a lock keeps in the last column:
/// the first lock, and the one that keeps most.
fn kept(found: &Found) -> Option<String> {
    let share = |line: &Line| {
        let (first, last) = (line.cells.first()?, line.cells.last()?);
        let settled = first.settled && last.settled;
        (first.rate > 0.0).then(|| (100.0 * last.rate / first.rate, settled))
    };
    let all = found.lines.iter().filter_map(|line| {
        let (share, settled) = share(line)?;
        Some((line, share, settled))
    });
    let most = best(all)?;
    let first = found.lines.first()?;
    let (of_first, _) = share(first).filter(|(_, settled)| *settled)?;
    let keeps_most = match most.contender {
        None => format!("most keeps {}, {:.0} %", most.name, most.value),
        Some((other, looks)) => format!(
            "which keeps most is not told apart: {} {:.0} %, {other} {looks:.0} % n. s.",
            most.name, most.value
        ),
    };
    Some(format!(
        "With {} {} keeps {of_first:.1} % of what it has with a CPU for each virtual one; \
         {keeps_most}.",
        found.columns.last()?,
        first.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::parts;
    use super::*;

    fn line(lock: &'static str, rates: [f64; 2], settled: bool) -> Line {
        let cell = |rate| Cell {
            cpu: 1.0 / rate,
            off: [0.25, 0.5],
            settled,
            ..Cell::sample(rate, 100.0 / rate)
        };
        Line {
            lock,
            yields: None,
            is_rival: false,
            cells: rates.map(cell).to_vec(),
        }
    }

    fn found(lines: Vec<Line>) -> Found {
        Found {
            columns: vec!["16 on 1/1".to_owned(), "32 on 1/2".to_owned()],
            threads: vec![16, 32],
            lines,
            besides: Vec::new(),
        }
    }

    #[test]
    fn the_answer_is_of_what_has_settled_where_cpus_are_shared() {
        let lines = vec![
            line("fair", [4.0, 0.5], true),
            line("unfair", [2.0, 1.0], true),
            line("slow", [1.0, 0.9], false),
        ];
        let text = answer(&found(lines));
        assert!(
            text.contains("the fastest is **unfair** (32 on 1/2: 1.000 Mops/s)"),
            "{text}"
        );
        assert!(text.contains("**fair** keeps 12.5 %"), "{text}");
        assert!(!text.contains("**slow** 0.900"), "{text}");
    }

    #[test]
    fn what_has_not_settled_and_looks_better_voids_the_answer() {
        let lines = vec![
            line("fair", [4.0, 0.5], true),
            line("unfair", [2.0, 1.0], true),
            line("starts", [10.0, 9.0], false),
        ];
        let text = answer(&found(lines));
        let fastest = "the fastest is not told apart (32 on 1/2: **unfair** 1.000 Mops/s, \
                       **starts** 9.000 Mops/s n. s.)";
        assert!(text.contains(fastest), "{text}");
        let most = "which keeps most is not told apart: **unfair** 50 %, **starts** 90 % n. s.";
        assert!(text.contains(most), "{text}");
    }

    #[test]
    fn what_has_not_settled_is_marked_and_may_leave_no_answer() {
        let all = found(vec![line("starts", [1.0, 9.0], false)]);
        let text = text(&parts::parts()[0], &all);
        assert!(text.contains("9.000 n. s."), "{text}");
        assert!(
            text.contains("nothing that has settled (32 on 1/2)"),
            "{text}"
        );
        assert!(text.contains("| 25 % | 50 % |"), "{text}");
    }
}
