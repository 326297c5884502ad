// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs a client: exhaustively under loom, or at random under shuttle.
use crate::client::{Bound, Client, RawClient};
use crate::cpu_time::cpu_time;
use crate::engine::{self, Mode, Restart, Stop};
use crate::mutant::Mutant;
use crate::verdict::{Failure, Fault, Kind, Outcome};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Branches of one execution that loom has room for. A wait that never ends is
/// found long before.
const MAX_BRANCHES: usize = 100_000;
/// Random executions that find most words before loom starts.
const SCOUTS: usize = 500;
/// Switches at which PCT lowers a priority.
const PCT_DEPTH: usize = 4;
/// Memory for each of shuttle's threads, in bytes.
const FUZZ_STACK: usize = 64 << 10;

/// How a client is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// All schedules within the bound, and all that loads may see.
    Exhaustive,
    /// Schedules at random.
    Random,
    /// Schedules by probabilistic concurrency testing.
    Pct,
}

/// One run of one client.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Task {
    /// How.
    pub method: Method,
    /// How far. The fuzzers know no bound on preemptions.
    pub bound: Bound,
    /// Schedules, for the fuzzers.
    pub schedules: u64,
    /// For the fuzzers.
    pub seed: u64,
    /// Seconds of CPU time after which it has failed.
    pub seconds: u32,
    /// An access that does less than it should.
    pub mutant: Option<Mutant>,
    /// Executions after which an exhaustive run ends without a verdict. `None`: at the end.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Unwinds out of the execution that would exceed a task's limit.
struct Enough;

static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
static PRUNED: AtomicU64 = AtomicU64::new(0);

extern "C-unwind" {
    fn check_world_reset();
    fn check_world_end();
    fn check_world_spurious() -> u32;
    fn check_frame_begin(threads: u32, acquisitions: u32);
}

/// Runs `client` as `task` says. `progress` is called now and then with the
/// number of executions so far. One call at a time in a process.
pub fn run(client: Client, task: &Task, progress: &'static (dyn Fn(u64) + Sync)) -> Outcome {
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    EXECUTIONS.store(0, Relaxed);
    PRUNED.store(0, Relaxed);
    engine::with(|state| state.mutant.clone_from(&task.mutant));
    let job = Job {
        raw: client.raw,
        bound: task.bound,
        deadline: used() + Duration::from_secs(task.seconds.into()),
        limit: task.limit.unwrap_or(u64::MAX),
        progress,
    };
    let mut cut = false;
    let failure = match task.method {
        Method::Exhaustive => job.exhaustive(task.seed).unwrap_or_else(|Enough| {
            cut = true;
            None
        }),
        Method::Random => {
            let scheduler = RandomScheduler::new_from_seed(task.seed, task.schedules as usize);
            job.fuzz(scheduler)
        }
        Method::Pct => {
            let schedules = task.schedules as usize;
            job.fuzz(PctScheduler::new_from_seed(task.seed, PCT_DEPTH, schedules))
        }
    };
    let outcome = outcome(failure, start);
    // The next run may be of a client with the same static memory.
    engine::with(|state| state.layout.restore());
    Outcome { cut, ..outcome }
}

/// The CPU time of this process so far.
fn used() -> Duration {
    cpu_time(0).expect("the process has a clock")
}

fn outcome(failure: Option<Failure>, start: Instant) -> Outcome {
    let (words, reached, trace) = engine::with(|state| {
        let reached = state.reached.iter().map(|(&site, &times)| {
            // SAFETY: sites are constant data of the C code.
            let site = unsafe { &*site };
            let (file, primitive) = (site.file().to_owned(), site.primitive().to_owned());
            (file, site.line, primitive, site.operand(), times)
        });
        let reached = reached.collect();
        let trace = match failure {
            Some(_) => state.events.iter().map(|event| event.line()).collect(),
            None => Vec::new(),
        };
        (state.layout.words.len(), reached, trace)
    });
    Outcome {
        executions: EXECUTIONS.load(Relaxed),
        pruned: PRUNED.load(Relaxed),
        words,
        seconds: start.elapsed().as_secs_f64(),
        cut: false,
        fault: failure.map(|failure| Fault {
            kind: failure.kind,
            text: failure.text,
            thread: failure.thread,
            trace,
        }),
        reached,
    }
}

#[derive(Clone, Copy)]
struct Job {
    raw: &'static RawClient,
    bound: Bound,
    /// Of the process's CPU time.
    deadline: Duration,
    limit: u64,
    progress: &'static (dyn Fn(u64) + Sync),
}

