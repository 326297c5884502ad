// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where a value must lie, how it is shown, and what that says.

/// Where a found value must lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// Not above.
    AtMost(f64),
    /// Not below.
    AtLeast(f64),
    /// Below.
    Under(f64),
    /// Above.
    Over(f64),
}

impl Bound {
    /// Whether it is kept.
    pub fn holds(self, found: f64) -> bool {
        match self {
            Bound::AtMost(bound) => found <= bound,
            Bound::AtLeast(bound) => found >= bound,
            Bound::Under(bound) => found < bound,
            Bound::Over(bound) => found > bound,
        }
    }

    /// The number, and the words before it.
    pub fn parts(self) -> (&'static str, f64) {
        match self {
            Bound::AtMost(bound) => ("at most", bound),
            Bound::AtLeast(bound) => ("at least", bound),
            Bound::Under(bound) => ("under", bound),
            Bound::Over(bound) => ("over", bound),
        }
    }
}

/// How a target's numbers are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A count.
    Count,
    /// A share, in percent.
    Percent,
    /// A ratio.
    Times,
    /// A ratio, as a change in percent.
    Change,
    /// Nanoseconds.
    Ns,
}

impl Form {
    /// What its numbers are, for programs: 0.2 is a share of 20 %, and "times" 1.2 a change of
    /// +20 %.
    pub fn unit(self) -> &'static str {
        match self {
            Form::Count => "count",
            Form::Percent => "share",
            Form::Times | Form::Change => "times",
            Form::Ns => "ns",
        }
    }

    /// `number` as people read it.
    pub fn show(self, number: f64) -> String {
        match self {
            Form::Count => format!("{number:.0}"),
            Form::Percent => format!("{:.1} %", number * 100.0),
            Form::Times => format!("{number:.2}×"),
            Form::Change => format!("{:+.1} %", (number - 1.0) * 100.0),
            Form::Ns => format!("{number:.0} ns"),
        }
    }
}

/// What a target is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The simulation agrees with published figures.
    Published,
    /// One of our own locks, in a simulation beside which nothing is published, is as good as
    /// it is meant to be.
    Own,
    /// Each cell has a value, of a simulation in a steady state.
    Whole,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Published, Kind::Own, Kind::Whole];

    /// So many targets of it, in words.
    pub fn words(self, count: usize) -> String {
        let (one, more) = match self {
            Kind::Published => (
                "target against published figures",
                "targets against published figures",
            ),
            Kind::Own => ("goal of our own lock", "goals of our own lock"),
            Kind::Whole => (
                "check that every cell has a value and has settled",
                "checks that every cell has a value and has settled",
            ),
        };
        format!("{count} {}", if count == 1 { one } else { more })
    }

    /// As programs know it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Published => "published",
            Kind::Own => "own",
            Kind::Whole => "whole",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_up_to_their_edge_or_not() {
        assert!(Bound::AtMost(0.2).holds(0.2) && !Bound::AtMost(0.2).holds(0.21));
        assert!(Bound::AtLeast(2.0).holds(2.0) && !Bound::AtLeast(2.0).holds(1.9));
        assert!(Bound::Under(1.0).holds(0.99) && !Bound::Under(1.0).holds(1.0));
        assert!(Bound::Over(0.4).holds(0.41) && !Bound::Over(0.4).holds(0.4));
        assert!(!Bound::AtMost(1.0).holds(f64::NAN));
    }
}
