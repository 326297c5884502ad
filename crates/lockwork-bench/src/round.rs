// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One round of one lock: fresh locks, threads that start together, and a
//! watchdog, so that a lock that hangs is an error and never a hang.
use crate::object::Object;
use crate::sample::{Case, Measured};
pub use crate::seats::Conditions;
use crate::seats::{Gate, Round};
use crate::tools::Tools;
use crate::waits::Waits;
use crate::worker::{Outcome, Worker};
use lockwork_catalogue::LockKind;
use std::fmt;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How often the watchdog looks. It adds up its own naps, so that a process that
/// was stopped for a while is no hang.
const LOOK: Duration = Duration::from_millis(50);
/// The same until the first operation is over.
const FIRST_LOOK: Duration = Duration::from_micros(200);

/// Why a round has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No thread got on. Its threads are left behind.
    Hung(Duration),
    /// The lock let two in at once: exclusive visits, and how many it counted.
    Lost(u64, u64),
    /// The machine refused a thread.
    NoThread(String),
    /// Nobody says which CPUs the threads may be kept on.
    NoCpus(String),
    /// The user wants to stop.
    Interrupted,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Hung(patience) => write!(
                f,
                "no thread got on for {} s: it hangs, or --patience is too short for so many threads or so long work",
                patience.as_secs()
            ),
            Trouble::Lost(visits, counted) => write!(
                f,
                "mutual exclusion was lost: of {visits} exclusive visits {counted} left their mark; \
                 'lockwork torture' may show how"
            ),
            Trouble::NoThread(why) => write!(
                f,
                "the machine refused one more thread ({why}); use fewer --threads or raise ulimit -u"
            ),
            Trouble::NoCpus(why) => write!(
                f,
                "cannot ask which CPUs may be used: {why}; leave --pin out"
            ),
            Trouble::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Starts a thread for each seat, in turn on each of `cpus` if there are any; they wait at the gate.
fn populate(round: &Arc<Round>, cpus: &[usize], tell: &Sender<Outcome>) -> io::Result<()> {
    for seat in 0..round.seats.len() {
        let (theirs, tell) = (Arc::clone(round), tell.clone());
        let cpu = cpus.get(seat % cpus.len().max(1)).copied();
        let spawned = Builder::new().stack_size(128 * 1024).spawn(move || {
            if let Some(cpu) = cpu {
                stay_on(cpu);
            }
            let worker = Worker::new(&theirs, seat);
            if theirs.wait_for_start() {
                // Who listens no longer has given the round up.
                let _ = tell.send(worker.run());
            }
        });
        if let Err(error) = spawned {
            round.set(Gate::Off);
            return Err(error);
        }
    }
    Ok(())
}

/// Measures one round of `kind` in `case`. `interrupted` is asked several times
/// a second.
pub fn measure(
    kind: LockKind,
    case: &Case,
    conditions: &Conditions,
    tools: &Tools,
    interrupted: &dyn Fn() -> bool,
) -> Result<Measured, Trouble> {
    let round = Arc::new(Round::new(kind, case, conditions, tools));
    let (tell, told) = channel();
    let refused = |e: io::Error| Trouble::NoThread(e.to_string());
    let cpus = match conditions.pin {
        true => allowed_cpus().map_err(|e| Trouble::NoCpus(e.to_string()))?,
        false => Vec::new(),
    };
    populate(&round, &cpus, &tell).map_err(refused)?;
    drop(tell);
    round.set(Gate::Open);
    let (outcomes, stopped) = collect(&round, &told, conditions.patience, interrupted)?;
    let measured = add_up(&round, outcomes, stopped);
    let (visits, counted) = (
        measured.writes.iter().sum(),
        round.objects.iter().map(Object::visits).sum(),
    );
    if visits != counted {
        return Err(Trouble::Lost(visits, counted));
    }
    Ok(measured)
}

