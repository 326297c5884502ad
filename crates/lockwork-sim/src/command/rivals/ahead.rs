// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where a rival is ahead of all locks of ours.

use super::found::{Cell, Found};

/// One column of a part in which a rival is faster, or beats all of ours in throughput
/// and the longest wait at once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ahead {
    pub(super) column: String,
    /// The fastest of ours.
    pub(super) ours: (&'static str, Cell),
    /// The fastest rival.
    pub(super) rival: (&'static str, Cell),
    /// Each lock of ours is beaten by some rival in both.
    pub(super) off_the_front: bool,
}

fn fastest(found: &Found, rivals: bool, column: usize) -> Option<(&'static str, Cell)> {
    let all = found.of(rivals, column);
    let best = all.max_by(|a, b| a.1.rate.total_cmp(&b.1.rate));
    best.map(|(line, cell)| (line.lock, *cell))
}

/// Whether each lock of ours is beaten by some rival.
fn off_the_front(found: &Found, column: usize) -> bool {
    let beaten = |cell: &Cell| found.of(true, column).any(|(_, rival)| rival.beats(cell));
    found.of(false, column).all(|(_, cell)| beaten(cell))
}

/// The columns in which a rival is ahead, and how many columns there are.
pub(super) fn ahead(found: &Found) -> (Vec<Ahead>, usize) {
    let columns = found.columns.iter().enumerate();
    let all = columns.filter_map(|(at, column)| {
        let (ours, rival) = (fastest(found, false, at)?, fastest(found, true, at)?);
        let off = off_the_front(found, at);
        (off || rival.1.rate > ours.1.rate).then(|| Ahead {
            column: column.clone(),
            ours,
            rival,
            off_the_front: off,
        })
    });
    (all.collect(), found.columns.len())
}

#[cfg(test)]
mod tests {
    use super::super::found::Line;
    use super::*;

    fn cell(rate: f64, longest: f64) -> Cell {
        Cell {
            rate,
            longest,
            jain: 1.0,
            lines: 1.0,
            cpu: 1.0,
            off: [0.0; 2],
            settled: true,
        }
    }

    fn found(ours: &[Cell], rival: Cell) -> Found {
        let line = |lock, is_rival, cells: Vec<Cell>| Line {
            lock,
            yields: false,
            is_rival,
            cells,
        };
        let mut lines = vec![line("cna", true, vec![rival])];
        lines.extend(ours.iter().map(|&cell| line("ours", false, vec![cell])));
        Found {
            columns: vec!["8".to_owned()],
            threads: vec![8],
            lines,
        }
    }

    #[test]
    fn a_faster_rival_is_listed_and_a_slower_one_is_not() {
        let (list, of) = ahead(&found(&[cell(2.0, 5.0)], cell(1.0, 9.0)));
        assert_eq!((list.len(), of), (0, 1));
        let (list, _) = ahead(&found(&[cell(2.0, 5.0)], cell(3.0, 9.0)));
        assert!(!list[0].off_the_front && list[0].rival.0 == "cna");
    }

    #[test]
    fn off_the_front_is_beaten_in_both_each() {
        let (list, _) = ahead(&found(&[cell(2.0, 9.0), cell(1.0, 8.0)], cell(3.0, 7.0)));
        assert!(list[0].off_the_front);
        let (list, _) = ahead(&found(&[cell(2.0, 9.0), cell(1.0, 6.0)], cell(3.0, 7.0)));
        assert!(!list[0].off_the_front);
    }
}
