// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a run leaves behind: processes that leave its process group and go on when it has ended, as
//! daemons do. They would run beside the next run. So they are ended with the run, and counted.

use std::collections::HashSet;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::pidfd;

/// Each run has a value of its own. All that come of it inherit it, unless they are given another
/// environment.
const VARIABLE: &str = "LOCKWORK_RUN";
/// How long a process may take to end by itself, or to leave the group, once the run has ended.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long one may take to end that was killed.
const DYING: Duration = Duration::from_secs(1);

/// What tells the processes of one run from all others.
pub struct Mark {
    /// The variable and its value, as the environment of a process has them.
    entry: String,
}

impl Mark {
    /// Marks `command`'s run.
    pub fn put_on(command: &mut Command) -> Mark {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        // Process numbers come again, and other PID namespaces have the same ones.
        let value = format!("{}.{run}.{:016x}", std::process::id(), fastrand::u64(..));
        command.env(VARIABLE, &value);
        Mark {
            entry: format!("{VARIABLE}={value}"),
        }
    }

    /// Waits for those that go on, but not for long: they may be about to end, or a daemon about to
    /// leave its group.
    pub fn settle(&self) {
        let patience = Instant::now() + PATIENCE;
        while !self.all().is_empty() && Instant::now() < patience {
            sleep(PATIENCE / 10);
        }
    }

    /// Kills those that are outside of `group`, whose other members have been killed. How many they
    /// were.
    pub fn end(&self, group: libc::pid_t) -> usize {
        let mut ended = HashSet::new();
        loop {
            let mut found = self.all();
            // SAFETY: asks for a process; of none it fails.
            found.retain(|pid| unsafe { libc::getpgid(*pid) } != group);
            let dying: Vec<OwnedFd> = found.iter().filter_map(|pid| self.kill(*pid)).collect();
            let before = ended.len();
            ended.extend(found);
            if dying.is_empty() || ended.len() == before {
                return ended.len();
            }
            let deadline = Instant::now() + DYING;
            for process in dying {
                let _ = pidfd::poll([process.as_raw_fd()], Some(deadline));
            }
        }
    }

    /// None: it is gone, or may not be killed.
    fn kill(&self, pid: libc::pid_t) -> Option<OwnedFd> {
        let process = pidfd::open(pid).ok()?;
        // The number may have been given to another process meanwhile.
        (self.is_on(pid) && pidfd::kill(&process).is_ok()).then_some(process)
    }

    fn all(&self) -> Vec<libc::pid_t> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter(|pid| self.is_on(*pid)).collect()
    }

    fn is_on(&self, pid: libc::pid_t) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut entries = environment.split(|byte| *byte == 0);
        entries.any(|entry| entry == self.entry.as_bytes())
    }
}
