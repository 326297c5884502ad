// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which targets a table reaches.

use super::bound::{Bound, Form, Kind};
use super::cell::{Beside, Unit};
use super::sheet::Sheet;
use super::statistics::Summary;
use super::table::Table;
use super::target::{Values, Verdict};

/// A table, what was simulated, and what it is worth.
pub(crate) struct Judged<'a> {
    pub sheet: Sheet<'a>,
    pub summary: Summary,
    pub verdicts: Vec<Verdict>,
}

impl<'a> Judged<'a> {
    pub fn new(sheet: Sheet<'a>) -> Judged<'a> {
        Judged {
            summary: sheet.summary(),
            verdicts: judge(&sheet),
            sheet,
        }
    }

    /// Targets that are missed.
    pub fn missed(&self) -> usize {
        self.verdicts.iter().filter(|verdict| !verdict.met).count()
    }
}

/// How many targets of a kind a table has.
pub(crate) fn count(table: &Table, kind: Kind) -> usize {
    match kind {
        Kind::Published => table.targets.len(),
        Kind::Own => table.beside.iter().filter(|b| b.wanted.is_some()).count(),
        Kind::Whole => 2,
    }
}

/// The verdicts of a table's targets; the first are that nothing got stuck, and that all
/// came to a steady state.
pub(crate) fn judge(sheet: &Sheet) -> Vec<Verdict> {
    let values = sheet.values.iter().chain(&sheet.beside);
    let missing = values.filter(|value| value.is_none()).count();
    let whole = [
        none("cells without a value", missing),
        none("cells that have not settled", sheet.unsettled()),
    ];
    let targets = sheet.table.targets.iter();
    let verdicts = whole
        .into_iter()
        .chain(targets.map(|target| target.judge(sheet)));
    let beside = sheet.beside();
    let own = beside.filter_map(|(one, found)| Some(wanted(one, sheet.wanted(one)?, found)));
    verdicts.chain(own).collect()
}

/// There has to be none of them.
fn none(what: &str, found: usize) -> Verdict {
    let bound = Bound::AtMost(0.0);
    Verdict {
        kind: Kind::Whole,
        name: what.to_owned(),
        bound,
        form: Form::Count,
        found: Some(found as f64),
        met: bound.holds(found as f64),
    }
}

/// What becomes of a number that nobody published, which has to be within `bound`.
fn wanted(one: &Beside, bound: Bound, found: Option<f64>) -> Verdict {
    Verdict {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::cell::{Estimate, Measure, Wanted};
    use crate::reproduce::samples::cell;
    use crate::reproduce::target::Target;

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
            known: Vec::new(),
            known_beside: Vec::new(),
            failures: Vec::new(),
        }
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
            verdicts[2..].iter().map(|v| v.met).collect::<Vec<_>>()
        };
        assert_eq!(met([Some(1034.0), Some(12087.0)]), [true; 5]);
        // +100 % and nothing: the median is 50 %, the factor just 2.
        let wrong = met([Some(2068.0), Some(12087.0)]);
        assert_eq!(wrong, [true, false, false, true, true]);
        let turned = met([Some(9000.0), Some(800.0)]);
        assert_eq!(turned, [false, false, false, false, true]);
        let none = met([None, None]);
        assert_eq!(none, [false; 5]);
        // One stuck: what can be judged is judged.
        let half = met([None, Some(12087.0)]);
        assert_eq!(half, [false, true, true, true, false]);
    }

    #[test]
    fn no_value_and_no_steady_state_are_missed() {
        let table = table();
        let whole = |values, unsettled: [bool; 2]| {
            let known = unsettled.map(|unsettled| Estimate {
                unsettled,
                ..Estimate::default()
            });
            let sheet = Sheet {
                known: known.to_vec(),
                ..sheet(&table, values)
            };
            judge(&sheet)[..2].iter().map(|v| v.met).collect::<Vec<_>>()
        };
        assert_eq!(whole([Some(1.0), Some(1.0)], [false; 2]), [true, true]);
        assert_eq!(whole([Some(1.0), None], [false; 2]), [false, true]);
        assert_eq!(whole([Some(1.0), Some(1.0)], [false, true]), [true, false]);
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
            one("8", Some(Wanted::Is(Bound::AtLeast(0.99)))),
            one("16", Some(Wanted::Is(Bound::AtLeast(1.72)))),
            one("32", None),
        ];
        let judged = |beside: [Option<f64>; 3]| {
            let sheet = Sheet {
                beside: beside.to_vec(),
                ..sheet(&table, [Some(1.0); 2])
            };
            let verdicts = judge(&sheet);
            let met = verdicts.iter().map(|v| v.met);
            // The second is about steady states.
            met.enumerate()
                .filter(|(at, _)| *at != 1)
                .map(|(_, met)| met)
                .collect::<Vec<_>>()
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
        let verdict = judge(&sheet).remove(2);
        assert_eq!(verdict.name, "ours, 8");
        assert_eq!(verdict.form.show(0.98), "-2.0 %");
    }

    #[test]
    fn as_good_as_a_simulated_cell_is_three_points_less_and_no_loss() {
        let mut table = table();
        table.beside = vec![Beside {
            row: "2".to_owned(),
            column: "ours".to_owned(),
            unit: Unit::Change,
            wanted: Some(Wanted::AsGoodAs(1)),
            trials: vec![0],
            measure: Measure::RateOver,
        }];
        let verdict = |cell: Option<f64>, ours| {
            let sheet = Sheet {
                beside: vec![Some(ours)],
                ..sheet(&table, [Some(1.0), cell])
            };
            let verdict = judge(&sheet).remove(2);
            (verdict.bound.parts().1, verdict.met)
        };
        assert_eq!(verdict(Some(1.5), 1.48), (1.47, true));
        assert_eq!(verdict(Some(1.5), 1.46), (1.47, false));
        assert_eq!(verdict(Some(0.9), 0.98), (0.99, false));
        assert_eq!(verdict(None, 1.0), (0.99, true));
    }

    #[test]
    fn ranks_and_signs_count_what_is_wrong() {
        let mut table = table();
        table.cells[1].group = table.cells[0].group.clone();
        table.cells[1].base = Some(0);
        table.targets = vec![Target::ranks("ranks"), Target::signs("signs")];
        let found = |values| {
            let verdicts = judge(&sheet(&table, values));
            verdicts[2..].iter().map(|v| v.found).collect::<Vec<_>>()
        };
        assert_eq!(found([Some(1.0), Some(2.0)]), [Some(0.0), Some(0.0)]);
        assert_eq!(found([Some(2.0), Some(1.0)]), [Some(1.0), Some(1.0)]);
    }
}
