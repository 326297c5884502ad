// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the scheduler gave the threads of a process. A thread that does not get on is
//! stalled only if the threads that it may wait for had the CPU: else the machine is
//! slow, and nothing follows.
use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// Turns on a CPU that each thread must have had, for each thread of the process. A
/// queue of spinning threads moves by one in a round of turns; the rest is for holders
/// that lose the CPU.
const ROUNDS: u64 = 4;
/// A thread that nobody interrupts has a turn without end. So much of it is one turn.
const TURN: Duration = Duration::from_millis(4);

/// What one thread has had.
struct Thread {
    /// It runs or waits for a CPU. A sleeper lacks none.
    runnable: bool,
    turns: u64,
}

/// The turns of all threads of a process, from one moment on.
pub(crate) struct Shares {
    process: u32,
    before: HashMap<u32, u64>,
}

impl Shares {
    pub(crate) fn from_now(process: u32) -> Self {
        let threads = threads(process).into_iter();
        let before = threads.map(|(id, thread)| (id, thread.turns)).collect();
        Self { process, before }
    }

    /// Whether each thread that wants to run has run for [`ROUNDS`] rounds since then.
    /// Also true where the system does not tell.
    pub(crate) fn enough(&self) -> bool {
        let wanted = ROUNDS * self.before.len() as u64;
        // A new thread may have an old number, and has fewer turns.
        let had = |id: u32, turns: u64| {
            self.before
                .get(&id)
                .map_or(wanted, |&b| turns.checked_sub(b).unwrap_or(turns))
        };
        threads(self.process)
            .into_iter()
            .all(|(id, thread)| !thread.runnable || had(id, thread.turns) >= wanted)
    }

    /// Tells, each time that it is called, whether one thread sleeps or has had a CPU for
    /// `time` since now. Also true where the system does not tell.
    pub(crate) fn slept_or_ran(process: u32, id: u32, time: Duration) -> impl FnMut() -> bool {
        let ran = move || schedstat(process, id).map_or(u64::MAX, |[ran, _]| ran);
        let end = ran().saturating_add(time.as_nanos() as u64);
        move || !runnable(process, id) || ran() >= end
    }
}

/// The threads of `process`, but for the one that asks.
fn threads(process: u32) -> Vec<(u32, Thread)> {
    // SAFETY: takes nothing, and always succeeds.
    let myself = unsafe { libc::gettid() } as u32;
    let Ok(dir) = fs::read_dir(format!("/proc/{process}/task")) else {
        return Vec::new();
    };
    let ids = dir.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|&id| id != myself)
        .filter_map(|id| {
            let [ran, slices] = schedstat(process, id)?;
            let turns = slices + ran / TURN.as_nanos() as u64;
            let runnable = runnable(process, id);
            Some((id, Thread { runnable, turns }))
        })
        .collect()
}

/// The letter after the name, which may hold brackets of its own.
fn runnable(process: u32, id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/task/{id}/stat"));
    stat.is_ok_and(|stat| {
        let after = stat.rsplit(')').next();
        after.is_some_and(|rest| rest.trim_start().starts_with('R'))
    })
}

/// Nanoseconds on a CPU, and how often the thread came to one.
fn schedstat(process: u32, id: u32) -> Option<[u64; 2]> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{id}/schedstat")).ok()?;
    let mut numbers = text.split_whitespace().map(|word| word.parse().ok());
    let (ran, _waited, slices) = (numbers.next()??, numbers.next()?, numbers.next()??);
    Some([ran, slices])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::id;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::sync::mpsc::channel;
    use std::thread;

    #[test]
    fn who_sleeps_lacks_nothing_and_who_spins_gets_its_share() {
        let stop = AtomicBool::new(false);
        let (end, ended) = channel::<()>();
        // SAFETY: takes nothing, and always succeeds.
        let number = || unsafe { libc::gettid() } as u32;
        thread::scope(|scope| {
            let (tell, told) = channel();
            let theirs = tell.clone();
            scope.spawn(move || {
                theirs.send(number()).expect("heard");
                ended.recv().expect_err("nothing is sent");
            });
            let stop = &stop;
            let sleeper = told.recv().expect("a thread");
            scope.spawn(move || {
                tell.send(number()).expect("heard");
                while !stop.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let spinner = told.recv().expect("a thread");
            for which in [sleeper, spinner] {
                let mut had = Shares::slept_or_ran(id(), which, Duration::from_millis(1));
                while !had() {
                    thread::yield_now();
                }
            }
            let shares = Shares::from_now(id());
            assert!(shares.before.contains_key(&spinner));
            while !shares.enough() {
                thread::sleep(TURN);
            }
            stop.store(true, Relaxed);
            drop(end);
        });
    }
}
