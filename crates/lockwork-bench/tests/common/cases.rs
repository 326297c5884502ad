// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A case of a table that nobody measures.
use lockwork_bench::{Case, Work};

/// One with this number of threads.
pub fn case(threads: u32) -> Case {
    Case {
        threads,
        inside: Work::Ns(100),
        outside: Work::Ns(200),
        reads: 0,
        objects: 1,
        time_ms: 10,
        loops: None,
        calls: None,
    }
}
