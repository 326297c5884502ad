// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork reproduce`: the simulator against published measurements.

mod ablation;
mod aim7_ebizzy;
mod args;
mod bound;
mod cell;
#[cfg(test)]
mod coverage;
pub mod fit;
mod fitted;
mod fxmark;
mod j_state;
mod json;
mod judge;
mod lab;
mod left_out;
mod mb_cache;
mod mutex_nodes;
mod null;
mod numa_osq;
mod osq_locktorture;
mod osq_macro;
mod page;
pub(crate) mod published;
mod qrwlock_single;
mod queue_head;
mod run;
#[cfg(test)]
mod samples;
mod settled;
mod sheet;
mod spin_micro;
mod statistics;
mod table;
mod target;
mod totals;

pub use args::{ReproduceArgs, AFTER_HELP, HELP};

use crate::Rules;
use anyhow::{Context, Result};
use lockwork_report::interrupt::{Interrupt, Interrupted};
use lockwork_report::machine::cpus;
use lockwork_report::{choice, text};
use std::process::ExitCode;
use table::Table;

type Build = fn() -> Result<Table>;

/// The tables, in the order in which they are printed.
const TABLES: [(&str, Build); 11] = [
    (spin_micro::NAME, spin_micro::table),
    (queue_head::NAME, queue_head::table),
    (qrwlock_single::NAME, qrwlock_single::table),
    (mb_cache::NAME, mb_cache::table),
    (j_state::NAME, j_state::table),
    (mutex_nodes::NAME, mutex_nodes::table),
    (osq_locktorture::NAME, osq_locktorture::table),
    (osq_macro::NAME, osq_macro::table),
    (fxmark::NAME, fxmark::table),
    (numa_osq::NAME, numa_osq::table),
    (aim7_ebizzy::NAME, aim7_ebizzy::table),
];

