// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One simulation, from outside.

use crate::calls;
use crate::engine::caches::Caches;
use crate::engine::{Engine, Ps};
use crate::knobs::Setting;
use crate::machine::Machine;
use crate::outcome::{Outcome, Stuck};
use crate::threads::{self, Code};
use crate::workload::Workload;
use crate::world::{self, World};
use anyhow::Result;
use corosensei::stack::DefaultStack;
use corosensei::Coroutine;
use lockwork_report::{bail_usage, choice};
use std::time::Instant;

/// On which CPUs the threads start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// CPU after CPU, in the order of their numbers.
    Compact,
    /// Round and round the NUMA nodes.
    Spread,
    /// One for each NUMA node, as long as there are nodes; then as `Spread`.
    PerNode,
}

/// A hypervisor under the machine's CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guests {
    /// Virtual CPUs for each CPU; 1: nobody else.
    pub overcommit: u32,
}

/// What the locks take for a cluster of CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clusters {
    /// Those that share a last-level cache.
    #[default]
    Llc,
    /// Those of a NUMA node.
    Node,
}

/// What to simulate.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The lock, by its name.
    pub lock: &'a str,
    /// The workload.
    pub workload: &'a Workload,
    /// Threads.
    pub threads: usize,
    /// Where they start.
    pub placement: Placement,
    /// CPUs to use, the first so many in the order of `placement`; 0: all.
    pub cpus: usize,
    /// A hypervisor, if there is one.
    pub guests: Option<Guests>,
    /// What a cluster is.
    pub clusters: Clusters,
    /// Knobs that are not as they are by default.
    pub settings: &'a [Setting],
    /// All that is random depends on it.
    pub seed: u64,
    /// The part of the measured time to record, from and to, µs.
    pub window: Option<(f64, f64)>,
}

/// What came of it.
pub type Found = Result<Outcome, Stuck>;

/// Virtual CPUs at most: a lock's word names them.
const MAX_CPUS: usize = 2047;
/// Bytes of a simulated thread's stack.
const STACK: usize = 64 * 1024;

/// A lock of the catalogue, or a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// What users type.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Waiters leave the CPU.
    pub sleeps: bool,
    /// It has shared acquisitions.
    pub is_rw: bool,
    /// A published lock with known faults, which only simulations have.
    pub is_baseline: bool,
}

/// All locks, in the order of the catalogue; the baselines after them.
///
/// # Errors
/// They cannot be loaded.
pub fn locks() -> Result<Vec<Lock>> {
    world::with(|world| {
        let lock = |ops: &'static world::Ops| Lock {
            name: ops.name(),
            summary: ops.summary(),
            sleeps: ops.sleeps(),
            is_rw: ops.is_rw(),
            is_baseline: world.is_baseline(ops),
        };
        world.locks().map(lock).collect()
    })
}

/// The machine's CPUs in the order in which threads are placed on them.
pub(crate) fn order(setup: &Setup, caches: &Caches, place_of: &[u16]) -> Vec<usize> {
    let mut cpus: Vec<usize> = (0..place_of.len()).collect();
    if setup.placement != Placement::Compact {
        let mut met = vec![0; setup.machine.nodes()];
        let mut key: Vec<(usize, usize)> = Vec::with_capacity(cpus.len());
        for &cpu in &cpus {
            let node = usize::from(caches.node(place_of[cpu]));
            key.push((met[node], node));
            met[node] += 1;
        }
        cpus.sort_by_key(|&cpu| key[cpu]);
    }
    if setup.cpus > 0 {
        cpus.truncate(setup.cpus);
    }
    cpus
}

