// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What each rule of the model buys on each table: the tables again, without it.

use super::bound::Kind;
use super::judge::Judged;
use super::run;
use super::sheet::Sheet;
use super::table::Table;
use crate::{Rule, Rules};
use anyhow::Result;
use lockwork_report::bail_usage;
use lockwork_report::interrupt::Interrupt;
use lockwork_report::table::render;

/// How well a table agrees, in short.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Brief {
    median_error: Option<f64>,
    wrong_signs: usize,
    /// Targets against published figures.
    missed: usize,
}

impl Brief {
    fn of(judged: &Judged) -> Brief {
        let verdicts = judged.verdicts.iter();
        let missed = verdicts.filter(|verdict| verdict.kind == Kind::Published && !verdict.met);
        Brief {
            median_error: judged.summary.median_error,
            wrong_signs: judged.summary.signs.wrong(),
            missed: missed.count(),
        }
    }

    fn show(&self) -> String {
        let error = self.median_error.map(|error| error * 100.0);
        let error = error.map_or_else(|| "-".to_owned(), |error| format!("{error:.0} %"));
        format!("{error}, {}, {}", self.wrong_signs, self.missed)
    }
}

/// A table with all rules, and without each of [`Rule::ALL`]; none where the rule has nothing
/// to do with its machines.
pub(super) struct Row {
    name: &'static str,
    whole: Brief,
    without: [Option<Brief>; Rule::ALL.len()],
}

/// Refuses tables that were asked for by name, and have nothing to compare.
///
/// # Errors
/// There is one.
pub(super) fn can_be_judged(names: &[String], tables: &[Table]) -> Result<()> {
    let mut empty = tables.iter().filter(|table| table.cells.is_empty());
    match empty.find(|_| !names.is_empty()) {
        Some(table) => bail_usage!(
            "--ablation compares with published figures, and {} has none: leave that table out",
            table.name
        ),
        None => Ok(()),
    }
}

/// The rows of the tables that are compared with published figures.
///
/// # Errors
/// A simulation is impossible, or a signal came.
pub(super) fn rows(
    tables: Vec<Table>,
    jobs: usize,
    seeds: u64,
    interrupt: &Interrupt,
) -> Result<Vec<Row>> {
    let tables: Vec<Table> = tables
        .into_iter()
        .filter(|table| !table.cells.is_empty())
        .collect();
    let briefs = |tables: &[Table], rules| -> Result<Vec<Brief>> {
        let found = run::simulate_all(tables, jobs, seeds, rules, interrupt)?;
        let sheets = tables.iter().zip(&found);
        let judged = sheets.map(|(table, found)| Judged::new(Sheet::new(table, found)));
        Ok(judged.map(|judged| Brief::of(&judged)).collect())
    };
    let whole = briefs(&tables, Rules::default())?;
    let mut rows: Vec<Row> = tables
        .iter()
        .zip(whole)
        .map(|(table, whole)| Row {
            name: table.name,
            whole,
            without: [None; Rule::ALL.len()],
        })
        .collect();
    for (at, rule) in Rule::ALL.into_iter().enumerate() {
        let rules = Rules::without(&[rule.name().to_owned()])?;
        for (table, row) in tables.iter().zip(&mut rows) {
            if concerns(rule, table) {
                row.without[at] = briefs(std::slice::from_ref(table), rules)?.pop();
            }
        }
    }
    Ok(rows)
}

/// Whether one of the table's simulations may come out otherwise without the rule.
fn concerns(rule: Rule, table: &Table) -> bool {
    let mut machines = table.trials.iter().map(|trial| &trial.machine);
    machines.any(|machine| rule.concerns(machine))
}

fn header() -> Vec<String> {
    let rules = Rule::ALL.map(|rule| format!("without {}", rule.name()));
    let first = ["table", "all rules"].map(str::to_owned);
    first.into_iter().chain(rules).collect()
}

impl Row {
    /// Its cells: the table in `quote`s, then what each simulation came to.
    fn cells(&self, quote: &str) -> Vec<String> {
        let without = self.without.iter().map(|brief| match brief {
            Some(brief) if *brief == self.whole => "the same".to_owned(),
            Some(brief) => brief.show(),
            None => "-".to_owned(),
        });
        let first = [format!("{quote}{}{quote}", self.name), self.whole.show()];
        first.into_iter().chain(without).collect()
    }
}

/// What a cell says.
const LEGEND: &str = "Each cell: median error of predictions, wrong signs, targets against \
                      published figures that are missed. -: the rule has nothing to do with the \
                      table's machines.";

/// For people.
pub(super) fn text(rows: &[Row]) -> String {
    let table = render(header(), rows.iter().map(|row| row.cells("")));
    format!("{table}\n\n{LEGEND}\n")
}

/// The same, as Markdown.
pub(super) fn markdown(rows: &[Row]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rule = format!("|---{}|\n", "|---".repeat(1 + Rule::ALL.len()));
    let rows: String = rows.iter().map(|row| line(row.cells("`"))).collect();
    format!("{}{rule}{rows}\n{LEGEND}\n", line(header()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{choose, settled, spin_micro};

    fn row() -> Row {
        let whole = Brief {
            median_error: Some(0.134),
            wrong_signs: 2,
            missed: 1,
        };
        let mut without = [None; Rule::ALL.len()];
        without[0] = Some(Brief {
            median_error: None,
            ..whole
        });
        without[1] = Some(whole);
        Row {
            name: "t",
            whole,
            without,
        }
    }

    #[test]
    fn a_row_says_what_each_rule_buys() {
        let cells = row().cells("`");
        assert_eq!(cells[..4], ["`t`", "13 %, 2, 1", "-, 2, 1", "the same"]);
        assert_eq!(cells[4..], vec!["-"; Rule::ALL.len() - 2]);
        let [text, markdown] = [text(&[row()]), markdown(&[row()])];
        assert!(markdown.starts_with("| table | all rules | without cluster-fill |"));
        for rule in Rule::ALL {
            assert!(text.contains(rule.name()) && markdown.contains(rule.name()));
        }
    }

    #[test]
    fn a_table_without_published_figures_is_refused() {
        let names = |of: &[&str]| of.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let judged = |of: &[String]| can_be_judged(of, &choose(of).expect("tables"));
        assert!(judged(&[]).is_ok() && judged(&names(&["spin-micro"])).is_ok());
        let error = judged(&names(&["spin-micro", "numa-osq"])).expect_err("it has none");
        assert!(error.to_string().contains("numa-osq"), "{error}");
    }

    /// What is not simulated again would have come out the same.
    #[test]
    fn a_rule_that_does_not_concern_a_table_changes_nothing_in_it() {
        let tables = choose(&[]).expect("all");
        for rule in Rule::ALL {
            let any = tables.iter().any(|table| concerns(rule, table));
            assert!(any, "{} concerns no table", rule.name());
        }
        let of = |name: &str| tables.iter().find(|table| table.name == name).expect("it");
        for (rule, table) in [
            (Rule::SmtShare, of(spin_micro::NAME)),
            (Rule::Boost, of(spin_micro::NAME)),
        ] {
            assert!(!concerns(rule, table), "{}: {}", table.name, rule.name());
            let mut trial = table.trials[4].clone();
            trial.workload.loops = Some(200);
            let without = Rules::without(&[rule.name().to_owned()]).expect("a rule");
            let [with, without] = [Rules::default(), without].map(|rules| {
                let found = settled::simulated_once(&trial, 1, rules).expect("simulated");
                found.expect("not stuck")
            });
            assert_eq!(with.ns, without.ns);
            assert_eq!(with.operations, without.operations);
        }
    }
}
