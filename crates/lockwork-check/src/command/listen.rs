// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a worker says, and what else comes out of it.
use super::worker::{Answer, Message};
use lockwork_report::text::cut;
use std::io::{BufRead, BufReader, Read};
use std::thread;

/// What a worker said.
#[derive(Default)]
pub(crate) struct Said {
    /// The end.
    pub answer: Option<Answer>,
    /// What else came last: its complaints, or nonsense.
    pub noise: String,
}

impl Said {
    /// Hears a worker to its end.
    pub fn all(out: impl Read, err: impl Read + Send, progress: impl FnMut(u64)) -> Self {
        thread::scope(|scope| {
            let complaint = scope.spawn(|| last_line(err));
            let mut said = Said::default();
            said.listen(out, progress);
            let complaint = complaint.join().unwrap_or_default();
            if !complaint.is_empty() {
                said.noise = complaint;
            }
            said
        })
    }

    /// Reads its output to the end.
    fn listen(&mut self, out: impl Read, mut progress: impl FnMut(u64)) {
        for line in BufReader::new(out).split(b'\n') {
            let Ok(line) = line else { return };
            match serde_json::from_slice(&line) {
                Ok(Message::Executions(executions)) => progress(executions),
                Ok(Message::Outcome(answer)) => self.answer = Some(*answer),
                Err(_) => {
                    let line = String::from_utf8_lossy(&line);
                    self.noise = format!("it said '{}'", cut(&line, 80));
                    self.answer = None;
                }
            }
        }
    }
}

/// Of what it complained about.
fn last_line(from: impl Read) -> String {
    let lines = BufReader::new(from).split(b'\n').map_while(Result::ok);
    let last = lines.filter(|line| !line.is_empty()).last();
    let last = last.map(|line| String::from_utf8_lossy(&line).into_owned());
    cut(last.as_deref().unwrap_or("").trim(), 200)
}
