// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One simulation, from outside.

use crate::calls;
use crate::engine::{Engine, Ps};
use crate::outcome::{Outcome, Stuck};
use crate::setup::Setup;
use crate::threads::{self, Code};
use crate::world::{self, World};
use anyhow::Result;
use corosensei::stack::DefaultStack;
use corosensei::Coroutine;
use lockwork_report::{bail_usage, choice};
use std::time::Instant;

/// What came of it.
pub type Found = Result<Outcome, Stuck>;

/// Virtual CPUs at most: a lock's word names them.
const MAX_CPUS: usize = 2047;
/// Bytes of a simulated thread's stack.
const STACK: usize = 64 * 1024;

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
    let (batches, settled) = engine.measured();
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
        read_waits: tally.read_waits.clone(),
        overtakes: tally.line.overtakes.clone(),
        split: tally.split,
        ns_in_lock: ns(tally.in_lock),
        ns_busy: ns(busy),
        operations: tally.operations(),
        counts: std::mem::take(&mut tally.counts),
        batches,
        settled,
        finished_ns: setup.workload.loops.map(|_| ns(tally.last_end)),
        seconds: started.elapsed().as_secs_f64(),
        timeline: std::mem::take(&mut tally.timeline),
    }
}
