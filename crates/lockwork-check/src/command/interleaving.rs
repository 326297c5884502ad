// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An interleaving as a page: who did what, step by step, beside the lock's
//! source.
use super::page::Page;
use super::step::{is_at, Step};
use crate::tags::LOADS;
use crate::{Fault, Line, Spot};

/// Steps that are printed of a long one.
const LAST_STEPS: usize = 60;
/// The client's own bookkeeping.
const FRAME: &str = "frame.c";

/// How to show an interleaving.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// Columns of the terminal.
    pub width: usize,
    /// All steps, and not only the last ones of the lock.
    pub full: bool,
    /// Steps before the first that is there.
    pub left_out: usize,
    /// The access that a mutant changed.
    pub mutated: Option<&'a Spot>,
}

/// The trace of `fault` and its verdict.
pub(crate) fn render(fault: &Fault, view: View<'_>) -> String {
    let mut steps = steps(fault, view);
    if steps.is_empty() {
        return format!("{}\n", verdict(fault));
    }
    let mut hidden = view.left_out;
    if !view.full && steps.len() > LAST_STEPS {
        steps.drain(..steps.len() - LAST_STEPS);
        hidden = steps[0].number - 1;
    }
    let page = Page::new(&steps, fault.thread, view.width);
    let mut text = page.heading();
    if hidden > 0 {
        let hint = if view.full {
            ""
        } else {
            "; --trace prints more"
        };
        text += &format!(
            "{:>1$}  ({hidden} steps before these{hint})\n",
            "…", page.number
        );
    }
    for step in &steps {
        text += &page.row(step, view.mutated);
    }
    if view
        .mutated
        .is_some_and(|spot| steps.iter().any(|step| is_at(step.line, spot)))
    {
        text += "* the access that the mutant changes\n";
    }
    text + &format!("{}\n", verdict(fault))
}

/// A worker that died has no trace, and nobody noticed anything.
fn verdict(fault: &Fault) -> String {
    match fault.trace.is_empty() {
        true => format!("{}: {}", fault.kind.text(), fault.text),
        false => format!(
            "{}, noticed by T{}: {}",
            fault.kind.text(),
            fault.thread,
            fault.text
        ),
    }
}

fn steps<'a>(fault: &'a Fault, view: View<'_>) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
    for (number, line) in (view.left_out + 1..).zip(&fault.trace) {
        let bookkeeping = line.primitive.is_empty() && line.file == FRAME;
        if bookkeeping && !view.full {
            continue;
        }
        let own = steps
            .iter()
            .rposition(|step| step.line.thread == line.thread);
        let same = own.filter(|&own| {
            let since = &steps[own + 1..];
            steps[own].line == line
                && (since.is_empty() || is_read(line))
                && since.iter().all(|step| is_read(step.line))
        });
        match same {
            Some(same) => steps[same].times += 1,
            None => steps.push(Step {
                number,
                line,
                times: 1,
            }),
        }
    }
    steps
}

fn is_read(line: &Line) -> bool {
    LOADS.contains(&line.primitive.as_str()) || line.primitive.contains("cond_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::SOURCES;
    use crate::command::page::source_line;
    use crate::command::samples::{failed, line};
    use crate::Kind;
    use lockwork_report::text::{cut, length};

    fn view(full: bool) -> View<'static> {
        View {
            width: 100,
            full,
            left_out: 0,
            mutated: None,
        }
    }

    fn fault(trace: Vec<Line>) -> Fault {
        let fault = failed(Kind::Race).fault.expect("a fault");
        Fault { trace, ..fault }
    }

    fn plain(file: &str) -> Line {
        Line {
            file: file.to_owned(),
            primitive: String::new(),
            ..line(0, "plain load")
        }
    }

    /// The lock's line `lk_tas_trylock` does its exchange in, and its number.
    fn exchange() -> (u32, &'static str) {
        let source = SOURCES.iter().find(|source| source.0 == "tas_lock.h");
        let mut lines = (1..).zip(source.expect("the lock").1.lines());
        let found = lines.find(|(_, text)| text.contains("xchg_acquire("));
        found
            .map(|(number, text)| (number, text.trim()))
            .expect("its exchange")
    }

    #[test]
    fn each_thread_has_a_column_beside_the_source() {
        let (number, source) = exchange();
        let at = |thread, text| Line {
            line: number,
            ..line(thread, text)
        };
        let text = render(
            &fault(vec![at(0, "locked: 0 -> 1"), at(1, "locked is 1")]),
            view(false),
        );
        let place = format!("tas_lock.h:{number} lk_tas_trylock");
        let shown = |step: &str| cut(&format!("{step}  {place}  {source}"), 100);
        let wanted = [
            " step  T0              T1".to_owned(),
            shown("    1  locked: 0 -> 1             "),
            shown("    2                  locked is 1"),
            "data race, noticed by T1: it went wrong".to_owned(),
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_clients_line_is_not_taken_for_the_locks() {
        let mut other = line(0, "x");
        (other.line, other.function) = (exchange().0, "client_function".to_owned());
        assert_eq!(source_line(&other), "");
    }

    #[test]
    fn a_wait_is_one_step_whatever_others_look_at() {
        let wait = |thread| Line {
            primitive: "smp_cond_load_acquire".to_owned(),
            ..line(thread, "locked is 1")
        };
        let trace = vec![
            line(2, "locked: 0 -> 1"),
            wait(0),
            wait(0),
            wait(1),
            wait(0),
            wait(1),
        ];
        let text = render(&fault(trace), view(false));
        assert!(
            text.contains("locked is 1 (×3)") && text.contains("locked is 1 (×2)"),
            "{text}"
        );
        let text = render(
            &fault(vec![wait(0), line(1, "0 -> 1"), wait(0)]),
            view(false),
        );
        assert!(!text.contains('×'), "{text}");
    }

    #[test]
    fn the_last_steps_are_enough() {
        let trace = (0..100).map(|number| line(number % 2, &format!("step {number}")));
        let fault = fault(trace.collect());
        let text = render(&fault, view(false));
        assert!(
            text.contains("40 steps before these; --trace prints more"),
            "{text}"
        );
        assert!(
            !text.contains("step 39") && text.contains("step 40"),
            "{text}"
        );
        let text = render(&fault, view(true));
        assert!(text.contains("step 0") && !text.contains('…'), "{text}");
    }

    #[test]
    fn bookkeeping_is_for_the_full_trace() {
        let fault = fault(vec![plain(FRAME), plain("tas_lock.h")]);
        let short = render(&fault, view(false));
        assert!(
            !short.contains(FRAME) && short.contains("    2  plain load"),
            "{short}"
        );
        assert!(render(&fault, view(true)).contains(FRAME));
    }

    #[test]
    fn many_threads_share_a_column() {
        let trace = (0..12).map(|thread| line(thread, "a text of some length, indeed"));
        let text = render(&fault(trace.collect()), view(false));
        assert!(text.contains("   12  T11  a text"), "{text}");
        assert!(text.lines().all(|line| length(line) <= 100), "{text}");
    }

    #[test]
    fn a_worker_that_died_has_a_verdict_only() {
        let text = render(&fault(Vec::new()), view(false));
        assert_eq!(text, "data race: it went wrong\n");
    }
}
