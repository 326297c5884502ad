// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The columns of an interleaving, fitted to a width, and the lock's source
//! beside them.
use super::step::{is_at, Step};
use crate::client::SOURCES;
use crate::{Line, Spot};
use lockwork_report::text::{cut, length};

/// A column for each thread, if they can be as wide as this.
const LEAST_COLUMN: usize = 16;
/// What the columns leave to the place in the source and its text.
const LEAST_PLACE: usize = 44;
/// The widest that the place may be.
const MOST_PLACE: usize = 36;

/// How wide everything is.
pub(crate) struct Page {
    width: usize,
    /// For the steps' numbers.
    pub number: usize,
    /// A column for each thread; `None`: one for all, that names the thread.
    threads: Option<Vec<usize>>,
    single: usize,
    place: usize,
}

impl Page {
    pub fn new(steps: &[Step<'_>], noticed_by: usize, width: usize) -> Self {
        let threads = steps.iter().map(|step| step.line.thread);
        let count = threads.max().unwrap_or(0).max(noticed_by) + 1;
        let mut needed = vec![2; count];
        for step in steps {
            let needed = &mut needed[step.line.thread];
            *needed = length(&step.text()).max(*needed);
        }
        let last = steps.last().map_or(1, |step| step.number);
        // One more for the mark of a mutant.
        let number = last.to_string().len().max(4) + 1;
        let room = width.saturating_sub(number + 2 + LEAST_PLACE);
        let widest = needed.iter().copied().max().unwrap_or(2);
        let fits = |most: usize| needed.iter().map(|n| n.min(&most) + 2).sum::<usize>() <= room;
        let most = (LEAST_COLUMN.min(widest)..=widest)
            .rev()
            .find(|&most| fits(most));
        let places = steps.iter().map(|step| length(&place(step.line)));
        Page {
            width,
            number,
            threads: most.map(|most| needed.iter().map(|&n| n.min(most)).collect()),
            single: (widest + "T00  ".len()).min((width / 2).saturating_sub(number)),
            place: places.max().unwrap_or(0).min(MOST_PLACE),
        }
    }

    pub fn heading(&self) -> String {
        let mut text = format!("{:>1$}", "step", self.number);
        for (thread, width) in self.threads.iter().flatten().enumerate() {
            text += &format!("  {:<width$}", format!("T{thread}"));
        }
        format!("{}\n", text.trim_end())
    }

    pub fn row(&self, step: &Step<'_>, mutated: Option<&Spot>) -> String {
        let Step { number, line, .. } = step;
        let mark = match mutated {
            Some(spot) if is_at(line, spot) => "*",
            _ => "",
        };
        let mut text = format!("{:>1$}", format!("{mark}{number}"), self.number);
        match &self.threads {
            None => {
                let all = format!("T{:<3} {}", line.thread, step.text());
                text += &format!("  {:<1$}", cut(&all, self.single), self.single);
            }
            Some(widths) => {
                for (thread, width) in widths.iter().enumerate() {
                    let cell = match thread == line.thread {
                        true => cut(&step.text(), *width),
                        false => String::new(),
                    };
                    text += &format!("  {cell:<width$}");
                }
            }
        }
        let place = cut(&place(line), self.place);
        text += &format!("  {place:<1$}  {0}", source_line(line), self.place);
        format!("{}\n", cut(text.trim_end(), self.width))
    }
}

fn place(line: &Line) -> String {
    match line.line {
        0 => line.function.clone(),
        number => format!("{}:{number} {}", line.file, line.function),
    }
}

/// What the lock says there; nothing for a client, whose file may have the same
/// name.
pub(crate) fn source_line(line: &Line) -> &'static str {
    let text = SOURCES
        .iter()
        .find(|source| source.0 == line.file)
        .map(|source| source.1);
    let index = (line.line as usize).checked_sub(1);
    let Some((text, index)) = text.zip(index) else {
        return "";
    };
    let is_in = enclosing(text, index).contains(&format!("{}(", line.function));
    text.lines()
        .nth(index)
        .filter(|_| is_in)
        .map_or("", str::trim)
}

/// The heading of the function around a line: in kernel style, the nearest line
/// before it that starts with a word and has a parenthesis.
fn enclosing(text: &str, index: usize) -> &str {
    let before = text.lines().take(index + 1).filter(|line| {
        line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && line.contains('(')
    });
    before.last().unwrap_or("")
}
