// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Lock and unlock without anybody else.

use super::cell::{Cell, Extent, Measure, Role, Trial, Unit};
use super::lab;
use super::published::{published, Figure};
use super::table::Table;
use super::target::Target;
use crate::workload::{Time, Workload};
use crate::Placement;
use anyhow::Result;
use serde::Deserialize;

pub(crate) const NAME: &str = "qrwlock-single";
const TITLE: &str = "time of one lock and unlock, one thread";
const MACHINE: &str = "westmere-ex-4s";
/// Pairs that are simulated; each is as the last.
const LOOPS: u64 = 10_000;
/// What the two v11 columns say of the same code: a read lock over a queued one is
/// 1.06 in one and 1.01 in the other. What is nearer than that is not in order.
const TIE: f64 = 0.07;
/// The one column that counts: each lock is simulated once.
const COUNTED: &str = "v11 2.4 GHz";
/// Of the machine, and of the published machine with the faster clock.
const CLOCKS: [f64; 2] = [2.4, 2.93];

#[derive(Deserialize)]
struct Row {
    lock: String,
    #[serde(rename = "rfc_2.4GHz_westmere_ns")]
    rfc: Figure,
    #[serde(rename = "v11_2.4GHz_ns")]
    v11: Figure,
    #[serde(rename = "v11_2.93GHz_ns")]
    v11_fast: Figure,
}

/// Nothing but lock and unlock: as the published loop, whose own cost the later
/// mail says is within its figures.
fn pairs(reads: f64) -> Result<Workload> {
    let base = lab::looped(lab::workload("spin-micro")?, LOOPS);
    Ok(Workload {
        name: "pairs".to_owned(),
        summary: "lock and unlock, nothing else".to_owned(),
        think: Time::Fixed(0.0),
        section: Time::Fixed(0.0),
        read_section: Time::Fixed(0.0),
        lines: 0,
        reads,
        ..base
    })
}

/// The table.
///
/// # Errors
/// Its file, its machine or its workload is wrong.
pub(crate) fn table() -> Result<Table> {
    let file = published!("qrwlock_single_thread.csv");
    let machine = lab::machine(MACHINE)?;
    let mut table = Table::new(NAME, TITLE, file.source()?, TIE);
    table.figures = file.figures()?;
    table.machine = machine.name.clone();
    table.notes = vec![
        "v11 2.93 GHz: the same simulations, scaled by the clock (2.4 / 2.93). So they are shown \
         only."
            .into(),
        "RFC: shown only. Of three locks it is the same simulations again; v11 changed the code \
         of the queue locks, and ours is like v11's."
            .into(),
        "No lock stands for the RFC's queue locks: the sources at hand have their figures, and no \
         description of which atomic operations a reader makes. A lock written to give the \
         31.1 ns would be fitted to the one figure that it is compared with."
            .into(),
        "Published with the loop and the timing around it; simulated without a loop.".into(),
    ];
    let mut bases = [None; 3];
    for row in file.rows::<Row>()? {
        let reads = f64::from(u8::from(row.lock.ends_with("read_lock")));
        let trial = table.trial(Trial {
            machine: machine.clone(),
            lock: lab::lock(&row.lock)?,
            workload: pairs(reads)?,
            threads: 1,
            placement: Placement::Compact,
            extent: Extent::Steady,
        });
        let columns = [
            (COUNTED, row.v11.0, 1.0),
            ("v11 2.93 GHz", row.v11_fast.0, CLOCKS[0] / CLOCKS[1]),
            ("RFC 2.4 GHz", row.rfc.0, 1.0),
        ];
        for ((column, ns, scale), base) in columns.into_iter().zip(&mut bases) {
            table.cells.push(Cell {
                row: row.lock.clone(),
                column: column.to_owned(),
                group: column.to_owned(),
                published: ns,
                unit: Unit::Ns,
                role: match column {
                    COUNTED => Role::Prediction,
                    _ => Role::Shown,
                },
                base: *base,
                trials: vec![trial],
                measure: Measure::Finished(scale),
            });
            base.get_or_insert(table.cells.len() - 1); // the first row's: the ticket lock
        }
    }
    table.targets = vec![
        Target::ranks("columns with locks out of order"),
        Target::worst_factor(2.0),
    ];
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let table = table().expect("the table");
        assert_eq!((table.cells.len(), table.trials.len()), (15, 5));
        let shown: Vec<f64> = table
            .cells
            .iter()
            .filter(|cell| cell.role == Role::Shown)
            .map(|cell| cell.published)
            .collect();
        assert_eq!(shown.len(), 2 * 5);
        let says_why = |note: &String| note.contains("No lock stands for the RFC's");
        assert!(table.notes.iter().any(says_why));
        let counted = table
            .cells
            .iter()
            .filter(|cell| cell.role == Role::Prediction);
        let counted: Vec<usize> = counted.map(|cell| cell.trials[0]).collect();
        assert_eq!(counted, [0, 1, 2, 3, 4]);
        for cell in &table.cells {
            let trial = &table.trials[cell.trials[0]];
            assert_eq!(trial.workload.reads > 0.0, cell.row.ends_with("read_lock"));
            assert_eq!(cell.base.is_none(), cell.row == "ticket_spinlock");
            let base = cell.base.map(|base| &table.cells[base]);
            assert!(base.is_none_or(|base| base.column == cell.column));
        }
    }
}
