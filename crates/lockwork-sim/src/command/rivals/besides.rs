// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is other, beside the column of the guests' table that it is compared with.

use super::found::{Cell, Found, Line};
use super::parts::Beside;
use lockwork_report::page;
use lockwork_report::text::number;

/// Heading and table.
pub(super) fn table(beside: &Beside, found: &Found, lines: &[Line]) -> String {
    let column = &found.columns[beside.column];
    let of_vms = lines.iter().any(|line| jain(line).is_some());
    let mut header = vec!["Lock".to_owned()];
    for name in ["as above", beside.name] {
        header.extend(heads(name));
    }
    header.extend(of_vms.then(|| "Jain of both".to_owned()));
    let above = |line: &Line| found.plain(line.lock)?.cells.get(beside.column);
    let row = |line: &Line| {
        let mut row = vec![line.name()];
        for cell in [above(line), line.cells.first()] {
            row.extend(cell.map_or_else(Default::default, figures));
        }
        row.extend(jain(line).map(|jain| format!("{jain:.2}")));
        row
    };
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    let table = page::table(&header, &rows);
    format!(
        "{}, {column}:\n\n{table}\nOf these the fastest is {} above, and {} here.\n",
        beside.title,
        fastest(lines, above),
        fastest(lines, |line| line.cells.first())
    )
}

/// By throughput, whether it has settled or not: the table says that.
fn fastest<'a>(lines: &'a [Line], cell: impl Fn(&'a Line) -> Option<&'a Cell>) -> String {
    let best = lines
        .iter()
        .filter_map(|line| Some((line, cell(line)?.rate)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or_else(|| "none".to_owned(), |(line, _)| line.name())
}

/// How evenly virtual machines got theirs, if there are several.
fn jain(line: &Line) -> Option<f64> {
    line.cells.first()?.of_vms
}

/// What stands above [`figures`]; the first says of what they are.
pub(super) fn heads(of: &str) -> [String; 4] {
    [
        format!("{of}: Mops/s"),
        "longest, µs".to_owned(),
        "Jain".to_owned(),
        "CPU, µs".to_owned(),
    ]
}

/// Rate, longest wait, fairness and CPU time.
pub(super) fn figures(cell: &Cell) -> [String; 4] {
    let mark = if cell.settled { "" } else { " n. s." };
    [
        number(cell.rate) + mark,
        number(cell.longest),
        format!("{:.2}", cell.jain),
        number(cell.cpu),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(lock: &'static str, cells: &[Cell]) -> Line {
        Line {
            lock,
            yields: None,
            is_rival: true,
            cells: cells.to_vec(),
        }
    }

    #[test]
    fn what_is_other_stands_beside_its_column() {
        let cell = |rate: f64, of_vms| Cell {
            rate,
            longest: 100.0 / rate,
            jain: 1.0,
            lines: 1.0,
            cpu: 1.0 / rate,
            off: [0.0; 2],
            of_vms,
            settled: of_vms.is_none(),
        };
        let beside = Beside {
            title: "Others",
            name: "other",
            column: 1,
            command: String::new(),
        };
        let found = Found {
            columns: ["16 on 1/1", "32 on 1/2"].map(str::to_owned).to_vec(),
            lines: vec![line("a", &[cell(4.0, None), cell(0.5, None)])],
            ..Found::default()
        };
        let text = table(&beside, &found, &[line("a", &[cell(0.25, Some(0.9))])]);
        assert!(text.starts_with("Others, 32 on 1/2:\n"), "{text}");
        assert!(text.contains("| CPU, µs | Jain of both |"), "{text}");
        assert!(
            text.contains("the fastest is a above, and a here"),
            "{text}"
        );
        let row =
            "| a | 0.500 | 200.0 | 1.00 | 2.000 | 0.250 n. s. | 400.0 | 1.00 | 4.000 | 0.90 |";
        assert!(text.contains(row), "{text}");
        let text = table(&beside, &found, &[line("a", &[cell(0.25, None)])]);
        assert!(
            !text.contains("Jain of both") && text.contains("| 4.000 |\n\nOf these"),
            "{text}"
        );
    }
}
