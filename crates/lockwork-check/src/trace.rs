// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happened in one execution, access by access.
use crate::site::Site;
use serde::{Deserialize, Serialize};

/// What an access did.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// Read `value`; there was a newer one if that differs from `newest`.
    Load { value: u64, newest: u64 },
    /// Stored.
    Store { value: u64 },
    /// Read and stored; `older`: it precedes stores that ran before it.
    Rmw {
        before: u64,
        after: u64,
        older: bool,
    },
    /// Compared, and found something else; `older`: not in the newest store.
    CasFailed { seen: u64, wanted: u64, older: bool },
    /// A fence.
    Fence,
    /// A plain C access, which is at this program counter.
    Plain { write: bool, pc: usize },
    /// `wait_on_value` did not sleep.
    NoSleep { seen: u32 },
    /// It sleeps.
    Sleep,
    /// It was woken.
    Woken,
    /// It returned by itself.
    Timeout { early: bool },
    /// `wake_value`.
    Wake { woken: Option<usize> },
}

/// One access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub thread: usize,
    pub site: Option<&'static Site>,
    pub what: What,
}

/// One access, ready to print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The thread, from 0.
    pub thread: usize,
    /// What happened, in short: `&lock->val: 0 -> 1`.
    pub text: String,
    /// The source file's name, without directories.
    pub file: String,
    /// The line in it; 0 if unknown.
    pub line: u32,
    /// The C function.
    pub function: String,
    /// The primitive; empty for a plain access.
    pub primitive: String,
}

impl Event {
    pub(crate) fn line(&self) -> Line {
        match (self.site, self.what) {
            (_, What::Plain { write, pc }) => plain_line(self.thread, write, pc),
            (Some(site), what) => Line {
                thread: self.thread,
                text: text(&site.operand(), what),
                file: site.file().to_owned(),
                line: site.line,
                function: site.function().to_owned(),
                primitive: site.primitive().to_owned(),
            },
            (None, _) => Line {
                thread: self.thread,
                text: String::new(),
                file: String::new(),
                line: 0,
                function: String::new(),
                primitive: String::new(),
            },
        }
    }
}

/// Small numbers as they are, pointers and words of flags in hexadecimal.
fn number(value: u64) -> String {
    if value < 10 {
        value.to_string()
    } else {
        format!("{value:#x}")
    }
}

fn age(older: bool) -> &'static str {
    match older {
        true => " (old: not the newest)",
        false => "",
    }
}

fn text(operand: &str, what: What) -> String {
    let object = operand.strip_prefix('&').unwrap_or(operand);
    match what {
        What::Load { value, newest } if value != newest => {
            format!(
                "{object} is {} (old: now {})",
                number(value),
                number(newest)
            )
        }
        What::Load { value, .. } => format!("{object} is {}", number(value)),
        What::Store { value } => format!("{object} = {}", number(value)),
        What::Rmw {
            before,
            after,
            older,
        } => {
            let (before, after) = (number(before), number(after));
            format!("{object}: {before} -> {after}{}", age(older))
        }
        What::CasFailed {
            seen,
            wanted,
            older,
        } => {
            let (seen, wanted) = (number(seen), number(wanted));
            format!("{object} is {seen}, not {wanted}{}", age(older))
        }
        What::Fence => "fence".to_owned(),
        What::NoSleep { seen } => format!("{object} is {seen}: no sleep"),
        What::Sleep => format!("sleeps on {object}"),
        What::Woken => "awake".to_owned(),
        What::Timeout { early: true } => "wakes by itself".to_owned(),
        What::Timeout { early: false } => "time is up".to_owned(),
        What::Wake {
            woken: Some(thread),
        } => format!("wakes T{thread}"),
        What::Wake { woken: None } => "wakes nobody".to_owned(),
        What::Plain { .. } => String::new(),
    }
}

/// The innermost C function at `pc`, from the debug information.
fn plain_line(thread: usize, write: bool, pc: usize) -> Line {
    let mut line = Line {
        thread,
        text: if write { "plain store" } else { "plain load" }.to_owned(),
        file: String::new(),
        line: 0,
        function: String::new(),
        primitive: String::new(),
    };
    // The return address is behind the call.
    backtrace::resolve((pc - 1) as *mut _, |symbol| {
        if line.line != 0 {
            return;
        }
        line.line = symbol.lineno().unwrap_or(0);
        if let Some(name) = symbol.filename().and_then(|path| path.file_name()) {
            line.file = name.to_string_lossy().into_owned();
        }
        if let Some(name) = symbol.name() {
            line.function = name.to_string();
        }
    });
    line
}
