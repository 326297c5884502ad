// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Threads of a core that compute at the same time: `smt_slowdown` and `[[smt]]`.

use super::fault::Fault;
use super::file::File;
use super::topology::Shape;

/// By number of other threads of the core that compute: how many times as long a thread
/// computes. Empty: they do not disturb each other.
///
/// A number of threads of which the file says nothing continues the line of those before it.
/// Where only `smt_slowdown` is known, each further thread costs what the second one does:
/// nothing better is known, and a core whose second thread brings a third more brings nearly
/// another third by the third.
///
/// # Errors
/// A figure is below that of fewer threads, or is of more threads than the core has.
pub(super) fn slowdowns(file: &File, shape: &Shape) -> Result<Vec<f64>, Fault> {
    let of_two = match &file.cpu.smt_slowdown {
        Some(figure) if figure.value < 1.0 => {
            return Err(Fault::at(
                figure.span.clone(),
                "smt_slowdown must be 1 or more: a thread does not get faster by its sibling",
            ));
        }
        Some(figure) => figure.value,
        None => match file.smt.first() {
            Some(step) => {
                return Err(Fault::at(
                    step.threads.span(),
                    "[[smt]] is of three and more threads; give the figure of two first, \
                     smt_slowdown in [cpu]",
                ));
            }
            None => return Ok(Vec::new()),
        },
    };
    let most = shape.threads;
    let mut all = vec![1.0, of_two];
    for step in &file.smt {
        let threads = usize::try_from(*step.threads.get_ref()).unwrap_or(0);
        if threads <= all.len() || threads > most {
            return Err(Fault::at(
                step.threads.span(),
                format!(
                    "the steps of [[smt]] are for more and more threads of a core, 3 to the \
                     {most} that it has"
                ),
            ));
        }
        extend(&mut all, threads - 1);
        let before = all[all.len() - 1];
        if step.slowdown.value < before {
            return Err(Fault::at(
                step.slowdown.span.clone(),
                format!("{threads} threads take at least {before} times as long, as fewer do"),
            ));
        }
        all.push(step.slowdown.value);
    }
    extend(&mut all, most);
    all.truncate(most.max(2));
    Ok(all)
}

/// Continues the line until there are so many figures.
fn extend(all: &mut Vec<f64>, count: usize) {
    while all.len() < count {
        let last = all[all.len() - 1];
        all.push(2.0 * last - all[all.len() - 2]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{from_text, load};
    use anyhow::Result;

    /// A machine of four threads a core, with these lines in `[cpu]` and at its end.
    fn with(slowdown: &str, steps: &[(i64, f64)]) -> Result<Vec<f64>> {
        let text = include_str!("../../../../data/machines/power9-2s.toml");
        let mut text = text.replace("[cpu]\n", &format!("[cpu]\n{slowdown}\n"));
        for (threads, times) in steps {
            text += &format!(
                "[[smt]]\nthreads = {threads}\nslowdown = {{ times = {times}, source = \"a test\" }}\n"
            );
        }
        Ok(from_text("p", &text)?.machine.smt)
    }

    const TWO: &str = "smt_slowdown = { times = 1.5, source = \"a test\" }";

    #[test]
    fn each_number_of_threads_has_its_figure() {
        assert_eq!(with("", &[]).expect("sound"), [0.0; 0]);
        assert_eq!(with(TWO, &[]).expect("sound"), [1.0, 1.5, 2.0, 2.5]);
        let all = with(TWO, &[(3, 2.25), (4, 2.75)]).expect("sound");
        assert_eq!(all, [1.0, 1.5, 2.25, 2.75]);
        // The line goes on from the last two.
        assert_eq!(with(TWO, &[(4, 3.0)]).expect("sound"), [1.0, 1.5, 2.0, 3.0]);
        assert_eq!(
            with(TWO, &[(3, 1.75)]).expect("sound"),
            [1.0, 1.5, 1.75, 2.0]
        );
        assert_eq!(load("dl980").expect("it").smt, [1.0, 1.6]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (slowdown, steps, words) in [
            ("", &[(3, 2.0)][..], "the figure of two first"),
            (TWO, &[(2, 2.0)], "3 to the 4 that it has"),
            (TWO, &[(5, 2.0)], "3 to the 4 that it has"),
            (TWO, &[(4, 3.0), (3, 2.0)], "more and more threads"),
            (TWO, &[(3, 1.2)], "at least 1.5 times"),
        ] {
            let error = format!("{:#}", with(slowdown, steps).expect_err(words));
            assert!(error.contains(words), "{error}");
        }
    }
}
