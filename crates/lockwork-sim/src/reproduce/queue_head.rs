// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The queued spinlock whose head takes the lock by a read-modify-write, and by a store.

use super::bound::{Bound, Form};
use super::cell::{Cell, Extent, Measure, Role, Trial, Unit};
use super::lab;
use super::published::{published, Figure};
use super::spin_micro;
use super::statistics::error;
use super::table::Table;
use super::target::Target;
use anyhow::Result;
use serde::Deserialize;

pub(crate) const NAME: &str = "queue-head";
const TITLE: &str = "spin-micro's fair queue, whose head takes the lock by a read-modify-write \
                     (before) or by a store (after)";
const MACHINE: &str = "westmere-ex-4s";
/// The columns that hold one against the other.
const OVER: [&str; 2] = ["before / after, standalone", "before / after, embedded"];
/// The column whose simulations no other cell has.
const COUNTED: &str = "before, standalone";
/// What the locks before are compared with: a simulation of spin-micro.
const AFTER: &str = "after, embedded";
/// The published times of the lock after, standalone and embedded, differ by 0.8 % at most.
const TIE: f64 = 0.01;

#[derive(Deserialize)]
struct Row {
    placement: String,
    n: usize,
    before_standalone_ms: Figure,
    before_embedded_ms: Figure,
    after_standalone_ms: Figure,
    after_embedded_ms: Figure,
}

impl Row {
    /// Column, whether it is of the lock before, value.
    fn times(&self) -> [(&'static str, bool, f64); 3] {
        [
            (COUNTED, true, self.before_standalone_ms.0),
            ("before, embedded", true, self.before_embedded_ms.0),
            (AFTER, false, self.after_embedded_ms.0),
        ]
    }

    fn over(&self) -> [f64; 2] {
        [
            self.before_standalone_ms.0 / self.after_standalone_ms.0,
            self.before_embedded_ms.0 / self.after_embedded_ms.0,
        ]
    }
}

/// The table.
///
/// # Errors
/// Its file, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("qspinlock_simple_write.csv");
    let machine = lab::machine(MACHINE)?;
    let workload = spin_micro::workload()?;
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.figures = file.figures()?;
    table.machine = machine.name.clone();
    table.notes = vec![
        "Embedded: the lock is in the line of its data. The section has no data, so that it is \
         the same simulation. So these columns are shown only."
            .into(),
        "\"After, standalone\" is spin-micro's fair queue again: it is compared there.".into(),
        "\"Before / after\" follows from other cells. It is shown, and has a target.".into(),
    ];
    for row in &file.rows::<Row>()? {
        let name = spin_micro::row_name(&row.placement, row.n);
        let placement = spin_micro::placement(&row.placement)?;
        let [before, after] = ["head_by_rmw", "fair_queue"].map(|lock| {
            Ok::<usize, anyhow::Error>(table.trial(Trial {
                machine: machine.clone(),
                lock: lab::lock(lock)?,
                workload: workload.clone(),
                threads: row.n,
                placement,
                extent: Extent::Steady,
            }))
        });
        let (before, after) = (before?, after?);
        let after_at = table.cells.len() + row.times().len() - 1;
        let cell = |column: &str, published, unit, role, trials, measure| Cell {
            row: name.clone(),
            column: column.to_owned(),
            group: format!("{name}, {column}"),
            published,
            unit,
            role,
            base: None,
            trials,
            measure,
        };
        let time = Measure::Finished(spin_micro::PUBLISHED_LOOPS / 1e6);
        let times = row.times().map(|(column, is_before, ms)| {
            let trial = if is_before { before } else { after };
            let role = match column {
                COUNTED => Role::Prediction,
                _ => Role::Shown,
            };
            Cell {
                base: is_before.then_some(after_at),
                ..cell(column, ms, Unit::Ms, role, vec![trial], time)
            }
        });
        let over = OVER.into_iter().zip(row.over()).map(|(column, ratio)| {
            let trials = vec![before, after];
            let measure = Measure::FinishedOver;
            cell(column, ratio, Unit::Change, Role::Shown, trials, measure)
        });
        table.cells.extend(times.into_iter().chain(over));
    }
    table.targets = vec![Target::worst_factor(2.0), as_little()];
    Ok(table)
}

/// What the read-modify-write costs: as little as published, in each cell. That is 1.2 to
/// 3.5 %, so that a simulator in which it costs nothing is off by more than the bound.
fn as_little() -> Target {
    let name = "before / after, where it is off by most";
    let bound = Bound::AtMost(0.02);
    Target::new(name, Form::Percent, bound, |sheet| {
        let pairs = sheet.pairs().into_iter();
        let over = pairs.filter(|(cell, _)| OVER.contains(&cell.column.as_str()));
        let errors: Option<Vec<f64>> = over
            .map(|(cell, value)| Some(error(cell.published, value?).abs()))
            .collect();
        errors?.into_iter().max_by(f64::total_cmp)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Placement;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!((table.cells.len(), table.trials.len()), (40, 16));
        let first = &table.cells[3];
        assert_eq!(
            (first.row.as_str(), first.column.as_str()),
            ("same_node 3", OVER[0])
        );
        assert_eq!(first.unit.show(first.published), "+3.4 %");
        let locks = [0, 1].map(|i| table.trials[first.trials[i]].lock);
        assert_eq!(locks, ["qspinlock_fair_rmw", "qspinlock_fair"]);
        assert_eq!(table.trials[15].placement, Placement::PerNode);
        let counted = table
            .cells
            .iter()
            .filter(|cell| cell.role == Role::Prediction);
        assert!(counted.clone().all(|cell| cell.column == COUNTED));
        assert_eq!(counted.count(), 8);
        for cell in table.cells.iter().filter(|cell| cell.base.is_some()) {
            let base = &table.cells[cell.base.expect("one")];
            assert_eq!(
                (base.row.as_str(), base.column.as_str()),
                (cell.row.as_str(), AFTER)
            );
            assert!(cell.column.starts_with("before, "));
        }
        let most = table
            .cells
            .iter()
            .filter(|cell| OVER.contains(&cell.column.as_str()));
        let most = most.map(|cell| cell.published).max_by(f64::total_cmp);
        assert!(most.is_some_and(|most| most < 1.04), "{most:?}");
    }
}
