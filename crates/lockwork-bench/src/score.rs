// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All cells of a lock in a few numbers, as the report and the JSON have them.
use crate::journal::Data;
use crate::pareto::dominators;
use crate::plan::Form;
use crate::sample::Cell;
use crate::summary::{summaries, Line, Summary};
use crate::yardstick::{Yardstick, CONFIDENCE};
use lockwork_report::stats::LogRatio;
use serde::{Deserialize, Serialize};

/// A ratio below this is under the goal of a cell.
pub const GOAL: f64 = 0.90;
/// A ratio to the best peer that is still called near.
pub const NEAR: f64 = 0.85;
/// How probably a change that is called detectable is found.
pub const POWER: f64 = 0.8;

/// A ratio and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// The ratio.
    pub ratio: f64,
    /// Its interval, if there were rounds enough.
    pub interval: Option<(f64, f64)>,
}

impl Known {
    /// Of a mean of logarithms.
    pub fn of(log: &LogRatio) -> Known {
        Known {
            ratio: log.ratio(),
            interval: log.interval(CONFIDENCE),
        }
    }
}

/// A lock in one cell, against the best of its rivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellScore {
    /// The cell.
    pub cell: Cell,
    /// Its throughput to that of the rival.
    pub throughput: Known,
    /// Its CPU time for an acquisition to that of the rival.
    pub cpu: Option<Known>,
    /// The rivals: one, or the two that the halves of the rounds chose.
    pub rivals: Vec<String>,
}

/// A lock in all cells, against the best of its rivals in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The lock.
    pub lock: String,
    /// The geometric mean of the throughput's ratios.
    pub throughput: Known,
    /// The geometric mean of the ratios of CPU time for an acquisition.
    pub cpu: Option<Known>,
    /// The smallest change of the throughput's mean between two such runs that is told
    /// apart: 0.05 is 5 %.
    pub detectable: f64,
    /// The place of the worst cell in `cells`.
    pub worst: usize,
    /// The ratio, in one half of the rounds, of the cell that is worst in the other half:
    /// the worst of many noisy numbers is worse than it is on average.
    pub worst_again: Option<f64>,
    /// The cells.
    pub cells: Vec<CellScore>,
}

impl Score {
    /// That of the lock `name`; `None` if no cell has a ratio.
    pub fn of(summaries: &[Summary], name: &str) -> Option<Score> {
        let found: Vec<(&Summary, &Yardstick)> = summaries
            .iter()
            .filter_map(|cell| Some((cell, line(cell, name)?.yardstick.as_ref()?)))
            .collect();
        let rates: Vec<LogRatio> = found.iter().map(|(_, y)| y.throughput).collect();
        let costs: Vec<LogRatio> = found.iter().filter_map(|(_, y)| y.cpu).collect();
        let mean = LogRatio::together(&rates)?;
        let logs = rates.iter().enumerate();
        let worst = logs.min_by(|a, b| a.1.log.total_cmp(&b.1.log))?.0;
        let cells = found.iter().map(|(cell, yardstick)| CellScore {
            cell: cell.cell.clone(),
            throughput: Known::of(&yardstick.throughput),
            cpu: yardstick.cpu.as_ref().map(Known::of),
            rivals: yardstick.rivals.clone(),
        });
        Some(Score {
            lock: name.to_owned(),
            throughput: Known::of(&mean),
            cpu: LogRatio::together(&costs).as_ref().map(Known::of),
            detectable: mean.detectable(CONFIDENCE, POWER),
            worst,
            worst_again: worst_again(&found),
            cells: cells.collect(),
        })
    }

    /// In how many cells the ratio is as `wanted`.
    pub fn count(&self, wanted: impl Fn(f64) -> bool) -> usize {
        let cells = self.cells.iter();
        cells.filter(|c| wanted(c.throughput.ratio)).count()
    }

    /// In how many cells the whole interval is below the goal.
    pub fn surely_under(&self) -> usize {
        let below = |c: &&CellScore| c.throughput.interval.is_some_and(|(_, high)| high < GOAL);
        self.cells.iter().filter(below).count()
    }
}

fn line<'a>(cell: &'a Summary, name: &str) -> Option<&'a Line> {
    cell.lines.iter().find(|line| line.lock.name == name)
}

/// Each half of the rounds chooses the worst cell, and the other half says how bad it is.
fn worst_again(cells: &[(&Summary, &Yardstick)]) -> Option<f64> {
    let other = |at: usize| {
        let both = cells
            .iter()
            .filter_map(|(_, y)| Some((y.halves[at]?, y.halves[1 - at]?)));
        both.min_by(|a, b| a.0.total_cmp(&b.0)).map(|both| both.1)
    };
    Some(((other(0)? + other(1)?) / 2.0).exp())
}

/// Which locks of its family are ahead of a lock in throughput and p99.9 wait.
#[derive(Clone, Debug)]
pub struct Ahead<'a> {
    /// In all rounds together.
    pub once: Vec<&'a Line>,
    /// Those of them that are ahead in the odd rounds and in the even rounds as well;
    /// all of them where there are no halves.
    pub twice: Vec<&'a Line>,
}

impl Ahead<'_> {
    /// Of `name` in `cell`; `None` if it was not measured there.
    pub fn of<'a>(cell: &'a Summary, name: &str) -> Option<Ahead<'a>> {
        let own = line(cell, name)?;
        let family = cell.family(&own.lock.family);
        let at = family.iter().position(|other| other.lock.name == name)?;
        let points: Vec<_> = family.iter().map(|line| line.point()).collect();
        let once = dominators(&points, at).into_iter().map(|i| family[i]);
        let once: Vec<&Line> = once.collect();
        let halves = |other: &&&Line| {
            own.halves.iter().zip(&other.halves).all(|both| match both {
                (Some(own), Some(other)) => other.dominates(own),
                _ => true,
            })
        };
        let twice = once.iter().filter(halves).copied().collect();
        Some(Ahead { once, twice })
    }
}

/// The scores of the locks that a run was about, for the JSON.
pub fn scores(data: &Data) -> Vec<Score> {
    if data.header.plan.form != Form::Cells {
        return Vec::new();
    }
    let cells = summaries(data);
    let names = data.header.plan.under_test.iter();
    names.filter_map(|name| Score::of(&cells, name)).collect()
}
