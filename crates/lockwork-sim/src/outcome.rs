// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a simulation found.

use crate::machine::Distance;
use crate::settle::{Batch, Verdict};
use hdrhistogram::Histogram;

/// What the waits of all acquisitions together were spent on, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitSplit {
    /// Others were served first.
    pub queueing: f64,
    /// A line was under way to the waiter.
    pub transfer: f64,
    /// The holder was off its CPU.
    pub preempted_holder: f64,
    /// The lock was free, and the one that got it next was off its CPU.
    pub preempted_next: f64,
    /// Asleep, and nobody had woken it yet.
    pub asleep: f64,
    /// Woken, and not running yet.
    pub waking: f64,
}

/// Counts of the measured part of a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Loads by primitives of the locks, and of the workload's shared data.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Atomic read-modify-writes, compares that failed included.
    pub rmws: u64,
    /// Lines that came from elsewhere, by where they came from.
    pub moved: [u64; Distance::COUNT],
    /// The same from memory, by how far away the home is.
    pub from_memory: [u64; Distance::COUNT],
    /// Bytes from socket to socket, row after row.
    pub link_bytes: Vec<u64>,
    /// Acquisitions by how far away the one before had been: [`Distance::Own`]
    /// is the same CPU again.
    pub handovers: [u64; Distance::COUNT],
    /// Acquisitions that found the lock held, or that others came before. To readers only
    /// writers count.
    pub contended: u64,
    /// Sleeps of waiters, and halts of their virtual CPUs.
    pub sleeps: u64,
    /// Wake-ups, and kicks of halted CPUs.
    pub wakeups: u64,
    /// Those that found nobody asleep.
    pub futile_wakeups: u64,
    /// Those whose sleeper acquired before it slept again.
    pub useful_wakeups: u64,
    /// Waits that did not sleep, as the word had changed when it was looked at.
    pub refused_sleeps: u64,
    /// Switches of threads.
    pub switches: u64,
    /// Threads that left their CPU to sleep.
    pub voluntary: u64,
    /// Threads that lost their CPU to another one.
    pub involuntary: u64,
    /// Those that held the lock then, and holders whose virtual CPU lost the real one.
    pub preempted_holders: u64,
    /// Times that a virtual CPU lost its CPU to another.
    pub preemptions: u64,
    /// Times that a virtual CPU moved to another real one.
    pub migrations: u64,
    /// Kicks to whose virtual CPU the kicker gave its own real one.
    pub donations: u64,
    /// Yields of waiters to a virtual CPU that they named, and that was off its real one.
    pub yields: u64,
    /// What the locks counted, in the order of platform/events.def; shorter if the
    /// last ones did not happen.
    pub events: Vec<u64>,
    /// Locks of the catalogue that were divided by clusters at its end.
    pub divided: u64,
}

impl Counts {
    /// Lines that came from another cache or from memory.
    pub fn lines_moved(&self) -> u64 {
        self.moved.iter().chain(&self.from_memory).sum()
    }
}

/// One simulation.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Simulated time that was measured, ns.
    pub ns: f64,
    /// Acquisitions in it, by thread.
    pub by_thread: Vec<u64>,
    /// Those that were shared.
    pub reads: u64,
    /// Waits, ns: from the call of lock until it returned.
    pub waits: Histogram<u64>,
    /// Those of shared acquisitions.
    pub read_waits: Histogram<u64>,
    /// How many acquisitions by threads that came later each one had to see.
    pub overtakes: Histogram<u64>,
    /// What they were spent on.
    pub split: WaitSplit,
    /// CPU time inside lock and unlock, ns, that was neither asleep nor off CPU.
    pub ns_in_lock: f64,
    /// Time of the contended waits of all threads, on a CPU or off it, ns.
    pub ns_waited: f64,
    /// CPU time of the threads in all, ns.
    pub ns_busy: f64,
    /// Counts.
    pub counts: Counts,
    /// For workloads of a fixed number of loops: when the last thread was done, ns.
    pub finished_ns: Option<f64>,
    /// Its parts: of equal length, or, with a number of loops, of as many acquisitions.
    pub batches: Vec<Batch>,
    /// Whether what was measured is a steady state; none if the loops were numbered, because
    /// then all of the run is measured.
    pub settled: Option<Verdict>,
    /// Host: simulated memory operations, warm-up included.
    pub operations: u64,
    /// Host: seconds it took.
    pub seconds: f64,
    /// What happened in the window, if one was asked for.
    pub timeline: Vec<Event>,
    /// What a workload of roles did beside.
    pub program: Option<OfProgram>,
    /// By virtual machine, if there are several: its lock.
    pub vms: Vec<OfLocks>,
}

