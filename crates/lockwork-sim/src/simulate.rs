// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One simulation, from outside.

use crate::calls;
use crate::engine::{Engine, OfThread, Ps};
use crate::outcome::{OfLocks, OfProgram, Outcome, Stuck};
use crate::routine::{self, Routine};
use crate::setup::Setup;
use crate::threads::{self, Code};
use crate::workload::{Program, Step, What};
use crate::world::{self, World};
use anyhow::Result;
use lockwork_report::text::counted;
use lockwork_report::{bail_usage, choice};
use std::mem::ManuallyDrop;
use std::time::Instant;

/// What came of it.
pub type Found = Result<Outcome, Stuck>;

/// Virtual CPUs at most: a lock's word names them.
const MAX_CPUS: usize = 2047;
/// Virtual machines at most: so many locks share no line of the table of halted waiters.
pub(crate) const MAX_VMS: usize = 16;

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
    threads_are_enough(setup)?;
    let real = real_cpus(setup);
    if copies == 0 || real * copies > MAX_CPUS {
        bail_usage!("{real} × {copies} CPUs: the locks support 1 to {MAX_CPUS}");
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
        if let Some(program) = &setup.workload.program {
            kinds_are_known(setup, program, &known)?;
            if setup.guests.is_some() {
                holders_stay_awake(setup, program, &known, ops)?;
            }
        }
        world.reset();
        for setting in setup.settings {
            world.set(*setting)?;
        }
        Ok(run(setup, world, ops))
    })?
}

/// The CPUs of the machine that are used.
fn real_cpus(setup: &Setup) -> usize {
    match setup.cpus {
        0 => setup.machine.cpus(),
        cpus => cpus,
    }
}

/// Whether each virtual machine has threads and CPUs, and each part of a role a thread.
pub(crate) fn threads_are_enough(setup: &Setup) -> Result<()> {
    let (name, vms) = (&setup.workload.name, setup.vms());
    let cpus = real_cpus(setup) * setup.guests.map_or(1, |guests| guests.overcommit as usize);
    if !(1..=MAX_VMS).contains(&vms) {
        bail_usage!("{vms} virtual machines: take 1 to {MAX_VMS}");
    }
    if vms > setup.threads.min(cpus) {
        bail_usage!(
            "{vms} virtual machines for {} and {}: each needs one of both at least",
            counted(setup.threads, "thread"),
            counted(cpus, "virtual CPU")
        );
    }
    let Some(program) = &setup.workload.program else {
        return Ok(());
    };
    if vms > 1 {
        bail_usage!(
            "{name} has roles, which one machine has: take a workload with one lock, or one \
             virtual machine"
        );
    }
    if setup.threads < program.parts() {
        bail_usage!(
            "{name} has {} parts of roles: take as many threads or more",
            program.parts()
        );
    }
    Ok(())
}

