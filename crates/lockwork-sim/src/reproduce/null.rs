// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The null model: a simulator that has the published figures, and sees no difference between
//! locks. What it reaches is worth nothing in another one.

use super::cell::Unit;
use super::statistics::compare;
use super::table::Table;
use std::cmp::Ordering;

/// What it says of a cell. If the cell has a base, this is the base's published value. If it is a
/// ratio, this is 1. Otherwise it is the cell's own published value.
pub(crate) fn value(table: &Table, at: usize) -> f64 {
    let cell = &table.cells[at];
    match (cell.base, cell.unit) {
        (Some(base), _) => table.cells[base].published,
        (None, Unit::Change | Unit::Times) => 1.0,
        (None, _) => cell.published,
    }
}

/// Whether a difference is published: more than what counts as a tie.
pub(crate) fn differs(table: &Table, at: usize) -> bool {
    let published = table.cells[at].published;
    compare(published, value(table, at), table.tie) != Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::cell::Cell;
    use crate::reproduce::samples::cell;

    #[test]
    fn it_knows_what_is_published_of_others() {
        let over = |published| Cell {
            unit: Unit::Change,
            ..cell("2", "gain", published)
        };
        let fair = |published| Cell {
            base: Some(0),
            ..cell("1", "fair", published)
        };
        let table = Table {
            cells: vec![
                cell("1", "ticket", 100.0),
                fair(150.0),
                fair(102.0),
                over(1.2),
                over(0.99),
            ],
            ..Table::new("t", "a test", "a mail".to_owned(), 0.03)
        };
        let each = 0..table.cells.len();
        let values: Vec<f64> = each.clone().map(|at| value(&table, at)).collect();
        assert_eq!(values, [100.0, 100.0, 100.0, 1.0, 1.0]);
        let differ: Vec<bool> = each.map(|at| differs(&table, at)).collect();
        assert_eq!(differ, [false, true, false, true, false]);
    }
}