/// What was measured of a workload of several locks.
#[derive(Clone, Debug)]
pub struct OfProgram {
    /// Rounds of its role's steps, by thread.
    pub rounds: Vec<u64>,
    /// Roles, by thread: their places in the workload.
    pub roles: Vec<usize>,
    /// By name, in the order of the workload, the queues' behind the others.
    pub locks: Vec<OfLocks>,
    /// In the order of the workload.
    pub resources: Vec<OfResource>,
}

/// Of all locks of one name.
#[derive(Clone, Debug)]
pub struct OfLocks {
    /// The name in the workload.
    pub name: String,
    /// Acquisitions.
    pub acquisitions: u64,
    /// Those that were shared.
    pub reads: u64,
    /// Those that found the lock held, or that others came before.
    pub contended: u64,
    /// Waits, ns.
    pub waits: Histogram<u64>,
    /// For how long they were held, ns, over all locks of the name and all their holders.
    pub ns_held: f64,
}

/// Of a resource.
#[derive(Clone, Debug)]
pub struct OfResource {
    /// The name in the workload.
    pub name: String,
    /// How often it was used.
    pub uses: u64,
    /// Its servers, over all nodes.
    pub servers: u64,
    /// For how long they were busy, ns.
    pub ns_busy: f64,
    /// For how long uses waited for a server, ns.
    pub ns_waited: f64,
}

impl Outcome {
    /// Acquisitions in the measured time.
    pub fn acquisitions(&self) -> u64 {
        self.by_thread.iter().sum()
    }

    /// For workloads of a fixed number of loops: the time until the last thread was done,
    /// over the loops of each, ns.
    pub fn ns_of_a_loop(&self) -> Option<f64> {
        let loops = self.by_thread.iter().max().filter(|&&loops| loops > 0)?;
        Some(self.finished_ns? / *loops as f64)
    }

    /// Waits of the acquisitions that were not shared, ns.
    pub fn write_waits(&self) -> Histogram<u64> {
        let mut waits = self.waits.clone();
        let all_there = waits.subtract(&self.read_waits);
        all_there.expect("each shared wait is one of all waits");
        waits
    }

    /// What was done, by thread: rounds of a role's steps, or acquisitions.
    pub fn done(&self) -> &[u64] {
        let program = self.program.as_ref();
        program.map_or(&self.by_thread, |program| &program.rounds)
    }

    /// Acquisitions a second; of a workload of roles, rounds.
    pub fn rate(&self) -> f64 {
        self.done().iter().sum::<u64>() as f64 * 1e9 / self.ns
    }
}

/// What a thread did for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Thinks: outside of the lock.
    Think,
    /// Waits for the lock: from the call until it has it.
    Wait,
    /// Holds it.
    Hold,
    /// Asleep, or its CPU is halted.
    Sleep,
    /// Ready, and without a CPU.
    Ready,
}

/// A piece of a thread's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The thread.
    pub thread: u32,
    /// Its CPU.
    pub cpu: u32,
    /// What it did.
    pub doing: Doing,
    /// From when, ns.
    pub from: f64,
    /// How long, ns.
    pub ns: f64,
}

/// A simulation that cannot go on: nobody will ever run again.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// "deadlock" or "livelock", and when; or that time cannot be counted so far.
    pub what: String,
    /// One line for each thread: CPU, state, and the source line where it waits.
    pub threads: Vec<String>,
}