/// Whether the locks of a program are what it takes them for.
fn kinds_are_known(setup: &Setup, program: &Program, known: &[&'static world::Ops]) -> Result<()> {
    let name = &setup.workload.name;
    for (kind, shared) in program.kinds() {
        let ops = choice::one("lock", kind, known, |ops| ops.name())?;
        if shared && !ops.is_rw() {
            bail_usage!("{name} takes a lock of kind {kind} shared, which it cannot be");
        }
    }
    Ok(())
}

/// A virtual CPU's thread cannot sleep while it holds a lock that only spins. `ops`: of locks
/// without a kind of their own.
fn holders_stay_awake(
    setup: &Setup,
    program: &Program,
    known: &[&'static world::Ops],
    ops: &'static world::Ops,
) -> Result<()> {
    let kind = |lock: usize| {
        let named = program.locks[lock].kind.as_deref();
        let own = named.and_then(|name| known.iter().find(|ops| ops.name() == name));
        own.copied().unwrap_or(ops)
    };
    let mut roles = program.roles.iter();
    match roles.find_map(|role| slept_under(program, &role.steps, &kind, None)) {
        None => Ok(()),
        Some(ops) => bail_usage!(
            "{} sleeps while it holds a lock of kind {}, which only spins: on virtual CPUs its \
             holder cannot sleep; take a lock that sleeps, or leave --overcommit out",
            setup.workload.name,
            ops.name()
        ),
    }
}

/// The spinlock, if any, under which one of `steps` sleeps for a time; `held`: one that is held
/// already.
fn slept_under(
    program: &Program,
    steps: &[Step],
    kind: &dyn Fn(usize) -> &'static world::Ops,
    held: Option<&'static world::Ops>,
) -> Option<&'static world::Ops> {
    let of_step = |step: &Step| match &step.what {
        What::Sleep(_) => held,
        What::Use { resource, .. } if !program.resources[*resource].busy => held,
        What::Lock { lock, inside, .. } => {
            let spins = Some(kind(*lock)).filter(|ops| !ops.sleeps() && !ops.may_leave());
            slept_under(program, inside, kind, held.or(spins))
        }
        _ => None,
    };
    steps.iter().find_map(of_step)
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
    let engine = Box::new(Engine::new(setup));
    let code = Code::new(setup, world, ops);
    let rules = setup.rules;
    let routine = |thread: usize| {
        let code: *const Code = &code;
        let seed = setup.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ thread as u64;
        // SAFETY: it outlives the coroutines, which end below.
        routine::routine(thread, move || {
            threads::run(unsafe { &*code }, thread, seed, rules)
        })
    };
    let routines: Vec<Routine> = (0..setup.threads).map(routine).collect();
    // If one panics, the others are left as they are: the locks' C cannot be unwound.
    let mut routines = ManuallyDrop::new(routines);
    let engine = Box::into_raw(engine);
    calls::set_engine(engine);
    let guard = Running;
    directly(|| code.init());
    routine::run(&mut routines);
    let divided = directly(|| world.divided());
    calls::with(|engine| engine.tally.counts.divided = divided.into());
    drop(guard);
    // SAFETY: it was made above, and no call goes to it any more.
    let mut engine = unsafe { Box::from_raw(engine) };
    for mut routine in ManuallyDrop::into_inner(routines) {
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
    let program = setup.workload.program.as_ref();
    let program = program.map(|program| of_program(program, engine, &threads));
    let vms = match setup.vms() {
        1 => Vec::new(),
        vms => of_locks((1..=vms).map(|vm| format!("VM {vm}")), engine, &threads),
    };
    let tally = &mut engine.tally;
    let busy: Ps = threads.iter().map(|thread| thread.busy).sum();
    Outcome {
        ns: ns(end - tally.from),
        by_thread: threads.iter().map(|thread| thread.acquisitions).collect(),
        reads: tally.reads,
        waits: tally.waits.clone(),
        read_waits: tally.read_waits.clone(),
        overtakes: tally.overtakes.clone(),
        split: tally.split,
        ns_in_lock: ns(tally.in_lock),
        ns_waited: ns(tally.waited),
        ns_busy: ns(busy),
        operations: tally.operations(),
        counts: std::mem::take(&mut tally.counts),
        batches,
        settled,
        finished_ns: setup.workload.loops.map(|_| ns(tally.last_end)),
        seconds: started.elapsed().as_secs_f64(),
        timeline: std::mem::take(&mut tally.timeline),
        program,
        vms,
    }
}

/// What was measured of the locks of each name.
fn of_locks(
    names: impl Iterator<Item = String>,
    engine: &mut Engine,
    threads: &[OfThread],
) -> Vec<OfLocks> {
    let end = engine.end();
    let held = threads.iter().map(|thread| thread.held());
    let named = names.zip(engine.tally.named(held, end));
    named
        .map(|(name, of)| OfLocks {
            name,
            acquisitions: of.acquisitions,
            reads: of.reads,
            contended: of.contended,
            waits: of.waits,
            ns_held: of.held as f64 / 1000.0,
        })
        .collect()
}

/// What was measured of a program.
fn of_program(program: &Program, engine: &mut Engine, threads: &[OfThread]) -> OfProgram {
    let names = program.lock_names().map(str::to_owned);
    OfProgram {
        rounds: threads.iter().map(|thread| thread.rounds).collect(),
        locks: of_locks(names, engine, threads),
        resources: engine.resources.used(engine.end()),
        roles: (0..threads.len()).map(|at| program.role_of(at)).collect(),
    }
}
