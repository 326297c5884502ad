// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which cells a machine was fitted to, and which a workload's think time: their files say so,
//! and nothing here does.

use super::cell::{Role, Trial};
use super::table::Table;
use crate::machine;
use anyhow::{bail, Result};

/// What the files of some machines ("A, B") were fitted to, as `TABLE: COLUMN`.
///
/// # Errors
/// There is no such machine.
pub(super) fn rows(machines: &str) -> Result<Vec<String>> {
    let mut rows = Vec::new();
    for name in machines.split(", ") {
        let calibration = machine::open(name)?.file.calibration;
        rows.extend(calibration.map_or_else(Vec::new, |fitted| fitted.get_ref().rows.clone()));
    }
    Ok(rows)
}

/// Marks the cells that `rows` names, and those with a workload that was fitted to the table:
/// they are no predictions. All tables of the machine have a note.
///
/// # Errors
/// A column of the table is named that it does not have.
pub(super) fn mark(table: &mut Table, rows: &[String]) -> Result<()> {
    for row in rows {
        let Some((name, column)) = row.split_once(": ") else {
            bail!(
                "the machine {}: '{row}' in [calibration] is not TABLE: COLUMN",
                table.machine
            );
        };
        if name != table.name {
            continue;
        }
        let cells = table.cells.iter_mut();
        let cells = cells.filter(|cell| cell.column == column && cell.role == Role::Prediction);
        let mut any = false;
        for cell in cells {
            cell.role = Role::Calibration;
            any = true;
        }
        if !any {
            bail!(
                "the machine {} says that it was fitted to '{row}', which has no cells",
                table.machine
            );
        }
    }
    mark_think(table);
    let note = match rows {
        [] if table.machine.contains(", ") => {
            "The machines were fitted to nothing published here.".to_owned()
        }
        [] => "The machine was fitted to nothing published here.".to_owned(),
        rows => format!("The machine was fitted to: {}.", rows.join("; ")),
    };
    table.notes.insert(0, note);
    Ok(())
}

/// Marks the cells of workloads whose think time was fitted to figures of this table.
fn mark_think(table: &mut Table) {
    let is_fitted = |trial: &Trial| trial.workload.fitted_to.iter().any(|to| to == table.name);
    let fitted: Vec<bool> = table.trials.iter().map(is_fitted).collect();
    let cells = table.cells.iter_mut();
    for cell in cells.filter(|cell| cell.role == Role::Prediction) {
        let is_of = |trial: &usize| fitted.get(*trial) == Some(&true);
        if cell.trials.iter().any(is_of) {
            cell.role = Role::FittedThink;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::mb_cache;
    use crate::reproduce::samples::cell;

    fn table() -> Table {
        Table {
            machine: "m".to_owned(),
            cells: vec![cell("1", "ticket", 1.0), cell("1", "fair", 1.0)],
            ..Table::new("t", "a test", "a mail".to_owned(), 0.03)
        }
    }

    fn mark_by(rows: &[&str]) -> Result<Table> {
        let mut table = table();
        let rows: Vec<String> = rows.iter().map(|&row| row.to_owned()).collect();
        mark(&mut table, &rows).map(|()| table)
    }

    #[test]
    fn the_file_says_what_was_fitted() {
        let roles = |rows: &[&str]| {
            let table = mark_by(rows).expect("marked");
            table.cells.iter().map(|c| c.role).collect::<Vec<_>>()
        };
        assert_eq!(roles(&[]), [Role::Prediction, Role::Prediction]);
        assert_eq!(roles(&["t: ticket"]), [Role::Calibration, Role::Prediction]);
        assert_eq!(roles(&["u: ticket"]), [Role::Prediction, Role::Prediction]);
        let note = &mark_by(&["u: x", "t: fair"]).expect("marked").notes[0];
        assert_eq!(note, "The machine was fitted to: u: x; t: fair.");
    }

    #[test]
    fn a_workload_that_was_fitted_to_the_table_makes_no_predictions() {
        let roles = |name: &'static str| {
            let mut table = Table { name, ..table() };
            let trials = mb_cache::table().expect("a table").trials;
            table.trials = trials.into_iter().take(1).collect();
            mark(&mut table, &["mb-cache: fair".to_owned()]).expect("marked");
            table.cells.iter().map(|cell| cell.role).collect::<Vec<_>>()
        };
        assert_eq!(roles("mb-cache"), [Role::FittedThink, Role::Calibration]);
        assert_eq!(roles("other"), [Role::Prediction; 2]);
    }

    #[test]
    fn what_the_table_has_not_is_refused() {
        for rows in ["t: slow", "t", "ticket"] {
            let error = mark_by(&[rows]).map(|_| ()).expect_err(rows).to_string();
            assert!(error.contains(&format!("'{rows}'")), "{error}");
        }
    }
}
