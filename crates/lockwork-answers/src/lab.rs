// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Carries the commands of questions out, each once.

use crate::checked::Checked;
use crate::evidence::Evidence;
use crate::question::Question;
use anyhow::{bail, Context, Result};
use lockwork_report::interrupt::{Interrupt, Interrupted};
use lockwork_sim::{Simulated, Simulator};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::process::{Command, ExitCode, Stdio};

/// What was carried out so far.
pub(crate) struct Lab {
    simulator: Simulator,
    jobs: Option<u32>,
    simulated: HashMap<String, Vec<Simulated>>,
    checked: HashMap<&'static str, Vec<Checked>>,
}

impl Lab {
    /// With so many simulations at once.
    pub(crate) fn new(jobs: Option<u32>) -> Result<Lab> {
        Ok(Lab {
            simulator: Simulator::new(jobs)?,
            jobs,
            simulated: HashMap::new(),
            checked: HashMap::new(),
        })
    }

    /// What the commands of a question find. Break: it is over, with this exit code, and
    /// why was said.
    pub(crate) fn evidence(
        &mut self,
        question: &Question,
    ) -> Result<ControlFlow<ExitCode, Evidence>> {
        let mut evidence = Evidence::default();
        for command in (question.simulations)() {
            if !self.simulated.contains_key(&command) {
                match self.simulator.run(&command, question.name)? {
                    ControlFlow::Continue(found) => self.simulated.insert(command.clone(), found),
                    ControlFlow::Break(code) => return Ok(ControlFlow::Break(code)),
                };
            }
            evidence.simulated.push(self.simulated[&command].clone());
        }
        for &command in question.checks {
            if !self.checked.contains_key(command) {
                match check(command, self.jobs)? {
                    ControlFlow::Continue(found) => self.checked.insert(command, found),
                    ControlFlow::Break(code) => return Ok(ControlFlow::Break(code)),
                };
            }
            evidence.checked.push(self.checked[command].clone());
        }
        Ok(ControlFlow::Continue(evidence))
    }
}

/// Runs `lockwork check` with these words, as users do: its workers are processes of
/// their own. A client that fails is an answer as well; anything else ends it.
fn check(words: &str, jobs: Option<u32>) -> Result<ControlFlow<ExitCode, Vec<Checked>>> {
    let interrupt = Interrupt::listen().context("cannot watch for signals")?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(program);
    command.arg("check").args(words.split_whitespace());
    command.arg("--json").stderr(Stdio::inherit());
    if let Some(jobs) = jobs {
        command.args(["--jobs", &jobs.to_string()]);
    }
    let output = command.output();
    if let Err(signal) = interrupt.poll() {
        return Ok(ControlFlow::Break(Interrupted::into(signal)));
    }
    let output = output.with_context(|| format!("cannot run lockwork check {words}"))?;
    let runs = Checked::read(&String::from_utf8_lossy(&output.stdout))?;
    if runs.is_empty() || !matches!(output.status.code(), Some(0 | 1)) {
        bail!("lockwork check {words}: {}", output.status);
    }
    Ok(ControlFlow::Continue(runs))
}
