// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where rows and progress go.
use anyhow::Result;
use lockwork_report::progress::{self, ProgressBar};
use lockwork_report::text::{self, whole};
use std::cell::Cell;
use std::io::{self, IsTerminal};

/// Columns of a page, if standard output is no terminal.
const PAGE: usize = 120;

/// Standard output, and, on a terminal, a line of progress below it.
pub(crate) struct Printer {
    bar: ProgressBar,
    /// Runs that are done, of how many.
    done: Cell<(usize, usize)>,
    /// The result of a run was printed.
    has_results: Cell<bool>,
}

impl Printer {
    pub fn new() -> Self {
        Printer {
            bar: progress::spinner(),
            done: Cell::new((0, 0)),
            has_results: Cell::new(false),
        }
    }

    /// Without progress.
    #[cfg(test)]
    pub fn silent() -> Self {
        Printer {
            bar: ProgressBar::hidden(),
            done: Cell::new((0, 0)),
            has_results: Cell::new(false),
        }
    }

    /// So many are done.
    pub fn done(&self, done: usize, of: usize) {
        self.done.set((done, of));
    }

    /// Those that are at work, with their executions so far.
    pub fn at_work<'a>(&self, workers: impl Iterator<Item = (&'a str, u64)>) {
        if self.bar.is_hidden() {
            return;
        }
        let (done, of) = self.done.get();
        let mut text = format!("{done} of {of}");
        for (label, executions) in workers {
            text += &format!("  {label}");
            if executions > 0 {
                text += &format!(" {}", whole(executions));
            }
        }
        self.bar.set_message(text);
        self.bar.tick();
    }

    /// Prints what a run came to.
    pub fn result(&self, text: &str) -> Result<()> {
        self.has_results.set(true);
        self.print(text)
    }

    /// Was the result of a run printed?
    pub fn has_results(&self) -> bool {
        self.has_results.get()
    }

    /// Prints `text` to standard output.
    pub fn print(&self, text: &str) -> Result<()> {
        self.bar.suspend(|| text::print(text))
    }
}

impl Drop for Printer {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Columns to print in.
pub(crate) fn width() -> usize {
    let terminal = io::stdout().is_terminal();
    let size = terminal.then(terminal_size::terminal_size).flatten();
    size.map_or(PAGE, |(width, _)| usize::from(width.0).max(40))
}