/// Does what the arguments say. Failure: a target is missed.
///
/// # Errors
/// The arguments name what there is not, or a file of the program is wrong.
pub fn reproduce(args: &ReproduceArgs) -> Result<ExitCode> {
    let tables = choose(&args.tables)?;
    let rules = Rules::without(&args.without)?;
    if args.list {
        text::print(&(totals::list(&tables) + &left_out::list(&tables)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = args.jobs.map_or_else(cpus, |n| n as usize);
    let interrupt = Interrupt::listen().context("cannot take over Ctrl-C")?;
    let stopped = |error: anyhow::Error| -> Result<ExitCode> {
        let signal: Interrupted = error.downcast()?;
        text::complain("lockwork: interrupted; no table is complete\n");
        Ok(signal.into())
    };
    if args.ablation {
        ablation::can_be_judged(&args.tables, &tables)?;
        let rows = match ablation::rows(tables, jobs, args.seeds.unwrap_or(1), &interrupt) {
            Ok(rows) => rows,
            Err(error) => return stopped(error),
        };
        text::print(&match args.markdown {
            true => ablation::markdown(&rows),
            false => ablation::text(&rows),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let seeds = args.seeds.unwrap_or(run::SEEDS);
    let found = match run::simulate_all(&tables, jobs, seeds, rules, &interrupt) {
        Ok(found) => found,
        Err(error) => return stopped(error),
    };
    let sheets = tables.iter().zip(&found);
    let sheets = sheets.map(|(table, found)| sheet::Sheet::new(table, found));
    let judged: Vec<judge::Judged> = sheets.map(judge::Judged::new).collect();
    text::print(&match (args.json, args.markdown) {
        (true, _) => json::render(&judged, seeds, rules)?,
        (_, true) => page::markdown(&judged),
        _ => page::text(&judged),
    })?;
    if judged.iter().all(|judged| judged.missed() == 0) {
        return Ok(ExitCode::SUCCESS);
    }
    text::complain(&format!("lockwork: {}\n", totals::missed(&judged)));
    Ok(ExitCode::FAILURE)
}

/// The tables of those names, once each, in their own order; all without names.
fn choose(names: &[String]) -> Result<Vec<Table>> {
    for name in names {
        choice::one("table", name, &TABLES, |(known, _)| known)?;
    }
    TABLES
        .iter()
        .filter(|(known, _)| names.is_empty() || names.iter().any(|name| name == known))
        .map(|(known, build)| built(*build).with_context(|| format!("the table {known}")))
        .collect()
}

fn built(build: Build) -> Result<Table> {
    let mut table = build()?;
    if table.cells.is_empty() {
        return Ok(table);
    }
    let rows = fitted::rows(&table.machine)?;
    fitted::mark(&mut table, &rows)?;
    let of_each = target::Target::of_each_table(table.tie);
    table.targets.splice(0..0, of_each);
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::bound::Kind;
    use super::cell::Wanted;
    use super::sheet::Sheet;
    use super::*;

    fn as_published(table: &Table) -> Sheet<'_> {
        Sheet {
            table,
            values: table
                .cells
                .iter()
                .map(|cell| Some(cell.published))
                .collect(),
            // As good as what is asked for, where nothing is published.
            beside: table
                .beside
                .iter()
                .map(|one| {
                    Some(match one.wanted {
                        Some(Wanted::Is(bound)) => bound.parts().1,
                        Some(Wanted::AsGoodAs(cell)) => table.cells[cell].published,
                        None => 1.0,
                    })
                })
                .collect(),
            known: Vec::new(),
            known_beside: Vec::new(),
            failures: Vec::new(),
        }
    }

    #[test]
    fn what_was_published_meets_every_target() {
        for table in choose(&[]).expect("all") {
            for verdict in judge::judge(&as_published(&table)) {
                assert!(verdict.met, "{}: {verdict:?}", table.name);
            }
        }
    }

    /// Of goals of our own lock it misses some, too: where nothing is published to compare.
    #[test]
    fn a_simulator_that_sees_no_difference_misses_targets_of_every_table() {
        for table in choose(&[]).expect("all") {
            let mut sheet = as_published(&table);
            let values = 0..table.cells.len();
            sheet.values = values.map(|at| Some(null::value(&table, at))).collect();
            sheet.beside = table.beside.iter().map(|_| Some(1.0)).collect();
            let kind = match table.cells.is_empty() {
                true => Kind::Own,
                false => Kind::Published,
            };
            let judged = [judge::Judged::new(sheet)];
            assert!(totals::met(&judged, kind).wrong() > 0, "{}", table.name);
        }
    }

    #[test]
    fn each_table_with_cells_has_a_target_for_errors_and_one_for_signs() {
        for table in choose(&[]).expect("all") {
            let has = |start: &str, most: f64| {
                let mut targets = table.targets.iter();
                let bound = bound::Bound::AtMost(most);
                targets.any(|target| target.name.starts_with(start) && target.bound == bound)
            };
            let [error, sign] = [
                ("median error of", 0.15),
                ("cells with the wrong sign", 0.0),
            ]
            .map(|(start, most)| has(start, most));
            let wanted = !table.cells.is_empty();
            assert_eq!([error, sign], [wanted; 2], "{}", table.name);
        }
    }

    #[test]
    fn tables_are_whole() {
        let catalogue = crate::locks().expect("the catalogue");
        for table in choose(&[]).expect("all") {
            assert!(!table.notes.is_empty());
            let wanted = table.beside.iter().filter(|one| one.wanted.is_some());
            assert!(table.targets.len() + wanted.count() > 0, "{}", table.name);
            for one in &table.beside {
                let at = format!("{}: {}, {}", table.name, one.row, one.column);
                assert!(one.trials.iter().all(|&t| t < table.trials.len()), "{at}");
                let same =
                    |other: &&cell::Beside| (&other.row, &other.column) == (&one.row, &one.column);
                assert_eq!(table.beside.iter().filter(same).count(), 1, "{at}");
            }
            for cell in &table.cells {
                let at = format!("{}: {}, {}", table.name, cell.row, cell.column);
                assert!(cell.published > 0.0, "{at}");
                assert!(cell.trials.iter().all(|&t| t < table.trials.len()), "{at}");
                let same =
                    |other: &&cell::Cell| (&other.row, &other.column) == (&cell.row, &cell.column);
                assert_eq!(table.cells.iter().filter(same).count(), 1, "{at}");
            }
            for trial in &table.trials {
                let mut known = catalogue.iter();
                let lock = known
                    .find(|lock| lock.name == trial.lock)
                    .expect(trial.lock);
                assert!(lock.is_rw || trial.workload.reads == 0.0, "{}", trial.lock);
                let most = trial.machine.cpus();
                assert!(trial.threads <= most || trial.placement != crate::Placement::PerNode);
            }
            if table.cells.is_empty() {
                continue;
            }
            for row in fitted::rows(&table.machine).expect("a machine") {
                let (name, _) = row.split_once(": ").expect("TABLE: COLUMN");
                let known = TABLES.iter().any(|(known, _)| *known == name);
                assert!(known, "{}: {row}", table.machine);
            }
            let counts = |cell: &cell::Cell| cell::Role::COMPARED.contains(&cell.role);
            assert!(table.cells.iter().any(counts), "{}", table.name);
        }
    }

    /// README.md, data/README.md and docs/fidelity.md state these numbers.
    #[test]
    fn figures_cells_and_targets_are_as_the_pages_say() {
        let tables = choose(&[]).expect("all");
        assert_eq!(
            totals::compared(tables.iter()),
            "figures in data/published: 978; cells predicted: 79; cells with a fitted think \
             time: 49; cells that the machine was fitted to: 24; cells shown only: 77; cells \
             simulated only: 122"
        );
        assert_eq!(
            totals::targets(&tables),
            "targets: 46 targets against published figures, 42 goals of our own lock, 22 \
             checks that every cell has a value and has settled"
        );
        let judged: Vec<judge::Judged> = tables
            .iter()
            .map(as_published)
            .map(judge::Judged::new)
            .collect();
        assert_eq!(
            totals::missed(&judged),
            "missed: 0 of 46 targets against published figures, 0 of 42 goals of our own lock, \
             0 of 22 checks that every cell has a value and has settled"
        );
    }

    /// The list of totals is what `--markdown` printed last; the sentences are written by hand.
    #[test]
    fn the_pages_name_as_many_missed_targets_as_their_list() {
        let page = |name: &str| {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../..")
                .join(name);
            let text = std::fs::read_to_string(path).expect("a page");
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let fidelity = page("docs/fidelity.md");
        let of = " against published figures";
        let (_, list) = fidelity.split_once("- missed: ").expect("the list");
        let (missed, _) = list.split_once(of).expect("its first number");
        for (page, text) in [
            ("README.md", page("README.md")),
            ("fidelity.md", fidelity.clone()),
        ] {
            assert!(
                text.contains(&format!(" {missed}{of} are missed")),
                "{page}: {missed}"
            );
        }
    }

    #[test]
    fn tables_are_chosen_by_name() {
        let names = |of: &[&str]| {
            let of: Vec<String> = of.iter().map(|&name| name.to_owned()).collect();
            choose(&of).map(|tables| tables.iter().map(|t| t.name).collect::<Vec<_>>())
        };
        let all: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names(&[]).expect("all"), all);
        let two = names(&["mb-cache", "spin-micro", "mb-cache"]).expect("two");
        assert_eq!(two, ["spin-micro", "mb-cache"]);
        let error = names(&["spin"]).expect_err("none").to_string();
        assert!(error.contains("'spin'") && error.contains("spin-micro, queue-head"));
    }
}
