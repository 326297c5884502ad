// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The cost of each pair of cores, as CSV: one row for each core.

/// Reads a matrix of `cores` rows and columns, ns. Lines that begin with `#` say
/// where it is from. An empty cell is filled from the one across the diagonal,
/// on which nothing counts.
pub(super) fn parse(text: &str, cores: usize) -> Result<Vec<f32>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut cells: Vec<Option<f32>> = Vec::with_capacity(cores * cores);
    let mut rows = 0;
    for record in reader.records() {
        let record = record.map_err(|error| format!("{error}; give numbers and commas"))?;
        rows += 1;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != cores {
            return Err(format!(
                "line {line} has {} cells; give {cores}, one for each core",
                record.len()
            ));
        }
        for cell in &record {
            cells.push(number(cell).ok_or_else(|| {
                format!("'{cell}' in line {line} is no latency; give nanoseconds from 0 on")
            })?);
        }
    }
    if rows != cores {
        return Err(format!(
            "it has {rows} rows; give {cores}, one for each core"
        ));
    }
    let mut all = vec![0.0; cores * cores];
    for a in 0..cores {
        for b in (0..cores).filter(|&b| b != a) {
            let cell = cells[a * cores + b].or(cells[b * cores + a]);
            all[a * cores + b] = cell.ok_or_else(|| {
                format!("cores {a} and {b} have no latency; give it in one of the two rows")
            })?;
        }
    }
    Ok(all)
}

/// An empty cell is none; text is not a number.
fn number(cell: &str) -> Option<Option<f32>> {
    if cell.is_empty() {
        return Some(None);
    }
    let number: f32 = cell.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(Some(number))
}
