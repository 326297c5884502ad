// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a table must reach. A target that is missed makes the command fail, so
//! that nobody has to read a table to know.

use super::bound::{Bound, Form, Kind};
use super::cell::Cell;
use super::statistics::Summary;

/// The median error that a table may have, and all predictions together.
pub(crate) const MOST_MEDIAN_ERROR: f64 = 0.15;

/// What was simulated for a table, as targets see it.
pub(crate) trait Values {
    /// The published cells with their simulated values, none where there is none to be had.
    fn pairs(&self) -> Vec<(&Cell, Option<f64>)>;

    /// How well the cells that are compared agree.
    fn summary(&self) -> Summary;

    /// The simulated value of a cell.
    fn value(&self, row: &str, column: &str) -> Option<f64> {
        let mut cells = self.pairs().into_iter();
        let found = cells.find(|(cell, _)| cell.row == row && cell.column == column);
        found.and_then(|(_, value)| value)
    }

    /// The values of the cells that `wanted` picks; none if one got stuck, or if
    /// there is no such cell.
    fn values_of(&self, wanted: &dyn Fn(&Cell) -> bool) -> Option<Vec<f64>> {
        let picked = self.pairs().into_iter().filter(|(cell, _)| wanted(cell));
        let values: Option<Vec<f64>> = picked.map(|(_, value)| value).collect();
        values.filter(|values| !values.is_empty())
    }
}

type Find = Box<dyn Fn(&dyn Values) -> Option<f64>>;

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
        find: impl Fn(&dyn Values) -> Option<f64> + 'static,
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
        let find = |sheet: &dyn Values| Some(sheet.summary().ranks.wrong() as f64);
        Target::new(what, Form::Count, Bound::AtMost(0.0), find)
    }

    /// Cells on the other side than published: none.
    pub fn signs(what: &str) -> Target {
        let find = |sheet: &dyn Values| Some(sheet.summary().signs.wrong() as f64);
        Target::new(what, Form::Count, Bound::AtMost(0.0), find)
    }

    /// What each table has to reach that is compared with published figures: the errors in the
    /// middle, and the signs. Published values within `tie` of each other are equal.
    pub fn of_each_table(tie: f64) -> [Target; 2] {
        let percent = tie * 100.0;
        let signs = format!("cells with the wrong sign (ties: {percent:.0} %)");
        [
            Target::median_error(MOST_MEDIAN_ERROR),
            Target::signs(&signs),
        ]
    }

    /// The median error of the cells that are compared.
    pub fn median_error(most: f64) -> Target {
        let find = |sheet: &dyn Values| sheet.summary().median_error;
        let bound = Bound::AtMost(most);
        Target::new("median error of compared cells", Form::Percent, bound, find)
    }

    /// The worst error of the cells that are compared.
    pub fn worst_error(most: f64) -> Target {
        let find = |sheet: &dyn Values| sheet.summary().worst_error;
        let bound = Bound::AtMost(most);
        Target::new("worst error of compared cells", Form::Percent, bound, find)
    }

    /// How many times too much or too little the worst of these cells is.
    pub fn worst_factor(most: f64) -> Target {
        let find = |sheet: &dyn Values| sheet.summary().worst_factor;
        let bound = Bound::AtMost(most);
        Target::new("worst compared cell is off by", Form::Times, bound, find)
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

    /// Rows in which `column` is not below `than`: none.
    pub fn below(what: &str, column: &'static str, than: &'static str) -> Target {
        Target::new(what, Form::Count, Bound::AtMost(0.0), move |sheet| {
            let [ours, theirs] =
                [column, than].map(|name| sheet.values_of(&|cell| cell.column == name));
            let (ours, theirs) = (ours?, theirs?);
            let wrong = ours.iter().zip(&theirs).filter(|(a, b)| a >= b);
            (ours.len() == theirs.len()).then(|| wrong.count() as f64)
        })
    }

    /// Whether `sheet` reaches it.
    pub fn judge(&self, sheet: &dyn Values) -> Verdict {
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
