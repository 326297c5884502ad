// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The page: its text, and the section of each question.

use crate::question::{Answer, Question};
use lockwork_report::page::{self, Kind};
use std::fmt::Write;

/// What the page is made of.
pub(crate) const KIND: Kind = Kind {
    noun: "answer",
    writer: "lockwork answers --write",
};

/// What stands before the answers.
pub(crate) const HEAD: &str = "\
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->
# Answers to questions of the mails

When the kernel's locks were proposed, reviewers asked questions that the mails left open. This
page answers them. The program wrote it: `lockwork answers --write docs/answers.md`. The first
sentences of each answer are chosen by rules from the figures below them, so that they change
when the figures do.

The questions are told in this project's words. What its sources do not say (a date, or which of
two persons asked) is left open. All rates and waits are simulated ([sim.md](sim.md)), on
machines whose latencies are published or assumed ([machines.md](machines.md)). A simulation is
not a measurement; [fidelity.md](fidelity.md) says how far it is off where something is
published. The locks are Lockwork's, which stand for the kernel's; `mutex_numa_2024` is the
published NUMA-aware OSQ under the mutex, written from its mails.

*Mops/s* is million acquisitions a second, all threads together. `±` is half the 95 % interval, of
the 16 parts of the measured time (`batches` of `lockwork sim --json`): in percent behind a rate,
in percentage points behind a change. Two rates differ, and a lock *gains* or *loses*, if the
change is greater than its interval and 2 %. What has not come to a steady state within 30 million
memory operations is marked: *(short)* has a wide interval, which is counted with; *(drifts)* has
halves that differ, and is on no side. Waits and counts have no interval. *48 on 1/3* is 48
threads on virtual CPUs of which three share a CPU. The commands below a table print the same
figures.
";

/// Who asked, the answer, and its limit; with the marks.
pub(crate) fn section(question: &Question, answer: &Answer) -> String {
    let mut text = format!(
        "## {}\n\n*Asked by* {}, in {}.{}\n\n**Answer.** {}\n\n",
        question.title,
        question.asked.who,
        question.asked.thread,
        question.asked.open,
        answer.verdict
    );
    text += &page::table(&answer.table.header, &answer.table.rows);
    for note in &answer.notes {
        let _ = write!(text, "\n{note}\n");
    }
    text += "\n```\n";
    for command in (question.simulations)() {
        let _ = writeln!(text, "lockwork sim {command}");
    }
    for command in question.checks {
        let _ = writeln!(text, "lockwork check {command}");
    }
    let _ = write!(text, "```\n\n**Limit.** {}\n", question.limit);
    KIND.section(question.name, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::Table;
    use crate::questions::QUESTIONS;

    /// The page in the sources.
    const PAGE: &str = include_str!("../../../docs/answers.md");

    #[test]
    fn the_page_has_each_question_once_with_who_what_and_limit() {
        assert!(PAGE.starts_with(HEAD), "its head");
        assert_eq!(PAGE.matches("<!-- answer: ").count(), QUESTIONS.len());
        for question in QUESTIONS {
            let (name, begin) = (
                question.name,
                format!("<!-- answer: {} -->\n", question.name),
            );
            let (_, section) = PAGE.split_once(&begin).expect(name);
            let (section, _) = section.split_once("<!-- end of answer -->").expect(name);
            let who = format!(
                "*Asked by* {}, in {}.",
                question.asked.who, question.asked.thread
            );
            let limit = format!("**Limit.** {}\n", question.limit);
            for part in [question.title, &who, "**Answer.** ", "|---|", &limit] {
                assert!(section.contains(part), "{name}: {part}");
            }
            for command in (question.simulations)() {
                let line = format!("\nlockwork sim {command}\n");
                assert!(section.contains(&line), "{name}: {command}");
            }
            for command in question.checks {
                let line = format!("\nlockwork check {command}\n");
                assert!(section.contains(&line), "{name}: {command}");
            }
        }
    }

    #[test]
    fn a_section_has_who_what_and_limit() {
        for question in QUESTIONS {
            let mut table = Table::new(["a", "b"]);
            table.row(["c", "d"]);
            let answer = Answer {
                verdict: "So it is.".into(),
                table,
                notes: vec!["A note.".into()],
            };
            let text = section(question, &answer);
            for part in [
                question.title,
                question.asked.who,
                question.asked.thread,
                "**Answer.** So it is.",
                "| c | d |",
                "A note.",
                "**Limit.** ",
            ] {
                assert!(text.contains(part), "{}: {part}: {text}", question.name);
            }
            let commands = (question.simulations)().len() + question.checks.len();
            assert!(commands > 0, "{}", question.name);
            assert_eq!(text.matches("\nlockwork ").count(), commands, "{text}");
            assert!(question.limit.len() > 40, "{}", question.name);
        }
    }
}
