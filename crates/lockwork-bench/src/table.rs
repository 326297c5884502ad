// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tables that people read: one for each case.
use crate::again::too_long;
use crate::comparison;
use crate::counts;
use crate::journal::{Data, Ended};
use crate::named;
use crate::plan::Plan;
use crate::score::Known;
use crate::summary::{summaries, Line, Summary};
use lockwork_report::table;
use lockwork_report::text::{counted, duration, grouped, short};

/// Rounds that differ by more than this are worth a word.
const MUCH: f64 = 0.1;

/// Everything about a run, made of what the JSON keeps and nothing else.
pub fn render(data: &Data) -> String {
    if let Some(body) = named::body(data) {
        return head(data) + &body + &foot(data);
    }
    let cases = summaries(data);
    let mut text = head(data);
    for summary in &cases {
        text += &case(summary);
        text += "\n";
    }
    text += &comparison::section(&cases, &data.header.plan.under_test);
    text + &foot(data)
}

/// The text above the tables.
pub(crate) fn head(data: &Data) -> String {
    let header = &data.header;
    let plan = &header.plan;
    let mut text = format!(
        "{}, {}, {} each; {}\n",
        counted(plan.locks.len(), "lock"),
        counted(plan.cases.len(), "case"),
        counted(plan.rounds as usize, "round"),
        header.calibration.shown()
    );
    text += &took(data);
    if !plan.knobs.is_empty() {
        text += &format!("knobs: {}\n", plan.knobs.join(", "));
    }
    text + "\n"
}

/// The line on a plan before the first round.
pub(crate) fn announced(plan: &Plan) -> String {
    let Some(seconds) = plan.seconds() else {
        return String::new();
    };
    format!(
        "plan: {} x {} x {}, {} of rounds; starting and stopping threads comes on top\n",
        counted(plan.cases.len(), "case"),
        counted(plan.locks.len(), "lock"),
        counted(plan.rounds as usize, "round"),
        minutes(seconds)
    )
}

/// What was planned, and how long it took in the end.
fn took(data: &Data) -> String {
    let Some(planned) = data.header.plan.seconds() else {
        return String::new();
    };
    let taken = data.end.as_ref().and_then(|end| end.seconds);
    let taken = taken.filter(|_| data.resumed.is_empty());
    let taken = taken.map(|seconds| format!("; it took {}", minutes(seconds)));
    format!(
        "planned: {} of rounds{}\n",
        minutes(planned),
        taken.unwrap_or_default()
    )
}

/// Seconds as people read them.
fn minutes(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.1} s"),
        s => format!("{:.1} min", s / 60.0),
    }
}

