// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;
use crate::reproduce::bound::{Bound, Form};
use crate::reproduce::cell::{Beside, Measure, Wanted};
use crate::reproduce::json;
use crate::reproduce::samples::cell;
use crate::reproduce::target::Target;
use crate::Rules;

fn table() -> Table {
    let fitted = Cell {
        role: Role::Calibration,
        ..cell("2", "ticket", 4603.0)
    };
    let share = Cell {
        unit: Unit::Share,
        ..cell("3", "fair", 0.65)
    };
    Table {
        figures: 7,
        machine: "m".to_owned(),
        notes: vec!["a note".to_owned()],
        cells: vec![fitted, cell("2", "fair", 1034.0), share],
        targets: vec![
            Target::median_error(0.2),
            Target::cell("part", Form::Percent, Bound::Over(0.4), ("3", "fair")),
        ],
        ..Table::new("t_1", "a test", "a mail".to_owned(), 0.03)
    }
}

fn judged(table: &Table, values: [Option<f64>; 3]) -> Judged<'_> {
    Judged::new(Sheet {
        table,
        values: values.to_vec(),
        beside: Vec::new(),
        known: Vec::new(),
        known_beside: Vec::new(),
        failures: match values.contains(&None) {
            true => vec!["a lock: deadlock".to_owned()],
            false => Vec::new(),
        },
    })
}

#[test]
fn a_table_is_published_simulated_error() {
    let table = table();
    let judged = judged(&table, [Some(4603.0), Some(2068.0), Some(0.5)]);
    let text = text(&[judged]);
    let wanted = "\
t_1: a test
machine m; published: a mail
note: a note

   ticket  simulated  error     fair  simulated     error
2   4,603      4,603  +0 %*    1,034      2,068    +100 %
3       -          -      -  65.00 %    50.00 %  -15.0 pp
* the machine was fitted to it: not counted below

2 predictions: groups in order 1 of 1 (pairs 1 of 1), signs 0 of 0, error median 100 %, worst 100 %
  met     cells without a value: 0 (at most 0)
  met     cells that have not settled: 0 (at most 0)
  MISSED  median error of compared cells: 100.0 % (at most 20.0 %)
  met     part: 50.0 % (over 40.0 %)

In all
  missed: 1 of 2 targets against published figures, 0 of 2 checks that every cell has a value and has settled
  figures in data/published: 7; cells predicted: 2; cells with a fitted think time: 0; cells that the machine was fitted to: 1; cells shown only: 0; cells simulated only: 0
  role prediction, 2 cells: median error 100.0 % (goal: at most 15 %), wrong signs 0 of 0 (goal: 0), groups in the wrong order 0 of 1 (goal: 0)
";
    assert_eq!(text, wanted);
}

