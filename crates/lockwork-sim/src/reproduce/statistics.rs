// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How far a simulated table is from the published one. All values are positive.

use lockwork_report::stats;
use std::cmp::Ordering;

/// A value as published, and as simulated; `None`: it came to nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    pub published: f64,
    pub simulated: Option<f64>,
}

/// How much more the simulation says, as a share of the published value.
pub(crate) fn error(published: f64, simulated: f64) -> f64 {
    simulated / published - 1.0
}

/// How many times too much, or too little: 1 or more.
pub(crate) fn factor(published: f64, simulated: f64) -> f64 {
    (simulated / published).max(published / simulated)
}

/// Which is more; equal if they are within the share `tie` of each other.
pub(crate) fn compare(a: f64, b: f64, tie: f64) -> Ordering {
    match factor(a, b) <= 1.0 + tie {
        true => Ordering::Equal,
        false => a.total_cmp(&b),
    }
}

/// Whether the simulation has `a` and `b` in the published order. Where the
/// published values are tied, either order is right.
pub(crate) fn same_order(a: Pair, b: Pair, tie: f64) -> bool {
    let published = compare(a.published, b.published, tie);
    match (a.simulated, b.simulated) {
        (Some(x), Some(y)) => published == Ordering::Equal || x.total_cmp(&y) == published,
        _ => false,
    }
}

/// Whether the simulation has `a` on the same side of `base`. Where nothing is
/// published (both within `tie`), the simulation must show nothing either.
pub(crate) fn same_sign(a: Pair, base: Pair, tie: f64) -> bool {
    let (Some(x), Some(y)) = (a.simulated, base.simulated) else {
        return false;
    };
    match compare(a.published, base.published, tie) {
        Ordering::Equal => compare(x, y, tie) == Ordering::Equal,
        side => x.total_cmp(&y) == side,
    }
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Share {
    pub right: usize,
    pub of: usize,
}

impl Share {
    /// Enters one more.
    pub fn count(&mut self, right: bool) {
        self.right += usize::from(right);
        self.of += 1;
    }

    /// Enters those of another one.
    pub fn add(&mut self, other: Share) {
        self.right += other.right;
        self.of += other.of;
    }

    /// Those that are not right.
    pub fn wrong(self) -> usize {
        self.of - self.right
    }
}

/// Median and worst of errors, without their signs; none for no errors.
pub(crate) fn middle_and_worst(errors: &[f64]) -> Option<(f64, f64)> {
    let sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    let worst = sizes.iter().copied().max_by(f64::total_cmp)?;
    Some((stats::median(&sizes), worst))
}

/// How well predictions agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct Summary {
    /// Cells to which nothing was fitted.
    pub predictions: usize,
    /// Cells whose workload's think time was fitted to the same table. They count too.
    pub fitted_think: usize,
    /// Groups in which all cells are in the published order.
    pub ranks: Share,
    /// Pairs of cells of a group in the published order.
    pub pairs: Share,
    /// Cells on the published side of what they are compared with.
    pub signs: Share,
    /// Absolute relative errors.
    pub median_error: Option<f64>,
    /// The greatest of them.
    pub worst_error: Option<f64>,
    /// How many times too much or too little the worst cell is.
    pub worst_factor: Option<f64>,
    /// Cells of those with an error for which a difference is published.
    pub differing: usize,
    /// The median error of these.
    pub differing_error: Option<f64>,
    /// The same of a simulator that sees no difference between locks.
    pub null_error: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(published: f64, simulated: f64) -> Pair {
        Pair {
            published,
            simulated: Some(simulated),
        }
    }

    const STUCK: Pair = Pair {
        published: 1.0,
        simulated: None,
    };

    #[test]
    fn errors_have_signs_and_factors_have_none() {
        assert_eq!(error(100.0, 125.0), 0.25);
        assert_eq!(error(100.0, 50.0), -0.5);
        assert_eq!((factor(100.0, 50.0), factor(50.0, 100.0)), (2.0, 2.0));
        assert_eq!(factor(7.0, 7.0), 1.0);
    }

    #[test]
    fn a_tie_is_within_a_share_of_the_smaller() {
        assert_eq!(compare(135.0, 137.0, 0.03), Ordering::Equal);
        assert_eq!(compare(137.0, 135.0, 0.03), Ordering::Equal);
        assert_eq!(compare(100.0, 103.5, 0.03), Ordering::Less);
        assert_eq!(compare(103.5, 100.0, 0.03), Ordering::Greater);
        assert_eq!(compare(100.0, 100.0, 0.0), Ordering::Equal);
    }

    #[test]
    fn tied_values_may_come_in_either_order() {
        for (a, b) in [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)] {
            assert!(same_order(pair(135.0, a), pair(137.0, b), 0.03));
        }
        assert!(same_order(pair(100.0, 1.0), pair(200.0, 1.001), 0.03));
        assert!(!same_order(pair(100.0, 1.0), pair(200.0, 1.0), 0.03));
        assert!(!same_order(pair(100.0, 2.0), pair(200.0, 1.0), 0.03));
        assert!(!same_order(pair(1.0, 1.0), STUCK, 0.03));
    }

    #[test]
    fn a_sign_is_a_side_and_nothing_is_nothing() {
        let base = pair(1.0, 1.0);
        assert!(same_sign(pair(3.0, 1.01), base, 0.1));
        assert!(!same_sign(pair(3.0, 0.99), base, 0.1));
        assert!(same_sign(pair(0.5, 0.9), base, 0.1));
        assert!(same_sign(pair(0.95, 1.09), base, 0.1));
        assert!(!same_sign(pair(1.0, 1.2), base, 0.1));
        assert!(!same_sign(STUCK, base, 0.1) && !same_sign(base, STUCK, 0.1));
    }

    #[test]
    fn the_middle_and_the_worst_go_by_size() {
        assert_eq!(middle_and_worst(&[]), None);
        assert_eq!(middle_and_worst(&[-0.4, 0.1, 0.2]), Some((0.2, 0.4)));
        assert_eq!(middle_and_worst(&[0.1, -0.3]), Some((0.2, 0.3)));
    }

    #[test]
    fn shares_are_counted() {
        let mut share = Share::default();
        share.count(true);
        share.count(false);
        assert_eq!((share.right, share.of, share.wrong()), (1, 2, 1));
    }
}
