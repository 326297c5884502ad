// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The child: one run of one client. A mutant may crash or hang, and only one
//! run can be in a process, so each has a process of its own.
use crate::{clients, rivals, run, Kind, Outcome, Task};
use anyhow::{bail, Context, Result};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Accesses that an outcome keeps, the last ones.
const MAX_TRACE: usize = 4000;
/// Between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// What a child is to do: one object on its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub lock: String,
    pub client: String,
    pub task: Task,
}

/// What it says, an object a line on its standard output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// Executions so far.
    Executions(u64),
    /// The end.
    Outcome(Box<Answer>),
}

/// What a run came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Accesses before those of the trace.
    #[serde(default)]
    pub left_out: usize,
}

impl Answer {
    /// What went wrong, if something did.
    pub fn kind(&self) -> Option<Kind> {
        self.outcome.fault.as_ref().map(|fault| fault.kind)
    }
}

/// Does what standard input asks for: `lockwork check-worker`.
///
/// # Errors
/// If that is no request, or names no client.
pub fn check_worker() -> Result<ExitCode> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .context("cannot read the request")?;
    let request: Request = serde_json::from_str(&text)
        .context("this command is for `lockwork check` only, which sends it requests")?;
    let all = [clients(), rivals()].concat();
    let client = all
        .iter()
        .find(|client| client.lock() == request.lock && client.name() == request.client);
    let Some(client) = client else {
        bail!("there is no client {}/{}", request.lock, request.client);
    };
    let outcome = run(*client, &request.task, &progress);
    say(&Message::Outcome(Box::new(shortened(outcome))));
    Ok(ExitCode::SUCCESS)
}

fn progress(executions: u64) {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let Ok(mut last) = LAST.lock() else { return };
    if last.is_none_or(|last| last.elapsed() >= REPORT_EVERY) {
        *last = Some(Instant::now());
        say(&Message::Executions(executions));
    }
}

/// Ends the process if nobody listens.
fn say(message: &Message) {
    let said = serde_json::to_string(message).map(|text| {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush())
    });
    if !matches!(said, Ok(Ok(()))) {
        std::process::exit(1);
    }
}

/// The execution that was under way when the time was up shows nothing.
fn shortened(mut outcome: Outcome) -> Answer {
    let mut left_out = 0;
    if let Some(fault) = &mut outcome.fault {
        if fault.kind == Kind::Timeout {
            fault.trace.clear();
        }
        left_out = fault.trace.len().saturating_sub(MAX_TRACE);
        fault.trace.drain(..left_out);
    }
    Answer { outcome, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::samples;

    #[test]
    fn an_answer_survives_the_way_and_keeps_the_last_steps() {
        let mut outcome = samples::failed(Kind::Race);
        let last = samples::line(1, "last");
        if let Some(fault) = &mut outcome.fault {
            fault.trace = vec![samples::line(0, "first"); MAX_TRACE + 6];
            fault.trace.push(last.clone());
        }
        let message = Message::Outcome(Box::new(shortened(outcome)));
        let text = serde_json::to_string(&message).expect("JSON");
        assert!(text.starts_with("{\"outcome\":{"), "{text}");
        let Ok(Message::Outcome(answer)) = serde_json::from_str(&text) else {
            panic!("not an outcome: {text}");
        };
        let fault = answer.outcome.fault.expect("a fault");
        assert_eq!((answer.left_out, fault.trace.len()), (7, MAX_TRACE));
        assert_eq!(fault.trace.last(), Some(&last));
    }
}
