// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a table must reach. A target that is missed makes the command fail, so
//! that nobody has to read a table to know.

use super::sheet::Sheet;
use super::table::{Beside, Table, Unit};

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
    /// Each cell has a value.
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
                "check that every cell has a value",
                "checks that every cell has a value",
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

type Find = Box<dyn Fn(&Sheet) -> Option<f64>>;

/// What a table must reach.
pub(crate) struct Target {
    /// What is asked.
    pub name: String,
    /// How good is good enough.
    pub bound: Bound,
    /// How its numbers are shown.
    pub form: Form,
    find: Find,
}

/// A target and what was found. No value is a target missed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub kind: Kind,
    pub name: String,
    pub bound: Bound,
    pub form: Form,
    pub found: Option<f64>,
    pub met: bool,
}

impl Target {
    /// One that finds its value by `find`.
    pub fn new(
        name: impl Into<String>,
        form: Form,
        bound: Bound,
        find: impl Fn(&Sheet) -> Option<f64> + 'static,
    ) -> Target {
        Target {
            name: name.into(),
            bound,
            form,
            find: Box::new(find),
        }
    }

    /// Groups whose cells are not in the published order: none.
    pub fn ranks(what: &str) -> Target {
        let find = |sheet: &Sheet| Some(sheet.summary().ranks.wrong() as f64);
        Target::new(what, Form::Count, Bound::AtMost(0.0), find)
    }

    /// Cells on the other side than published: none.
    pub fn signs(what: &str) -> Target {
        let find = |sheet: &Sheet| Some(sheet.summary().signs.wrong() as f64);
        Target::new(what, Form::Count, Bound::AtMost(0.0), find)
    }

    /// The median error of predictions.
    pub fn median_error(most: f64) -> Target {
        let find = |sheet: &Sheet| sheet.summary().median_error;
        let bound = Bound::AtMost(most);
        Target::new("median error of predictions", Form::Percent, bound, find)
    }

    /// The worst error of predictions.
    pub fn worst_error(most: f64) -> Target {
        let find = |sheet: &Sheet| sheet.summary().worst_error;
        let bound = Bound::AtMost(most);
        Target::new("worst error of predictions", Form::Percent, bound, find)
    }

    /// How many times too much or too little the worst prediction is.
    pub fn worst_factor(most: f64) -> Target {
        let find = |sheet: &Sheet| sheet.summary().worst_factor;
        let bound = Bound::AtMost(most);
        Target::new("worst prediction is off by", Form::Times, bound, find)
    }

    /// A cell's value.
    pub fn cell(name: &str, form: Form, bound: Bound, at: (&str, &str)) -> Target {
        let (row, column) = (at.0.to_owned(), at.1.to_owned());
        Target::new(name, form, bound, move |sheet| sheet.value(&row, &column))
    }

    /// One row's value over another's, in a column: less than 1.
    pub fn less(column: &str, row: &str, than: &str) -> Target {
        let name = format!("{column}: {row} over {than}");
        let [column, row, than] = [column, row, than].map(str::to_owned);
        Target::new(name, Form::Times, Bound::Under(1.0), move |sheet| {
            Some(sheet.value(&row, &column)? / sheet.value(&than, &column)?)
        })
    }

    /// Whether `sheet` reaches it.
    pub fn judge(&self, sheet: &Sheet) -> Verdict {
        let found = (self.find)(sheet);
        Verdict {
            kind: Kind::Published,
            name: self.name.clone(),
            bound: self.bound,
            form: self.form,
            found,
            met: found.is_some_and(|found| self.bound.holds(found)),
        }
    }
}

/// How many targets of a kind a table has.
pub(crate) fn count(table: &Table, kind: Kind) -> usize {
    match kind {
        Kind::Published => table.targets.len(),
        Kind::Own => table.beside.iter().filter(|b| b.wanted.is_some()).count(),
        Kind::Whole => 1,
    }
}

/// The verdicts of a table's targets; the first is that nothing got stuck.
pub(crate) fn judge(sheet: &Sheet) -> Vec<Verdict> {
    let missing = |sheet: &Sheet| {
        let values = sheet.values.iter().chain(&sheet.beside);
        let missing = values.filter(|value| value.is_none());
        Some(missing.count() as f64)
    };
    let name = "cells without a value";
    let all = Target::new(name, Form::Count, Bound::AtMost(0.0), missing);
    let whole = Verdict {
        kind: Kind::Whole,
        ..all.judge(sheet)
    };
    let targets = sheet.table.targets.iter();
    let verdicts = std::iter::once(whole).chain(targets.map(|target| target.judge(sheet)));
    verdicts.chain(sheet.beside().filter_map(wanted)).collect()
}

