// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Writers as the kernel's locktorture has them: the lock is held for no time
//! mostly, for 2 µs at times, and rarely for so long that everybody waits.
use super::{plain, Defaults};
use crate::args::BenchArgs;
use crate::journal::Data;
use crate::plan::Form;
use crate::sample::Case;
use crate::work::{Outside, Work};
use lockwork_report::stats::{self, Pair};
use lockwork_report::{table, text};

const CONFIDENCE: f64 = 0.95;

pub(crate) fn defaults(_: &BenchArgs) -> Defaults {
    Defaults {
        form: Form::Locktorture,
        threads: vec![1, 2, 4, 8, 16],
        inside: vec![Work::Torture],
        outside: |_| vec![Outside::Work(Work::Ns(0))],
        time_ms: |_| 500,
        ..plain()
    }
}

pub(crate) fn body(data: &Data) -> String {
    let plan = &data.header.plan;
    let baseline = plan.baseline.clone().unwrap_or_default();
    let mut text = format!(
        "Acquisitions a second, mean of rounds; Improve on {baseline}, paired by round\n\n"
    );
    for case in &plan.cases {
        let lines: Vec<[String; 5]> = plan
            .locks
            .iter()
            .filter_map(|lock| row(data, case, lock, &baseline))
            .collect();
        if lines.is_empty() {
            continue;
        }
        let s = if case.threads == 1 { "" } else { "s" };
        text += &format!("{} writer{s}, {} ms a round\n", case.threads, case.time_ms);
        let header = ["Lock", "Average", "CV", "Improve", "95% CI of Improve"];
        text += &table::render(header, lines);
        text += "\n\n";
    }
    text
}

fn row(data: &Data, case: &Case, lock: &str, baseline: &str) -> Option<[String; 5]> {
    let rate = |name: &str, round: u32| {
        let here = |s: &&crate::Sample| s.case == *case && s.lock == name && s.round == round;
        data.samples.iter().find(here).map(|s| s.measured.rate())
    };
    let rounds = 1..=data.header.plan.rounds;
    let rates: Vec<f64> = rounds.clone().filter_map(|r| rate(lock, r)).collect();
    if rates.is_empty() {
        return None;
    }
    let pairs: Vec<Pair> = rounds
        .filter_map(|r| Some((rate(lock, r)?, rate(baseline, r)?)))
        .collect();
    let compared = lock != baseline;
    let missing = || {
        if compared {
            "-".to_owned()
        } else {
            String::new()
        }
    };
    let improve = compared.then(|| stats::improve(&pairs)).flatten();
    let interval = compared
        .then(|| stats::interval(&pairs, CONFIDENCE, data.header.plan.seed))
        .flatten();
    let signed = |x: f64| format!("{:+.1} %", x * 100.0);
    Some([
        lock.to_owned(),
        text::short(stats::mean(&rates)),
        stats::variation(&rates)
            .map_or_else(|| "-".to_owned(), |cv| format!("{:.1} %", cv * 100.0)),
        improve.map_or_else(missing, signed),
        interval.map_or_else(missing, |(low, high)| {
            format!("{} … {}", signed(low), signed(high))
        }),
    ])
}
