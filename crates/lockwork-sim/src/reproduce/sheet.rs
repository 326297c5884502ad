// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A table with what was simulated for it.

use super::bound::Bound;
use super::cell::{Beside, Cell, Estimate, Role, Runs, Unit, Wanted, NO_LOSS};
use super::null;
use super::statistics::{
    error, factor, middle_and_worst, same_order, same_sign, Pair, Share, Summary,
};
use super::table::Table;
use super::target::Values;

/// By how much a lock of ours may gain less than the published one, of a ratio: what two
/// simulations of one lock differ by.
const SPARE: f64 = 0.03;

/// A table and each cell's simulated value.
pub(crate) struct Sheet<'a> {
    pub table: &'a Table,
    /// In the order of the table's cells; none where there is none to be had.
    pub values: Vec<Option<f64>>,
    /// The same of what nobody published.
    pub beside: Vec<Option<f64>>,
    /// How well these values are known, in the same orders; empty if nobody knows.
    pub known: Vec<Estimate>,
    pub known_beside: Vec<Estimate>,
    /// Why not: simulations that got stuck, and cells that came to nothing.
    pub failures: Vec<String>,
}

impl<'a> Sheet<'a> {
    /// What was found, by trial.
    pub fn new(table: &'a Table, found: &[Runs]) -> Sheet<'a> {
        let mut failures = Vec::new();
        let is_stuck = |runs: &Runs| runs.iter().any(Result::is_err);
        for (trial, seeds) in table.trials.iter().zip(found) {
            if let Some(Err(reason)) = seeds.iter().find(|seed| seed.is_err()) {
                failures.push(format!(
                    "{}, {}, {} threads: {}",
                    trial.lock, trial.workload.name, trial.threads, reason.what
                ));
            }
        }
        let known = table.cells.iter().map(|cell| cell.estimate(found));
        let known: Vec<Estimate> = known.collect();
        let values: Vec<Option<f64>> = known.iter().map(|one| one.value).collect();
        for (cell, value) in table.cells.iter().zip(&values) {
            let stuck = cell.trials.iter().any(|&trial| is_stuck(&found[trial]));
            if value.is_none() && !stuck {
                failures.push(never(&cell.row, &cell.column));
            }
        }
        let known_beside = table.beside.iter().map(|one| one.estimate(found));
        let known_beside: Vec<Estimate> = known_beside.collect();
        let beside: Vec<Option<f64>> = known_beside.iter().map(|one| one.value).collect();
        for (one, value) in table.beside.iter().zip(&beside) {
            let stuck = one.trials.iter().any(|&trial| is_stuck(&found[trial]));
            if value.is_none() && !stuck {
                failures.push(never(&one.row, &one.column));
            }
        }
        Sheet {
            table,
            values,
            beside,
            known,
            known_beside,
            failures,
        }
    }

    /// How well the value of a cell is known, by its place.
    pub fn known(&self, at: usize) -> Estimate {
        self.known.get(at).copied().unwrap_or_default()
    }

    /// The same of what nobody published.
    pub fn known_beside(&self, at: usize) -> Estimate {
        self.known_beside.get(at).copied().unwrap_or_default()
    }

    /// How many values are of simulations that did not come to a steady state.
    pub fn unsettled(&self) -> usize {
        let all = self.known.iter().chain(&self.known_beside);
        all.filter(|one| one.unsettled).count()
    }

    /// What a number that nobody published has to be, if anything.
    pub fn wanted(&self, one: &Beside) -> Option<Bound> {
        let as_good_as = |cell: usize| match self.values[cell] {
            Some(value) => (value - SPARE).max(NO_LOSS),
            None => NO_LOSS,
        };
        Some(match one.wanted? {
            Wanted::Is(bound) => bound,
            Wanted::AsGoodAs(cell) => Bound::AtLeast(as_good_as(cell)),
        })
    }

    /// What nobody published, with its values.
    pub fn beside(&self) -> impl Iterator<Item = (&'a Beside, Option<f64>)> + '_ {
        self.table.beside.iter().zip(self.beside.iter().copied())
    }

    /// Cells with their values.
    pub fn cells(&self) -> impl Iterator<Item = (&'a Cell, Option<f64>)> + '_ {
        self.table.cells.iter().zip(self.values.iter().copied())
    }

    fn pair(&self, index: usize) -> Pair {
        Pair {
            published: self.table.cells[index].published,
            simulated: self.values[index],
        }
    }

    fn count_ranks(&self, summary: &mut Summary, counted: &[Role]) {
        let cells = &self.table.cells;
        let mut groups: Vec<(&str, Share)> = Vec::new();
        for a in 0..cells.len() {
            for b in a + 1..cells.len() {
                let roles = [cells[a].role, cells[b].role];
                if cells[a].group != cells[b].group
                    || !roles.iter().any(|role| counted.contains(role))
                    || roles.contains(&Role::Shown)
                {
                    continue;
                }
                let right = same_order(self.pair(a), self.pair(b), self.table.tie);
                summary.pairs.count(right);
                let group = cells[a].group.as_str();
                match groups.iter_mut().find(|(name, _)| *name == group) {
                    Some((_, share)) => share.count(right),
                    None => {
                        groups.push((group, Share::default()));
                        groups.last_mut().expect("just pushed").1.count(right);
                    }
                }
            }
        }
        for (_, share) in groups {
            summary.ranks.count(share.wrong() == 0);
        }
    }

    /// `judged`: cells by their places, with what is published and what was simulated.
    fn count_differing(&self, summary: &mut Summary, judged: &[(usize, (f64, f64))]) {
        let differ = judged
            .iter()
            .filter(|(at, _)| null::differs(self.table, *at));
        let errors = |of: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
            let errors = differ.clone();
            errors
                .map(|(at, (published, value))| error(*published, of(*at, *value)))
                .collect()
        };
        let found = errors(&|_, value| value);
        let without = errors(&|at, _| null::value(self.table, at));
        let middle = |errors: &[f64]| middle_and_worst(errors).map(|(middle, _)| middle);
        summary.differing = found.len();
        (summary.differing_error, summary.null_error) = (middle(&found), middle(&without));
    }

    fn count_signs(&self, summary: &mut Summary, counted: &[Role]) {
        const ONE: Pair = Pair {
            published: 1.0,
            simulated: Some(1.0),
        };
        for (index, cell) in self.table.cells.iter().enumerate() {
            let base = match (cell.base, cell.unit) {
                (Some(base), unit) if unit != Unit::Share => self.pair(base),
                (None, Unit::Change | Unit::Times) => ONE,
                _ => continue,
            };
            if counted.contains(&cell.role) {
                let right = same_sign(self.pair(index), base, self.table.tie);
                summary.signs.count(right);
            }
        }
    }
}

impl Values for Sheet<'_> {
    fn pairs(&self) -> Vec<(&Cell, Option<f64>)> {
        self.cells().collect()
    }

    fn summary(&self) -> Summary {
        self.summary_of(&Role::COMPARED)
    }
}

impl Sheet<'_> {
    /// Of the cells with one of these roles, which are compared with what is published: their
    /// places, what is published and what was simulated.
    fn judged(&self, counted: &[Role]) -> Vec<(usize, (f64, f64))> {
        let cells = self.cells().enumerate();
        let cells = cells.filter(|(_, (cell, _))| counted.contains(&cell.role) && !cell.is_share());
        cells
            .filter_map(|(at, (cell, value))| Some((at, (cell.published, value?))))
            .collect()
    }

