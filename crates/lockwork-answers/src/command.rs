// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command. It answers the chosen questions, one after the other.

use crate::args::AnswersArgs;
use crate::lab::Lab;
use crate::page;
use crate::question::Question;
use crate::questions::QUESTIONS;
use anyhow::{Context, Result};
use lockwork_report::{choice, page as report, table, text};
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Does what the arguments of `lockwork answers` say. Failure: an answer differs from the
/// page, or simulated threads got stuck.
///
/// # Errors
/// The arguments, a file or the host.
pub fn answers(args: &AnswersArgs) -> Result<ExitCode> {
    let questions = choose(&[&args.names[..], &args.questions].concat())?;
    if args.list {
        let rows = questions.iter().map(|one| (one.name, one.title));
        text::print(&table::described("", rows))?;
        return Ok(ExitCode::SUCCESS);
    }
    let page = args.check.as_deref().map(report::read).transpose()?;
    args.write.as_deref().map_or(Ok(()), report::writable)?;
    let mut lab = Lab::new(args.jobs)?;
    let mut sections = Vec::new();
    let mut differ = Vec::new();
    for question in &questions {
        let evidence = match lab.evidence(question)? {
            ControlFlow::Continue(evidence) => evidence,
            ControlFlow::Break(code) => return Ok(code),
        };
        let answer = (question.answer)(&evidence).with_context(|| question.name.to_owned())?;
        let section = page::section(question, &answer);
        if page.as_ref().is_some_and(|page| !page.contains(&section)) {
            differ.push(question.name);
        }
        sections.push(section);
    }
    let sections = sections.join("\n");
    match (&args.write, &args.check) {
        (Some(path), _) => report::write(path, &format!("{}\n{sections}", page::HEAD))?,
        (_, Some(path)) => {
            let (same, said) = page::KIND.compared(path, questions.len(), &differ);
            if !same {
                text::complain(&said);
                return Ok(ExitCode::FAILURE);
            }
            text::print(&said)?;
        }
        _ => text::print(&sections)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Those of these names, in the order of the page; all without names.
fn choose(names: &[String]) -> Result<Vec<&'static Question>> {
    if names.is_empty() {
        return Ok(QUESTIONS.to_vec());
    }
    let chosen = choice::several("question", names, &[], &QUESTIONS, |one| one.name)?;
    Ok(chosen.into_iter().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_sim::Simulator;

    #[test]
    fn names_are_there_once_and_each_command_can_be_simulated() {
        let simulator = Simulator::new(Some(1)).expect("the locks");
        for question in QUESTIONS {
            let same = QUESTIONS.iter().filter(|one| one.name == question.name);
            assert_eq!(same.count(), 1, "{}", question.name);
            for command in (question.simulations)() {
                let simulations = simulator.simulations(&command);
                assert!(
                    simulations.is_ok_and(|n| n > 0),
                    "{}: {command}",
                    question.name
                );
            }
        }
    }

    #[test]
    fn an_unknown_question_is_refused_with_those_that_there_are() {
        let error = choose(&["why".to_owned()])
            .err()
            .expect("none of that name");
        assert!(lockwork_report::usage::is(&error));
        let text = error.to_string();
        assert!(
            text.starts_with("there is no question named 'why'"),
            "{text}"
        );
        assert!(text.contains("rwlock-writer-bias"), "{text}");
        let both = ["osq-low-end", "rwlock-readers"].map(str::to_owned);
        assert_eq!(choose(&both).expect("both").len(), 2);
    }
}
