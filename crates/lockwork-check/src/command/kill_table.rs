// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs the mutants, and prints the kill table.
use super::interleaving::{render, View};
use super::kill::{wrong_notes, Class, Trial, Verdict};
use super::pool::Pool;
use super::printer::{width, Printer};
use super::runs::Style;
use anyhow::Result;
use lockwork_report::table::{Align, Columns};
use lockwork_report::text::{counted, seconds};
use serde_json::{json, Value};
use std::time::Instant;

const HEADINGS: [(&str, Align); 4] = [
    ("mutant", Align::Left),
    ("where", Align::Left),
    ("what", Align::Left),
    ("verdict", Align::Left),
];

/// Does the runs of all `trials`, a mutant's one after the other, and prints
/// each mutant as soon as those before it have a verdict.
pub(crate) fn run_all(
    pool: &mut Pool,
    printer: &Printer,
    trials: &mut [Trial],
    style: Style,
) -> Result<()> {
    let mut table = Columns::new(&HEADINGS);
    for trial in trials.iter() {
        table.fit(&name(trial));
    }
    if !style.json {
        printer.print(&format!(
            "\n{}",
            table.row(&HEADINGS.map(|heading| heading.0))
        ))?;
    }
    let (mut started, mut printed) = (0, 0);
    printer.done(0, trials.len());
    loop {
        while let Some(trial) = trials.get(printed).filter(|trial| trial.verdict.is_some()) {
            printer.print(&match style.json {
                true => format!("{}\n", object(trial, style)),
                false => row(&table, trial) + &interleaving(trial, style),
            })?;
            printed += 1;
        }
        if printed == trials.len() {
            return Ok(());
        }
        while started < trials.len() && pool.has_room() {
            if let Some(run) = trials[started].next() {
                pool.start(started, &run.request())?;
            }
            started += 1;
        }
        if pool.is_idle() {
            continue;
        }
        let (id, answer) = pool.wait(printer)?;
        if !trials[id].take(answer) {
            if let Some(run) = trials[id].next() {
                pool.start(id, &run.request())?;
            }
        }
        let done = trials
            .iter()
            .filter(|trial| trial.verdict.is_some())
            .count();
        printer.done(done, trials.len());
    }
}

fn name(trial: &Trial) -> [String; 3] {
    let planned = &trial.planned;
    let spot = &planned.mutant.spot;
    [
        planned.name.clone(),
        format!("{}:{}", spot.file, spot.lines.0),
        planned.what.clone(),
    ]
}

fn row(table: &Columns, trial: &Trial) -> String {
    let [name, place, what] = name(trial);
    table.row(&[name, place, what, verdict(trial)])
}

fn verdict(trial: &Trial) -> String {
    match (&trial.verdict, &trial.planned.spare) {
        (Some(Verdict::Killed { by, answer }), _) => {
            let kind = answer.kind().map_or("", |kind| kind.text());
            let executions = counted(trial.executions() as usize, "execution");
            format!("killed: {kind}, {}, {executions}", by.title())
        }
        (Some(Verdict::Survives), Some(reason)) => format!("survives: {reason}"),
        (Some(Verdict::Survives), None) => "SURVIVES".to_owned(),
        (Some(Verdict::Unreached), _) => "SURVIVES: no client reaches it".to_owned(),
        (Some(Verdict::Unknown { by, kind }), _) => {
            format!("SURVIVES: {}, {}", kind.text(), by.title())
        }
        (None, _) => String::new(),
    }
}

fn interleaving(trial: &Trial, style: Style) -> String {
    let Some(Verdict::Killed { answer, .. }) = &trial.verdict else {
        return String::new();
    };
    let Some(fault) = answer.outcome.fault.as_ref().filter(|_| style.trace) else {
        return String::new();
    };
    let view = View {
        width: width(),
        full: true,
        left_out: answer.left_out,
        mutated: Some(&trial.planned.mutant.spot),
    };
    format!("\n{}\n", render(fault, view))
}

fn object(trial: &Trial, style: Style) -> Value {
    let planned = &trial.planned;
    let verdict = match (&trial.verdict, trial.class()) {
        (_, Some(Class::Killed)) => "killed",
        (_, Some(Class::Explained)) => "explained",
        (Some(Verdict::Unreached), _) => "unreached",
        (Some(Verdict::Unknown { .. }), _) => "unknown",
        _ => "survives",
    };
    let mut object = json!({
        "mutant": planned.name,
        "tag": planned.tag,
        "file": planned.mutant.spot.file,
        "line": planned.mutant.spot.lines.0,
        "primitive": planned.mutant.spot.primitive,
        "change": planned.mutant.change,
        "verdict": verdict,
        "executions": trial.executions(),
        "spare": planned.spare,
    });
    match &trial.verdict {
        Some(Verdict::Killed { by, answer }) => {
            object["by"] = json!(by.title());
            object["kind"] = json!(answer.kind());
            let fault = answer.outcome.fault.as_ref();
            object["text"] = json!(fault.map(|fault| &fault.text));
            if style.trace {
                object["left_out"] = json!(answer.left_out);
                object["trace"] = json!(fault.map(|fault| &fault.trace));
            }
        }
        Some(Verdict::Unknown { by, kind }) => {
            object["by"] = json!(by.title());
            object["kind"] = json!(kind);
        }
        _ => {}
    }
    object
}

/// What the table does not show.
pub(crate) struct Summary {
    /// `Spare` notes that fit nothing, each a sentence.
    pub unfit: Vec<String>,
    /// Mutants that the clients chosen do not reach, and need not.
    pub not_reached: usize,
    /// Not all clients of the locks were chosen.
    pub partly: bool,
    pub start: Instant,
}

/// Notes that are wrong, and the line that sums up. True: all is well.
pub(crate) fn conclude(
    printer: &Printer,
    trials: &[Trial],
    summary: &Summary,
    style: Style,
) -> Result<bool> {
    let count = |class| {
        trials
            .iter()
            .filter(|trial| trial.class() == Some(class))
            .count()
    };
    let unexplained = count(Class::Unexplained);
    let wrong = wrong_notes(trials);
    let notes = wrong.iter().map(|(tag, order)| {
        format!("{tag}: the note 'Spare {order}' is wrong, all such mutants are killed: delete it")
    });
    let notes: Vec<String> = notes.chain(summary.unfit.iter().cloned()).collect();
    let good = unexplained == 0 && notes.is_empty();
    if style.json {
        for note in &notes {
            printer.print(&format!(
                "{}\n",
                json!({ "verdict": "wrong_note", "text": note })
            ))?;
        }
        return Ok(good);
    }
    let mut text = String::from("\n");
    for note in &notes {
        text += &format!("{note}\n");
    }
    text += &format!(
        "{}: {} killed, {} survive with a reason, {unexplained} without, in {}\n",
        counted(trials.len(), "mutant"),
        count(Class::Killed),
        count(Class::Explained),
        seconds(summary.start.elapsed().as_secs_f64())
    );
    if summary.not_reached > 0 {
        let number = summary.not_reached;
        text += &format!("{number} more are not reached by the clients chosen\n");
    }
    if summary.partly && unexplained > 0 {
        text += "Only the clients chosen by --client tried; others may kill those that survive.\n";
    }
    printer.print(&text)?;
    Ok(good)
}
