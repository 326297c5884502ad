// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How the scores of locks are made of the summaries of cases.
use crate::journal::Data;
use crate::pareto::dominators;
use crate::plan::Form;
use crate::score::{CaseScore, Known, Score};
use crate::summary::{summaries, Line, Summary};
use crate::yardstick::{Yardstick, CONFIDENCE};
use lockwork_report::stats::LogRatio;

/// How probably a change that is called detectable is found.
const POWER: f64 = 0.8;

/// The score of the lock `name`; `None` if no case has a ratio.
pub fn score_of(summaries: &[Summary], name: &str) -> Option<Score> {
    let found: Vec<(&Summary, &Yardstick)> = summaries
        .iter()
        .filter_map(|case| Some((case, yardstick(case, name)?)))
        .collect();
    let rates: Vec<LogRatio> = found.iter().map(|(_, y)| y.throughput).collect();
    let costs: Vec<LogRatio> = found.iter().filter_map(|(_, y)| y.cpu).collect();
    let mean = LogRatio::together(&rates)?;
    let logs = rates.iter().enumerate();
    let worst = logs.min_by(|a, b| a.1.log.total_cmp(&b.1.log))?.0;
    let cases = found.iter().map(|(case, yardstick)| CaseScore {
        case: case.case.clone(),
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
        left_out: cases_left_out(summaries, name),
        cases: cases.collect(),
    })
}

/// In how many cases `name` was left out, and so has no ratio.
pub fn cases_left_out(summaries: &[Summary], name: &str) -> usize {
    let out = |case: &&Summary| case.left_out.iter().any(|out| out.lock == name);
    let cases = summaries.iter().filter(out);
    cases.filter(|case| yardstick(case, name).is_none()).count()
}

fn yardstick<'a>(case: &'a Summary, name: &str) -> Option<&'a Yardstick> {
    line(case, name)?.yardstick.as_ref()
}

fn line<'a>(case: &'a Summary, name: &str) -> Option<&'a Line> {
    case.lines.iter().find(|line| line.lock.name == name)
}

/// Each half of the rounds chooses the worst case, and the other half says how bad it is.
fn worst_again(cases: &[(&Summary, &Yardstick)]) -> Option<f64> {
    let other = |at: usize| {
        let both = cases
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
    /// Of `name` in `case`; `None` if it was not measured there.
    pub fn of<'a>(case: &'a Summary, name: &str) -> Option<Ahead<'a>> {
        let own = line(case, name)?;
        let family = case.family(&own.lock.family);
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

/// The scores of the locks under test. The JSON has them.
pub fn scores(data: &Data) -> Vec<Score> {
    if data.header.plan.form != Form::Cases {
        return Vec::new();
    }
    let cases = summaries(data);
    let names = data.header.plan.under_test.iter();
    names.filter_map(|name| score_of(&cases, name)).collect()
}
