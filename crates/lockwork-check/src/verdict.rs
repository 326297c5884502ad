// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What an exploration came to.
use crate::trace::Line;
use serde::{Deserialize, Serialize};

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Two accesses to one object, one a plain one, with no order between them.
    Race,
    /// A client's own check: exclusion, order of arrival, a lock left held.
    Broken,
    /// All threads wait, and nothing changes any more.
    Deadlock,
    /// Words change for ever, and no thread gets on.
    Livelock,
    /// A thread sleeps, and nobody will wake it.
    LostWakeup,
    /// A pointer that points nowhere.
    BadAddress,
    /// The program was killed by a signal.
    Crash,
    /// It took too long: nothing is known.
    Timeout,
    /// The model checker gave up: nothing is known.
    Checker,
}

impl Kind {
    /// In a word or two.
    pub fn text(self) -> &'static str {
        match self {
            Kind::Race => "data race",
            Kind::Broken => "broken promise",
            Kind::Deadlock => "deadlock",
            Kind::Livelock => "livelock",
            Kind::LostWakeup => "lost wake-up",
            Kind::BadAddress => "bad address",
            Kind::Crash => "crash",
            Kind::Timeout => "time-out",
            Kind::Checker => "checker failed",
        }
    }

    /// Whether it shows a fault of the lock, and not only that nothing is known.
    pub fn is_fault(self) -> bool {
        !matches!(self, Kind::Timeout | Kind::Checker)
    }
}

/// A failure, before its trace is made.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub kind: Kind,
    pub text: String,
    pub thread: usize,
}

/// A failed execution.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// What went wrong.
    pub kind: Kind,
    /// The same in a sentence.
    pub text: String,
    /// The thread that noticed.
    pub thread: usize,
    /// All accesses of the execution, in order.
    pub trace: Vec<Line>,
}

/// What an exploration came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Executions that were run.
    pub executions: u64,
    /// Those of them that were cut short at a fruitless wait.
    pub pruned: u64,
    /// Simulated words.
    pub words: usize,
    /// How long it took.
    pub seconds: f64,
    /// It ended at its task's limit: what is left may go wrong.
    #[serde(default)]
    pub cut: bool,
    /// `None`: nothing went wrong.
    pub fault: Option<Fault>,
    /// How often each access was reached: (file, line, primitive, operand,
    /// times).
    pub reached: Vec<(String, u32, String, String, u64)>,
}
