// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where a rival is ahead of all locks of ours.

use super::found::{Cell, Found, Line};

/// Locks of the catalogue that are there to be measured against, and a queue that guards
/// spinning and not data: a column that one of these leads is not ours.
const NOT_OFFERED: [&str; 5] = [
    "tas_lock",
    "ticket_lock",
    "mcs_lock",
    "mutex_xchg",
    "numa_osq",
];
/// Up to so much more throughput is a tie: there are few seeds.
pub(super) const TIE: f64 = 1.01;

/// One column of a part in which a rival is faster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ahead {
    pub(super) column: String,
    /// Its place.
    pub(super) at: usize,
    /// The fastest of ours.
    pub(super) ours: (&'static str, Cell),
    /// The fastest rival.
    pub(super) rival: (&'static str, Cell),
    /// Each lock of ours is beaten by some rival in both.
    pub(super) off_the_front: bool,
}

/// The rivals, or the locks that we offer.
pub(super) fn of(
    found: &Found,
    rivals: bool,
    column: usize,
) -> impl Iterator<Item = (&Line, &Cell)> {
    let all = found.of(rivals, column);
    all.filter(|(line, _)| !NOT_OFFERED.contains(&line.lock))
}

pub(super) fn fastest(found: &Found, rivals: bool, column: usize) -> Option<(&'static str, Cell)> {
    let all = of(found, rivals, column);
    let best = all.max_by(|a, b| a.1.rate.total_cmp(&b.1.rate));
    best.map(|(line, cell)| (line.lock, *cell))
}

/// Whether each lock of ours is beaten by some rival.
fn off_the_front(found: &Found, column: usize) -> bool {
    let beaten = |cell: &Cell| found.of(true, column).any(|(_, rival)| rival.beats(cell));
    of(found, false, column).all(|(_, cell)| beaten(cell))
}

/// The columns in which a rival is ahead, and how many columns there are.
pub(super) fn ahead(found: &Found) -> (Vec<Ahead>, usize) {
    let columns = found.columns.iter().enumerate();
    let all = columns.filter_map(|(at, column)| {
        let (ours, rival) = (fastest(found, false, at)?, fastest(found, true, at)?);
        (rival.1.rate > TIE * ours.1.rate).then(|| Ahead {
            column: column.clone(),
            at,
            ours,
            rival,
            off_the_front: off_the_front(found, at),
        })
    });
    (all.collect(), found.columns.len())
}

#[cfg(test)]
mod tests {
    use super::super::found::Line;
    use super::*;

    fn found(ours: &[Cell], rival: Cell) -> Found {
        let line = |lock, is_rival, cells: Vec<Cell>| Line {
            lock,
            yields: None,
            is_rival,
            cells,
        };
        let mut lines = vec![line("cna", true, vec![rival])];
        lines.extend(ours.iter().map(|&cell| line("ours", false, vec![cell])));
        Found {
            columns: vec!["8".to_owned()],
            threads: vec![8],
            lines,
            besides: Vec::new(),
        }
    }

    #[test]
    fn a_faster_rival_is_listed_and_a_slower_one_is_not() {
        let (list, of) = ahead(&found(&[Cell::sample(2.0, 5.0)], Cell::sample(1.0, 9.0)));
        assert_eq!((list.len(), of), (0, 1));
        let (list, _) = ahead(&found(&[Cell::sample(2.0, 5.0)], Cell::sample(3.0, 9.0)));
        assert!(!list[0].off_the_front && list[0].rival.0 == "cna");
    }

    #[test]
    fn a_tie_and_a_lock_that_is_not_offered_do_not_count() {
        let (list, _) = ahead(&found(&[Cell::sample(2.0, 5.0)], Cell::sample(2.01, 9.0)));
        assert!(list.is_empty());
        let mut found = found(
            &[Cell::sample(2.0, 5.0), Cell::sample(3.0, 5.0)],
            Cell::sample(2.5, 9.0),
        );
        found.lines[2].lock = "mcs_lock";
        let (list, _) = ahead(&found);
        assert_eq!(list[0].ours.1.rate, 2.0);
    }

    #[test]
    fn off_the_front_is_beaten_in_both_each() {
        let (list, _) = ahead(&found(
            &[Cell::sample(2.0, 9.0), Cell::sample(1.0, 8.0)],
            Cell::sample(3.0, 7.0),
        ));
        assert!(list[0].off_the_front);
        let (list, _) = ahead(&found(
            &[Cell::sample(2.0, 9.0), Cell::sample(1.0, 6.0)],
            Cell::sample(3.0, 7.0),
        ));
        assert!(!list[0].off_the_front);
    }
}
