// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the threads of a simulation do, as the simulator sees it.

use super::program::Program;
use super::time::Time;

/// Steps of one loop: think, lock, section, unlock; or those of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// What users type.
    pub name: String,
    /// One line for lists.
    pub summary: String,
    /// The locks to compare, when the command line does not say.
    pub locks: Vec<String>,
    /// Outside of the lock, on the CPU.
    pub think: Time,
    /// Outside of the lock, asleep; none: never.
    pub sleep: Option<Time>,
    /// Inside, besides the lines.
    pub section: Time,
    /// Inside a shared section; by default as `section`.
    pub read_section: Time,
    /// Lines of the lock's data that a section reads and writes (a shared one only reads).
    pub lines: u32,
    /// The lock lies in the first of these, ahead of the data: who gets it has that line too. A
    /// lock of a line or more leaves no room there.
    pub embedded: bool,
    /// The share of shared acquisitions, 0 to 1; needs a read/write lock if above 0.
    pub reads: f64,
    /// One in so many sections, for each thread there is, takes so long, ns.
    pub long_hold: Option<(f64, f64)>,
    /// The same of short ones, beside those.
    pub short_hold: Option<(f64, f64)>,
    /// Bytes of each thread's own entry in a table, which a section adds one to; entries lie
    /// one after another, and share lines. 0: there is none.
    pub entry_bytes: u32,
    /// Each thread stays on its CPU.
    pub affinity: bool,
    /// A thread that waits for a lock, or holds one, may lose its CPU to another thread, as
    /// in user space and in a preemptible kernel. If not, it gives its CPU up only when it
    /// sleeps.
    pub preemptible: bool,
    /// Ends after so many loops of each thread, instead of after a time.
    pub loops: Option<u64>,
    /// Warm-up before the measured time, µs.
    pub warmup_us: f64,
    /// The measured time, µs.
    pub measure_us: f64,
    /// Threads by default, when the command line does not say.
    pub threads: Vec<usize>,
    /// Published tables (`lockwork reproduce --list`) by whose figures the think time was chosen.
    pub fitted_to: Vec<String>,
    /// Several locks, and roles that use them, in place of the steps above.
    pub program: Option<Program>,
}