/// Simulates. The same setup gives the same outcome, bit for bit.
///
/// # Errors
/// The setup is impossible: an unknown lock, no threads, a shared workload for a
/// lock that has no shared acquisitions, too many CPUs, a value that no knob takes. Inside: the simulated
/// threads are stuck.
pub fn simulate(setup: &Setup) -> Result<Found> {
    if setup.threads == 0 {
        bail_usage!("no threads: give at least 1");
    }
    let copies = setup.guests.map_or(1, |guests| guests.overcommit as usize);
    if copies == 0 || setup.machine.cpus() * copies > MAX_CPUS {
        bail_usage!(
            "{} × {copies} CPUs: the locks support 1 to {MAX_CPUS}",
            setup.machine.cpus()
        );
    }
    world::with(|world| {
        let known: Vec<_> = world.locks().collect();
        let ops = *choice::one("lock", setup.lock, &known, |ops| ops.name())?;
        if setup.workload.reads > 0.0 && !ops.is_rw() {
            bail_usage!(
                "{} has no shared acquisitions, and {} has some: take a read/write lock",
                setup.lock,
                setup.workload.name
            );
        }
        world.reset();
        for setting in setup.settings {
            world.set(*setting)?;
        }
        Ok(run(setup, world, ops))
    })?
}

/// Lets `f` use the locks' memory in no time.
fn directly<R>(f: impl FnOnce() -> R) -> R {
    calls::with(|engine| engine.direct = true);
    let result = f();
    calls::with(|engine| engine.direct = false);
    result
}

/// Unsets the engine, whatever happens.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        calls::set_engine(std::ptr::null_mut());
    }
}

pub(crate) fn run(setup: &Setup, world: &World, ops: &'static world::Ops) -> Found {
    let started = Instant::now();
    let mut engine = Box::new(Engine::new(setup));
    let code = Code::new(setup, ops);
    for thread in 0..setup.threads {
        let code: *const Code = &code;
        let seed = setup.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ thread as u64;
        let stack = DefaultStack::new(STACK).expect("memory for a stack");
        let routine = Coroutine::with_stack(stack, move |yielder, ()| {
            calls::with(|engine| engine.set_yielder(yielder));
            // SAFETY: it outlives the coroutines, which end below.
            threads::run(unsafe { &*code }, seed);
        });
        engine.set_routine(thread, routine);
    }
    let engine = Box::into_raw(engine);
    calls::set_engine(engine);
    let guard = Running;
    directly(|| code.init());
    while let Some(mut routine) = calls::with(Engine::next) {
        let thread = calls::with(|engine| engine.thread()) as u32;
        routine.resume(());
        calls::with(|engine| engine.suspended(routine, thread));
    }
    let divided = directly(|| world.divided());
    calls::with(|engine| engine.tally.counts.divided = divided.into());
    drop(guard);
    // SAFETY: it was made above, and no call goes to it any more.
    let mut engine = unsafe { Box::from_raw(engine) };
    for mut routine in engine.take_routines() {
        // SAFETY: nothing that has to be dropped is on its stack.
        unsafe { routine.force_reset() };
    }
    let stuck = (!engine.is_over()).then(|| engine.stuck());
    match stuck {
        Some(stuck) => Err(stuck),
        None => Ok(outcome(setup, &mut engine, started)),
    }
}

fn outcome(setup: &Setup, engine: &mut Engine, started: Instant) -> Outcome {
    let threads = engine.of_threads();
    let end = engine.end();
    let ns = |time: Ps| time as f64 / 1000.0;
    let tally = &mut engine.tally;
    let busy: Ps = threads.iter().map(|thread| thread.busy).sum();
    Outcome {
        ns: ns(end - tally.from),
        by_thread: threads.iter().map(|thread| thread.acquisitions).collect(),
        reads: tally.reads,
        waits: tally.waits.clone(),
        split: tally.split,
        ns_in_lock: ns(tally.in_lock),
        ns_busy: ns(busy),
        operations: tally.operations(),
        counts: std::mem::take(&mut tally.counts),
        finished_ns: setup.workload.loops.map(|_| ns(tally.last_end)),
        seconds: started.elapsed().as_secs_f64(),
        timeline: std::mem::take(&mut tally.timeline),
    }
}