/// The text below them: what was counted, what is missing, and what to keep in
/// mind.
pub(crate) fn foot(data: &Data) -> String {
    let header = &data.header;
    let mut text = counts::section(data);
    for absent in &header.absent {
        text += &format!(
            "absent: {} ({}): {}\n",
            absent.name, absent.family, absent.reason
        );
    }
    let mut warnings = Vec::new();
    for header in data.headers() {
        let found = header.machine.warnings().into_iter();
        for warning in found.chain(header.calibration.warning("at the start")) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    // What is compiled without optimisation is no peer of what is compiled with it.
    if data.headers().any(|header| header.debug) {
        warnings.push(
            "measured by a debug build: the locks in C are optimised, those in Rust are not; measure \
             with `cargo run --release`"
                .to_owned(),
        );
    }
    if let Some(end) = &data.end {
        warnings.extend(end.calibration.warning("at the end"));
    }
    if !data.is_of_one_machine() {
        warnings.push("resumed on another machine: cases cannot be compared".to_owned());
    }
    if !data.is_of_one_build() {
        warnings.push(
            "resumed with another build of lockwork, or other libraries: rounds of one case may be \
             of different code"
                .to_owned(),
        );
    }
    warnings.extend(repeated(data));
    warnings.extend(cut_short(data));
    for warning in warnings {
        text += &format!("warning: {warning}\n");
    }
    text
}

/// What is said of rounds that were measured again, and of those that are too long for all that.
fn repeated(data: &Data) -> Vec<String> {
    let repeats: u32 = data.samples.iter().map(|sample| sample.repeats).sum();
    let mut all = Vec::new();
    if repeats > 0 {
        let rounds = counted(repeats as usize, "round");
        all.push(format!(
            "{rounds} measured again: lockwork was stopped meanwhile, as by Ctrl-Z, or went on for \
             more than twice --time plus 1 s"
        ));
    }
    let long = data.samples.iter();
    match long.filter(|s| too_long(&s.case, &s.measured)).count() {
        0 => {}
        n => all.push(format!(
            "{} went on for more than twice --time plus 1 s: the machine is too busy",
            counted(n, "round")
        )),
    }
    all
}

fn cut_short(data: &Data) -> Option<String> {
    let rounds = counted(data.samples.len(), "measurement");
    match data.end.as_ref().map(|end| &end.ended) {
        Some(Ended::Completed) => None,
        Some(Ended::Failed { why }) => Some(format!("ended early: {why}")),
        Some(Ended::Interrupted { .. }) => Some(format!("interrupted after {rounds}")),
        None => Some(format!("not complete: {rounds} so far")),
    }
}

fn case(summary: &Summary) -> String {
    let mixed = summary.lines.iter().any(|line| line.reads.count() > 0);
    let mut text = format!("{}, {} ms a round\n", summary.case, summary.case.time_ms);
    text += &match mixed {
        true => shared(summary),
        false => exclusive(summary),
    };
    text += "\n";
    text += &notes(summary);
    text
}

/// The columns that all tables have first.
const FIRST: [&str; 5] = ["Lock", "Ops/s", "CV", "Ratio", "95% CI"];
/// And last.
const LAST: [&str; 3] = ["CPU s/M", "Vol/k", "Inv/k"];

fn exclusive(summary: &Summary) -> String {
    let header = ["Jain", "p50", "p99", "p99.9", "Max"];
    let header = [&FIRST[..], &header[..], &LAST[..]].concat();
    let rows = summary.lines.iter().map(|line| {
        let waits = &line.writes;
        let own = vec![
            format!("{:.2}", line.jain),
            duration(waits.quantile(0.5)),
            duration(waits.quantile(0.99)),
            duration(waits.quantile(0.999)),
            duration(waits.longest()),
        ];
        [first(line), own, last(line)].concat()
    });
    table::render(header, rows)
}

fn shared(summary: &Summary) -> String {
    let header = [
        "Jain", "Reads/s", "R p99.9", "R max", "Writes/s", "W p50", "W p99.9", "W max",
    ];
    let header = [&FIRST[..], &header[..], &LAST[..]].concat();
    let rows = summary.lines.iter().map(|line| {
        let (reads, writes) = (&line.reads, &line.writes);
        let own = vec![
            format!("{:.2}", line.jain),
            short(line.read_rate),
            duration(reads.quantile(0.999)),
            duration(reads.longest()),
            short(line.write_rate),
            duration(writes.quantile(0.5)),
            duration(writes.quantile(0.999)),
            duration(writes.longest()),
        ];
        [first(line), own, last(line)].concat()
    });
    table::render(header, rows)
}

fn first(line: &Line) -> Vec<String> {
    let dash = || "-".to_owned();
    let yardstick = line.yardstick.as_ref();
    let ratio = yardstick.map(|y| Known::of(&y.throughput));
    vec![
        line.lock.name.clone(),
        short(line.rate),
        line.variation
            .map_or_else(dash, |cv| format!("{:.1} %", cv * 100.0)),
        ratio.map_or_else(dash, |r| format!("{:.2}", r.ratio)),
        ratio.as_ref().map_or_else(dash, comparison::range),
    ]
}

fn last(line: &Line) -> Vec<String> {
    vec![
        short(line.cpu),
        grouped(line.voluntary, 2),
        grouped(line.involuntary, 2),
    ]
}

/// What about this case is to be kept in mind.
fn notes(summary: &Summary) -> String {
    let names = |of: &dyn Fn(&Line) -> bool| {
        let all: Vec<&str> = summary
            .lines
            .iter()
            .filter(|line| of(line))
            .map(|line| line.lock.name.as_str())
            .collect();
        all.join(", ")
    };
    let mut text = String::new();
    for out in &summary.left_out {
        text += &format!(
            "left out after {} here: {}, which took {:.1} s to stop with {}\n",
            counted(out.rounds, "round"),
            out.lock,
            out.seconds,
            counted(out.threads as usize, "thread"),
        );
    }
    let vary = names(&|line| line.variation.is_some_and(|cv| cv > MUCH));
    if !vary.is_empty() {
        text += &format!("warning: rounds vary much (CV above 10 %): {vary}\n");
    }
    let round = summary.case.time_ms as f64 / 1e3;
    let late = names(&|line| line.overrun > round);
    if !late.is_empty() {
        text += &format!("warning: stopping took longer than the round: {late}\n");
    }
    text
}