/// Lets the threads run for their time, which begins with the first operation,
/// and waits for all of them; also says when they were told to stop, in ticks.
fn collect(
    round: &Round,
    told: &Receiver<Outcome>,
    patience: Duration,
    interrupted: &dyn Fn() -> bool,
) -> Result<(Vec<Outcome>, u64), Trouble> {
    let time = Duration::from_millis(round.case.time_ms);
    let mut outcomes = Vec::new();
    let (mut deadline, mut stopped) = (None, None);
    let (mut beats, mut idle) = (0, Duration::ZERO);
    while outcomes.len() < round.seats.len() {
        let left = deadline.map(|end: Instant| end.saturating_duration_since(Instant::now()));
        if stopped.is_none() && left.is_some_and(|left| left.is_zero()) {
            round.stop.store(true, Relaxed);
            stopped = Some(round.tools.clock.now());
        }
        let nap = match (left, stopped) {
            (None, _) => FIRST_LOOK,
            (Some(left), None) => left.min(LOOK),
            (_, Some(_)) => LOOK,
        };
        match told.recv_timeout(nap) {
            Ok(outcome) => {
                outcomes.push(outcome);
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            // A thread that ended without a word: it can only have panicked.
            Err(RecvTimeoutError::Disconnected) => return Err(Trouble::Hung(patience)),
        }
        if interrupted() {
            round.stop.store(true, Relaxed);
            return Err(Trouble::Interrupted);
        }
        let now = round.beats();
        idle = if now == beats {
            idle + nap
        } else {
            Duration::ZERO
        };
        beats = now;
        if beats > 0 && deadline.is_none() {
            deadline = Some(Instant::now() + time);
        }
        if idle > patience {
            round.stop.store(true, Relaxed);
            return Err(Trouble::Hung(patience));
        }
    }
    Ok((outcomes, stopped.unwrap_or(u64::MAX)))
}

fn add_up(round: &Round, mut outcomes: Vec<Outcome>, stopped: u64) -> Measured {
    outcomes.sort_by_key(|outcome| outcome.seat);
    let start = outcomes.iter().map(|o| o.start).min().unwrap_or(0);
    let end = outcomes.iter().map(|o| o.end).max().unwrap_or(0);
    let seconds = |from, to| round.tools.clock.ns(from, to) as f64 * 1e-9;
    let (mut writes, mut reads) = (Waits::new(), Waits::new());
    for outcome in &outcomes {
        writes.add(&outcome.writes);
        reads.add(&outcome.reads);
    }
    let counts = |of: fn(&Outcome) -> u64| -> Vec<u64> { outcomes.iter().map(of).collect() };
    let shared = counts(|o| o.counts.1);
    Measured {
        seconds: seconds(start, end),
        overrun: seconds(stopped, end),
        writes: counts(|o| o.counts.0),
        reads: match shared.iter().any(|n| *n > 0) {
            true => shared,
            false => Vec::new(),
        },
        cpu: outcomes.iter().map(|o| o.usage.cpu).sum(),
        voluntary: outcomes.iter().map(|o| o.usage.voluntary).sum(),
        involuntary: outcomes.iter().map(|o| o.usage.involuntary).sum(),
        write_waits: (writes.count() > 0).then_some(writes),
        read_waits: (reads.count() > 0).then_some(reads),
    }
}

/// The CPUs that this process may use.
fn allowed_cpus() -> io::Result<Vec<usize>> {
    // SAFETY: all zero is an empty set, which sched_getaffinity fills.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            // As with more CPUs than a set has.
            return Err(io::Error::last_os_error());
        }
        let all = 0..libc::CPU_SETSIZE as usize;
        Ok(all.filter(|cpu| libc::CPU_ISSET(*cpu, &set)).collect())
    }
}

/// Keeps the calling thread on `cpu`.
fn stay_on(cpu: usize) {
    // SAFETY: a set with one CPU that exists; on failure the thread floats.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}