#[test]
fn what_got_stuck_is_said_and_missed() {
    let table = table();
    let judged = judged(&table, [Some(4603.0), None, Some(0.1)]);
    assert_eq!(judged.missed(), 3);
    let text = text(&[judged]);
    for words in [
        "1,034       none",
        "no value: a lock: deadlock",
        "MISSED  cells without a value: 1 (at most 0)",
        "MISSED  median error of compared cells: no value (at most 20.0 %)",
        "MISSED  part: 10.0 % (over 40.0 %)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn markdown_has_the_same_cells() {
    let table = table();
    let judged = judged(&table, [Some(4603.0), Some(2068.0), Some(0.5)]);
    let text = markdown(&[judged]);
    for words in [
        "### `t_1`\n",
        "|  | ticket | simulated | error | fair | simulated | error |\n|---|---:|",
        "| 2 | 4,603 | 4,603 | +0 %\\* | 1,034 | 2,068 | +100 % |\n",
        "- a note\n",
        "| median error of compared cells | 100.0 % | at most 20.0 % | **missed** |\n",
        "| part | 50.0 % | over 40.0 % | met |\n",
        "\n\n### In all\n\n- missed: 1 of 2 targets against published figures, 0 of 2 checks",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn json_has_numbers_in_their_units() {
    let table = table();
    let judged = judged(&table, [Some(4603.0), Some(2068.0), None]);
    let without = Rules::without(&["boost".to_owned()]).expect("a rule");
    let text = json::render(&[judged], 3, without).expect("JSON");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let table = &document["tables"][0];
    assert_eq!(
        (&document["seeds"], &document["seeds_of_loops"]),
        (&3.into(), &3.into())
    );
    assert_eq!(document["without"], serde_json::json!(["boost"]));
    assert_eq!(table["cells"][0]["role"], "calibration");
    assert_eq!(table["cells"][1]["error"], 1.0);
    assert_eq!(table["cells"][2]["published"], 65.0);
    assert_eq!(table["cells"][2]["simulated"], serde_json::Value::Null);
    assert_eq!(table["summary"]["ranks"]["of"], 1);
    assert_eq!(table["targets"][2]["is"], "at most");
    assert_eq!(table["targets"][2]["met"], false);
    let unit = |at: usize| table["targets"][at]["unit"].clone();
    assert_eq!((unit(0), unit(2)), ("count".into(), "share".into()));
    assert_eq!(table["targets"][2]["kind"], "published");
    assert_eq!(table["targets"][1]["kind"], "whole");
    assert_eq!(table["targets"][0]["kind"], "whole");
    assert_eq!(table["figures"], 7);
    let kinds = serde_json::json!([
        { "kind": "published", "missed": 2, "of": 2 },
        { "kind": "own", "missed": 0, "of": 0 },
        { "kind": "whole", "missed": 1, "of": 2 },
    ]);
    assert_eq!(document["targets"], kinds);
    assert_eq!(table["failures"][0], "a lock: deadlock");
}

#[test]
fn cells_with_a_fitted_think_time_have_a_mark_and_a_line_of_their_own() {
    let mut table = table();
    table.cells[2] = Cell {
        role: Role::FittedThink,
        unit: Unit::Ms,
        ..table.cells[2].clone()
    };
    let judged = || judged(&table, [Some(4603.0), Some(1137.4), Some(1.3)]);
    let shown = text(&[judged()]);
    for words in [
        "+100 %^",
        "\n^ the workload's think time was fitted to figures of this table: no prediction\n",
        "\n1 prediction, 1 cell with a fitted think time: groups",
        "\n  role prediction, 1 cell: median error 10.0 % (goal: at most 15 %), wrong signs",
        "\n  role fitted think time, 1 cell: median error 100.0 % (goal: at most 15 %), wrong",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let document = json::render(&[judged()], 1, Rules::default()).expect("JSON");
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(
        document["tables"][0]["cells"][2]["role"],
        "fitted think time"
    );
    assert_eq!(document["in_all"][0]["cells"], 1);
    assert_eq!(document["in_all"][1]["role"], "fitted think time");
    assert_eq!(document["in_all"][1]["median_error"], 1.0);
}

#[test]
fn the_list_counts() {
    let text = totals::list(&[table()]);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let row = ["t_1", "m", "7", "2", "0", "1", "0", "0", "0", "4"];
    assert!(rows.iter().any(|found| found == &row), "{text}");
    for words in [
        "\nfigures in data/published: 7; cells predicted: 2; ",
        "\ntargets: 2 targets against published figures, 2 checks that every cell has a value and has settled\n",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.ends_with("\nt_1: a test\n  a mail\n"), "{text}");
}

#[test]
fn what_nobody_published_has_a_grid_of_its_own() {
    let one = |row: &str, column: &str, unit, wanted| Beside {
        row: row.to_owned(),
        column: column.to_owned(),
        unit,
        wanted,
        trials: Vec::new(),
        measure: Measure::LongestWait,
    };
    let least = Some(Wanted::Is(Bound::AtLeast(1.5)));
    let table = Table {
        beside: vec![
            one("2", "ours", Unit::Change, least),
            one("2", "wait", Unit::Us, None),
            one("3", "ours", Unit::Change, least),
        ],
        ..table()
    };
    let mut judged = Judged::new(Sheet {
        beside: vec![Some(1.6), Some(2000.0), None],
        ..judged(&table, [Some(4603.0), Some(1034.0), Some(0.65)]).sheet
    });
    assert_eq!(judged.missed(), 2);
    let shown = text(&[judged]);
    let totals = "missed: 0 of 2 targets against published figures, 1 of 2 goals of our own lock,";
    for words in [
        totals,
        "Simulated only:\n      ours   wait\n2  +60.0 %  2,000\n3     none      -\n",
        "  met     ours, 2: +60.0 % (at least +50.0 %)",
        "  MISSED  ours, 3: no value (at least +50.0 %)",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    judged = Judged::new(Sheet {
        table: &table,
        values: vec![Some(1.0); 3],
        beside: vec![Some(1.6), Some(2000.0), Some(1.4)],
        known: Vec::new(),
        known_beside: Vec::new(),
        failures: Vec::new(),
    });
    let page = markdown(&[judged]);
    assert!(page.contains("|  | ours | wait |\n|---|---:|---:|\n| 2 | +60.0 % | 2,000 |\n"));
    assert!(page.contains("| ours, 3 | +40.0 % | at least +50.0 % | **missed** |\n"));
}

#[test]
fn values_have_their_interval_and_say_that_they_have_not_settled() {
    let table = Table {
        beside: vec![Beside {
            row: "2".to_owned(),
            column: "ours".to_owned(),
            unit: Unit::Change,
            wanted: None,
            trials: Vec::new(),
            measure: Measure::LongestWait,
        }],
        ..table()
    };
    let known = |half, unsettled| Estimate {
        value: None,
        half: Some(half),
        unsettled,
        seeds: 3,
    };
    let judged = || {
        Judged::new(Sheet {
            known: vec![known(46.03, false), known(20.68, true), known(0.01, false)],
            beside: vec![Some(1.6)],
            known_beside: vec![known(0.05, true)],
            ..judged(&table, [Some(4603.0), Some(2068.0), Some(0.5)]).sheet
        })
    };
    let shown = text(&[judged()]);
    for words in [
        "4,603 ±1.0 %",
        "2,068 ±1.0 % (not settled)",
        "50.00 % ±1.0 pp",
        "+60.0 % ±5.0 pp (not settled)",
        "MISSED  cells that have not settled: 2 (at most 0)",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let document = json::render(&[judged()], 1, Rules::default()).expect("JSON");
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    let cells = &document["tables"][0]["cells"];
    assert_eq!(cells[0]["half_width"], 46.03);
    assert_eq!(cells[0]["seeds"], 3);
    assert_eq!(
        (&cells[0]["settled"], &cells[1]["settled"]),
        (&true.into(), &false.into())
    );
    assert_eq!(cells[2]["half_width"], 1.0);
}
