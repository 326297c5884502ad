// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The runs without mutants, and their table.
use super::fallback::Fallback;
use super::interleaving::{render, View};
use super::plan::{method_text, Run};
use super::pool::Pool;
use super::printer::{width, Printer};
use super::worker::Answer;
use crate::{Bound, Kind};
use anyhow::Result;
use lockwork_report::table::{Align, Columns};
use lockwork_report::text::{counted, seconds, whole};
use serde_json::{json, Value};
use std::time::Instant;

const HEADINGS: [(&str, Align); 7] = [
    ("lock", Align::Left),
    ("client", Align::Left),
    ("method", Align::Left),
    ("bound", Align::Left),
    (" executions", Align::Right),
    ("    time", Align::Right),
    ("verdict", Align::Left),
];

/// A run that is done.
pub(crate) struct Done {
    /// As it was asked for.
    pub run: Run,
    /// How far the client was explored to the end.
    pub explored: Bound,
    pub answer: Answer,
}

/// How results are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub json: bool,
    /// Interleavings in full.
    pub trace: bool,
}

/// Does all of `runs`, and prints each as soon as those before it are done.
/// Locks that no client checks fail without a run.
pub(crate) fn run_all(
    pool: &mut Pool,
    printer: &Printer,
    runs: Vec<Run>,
    unchecked: &[&str],
    style: Style,
) -> Result<Vec<Done>> {
    let table = columns(&runs, unchecked);
    if !style.json {
        printer.print(&table.row(&HEADINGS.map(|heading| heading.0)))?;
    }
    for lock in unchecked {
        printer.print(&shown_unchecked(&table, lock, style))?;
    }
    let mut answers: Vec<Option<Answer>> = vec![None; runs.len()];
    let mut fallback = Fallback::new(&runs);
    let (mut started, mut printed) = (0, 0);
    printer.done(0, runs.len());
    while printed < runs.len() {
        while started < runs.len() && pool.has_room() {
            pool.start(started, &runs[started].request())?;
            started += 1;
        }
        let (id, mut answer) = pool.wait(printer)?;
        if let Some(again) = fallback.next(id, &runs[id], &mut answer) {
            pool.start(id, &again.request())?;
            continue;
        }
        answers[id] = Some(answer);
        while let Some(Some(answer)) = answers.get(printed) {
            let explored = fallback.explored(printed, &runs[printed]);
            printer.result(&shown(&table, &runs[printed], explored, answer, style))?;
            printed += 1;
        }
        let done = answers.iter().filter(|answer| answer.is_some()).count();
        printer.done(done, runs.len());
    }
    let answers = answers.into_iter().flatten();
    let done = runs.iter().zip(answers).enumerate();
    Ok(done
        .map(|(id, (run, answer))| Done {
            run: run.until(None),
            explored: fallback.explored(id, run),
            answer,
        })
        .collect())
}

fn shown(table: &Columns, run: &Run, explored: Bound, answer: &Answer, style: Style) -> String {
    match style.json {
        true => format!("{}\n", object(run, explored, answer)),
        false => table.row(&row(run, explored, answer)),
    }
}

/// A lock of the catalogue that is not checked is no lock that passed.
fn shown_unchecked(table: &Columns, lock: &str, style: Style) -> String {
    match style.json {
        true => format!("{}\n", json!({ "lock": lock, "verdict": "unchecked" })),
        false => table.row(&[lock, "-", "-", "-", "-", "-", "FAIL: no client checks it"]),
    }
}

fn columns(runs: &[Run], unchecked: &[&str]) -> Columns {
    let mut columns = Columns::new(&HEADINGS);
    for lock in unchecked {
        columns.fit(&[lock]);
    }
    for run in runs {
        let [lock, client, method, bound] = name(run);
        columns.fit(&[lock, client, method, bound]);
    }
    columns
}

fn name(run: &Run) -> [String; 4] {
    [
        run.client.lock().to_owned(),
        run.client.name().to_owned(),
        method_text(run.task.method).to_owned(),
        run.task.bound.to_string(),
    ]
}

fn row(run: &Run, explored: Bound, answer: &Answer) -> [String; 7] {
    let [lock, client, method, bound] = name(run);
    let verdict = match answer.kind() {
        Some(kind) => format!("FAIL: {}", kind.text()),
        None if explored != run.task.bound => format!("pass; {bound} is too much"),
        None => "pass".to_owned(),
    };
    [
        lock,
        client,
        method,
        explored.to_string(),
        whole(answer.outcome.executions),
        seconds(answer.outcome.seconds),
        verdict,
    ]
}

