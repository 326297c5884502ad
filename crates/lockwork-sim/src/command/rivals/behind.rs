// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The last section: where a rival is ahead, and why.

use super::ahead::Ahead;
use lockwork_report::page::escaped;
use lockwork_report::text::number;
use std::fmt::Write;

/// The columns of a part in which a rival is ahead.
pub(super) struct Behind {
    pub(super) part: String,
    /// It is of virtual machines: figures say whether they have settled.
    pub(super) has_guests: bool,
    /// How many columns it has.
    pub(super) columns: usize,
    /// Each with the reason.
    pub(super) lost: Vec<(Ahead, String)>,
}

/// What a row has behind its figures. Guests' figures say whether they have settled.
fn remark(part: &Behind, one: &Ahead) -> &'static str {
    let settled = !part.has_guests || (one.ours.1.settled && one.rival.1.settled);
    match (one.off_the_front, settled) {
        (true, true) => "off the front",
        (true, false) => "off the front, n. s.",
        (false, true) => "",
        (false, false) => "n. s.",
    }
}

/// The section, of all parts.
pub(super) fn section(all: &[Behind]) -> String {
    let columns: usize = all.iter().map(|part| part.columns).sum();
    let list = || {
        let of_part = |part| move |one| (part, one);
        all.iter()
            .flat_map(move |part: &Behind| part.lost.iter().map(of_part(part)))
    };
    let off = list().filter(|(_, (one, _))| one.off_the_front).count();
    let mut text = format!(
        "## Where ours is behind\n\nOf {columns} columns above, a rival has a higher throughput in \
         {}. In {off}, each lock of ours is beaten by a rival in throughput and longest wait \
         at once: *off the front*. Up to 1 % more is a tie, and not listed: there are three seeds at most. Ours are the \
         locks that are offered: not `tas_lock`, `ticket_lock`, `mcs_lock` and `mutex_xchg`, which are there to \
         be measured against, nor `numa_osq`, which guards spinning and not data. *n. s.*: one of the two has not settled, and they are not told apart. \
         A column of two parts is listed once.\n\n*Why* rests on what the simulator counted for \
         both locks. It names up to two counters that are lower for the rival by 5 % or more, the costliest \
         first. It also says where the rival's waiters are overtaken more often.\n",
        list().count()
    );
    if list().next().is_none() {
        return text;
    }
    text += "\n| Part | Threads | fastest of ours | Mops/s | Longest | fastest rival | Mops/s | Longest | Rival/ours | | Why |\n";
    text += "|---|---:|---|---:|---:|---|---:|---:|---:|---|---|\n";
    for (part, (one, why)) in list() {
        let (ours, rival) = (&one.ours, &one.rival);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {:.2} | {} | {why} |",
            part.part,
            one.column,
            escaped(ours.0),
            number(ours.1.rate),
            number(ours.1.longest),
            escaped(rival.0),
            number(rival.1.rate),
            number(rival.1.longest),
            rival.1.rate / ours.1.rate,
            remark(part, one)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::found::Cell;
    use super::*;

    fn lost(off_the_front: bool, settled: bool) -> (Ahead, String) {
        let cell = |rate| Cell {
            settled,
            ..Cell::sample(rate, 4.0)
        };
        let ahead = Ahead {
            column: "8".to_owned(),
            at: 0,
            ours: ("mutex_numa", cell(1.0)),
            rival: ("cohort", cell(1.5)),
            off_the_front,
        };
        (ahead, "it moves less".to_owned())
    }

    fn part(name: &str, lost: Vec<(Ahead, String)>) -> Behind {
        Behind {
            part: name.to_owned(),
            has_guests: name.starts_with("guests"),
            columns: 5,
            lost,
        }
    }

    #[test]
    fn each_row_has_its_reason_and_the_sums_are_of_all_parts() {
        let text = section(&[
            part("spin-a", vec![lost(true, true), lost(false, false)]),
            part("guests-b", vec![lost(true, false)]),
        ]);
        let sum = "Of 10 columns above, a rival has a higher throughput in 3. In 2, each";
        assert!(text.contains(sum), "{text}");
        let row = "| 8 | mutex\\_numa | 1.000 | 4.000 | cohort | 1.500 | 4.000 | 1.50 |";
        for end in [
            format!("| spin-a {row} off the front | it moves less |"),
            format!("| spin-a {row}  | it moves less |"),
            format!("| guests-b {row} off the front, n. s. | it moves less |"),
        ] {
            assert!(text.contains(&end), "{end}\n{text}");
        }
    }

    #[test]
    fn without_a_lost_column_there_is_no_table() {
        let text = section(&[part("spin-a", Vec::new())]);
        assert!(
            text.contains("in 0. In 0") && !text.contains("| Part"),
            "{text}"
        );
    }
}
