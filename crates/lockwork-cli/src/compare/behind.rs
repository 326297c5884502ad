// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a run leaves behind: processes that leave its process group and go on when it has ended, as
//! daemons do. They would run beside the next run. So they are ended with the run, and counted.

use std::fs;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long one may take to leave the group of those that are ended anyway.
const PATIENCE: Duration = Duration::from_millis(50);

/// Those whom this process adopts.
pub struct Orphans {
    /// Children that it had before, which are none of a run's.
    own: Vec<libc::pid_t>,
}

impl Orphans {
    /// Makes processes whose parent ends children of this process, and not of init.
    pub fn adopt() -> io::Result<Orphans> {
        // SAFETY: sets an attribute of this process, and takes no pointer.
        match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) } {
            0 => Ok(Orphans { own: children() }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits until those that a process of `group`, which has ended, left behind have left it as
    /// well, if they are about to: a daemon does so first of all.
    pub fn settle(&self, group: libc::pid_t) {
        let in_group = |child: &libc::pid_t| {
            // SAFETY: asks for a child that is not reaped yet.
            *child != group && unsafe { libc::getpgid(*child) } == group
        };
        let patience = Instant::now() + PATIENCE;
        while children().iter().any(in_group) && Instant::now() < patience {
            sleep(PATIENCE / 10);
        }
    }

    /// Kills them, and those of whom they are the parents. How many were outside of `group` and
    /// still ran. What may not be killed is left.
    pub fn end(&self, group: libc::pid_t) -> usize {
        let (mut ended, mut left) = (0, self.own.clone());
        loop {
            let mut found = children();
            found.retain(|child| !left.contains(child));
            if found.is_empty() {
                return ended;
            }
            for child in found {
                match end(child, group) {
                    Some(ran) => ended += usize::from(ran),
                    None => left.push(child),
                }
            }
        }
    }
}

/// Whether this child ran until now, outside of `group`; none: it has changed its user, so it may not
/// be killed.
fn end(child: libc::pid_t, group: libc::pid_t) -> Option<bool> {
    let mut status = 0;
    // SAFETY: the child is not reaped yet, so its number is its own; `status` is filled.
    unsafe {
        let outside = libc::getpgid(child) != group;
        if libc::kill(child, libc::SIGKILL) != 0 || libc::waitpid(child, &mut status, 0) != child {
            return None;
        }
        let killed = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL;
        Some(killed && outside)
    }
}

/// Of each thread of this process: those that the kernel gave it, too.
fn children() -> Vec<libc::pid_t> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|line| {
            let numbers = line.split_whitespace().map(|word| word.parse().ok());
            numbers.flatten().collect::<Vec<_>>()
        })
        .collect()
}
