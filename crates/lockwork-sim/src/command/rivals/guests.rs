// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks in virtual machines: one table by overcommitment, and one answer.

use super::found::{Cell, Found, Line};
use lockwork_report::page;
use lockwork_report::text::number;

/// Table and answer.
pub(super) fn text(found: &Found) -> String {
    let mut header = vec!["Lock".to_owned()];
    for column in &found.columns {
        header.push(format!("{column}: Mops/s"));
        header.extend(["longest, µs", "CPU, µs"].map(str::to_owned));
    }
    header.extend(["holder off", "next off"].map(str::to_owned));
    let rows: Vec<Vec<String>> = found.lines.iter().map(row).collect();
    format!(
        "**Answer.** {}\n\n{}\nBy overcommitment: throughput, the longest wait, and the CPU time in \
         lock and unlock for each acquisition, which is what waiting burns. Of the last column, the \
         shares of all waiting in which the holder was off its CPU, and in which the lock was free \
         and the next to get it was off its own. A simulation goes on until it has settled \
         ([sim.md](sim.md#the-model)); *n. s.*: it had not within its limit, and the figure \
         may be that of a start. One seed. Longest waits grow with the simulated time, which is \
         longer for slow locks. The mails publish no figure of a guest to compare with. Virtual \
         CPUs do not move to other CPUs here, and there is one virtual machine with one lock.\n",
        answer(found),
        page::table(&header, &rows)
    )
}

fn row(line: &Line) -> Vec<String> {
    let mut row = vec![line.name()];
    for cell in &line.cells {
        let mark = if cell.settled { "" } else { " n. s." };
        row.push(number(cell.rate) + mark);
        row.extend([number(cell.longest), number(cell.cpu)]);
    }
    let last = line.cells.last();
    row.extend(
        last.iter()
            .flat_map(|cell| cell.off.map(|share| format!("{:.0} %", share * 100.0))),
    );
    row
}

/// What is best of those that have settled, by this measure, in a column.
fn best(found: &Found, column: usize, value: impl Fn(&Cell) -> f64) -> Option<(String, f64)> {
    let cells = found
        .lines
        .iter()
        .filter_map(|line| Some((line, line.cells.get(column)?)));
    let settled = cells.filter(|(_, cell)| cell.settled);
    let best = settled.max_by(|a, b| value(a.1).total_cmp(&value(b.1)));
    best.map(|(line, cell)| (line.name(), value(cell)))
}

/// One sentence for each thing that a guest wants of its lock, chosen by the figures: of the
/// columns in which CPUs are shared.
fn answer(found: &Found) -> String {
    let shared = 1..found.columns.len();
    let each = |value: fn(&Cell) -> f64, sign: f64, unit: &str| {
        let one = |column: usize| {
            let at = &found.columns[column];
            match best(found, column, |cell| sign * value(cell)) {
                Some((name, value)) => format!("{name} ({at}: {}{unit})", number(sign * value)),
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
        (first.settled && last.settled && first.rate > 0.0).then(|| 100.0 * last.rate / first.rate)
    };
    let all = found
        .lines
        .iter()
        .filter_map(|line| Some((line, share(line)?)));
    let (most, of_most) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let first = found.lines.first()?;
    let of_first = share(first)?;
    Some(format!(
        "With {} {} keeps {of_first:.1} % of what it has with a CPU for each virtual one; most keeps \
         {}, {of_most:.0} %.",
        found.columns.last()?,
        first.name(),
        most.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(lock: &'static str, rates: [f64; 2], settled: bool) -> Line {
        let cell = |rate| Cell {
            rate,
            longest: 100.0 / rate,
            jain: 1.0,
            lines: 1.0,
            cpu: 1.0 / rate,
            off: [0.25, 0.5],
            settled,
        };
        Line {
            lock,
            yields: false,
            is_rival: false,
            cells: rates.map(cell).to_vec(),
        }
    }

    fn found(lines: Vec<Line>) -> Found {
        Found {
            columns: vec!["16 on 1/1".to_owned(), "32 on 1/2".to_owned()],
            threads: vec![16, 32],
            lines,
        }
    }

    #[test]
    fn the_answer_is_of_what_has_settled_where_cpus_are_shared() {
        let lines = vec![
            line("fair", [4.0, 0.5], true),
            line("unfair", [2.0, 1.0], true),
            line("starts", [1.0, 9.0], false),
        ];
        let text = answer(&found(lines));
        assert!(
            text.contains("the fastest is **unfair** (32 on 1/2: 1.000 Mops/s)"),
            "{text}"
        );
        assert!(text.contains("**fair** keeps 12.5 %"), "{text}");
        assert!(text.contains("most keeps **unfair**, 50 %"), "{text}");
        assert!(!text.contains("starts"), "{text}");
    }

    #[test]
    fn what_has_not_settled_is_marked_and_may_leave_no_answer() {
        let all = found(vec![line("starts", [1.0, 9.0], false)]);
        let text = text(&all);
        assert!(text.contains("9.000 n. s."), "{text}");
        assert!(
            text.contains("nothing that has settled (32 on 1/2)"),
            "{text}"
        );
        assert!(text.contains("| 25 % | 50 % |"), "{text}");
    }
}
