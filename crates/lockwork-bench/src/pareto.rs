// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which locks give up one thing to win another, and which give up both.

/// What a lock is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// More is better.
    pub throughput: f64,
    /// Less is better.
    pub wait: f64,
}

impl Point {
    /// As good in both, and better in one.
    pub fn dominates(&self, other: &Point) -> bool {
        let as_good = self.throughput >= other.throughput && self.wait <= other.wait;
        as_good && self != other
    }
}

/// Which of `points` dominate the one at `at`; none do if it is on the Pareto front.
pub fn dominators(points: &[Point], at: usize) -> Vec<usize> {
    (0..points.len())
        .filter(|&i| points[i].dominates(&points[at]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: &[(f64, f64)]) -> Vec<Point> {
        all.iter()
            .map(|&(throughput, wait)| Point { throughput, wait })
            .collect()
    }

    fn front(all: &[(f64, f64)]) -> Vec<usize> {
        let points = points(all);
        let on = |&i: &usize| dominators(&points, i).is_empty();
        (0..points.len()).filter(on).collect()
    }

    #[test]
    fn the_front_is_what_nobody_beats_in_both() {
        assert_eq!(front(&[(10.0, 5.0), (8.0, 3.0), (7.0, 4.0)]), [0, 1]);
        assert_eq!(front(&[(10.0, 5.0), (9.0, 6.0)]), [0]);
        assert_eq!(front(&[(1.0, 1.0)]), [0]);
        assert_eq!(front(&[]), [0; 0]);
    }

    #[test]
    fn a_tie_in_one_is_decided_by_the_other() {
        assert_eq!(front(&[(10.0, 5.0), (10.0, 4.0)]), [1]);
        assert_eq!(front(&[(10.0, 5.0), (9.0, 5.0)]), [0]);
        assert_eq!(front(&[(10.0, 5.0), (10.0, 5.0)]), [0, 1]);
    }

    #[test]
    fn names_everyone_who_dominates() {
        let all = points(&[(10.0, 1.0), (5.0, 5.0), (6.0, 5.0), (20.0, 9.0)]);
        assert_eq!(dominators(&all, 1), [0, 2]);
        assert_eq!(dominators(&all, 3), [0; 0]);
    }
}
