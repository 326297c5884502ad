// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The last section: where our locks lose, and how they do against the best
//! peer of each cell.
use crate::pareto::{dominators, Point};
use crate::summary::{Line, Summary};
use lockwork_report::stats;
use lockwork_report::text::counted;

/// A ratio to the best peer that is still called near.
const NEAR: f64 = 0.85;

/// The section, for the locks named `under_test`.
pub fn section(cells: &[Summary], under_test: &[String]) -> String {
    let mut text = String::new();
    for name in under_test {
        let places: Vec<Place> = cells.iter().filter_map(|c| Place::of(c, name)).collect();
        if places.is_empty() {
            continue;
        }
        let losses: Vec<String> = places.iter().filter_map(Place::loss).collect();
        if losses.is_empty() {
            text +=
                &format!("{name} is on the front of throughput and p99.9 wait in every cell.\n");
        } else {
            text += &format!("{name} is not on the front of throughput and p99.9 wait in:\n");
            text += &losses.concat();
        }
        text += &score(name, &places);
    }
    text
}

/// One lock in one cell, among the locks of its family there.
struct Place<'a> {
    cell: &'a Summary,
    line: &'a Line,
    dominators: Vec<&'a Line>,
}

impl Place<'_> {
    fn of<'a>(cell: &'a Summary, name: &str) -> Option<Place<'a>> {
        let line = cell.lines.iter().find(|line| line.lock.name == name)?;
        let family = cell.family(&line.lock.family);
        let points: Vec<Point> = family.iter().map(|line| line.point()).collect();
        let at = family.iter().position(|other| other.lock.name == name)?;
        let over = dominators(&points, at);
        Some(Place {
            cell,
            line,
            dominators: over.into_iter().map(|i| family[i]).collect(),
        })
    }

    fn loss(&self) -> Option<String> {
        if self.dominators.is_empty() {
            return None;
        }
        let own = self.line.point();
        let by: Vec<String> = self
            .dominators
            .iter()
            .map(|other| {
                let (name, point) = (&other.lock.name, other.point());
                let throughput = point.throughput / own.throughput;
                let wait = point.wait / own.wait;
                format!("{name} (throughput x{throughput:.2}, p99.9 wait x{wait:.2})")
            })
            .collect();
        Some(format!("  {}: {}\n", self.cell.cell, by.join(", ")))
    }
}

/// All cells in one line.
fn score(name: &str, places: &[Place]) -> String {
    let mut text = String::new();
    let compared: Vec<(f64, &Place)> = places
        .iter()
        .filter_map(|p| Some((p.line.ratio?.median, p)))
        .collect();
    let ratios: Vec<f64> = compared.iter().map(|(ratio, _)| *ratio).collect();
    let worst = compared.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    if let (Some(mean), Some((least, place))) = (stats::geometric_mean(&ratios), worst) {
        let near = ratios.iter().filter(|ratio| **ratio >= NEAR).count();
        let peer = place.cell.best_peer(&place.line.lock.family);
        let peer = peer.map_or("?", |line| line.lock.name.as_str());
        text += &format!(
            "{name}: geometric mean {mean:.2} of the best peer's throughput in {}; \
             worst {least:.2} ({}; best peer {peer}); {NEAR} or more in {near}",
            counted(ratios.len(), "cell"),
            place.cell.cell
        );
    } else {
        text += &format!("{name}: no peer to compare with");
    }
    let on = places.iter().filter(|p| p.dominators.is_empty()).count();
    text += &format!("; on the front in {on} of {}.\n", places.len());
    text
}