/// What becomes of a number that nobody published, if it has to be something.
fn wanted((one, found): (&Beside, Option<f64>)) -> Option<Verdict> {
    let bound = one.wanted?;
    Some(Verdict {
        kind: Kind::Own,
        name: format!("{}, {}", one.column, one.row),
        bound,
        form: match one.unit {
            Unit::Change => Form::Change,
            Unit::Times => Form::Times,
            Unit::Share => Form::Percent,
            Unit::Ms | Unit::Ns | Unit::Us => Form::Count,
        },
        met: found.is_some_and(|found| bound.holds(found)),
        found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::samples::cell;
    use crate::reproduce::table::Measure;

    fn table() -> Table {
        Table {
            cells: vec![cell("2", "fair", 1034.0), cell("3", "fair", 12087.0)],
            ..Table::new("t", "a test", "a mail".to_owned(), 0.03)
        }
    }

    fn sheet(table: &Table, values: [Option<f64>; 2]) -> Sheet<'_> {
        Sheet {
            table,
            values: values.to_vec(),
            beside: Vec::new(),
            failures: Vec::new(),
        }
    }

    #[test]
    fn bounds_hold_up_to_their_edge_or_not() {
        assert!(Bound::AtMost(0.2).holds(0.2) && !Bound::AtMost(0.2).holds(0.21));
        assert!(Bound::AtLeast(2.0).holds(2.0) && !Bound::AtLeast(2.0).holds(1.9));
        assert!(Bound::Under(1.0).holds(0.99) && !Bound::Under(1.0).holds(1.0));
        assert!(Bound::Over(0.4).holds(0.41) && !Bound::Over(0.4).holds(0.4));
        assert!(!Bound::AtMost(1.0).holds(f64::NAN));
    }

    #[test]
    fn targets_are_met_or_missed() {
        let mut table = table();
        table.targets = vec![
            Target::less("fair", "2", "3"),
            Target::median_error(0.2),
            Target::worst_error(0.25),
            Target::worst_factor(2.0),
            Target::cell("two", Form::Count, Bound::Over(1000.0), ("2", "fair")),
        ];
        let met = |values| {
            let verdicts = judge(&sheet(&table, values));
            verdicts.iter().map(|v| v.met).collect::<Vec<_>>()
        };
        assert_eq!(met([Some(1034.0), Some(12087.0)]), [true; 6]);
        // +100 % and nothing: the median is 50 %, the factor just 2.
        let wrong = met([Some(2068.0), Some(12087.0)]);
        assert_eq!(wrong, [true, true, false, false, true, true]);
        let turned = met([Some(9000.0), Some(800.0)]);
        assert_eq!(turned, [true, false, false, false, false, true]);
        let none = met([None, None]);
        assert_eq!(none, [false; 6]);
        // One stuck: what can be judged is judged.
        let half = met([None, Some(12087.0)]);
        assert_eq!(half, [false, false, true, true, true, false]);
    }

    #[test]
    fn what_nobody_published_can_be_wanted() {
        let mut table = table();
        let one = |row: &str, wanted| Beside {
            row: row.to_owned(),
            column: "ours".to_owned(),
            unit: Unit::Change,
            wanted,
            trials: vec![0],
            measure: Measure::LongestWait,
        };
        table.beside = vec![
            one("8", Some(Bound::AtLeast(0.99))),
            one("16", Some(Bound::AtLeast(1.72))),
            one("32", None),
        ];
        let judged = |beside: [Option<f64>; 3]| {
            let sheet = Sheet {
                beside: beside.to_vec(),
                ..sheet(&table, [Some(1.0); 2])
            };
            let verdicts = judge(&sheet);
            verdicts.iter().map(|v| v.met).collect::<Vec<_>>()
        };
        assert_eq!(judged([Some(0.99), Some(1.8), Some(0.1)]), [true; 3]);
        assert_eq!(
            judged([Some(0.98), Some(1.71), Some(9.0)]),
            [true, false, false]
        );
        assert_eq!(judged([Some(1.0), Some(2.0), None]), [false, true, true]);
        assert_eq!(judged([None, Some(2.0), Some(1.0)]), [false, false, true]);
        let sheet = Sheet {
            beside: vec![Some(0.98), None, None],
            ..sheet(&table, [Some(1.0); 2])
        };
        let verdict = judge(&sheet).remove(1);
        assert_eq!(verdict.name, "ours, 8");
        assert_eq!(verdict.form.show(0.98), "-2.0 %");
    }

    #[test]
    fn ranks_and_signs_count_what_is_wrong() {
        let mut table = table();
        table.cells[1].group = table.cells[0].group.clone();
        table.cells[1].base = Some(0);
        table.targets = vec![Target::ranks("ranks"), Target::signs("signs")];
        let found = |values| {
            let verdicts = judge(&sheet(&table, values));
            verdicts[1..].iter().map(|v| v.found).collect::<Vec<_>>()
        };
        assert_eq!(found([Some(1.0), Some(2.0)]), [Some(0.0), Some(0.0)]);
        assert_eq!(found([Some(2.0), Some(1.0)]), [Some(1.0), Some(1.0)]);
    }
}
