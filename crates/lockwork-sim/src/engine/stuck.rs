// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a simulation says that does not go on.

use super::state::{Engine, Parked, Site, State, Thread};
use super::tree::{Ps, NEVER};
use crate::outcome::{Doing, Stuck};

impl Engine {
    /// Why it does not go on.
    pub fn stuck(&self) -> Stuck {
        let us = |time: Ps| time as f64 / 1e6;
        let what = if !self.tally.makes_progress() {
            format!(
                "livelock: at {:.1} µs the CPUs are busy, and the last acquisition was at {:.1} µs",
                us(self.time),
                us(self.tally.progress)
            )
        } else if self.cpus.iter().any(|cpu| cpu.now >= NEVER) {
            format!(
                "it would take more than {} simulated seconds; simulate less",
                NEVER / 1_000_000_000_000
            )
        } else {
            format!(
                "deadlock after {:.1} µs: no thread will ever run again",
                us(self.time)
            )
        };
        let threads = self.describe();
        Stuck { what, threads }
    }

    /// What each thread is at, for a report.
    fn describe(&self) -> Vec<String> {
        let describe = |(id, thread): (usize, &Thread)| {
            let cpu = &self.cpus[thread.cpu as usize];
            // SAFETY: sites are static objects of the world, which stays loaded.
            let site = unsafe { cpu.site.as_ref() }.map(Site::describe);
            let at = site.unwrap_or_else(|| "no wait yet".to_owned());
            let state = match thread.state {
                State::Running if cpu.halted => "halted",
                State::Running if cpu.paused => "its virtual CPU is off its CPU",
                State::Running if cpu.parked != Parked::No => "spins",
                State::Running => "runs",
                State::Ready => "ready",
                State::Asleep(_) => "asleep",
                State::Waking => "waking",
                State::Done => "done",
            };
            let doing = match thread.tally.doing() {
                Doing::Wait => "waits for the lock",
                Doing::Hold => "holds the lock",
                _ => "outside of the lock",
            };
            let number = thread.cpu;
            format!("thread {id} on CPU {number}: {state}, {doing}; last wait at {at}")
        };
        self.threads.iter().enumerate().map(describe).collect()
    }
}
