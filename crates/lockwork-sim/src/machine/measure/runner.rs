// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Threads on given CPUs, which Ctrl-C ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use lockwork_report::interrupt::Interrupt;
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

/// Set when a measurement is to end early.
#[derive(Debug, Default)]
pub(super) struct Stop(AtomicBool);

impl Stop {
    /// Is it time?
    pub(super) fn now(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// It is.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Starts measurements.
pub(super) struct Runner {
    interrupt: Interrupt,
}

impl Runner {
    /// Takes over Ctrl-C.
    pub(super) fn new() -> Result<Runner> {
        let interrupt = Interrupt::listen().context("cannot watch for signals")?;
        Ok(Runner { interrupt })
    }

    /// Runs `job` on a thread of its own, while this one watches for signals.
    pub(super) fn run<T: Send>(&self, job: impl FnOnce(&Stop) -> Result<T> + Send) -> Result<T> {
        let stop = Stop::default();
        let caller = thread::current();
        let result = thread::scope(|scope| {
            let job = thread::Builder::new().spawn_scoped(scope, || {
                let result = job(&stop);
                caller.unpark();
                result
            });
            let job = job.context("this machine refused a thread")?;
            while !job.is_finished() {
                thread::park_timeout(Duration::from_millis(20));
                if self.interrupt.seen().is_some() {
                    stop.set();
                }
            }
            let panicked = |_| anyhow::anyhow!("a measuring thread failed");
            job.join().map_err(panicked)?
        });
        self.interrupt.poll()?;
        result
    }
}

/// CPUs that this process may use.
pub(super) fn allowed() -> Result<Vec<usize>> {
    let set = sched_getaffinity(None).context(
        "cannot ask which CPUs there are to use (with more than 1024 this is not possible)",
    )?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Keeps the calling thread on a CPU.
pub(super) fn pin(cpu: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).with_context(|| format!("cannot run on CPU {cpu}"))
}