    /// The relative errors of the cells with one of these roles.
    pub fn errors(&self, counted: &[Role]) -> Vec<f64> {
        let judged = self.judged(counted).into_iter();
        judged.map(|(_, (p, s))| error(p, s)).collect()
    }

    /// How well the cells with one of these roles agree. A pair counts if one of the two has
    /// such a role, and neither is only shown.
    pub fn summary_of(&self, counted: &[Role]) -> Summary {
        let mut summary = Summary::default();
        self.count_ranks(&mut summary, counted);
        self.count_signs(&mut summary, counted);
        let cells = |role: Role| match counted.contains(&role) {
            true => self.cells().filter(|(cell, _)| cell.role == role).count(),
            false => 0,
        };
        summary.predictions = cells(Role::Prediction);
        summary.fitted_think = cells(Role::FittedThink);
        let judged = self.judged(counted);
        self.count_differing(&mut summary, &judged);
        let factors = judged.iter().map(|&(_, (p, s))| factor(p, s));
        summary.worst_factor = factors.max_by(f64::total_cmp);
        if let Some((median, worst)) = middle_and_worst(&self.errors(counted)) {
            (summary.median_error, summary.worst_error) = (Some(median), Some(worst));
        }
        summary
    }
}

fn never(row: &str, column: &str) -> String {
    format!("{row}, {column}: a lock was never acquired in the measured time")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::samples::{cell, outcome, stuck};
    use crate::reproduce::spin_micro;

    fn table(cells: Vec<Cell>) -> Table {
        Table {
            cells,
            ..Table::new("t", "a test", "a mail".to_owned(), 0.03)
        }
    }

    fn sheet<'a>(table: &'a Table, values: &[f64]) -> Sheet<'a> {
        let value = |value: &f64| value.is_finite().then_some(*value);
        Sheet {
            table,
            values: values.iter().map(value).collect(),
            beside: Vec::new(),
            known: Vec::new(),
            known_beside: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Two rows: a ticket lock that was fitted, and two predictions.
    fn locks() -> Table {
        let mut cells = Vec::new();
        for (row, values) in [("1", [100.0, 101.0, 102.0]), ("2", [200.0, 300.0, 100.0])] {
            let base = cells.len();
            for (column, value) in ["ticket", "fair", "steal"].into_iter().zip(values) {
                cells.push(Cell {
                    role: match column {
                        "ticket" => Role::Calibration,
                        _ => Role::Prediction,
                    },
                    base: (column != "ticket").then_some(base),
                    ..cell(row, column, value)
                });
            }
        }
        table(cells)
    }

    #[test]
    fn what_is_published_agrees_with_itself() {
        let table = locks();
        let published: Vec<f64> = table.cells.iter().map(|cell| cell.published).collect();
        let summary = sheet(&table, &published).summary();
        assert_eq!(summary.predictions, 4);
        assert_eq!(summary.ranks, Share { right: 2, of: 2 });
        assert_eq!(summary.pairs, Share { right: 6, of: 6 });
        assert_eq!(summary.signs, Share { right: 4, of: 4 });
        assert_eq!(summary.median_error, Some(0.0));
        assert_eq!(summary.worst_factor, Some(1.0));
    }

    #[test]
    fn predictions_alone_are_judged() {
        let table = locks();
        // The fitted cells are far off; the predictions by 0, 0, +50 % and -50 %.
        let sheet = sheet(&table, &[300.0, 101.0, 102.0, 90.0, 450.0, 50.0]);
        let summary = sheet.summary();
        assert_eq!(summary.median_error, Some(0.25));
        assert_eq!(summary.worst_error, Some(0.5));
        assert_eq!(summary.worst_factor, Some(2.0));
        // Row 1: tied in print, and not simulated so. Row 2: as published.
        assert_eq!(summary.ranks, Share { right: 2, of: 2 });
        assert_eq!(summary.signs, Share { right: 2, of: 4 });
    }

    #[test]
    fn cells_with_a_fitted_think_time_are_compared_and_counted_apart() {
        let mut table = locks();
        table.cells[5].role = Role::FittedThink;
        // Predictions are off by 0, 0 and 50 %, the other one by 300 % and in the wrong place.
        let sheet = sheet(&table, &[100.0, 101.0, 102.0, 200.0, 450.0, 400.0]);
        let all = sheet.summary();
        assert_eq!((all.predictions, all.fitted_think), (3, 1));
        assert_eq!(all.worst_error, Some(3.0));
        assert_eq!(all.signs, Share { right: 3, of: 4 });
        let predicted = sheet.summary_of(&[Role::Prediction]);
        assert_eq!((predicted.predictions, predicted.fitted_think), (3, 0));
        assert_eq!(predicted.worst_error, Some(0.5));
        assert_eq!(predicted.signs, Share { right: 3, of: 3 });
        let fitted = sheet.summary_of(&[Role::FittedThink]);
        assert_eq!((fitted.predictions, fitted.fitted_think), (0, 1));
        assert_eq!(sheet.errors(&[Role::FittedThink]), [3.0]);
    }

    #[test]
    fn cells_that_were_published_to_differ_have_figures_of_their_own() {
        let table = locks();
        let summary = sheet(&table, &[100.0, 101.0, 102.0, 200.0, 330.0, 150.0]).summary();
        assert!(summary
            .median_error
            .is_some_and(|median| (median - 0.05).abs() < 1e-9));
        // 300 and 100 in print, by 10 and 50 % off; the ticket lock's 200 by a third and 100 %.
        assert_eq!(summary.differing, 2);
        let [error, null] = [summary.differing_error, summary.null_error].map(Option::unwrap);
        assert!((error - 0.3).abs() < 1e-9, "{error}");
        assert!((null - 2.0 / 3.0).abs() < 1e-9, "{null}");
    }

    #[test]
    fn one_pair_out_of_order_spoils_its_row_only() {
        let table = locks();
        let sheet = sheet(&table, &[100.0, 101.0, 102.0, 200.0, 300.0, 250.0]);
        let summary = sheet.summary();
        assert_eq!(summary.pairs, Share { right: 5, of: 6 });
        assert_eq!(summary.ranks, Share { right: 1, of: 2 });
        assert_eq!(summary.signs, Share { right: 3, of: 4 });
    }

    #[test]
    fn what_got_stuck_is_wrong_and_has_no_error() {
        let table = locks();
        let sheet = sheet(&table, &[100.0, f64::NAN, 102.0, 200.0, 300.0, 100.0]);
        let summary = sheet.summary();
        assert_eq!(summary.pairs, Share { right: 4, of: 6 });
        assert_eq!(summary.signs, Share { right: 3, of: 4 });
        assert_eq!(summary.worst_error, Some(0.0));
        assert_eq!(sheet.value("1", "fair"), None);
        assert_eq!(sheet.value("1", "steal"), Some(102.0));
        assert_eq!(sheet.values_of(&|cell| cell.row == "1"), None);
        let row = sheet.values_of(&|cell| cell.row == "2");
        assert_eq!(row, Some(vec![200.0, 300.0, 100.0]));
        assert_eq!(sheet.values_of(&|cell| cell.row == "3"), None);
    }

    #[test]
    fn a_cell_without_a_value_says_why() {
        let mut table = table(vec![cell("1", "fair", 100.0), cell("2", "fair", 200.0)]);
        let trial = spin_micro::table().expect("a table").trials.remove(0);
        table.trials = vec![trial.clone(), trial];
        table.cells[1].trials = vec![1];
        let mut good = outcome(10, 100.0);
        good.finished_ns = Some(90.0);
        let runs = |second| vec![vec![Ok(good.clone())], vec![second]];
        let sheet = |runs: Vec<Runs>| {
            let sheet = Sheet::new(&table, &runs);
            (sheet.values, sheet.failures.join(";"))
        };
        assert_eq!(
            sheet(runs(Ok(good.clone()))),
            (vec![Some(9.0); 2], String::new())
        );
        let (values, why) = sheet(runs(Err(stuck())));
        assert_eq!(values, [Some(9.0), None]);
        assert_eq!(why, "ticket_lock, spin-micro, 1 threads: deadlock at 5 µs");
        let (values, why) = sheet(runs(Ok(outcome(0, 100.0))));
        assert_eq!(values, [Some(9.0), None]);
        assert_eq!(
            why,
            "2, fair: a lock was never acquired in the measured time"
        );
    }

    #[test]
    fn fitted_cells_are_not_ranked_among_themselves_and_shown_ones_never() {
        let mut table = locks();
        for cell in &mut table.cells[..3] {
            cell.role = Role::Calibration;
        }
        table.cells[5].role = Role::Shown;
        let published: Vec<f64> = table.cells.iter().map(|cell| cell.published).collect();
        let summary = sheet(&table, &published).summary();
        assert_eq!(summary.predictions, 1);
        assert_eq!(summary.pairs, Share { right: 1, of: 1 });
        assert_eq!(summary.ranks, Share { right: 1, of: 1 });
    }

    #[test]
    fn ratios_are_held_against_one_and_shares_have_no_error() {
        let ratio = |value| Cell {
            unit: Unit::Times,
            ..cell("r", "c", value)
        };
        let share = Cell {
            unit: Unit::Share,
            group: "s".to_owned(),
            ..cell("r", "s", 0.65)
        };
        let table = table(vec![ratio(2.0), ratio(0.5), share]);
        let summary = sheet(&table, &[1.5, 1.5, 0.01]).summary();
        assert_eq!(summary.signs, Share { right: 1, of: 2 });
        assert_eq!(summary.worst_factor, Some(3.0));
        assert_eq!(summary.predictions, 3);
    }
}