fn object(run: &Run, explored: Bound, answer: &Answer) -> Value {
    let outcome = &answer.outcome;
    let mut object = json!({
        "lock": run.client.lock(),
        "client": run.client.name(),
        "method": run.task.method,
        "bound": explored.to_string(),
        "asked": run.task.bound.to_string(),
        "executions": outcome.executions,
        "pruned": outcome.pruned,
        "words": outcome.words,
        "seconds": outcome.seconds,
        "verdict": "pass",
        "text": null,
    });
    if let Some(fault) = &outcome.fault {
        object["verdict"] = json!(fault.kind);
        object["text"] = json!(fault.text);
        object["thread"] = json!(fault.thread);
        object["left_out"] = json!(answer.left_out);
        object["trace"] = json!(fault.trace);
    }
    object
}

/// Each failure with its interleaving, and the line that sums up.
pub(crate) fn conclude(
    printer: &Printer,
    done: &[Done],
    unchecked: &[&str],
    start: Instant,
    style: Style,
) -> Result<bool> {
    let failures = done.iter().filter(|done| done.answer.kind().is_some());
    let failed = failures.clone().count();
    if style.json {
        return Ok(failed + unchecked.len() == 0);
    }
    for done in failures {
        printer.print(&failure(done, style))?;
    }
    let executions = done.iter().map(|done| done.answer.outcome.executions).sum();
    let mut text = format!(
        "\n{} of {} passed: {} executions in {}\n",
        done.len() - failed,
        counted(done.len(), "run"),
        whole(executions),
        seconds(start.elapsed().as_secs_f64())
    );
    let less = done
        .iter()
        .filter(|done| done.explored != done.run.task.bound);
    match less.count() {
        0 => {}
        less => text += &format!("{less} of them with one preemption less than their bound\n"),
    }
    if !unchecked.is_empty() {
        let locks = unchecked.join(", ");
        text += &format!(
            "{} without a client: {locks}\n",
            counted(unchecked.len(), "lock")
        );
    }
    printer.print(&text)?;
    Ok(failed + unchecked.len() == 0)
}

fn failure(done: &Done, style: Style) -> String {
    let [lock, client, method, bound] = name(&done.run);
    let heading = format!("\n{lock}/{client}, {method}, {bound}:\n");
    let Some(fault) = &done.answer.outcome.fault else {
        return String::new();
    };
    let view = View {
        width: width(),
        full: style.trace,
        left_out: done.answer.left_out,
        mutated: None,
    };
    let advice = match fault.kind {
        Kind::Timeout => "Give it more time with --timeout, or less to do with --bound.\n",
        _ => "",
    };
    heading + &render(fault, view) + advice
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients;
    use crate::command::samples;

    const PLAIN: Style = Style {
        json: false,
        trace: false,
    };

    fn done(outcome: crate::Outcome) -> Done {
        Done {
            run: Run {
                client: clients()[0],
                task: samples::task(1),
            },
            explored: samples::task(1).bound,
            answer: Answer {
                outcome,
                left_out: 0,
            },
        }
    }

    #[test]
    fn a_row_says_whether_it_passed() {
        let passed = done(samples::passed(1_234_567));
        let row = row(&passed.run, passed.explored, &passed.answer);
        assert_eq!(
            row[2..],
            ["all schedules", "2x1@2", "1,234,567", "0.5 s", "pass"]
        );
        let failed = done(samples::failed(Kind::LostWakeup));
        let table = columns(std::slice::from_ref(&failed.run), &[]);
        let row = shown(&table, &failed.run, failed.explored, &failed.answer, PLAIN);
        assert!(row.ends_with("  FAIL: lost wake-up\n"), "{row}");
        let row = shown_unchecked(&table, "some_lock", PLAIN);
        assert!(row.ends_with("  FAIL: no client checks it\n"), "{row}");
    }

    #[test]
    fn one_failure_is_enough() {
        let verdict = |done: &[Done], unchecked: &[&str]| {
            conclude(&Printer::silent(), done, unchecked, Instant::now(), PLAIN).expect("printed")
        };
        let pass = || done(samples::passed(1));
        assert!(verdict(&[pass(), pass()], &[]));
        assert!(!verdict(&[pass(), pass()], &["some_lock"]));
        for kind in [Kind::Race, Kind::Timeout, Kind::Checker] {
            assert!(!verdict(&[pass(), done(samples::failed(kind))], &[]));
        }
    }

    #[test]
    fn a_failure_comes_with_its_trace_in_json() {
        let mut failed = done(samples::failed(Kind::Race));
        if let Some(fault) = &mut failed.answer.outcome.fault {
            fault.trace.push(samples::line(0, "locked: 0 -> 1"));
        }
        let object = object(&failed.run, failed.explored, &failed.answer);
        assert_eq!(object["verdict"], "race");
        assert_eq!(object["text"], "it went wrong");
        assert_eq!(object["trace"][0]["text"], "locked: 0 -> 1");
    }
}
