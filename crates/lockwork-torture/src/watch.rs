// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The watchdog: runs a probe in a thread of its own and notices threads that
//! do not get on, so that a broken lock is a verdict and never a hang.
use crate::findings::Findings;
use crate::shares::Shares;
use crate::trial::Trial;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::Arc;
use std::time::Duration;

/// The watchdog counts its own looks, so a process that was stopped for a while is no
/// stall. Nor is a machine too busy to run the threads: when a thread did not get on
/// for long enough, each runnable thread must first get its share of the CPUs.
const LOOK: Duration = Duration::from_millis(50);

struct Seen {
    beats: u64,
    looks: u32,
}

/// What the watchdog has seen so far.
struct Watch {
    seen: Vec<Seen>,
    /// From when some thread had not got on for long enough.
    shares: Option<Shares>,
}

/// How a probe ended.
pub(crate) enum End {
    Done(Findings),
    /// Some thread does not get on; the threads are left behind.
    Stalled(String),
}

/// Runs `probe` on `trial`; `tick` is called at each look.
pub(crate) fn supervise(
    trial: &Arc<Trial>,
    probe: fn(&Arc<Trial>) -> Findings,
    tick: &mut dyn FnMut(),
) -> End {
    let (tell, told) = channel();
    let theirs = Arc::clone(trial);
    let thread = std::thread::Builder::new()
        .name("probe".to_owned())
        .spawn(move || {
            let _ = tell.send(probe(&theirs));
        });
    if let Err(err) = thread {
        return End::Done(Findings::broken(crate::trial::no_thread(&err)));
    }

    let mut watch = Watch::new(trial);
    loop {
        match told.recv_timeout(LOOK) {
            Ok(findings) => return End::Done(findings),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let text = "the probe itself broke down, see the message above: a defect of it";
                return End::Done(Findings::broken(text.to_owned()));
            }
        }
        tick();
        if let Some(text) = watch.look(trial) {
            trial.stop.store(true, Relaxed);
            return End::Stalled(text);
        }
    }
}

impl Watch {
    fn new(trial: &Trial) -> Self {
        let seats = trial.seats.iter();
        Self {
            seen: seats.map(|_| Seen { beats: 0, looks: 0 }).collect(),
            shares: None,
        }
    }

    /// Looks at each thread; says which ones do not get on.
    fn look(&mut self, trial: &Trial) -> Option<String> {
        let bound = trial.plan.bound();
        let mut worst = 0;
        for (seat, seen) in trial.seats.iter().zip(&mut self.seen) {
            let beats = seat.beats.load(Relaxed);
            if seat.op.load(Relaxed) == 0 || beats != seen.beats {
                *seen = Seen { beats, looks: 0 };
            } else {
                seen.looks += 1;
                worst = worst.max(seen.looks);
            }
        }
        if LOOK * worst < bound {
            self.shares = None;
            return None;
        }
        let shares = self
            .shares
            .get_or_insert_with(|| Shares::from_now(std::process::id()));
        shares.enough().then(|| self.stuck(trial, bound))
    }

    fn stuck(&self, trial: &Trial, bound: Duration) -> String {
        let stuck: Vec<usize> = (0..self.seen.len())
            .filter(|&seat| LOOK * self.seen[seat].looks * 2 > bound)
            .collect();
        let named: Vec<String> = stuck
            .iter()
            .take(4)
            .map(|&seat| trial.whereabouts(seat))
            .collect();
        let more = match stuck.len() - named.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        format!(
            "no progress for {} s: {}{more}",
            bound.as_secs(),
            named.join("; ")
        )
    }
}
