// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Made-up results for the tests.
use super::worker::Request;
use crate::{Bound, Fault, Kind, Line, Method, Outcome, Task};

pub(crate) fn task(seconds: u32) -> Task {
    Task {
        method: Method::Exhaustive,
        bound: Bound {
            threads: 2,
            acquisitions: 1,
            preemptions: Some(2),
        },
        schedules: 1,
        seed: 1,
        seconds,
        mutant: None,
        limit: None,
    }
}

pub(crate) fn request(seconds: u32) -> Request {
    Request {
        lock: "tas_lock".to_owned(),
        client: "exclusion".to_owned(),
        task: task(seconds),
    }
}

pub(crate) fn passed(executions: u64) -> Outcome {
    Outcome {
        executions,
        pruned: 0,
        words: 1,
        seconds: 0.5,
        cut: false,
        fault: None,
        reached: Vec::new(),
    }
}

pub(crate) fn failed(kind: Kind) -> Outcome {
    let mut outcome = passed(3);
    outcome.fault = Some(Fault {
        kind,
        text: "it went wrong".to_owned(),
        thread: 1,
        trace: Vec::new(),
    });
    outcome
}

/// An access of the first line of a lock's function.
pub(crate) fn line(thread: usize, text: &str) -> Line {
    Line {
        thread,
        text: text.to_owned(),
        file: "tas_lock.h".to_owned(),
        line: 25,
        function: "lk_tas_trylock".to_owned(),
        primitive: "xchg_acquire".to_owned(),
    }
}