impl Job {
    fn exhaustive(self, seed: u64) -> Result<Option<Failure>, Enough> {
        // Words that loom meets late make it start again: scout first.
        let scout = self.fuzz(RandomScheduler::new_from_seed(seed, SCOUTS));
        if scout.is_some() {
            return Ok(scout);
        }
        loop {
            EXECUTIONS.store(0, Relaxed);
            PRUNED.store(0, Relaxed);
            let result = catch_unwind(AssertUnwindSafe(|| {
                let mut builder = loom::model::Builder::new();
                builder.max_branches = MAX_BRANCHES;
                // Not what the environment says: a run that ends early would
                // look like one that passes.
                builder.max_permutations = None;
                builder.max_duration = None;
                builder.checkpoint_file = None;
                builder.preemption_bound = self.bound.preemptions.map(|bound| bound as usize);
                builder.check(move || self.execution(true));
            }));
            match result {
                Ok(()) => return Ok(None),
                Err(panic) if panic.is::<Enough>() => return Err(Enough),
                Err(panic) if panic.is::<Restart>() => {
                    engine::with(|state| std::mem::forget(std::mem::take(&mut state.words)));
                }
                Err(panic) => return Ok(Some(failure_of(panic))),
            }
        }
    }

    fn fuzz(self, scheduler: impl Scheduler + 'static) -> Option<Failure> {
        let mut config = shuttle::Config::new();
        config.stack_size = FUZZ_STACK;
        config.failure_persistence = shuttle::FailurePersistence::None;
        config.max_steps = shuttle::MaxSteps::None;
        config.silence_warnings = true;
        let runner = shuttle::Runner::new(scheduler, config);
        let result = catch_unwind(AssertUnwindSafe(|| {
            runner.run(move || self.execution(false));
        }));
        result.err().map(failure_of)
    }

    /// One execution, within a model of loom or of shuttle.
    fn execution(self, loom: bool) {
        self.account(loom);
        let Bound {
            threads,
            acquisitions,
            ..
        } = self.bound;
        let frame = 0u8;
        engine::begin(threads as usize, std::ptr::from_ref(&frame) as usize);
        // SAFETY: the check world's C code, on this OS thread only.
        let spurious = unsafe {
            check_world_reset();
            check_frame_begin(threads, acquisitions);
            if let Some(init) = self.raw.init {
                init();
            }
            check_world_spurious()
        };
        engine::set_spurious(spurious);
        if loom {
            engine::begin_loom();
            let others: Vec<_> = (1..threads)
                .map(|id| loom::thread::spawn(move || self.thread(id)))
                .collect();
            self.thread(0);
            for other in others {
                let _ = engine::scheduled(|| other.join());
            }
        } else {
            engine::with(|state| state.mode = Mode::Fuzz);
            let others: Vec<_> = (1..threads)
                .map(|id| shuttle::thread::spawn(move || self.thread(id)))
                .collect();
            self.thread(0);
            for other in others {
                let _ = engine::scheduled(|| other.join());
            }
        }
        engine::end_threads();
        // SAFETY: as above.
        unsafe { check_world_end() };
        if let Some(finish) = self.raw.finish {
            // SAFETY: as above.
            unsafe { finish() };
        }
        if engine::with(|state| state.skipping) {
            PRUNED.fetch_add(1, Relaxed);
        }
    }

    /// Not inlined: all C frames of a thread lie below this one.
    #[inline(never)]
    fn thread(self, id: u32) {
        let base = 0u8;
        engine::enter_thread(id as usize, std::ptr::from_ref(&base) as usize);
        if let Some(body) = self.raw.thread {
            // SAFETY: as above.
            unsafe { body(id) };
        }
        engine::leave_thread();
        std::hint::black_box(base);
    }

    fn account(self, loom: bool) {
        let before = EXECUTIONS.load(Relaxed);
        if loom && before >= self.limit {
            std::panic::resume_unwind(Box::new(Enough));
        }
        let executions = before + 1;
        EXECUTIONS.store(executions, Relaxed);
        if executions % 256 != 0 {
            return;
        }
        if loom {
            (self.progress)(executions);
        }
        if used() > self.deadline {
            let text = format!("not done after {executions} executions");
            engine::fail(Kind::Timeout, text);
        }
    }
}

/// What a panic out of an execution means.
fn failure_of(panic: Box<dyn Any + Send>) -> Failure {
    if panic.is::<Stop>() || engine::with(|state| state.failure.is_some()) {
        if let Some(failure) = engine::with(|state| state.failure.take()) {
            return failure;
        }
    }
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown panic");
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("")
        .trim();
    let race = text.contains("Causality violation") || text.contains("Concurrent");
    // All are disabled: each waits for a section, or for one that does.
    let deadlock = text.starts_with("deadlock; threads");
    let kind = match (race, deadlock) {
        (true, _) => Kind::Race,
        (_, true) => Kind::Deadlock,
        _ => Kind::Checker,
    };
    Failure {
        kind,
        text: first.to_owned(),
        thread: engine::current(),
    }
}
