// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The calls that the locks make, and what a thread's code makes: each in steps
//! of the engine, and suspended in between.

use crate::engine::caches::Kind;
use crate::engine::{Change, Engine, Site, Step};
use crate::memory;
use std::cell::Cell;
use std::ffi::c_void;

/// Bytes of a line.
const LINE: usize = 64;

thread_local! {
    /// The simulation that this OS thread runs.
    static ENGINE: Cell<*mut Engine> = const { Cell::new(std::ptr::null_mut()) };
}

/// `struct lws_calls`.
#[repr(C)]
pub(crate) struct Calls {
    load: extern "C" fn(*const c_void, u32) -> u64,
    store: extern "C" fn(*mut c_void, u32, u64),
    plain: extern "C" fn(*const c_void, usize, bool),
    rmw: extern "C" fn(*mut c_void, u32, u32, u64) -> u64,
    cas: extern "C" fn(*mut c_void, u32, u64, u64) -> u64,
    fence: extern "C" fn(),
    relax: extern "C" fn(bool, *const Site) -> u32,
    wait_line: extern "C" fn(*const c_void, *const Site),
    cpu: extern "C" fn() -> u32,
    thread: extern "C" fn() -> u32,
    preempt: extern "C" fn(i32),
    need_resched: extern "C" fn() -> bool,
    vcpu_is_preempted: extern "C" fn(u32) -> bool,
    owner_is_preempted: extern "C" fn(u32) -> bool,
    has_guests: extern "C" fn() -> bool,
    cpus_are_short: extern "C" fn() -> bool,
    saw_preempted: extern "C" fn(),
    yield_to_vcpu: extern "C" fn(u32),
    clock: extern "C" fn() -> u64,
    sleep: extern "C" fn(*mut u32, u32, u64, *const Site) -> i32,
    wake: extern "C" fn(*mut u32) -> bool,
    cluster: extern "C" fn() -> u32,
    clusters: extern "C" fn() -> u32,
    event: extern "C" fn(u32),
    address: extern "C" fn(*const c_void) -> u64,
}

/// What a world gets.
pub(crate) const CALLS: Calls = Calls {
    load,
    store,
    plain,
    rmw,
    cas,
    fence,
    relax,
    wait_line,
    cpu,
    thread,
    preempt,
    need_resched,
    vcpu_is_preempted,
    owner_is_preempted,
    has_guests,
    cpus_are_short,
    saw_preempted,
    yield_to_vcpu,
    clock,
    sleep,
    wake,
    cluster,
    clusters,
    event,
    address,
};

/// Has the calls of this OS thread go to `engine`; null: to nobody.
pub(crate) fn set_engine(engine: *mut Engine) {
    ENGINE.set(engine);
}

/// Looks at or changes the engine; `f` must not suspend.
#[inline]
pub(crate) fn with<R>(f: impl FnOnce(&mut Engine) -> R) -> R {
    // SAFETY: `run` set it to an engine that outlives the coroutines, and does
    // not touch it while one of them runs. `f` does not call `with`.
    f(unsafe { &mut *ENGINE.get() })
}

/// Lets the engine go on; returns when this thread's turn has come.
fn suspend() {
    let yielder = with(|engine| engine.yielder());
    // SAFETY: it lives as long as this coroutine.
    unsafe { &*yielder }.suspend(());
}

/// Makes a step until it is made.
#[inline]
fn made<T>(mut step: impl FnMut(&mut Engine) -> Step<T>) -> T {
    loop {
        if let Step::Made(value) = with(&mut step) {
            return value;
        }
        suspend();
    }
}

pub(crate) extern "C" fn load(p: *const c_void, size: u32) -> u64 {
    made(|engine| engine.load(p as usize, size))
}

pub(crate) extern "C" fn store(p: *mut c_void, size: u32, value: u64) {
    made(|engine| engine.store(p as usize, size, value));
}

pub(crate) extern "C" fn plain(p: *const c_void, size: usize, stores: bool) {
    let kind = if stores { Kind::Store } else { Kind::Load };
    let (mut at, end) = (p as usize, p as usize + size);
    while at < end {
        let next = end.min((at / LINE + 1) * LINE);
        made(|engine| engine.plain(at, (next - at) as u32, kind));
        at = next;
    }
}

pub(crate) extern "C" fn rmw(p: *mut c_void, size: u32, kind: u32, operand: u64) -> u64 {
    let change = match kind {
        0 => Change::Exchange(operand),
        1 => Change::Add(operand),
        2 => Change::Or(operand),
        _ => Change::AndNot(operand),
    };
    made(|engine| engine.rmw(p as usize, size, change))
}

pub(crate) extern "C" fn cas(p: *mut c_void, size: u32, old: u64, new: u64) -> u64 {
    made(|engine| engine.rmw(p as usize, size, Change::Compare(old, new)))
}

pub(crate) extern "C" fn fence() {
    made(Engine::fence);
}

/// How many pauses that was: if the loop does not count, one.
pub(crate) extern "C" fn relax(counted: bool, site: *const Site) -> u32 {
    let before = with(|engine| engine.now());
    let mut passed = 1;
    if with(|engine| engine.relax(counted, site)) {
        suspend();
        passed = with(|engine| engine.pauses_since(before)).max(1);
    }
    if counted {
        passed
    } else {
        1
    }
}

pub(crate) extern "C" fn wait_line(p: *const c_void, site: *const Site) {
    if with(|engine| engine.wait_line(p as usize, site)) {
        suspend();
    }
}

extern "C" fn cpu() -> u32 {
    with(|engine| engine.cpu()) as u32
}

extern "C" fn thread() -> u32 {
    with(|engine| engine.thread()) as u32
}

extern "C" fn preempt(change: i32) {
    may_preempt(change);
}

/// See [`Engine::may_preempt`].
pub(crate) fn may_preempt(change: i32) {
    if with(|engine| engine.may_preempt(change)) {
        suspend();
    }
}

/// See [`Engine::in_kernel`].
pub(crate) fn in_kernel(keeps: bool) {
    if with(|engine| engine.in_kernel(keeps)) {
        suspend();
    }
}

extern "C" fn need_resched() -> bool {
    with(|engine| engine.need_resched())
}

extern "C" fn vcpu_is_preempted(vcpu: u32) -> bool {
    with(|engine| engine.vcpu_is_preempted(vcpu))
}

extern "C" fn owner_is_preempted(owner: u32) -> bool {
    with(|engine| engine.owner_is_preempted(owner))
}

extern "C" fn has_guests() -> bool {
    with(|engine| engine.has_guests())
}

extern "C" fn cpus_are_short() -> bool {
    with(|engine| engine.cpus_are_short())
}

extern "C" fn saw_preempted() {
    with(|engine| engine.saw_preempted());
}

extern "C" fn yield_to_vcpu(vcpu: u32) {
    if made(|engine| engine.yield_to(vcpu)) {
        suspend();
    }
}

extern "C" fn clock() -> u64 {
    with(|engine| engine.now()) / 1000
}

extern "C" fn sleep(p: *mut u32, value: u32, deadline: u64, site: *const Site) -> i32 {
    const ETIMEDOUT: i32 = 110;
    fence();
    with(Engine::enter_wait);
    if load(p.cast(), 4) != u64::from(value) {
        with(Engine::leave_wait);
        return 0;
    }
    match with(|engine| engine.sleep(p as usize, deadline, site)) {
        Step::Made(()) => 0,
        Step::Wait => {
            suspend();
            -ETIMEDOUT * i32::from(with(|engine| engine.timed_out()))
        }
    }
}

extern "C" fn wake(p: *mut u32) -> bool {
    // The sleeper must not miss the value that it is woken for.
    fence();
    with(|engine| engine.wake(p as usize))
}

extern "C" fn cluster() -> u32 {
    with(|engine| engine.cluster()) as u32
}

extern "C" fn clusters() -> u32 {
    with(|engine| engine.clusters()) as u32
}

extern "C" fn event(event: u32) {
    with(|engine| engine.count_event(event as usize));
}

extern "C" fn address(p: *const c_void) -> u64 {
    memory::simulated(p)
}

/// The running thread computes for `ps`.
pub(crate) fn work(ps: u64) {
    with(|engine| engine.work(ps));
}

/// The running thread is busy for `ps`, whatever its clock and its core's other threads.
pub(crate) fn delay(ps: u64) {
    with(|engine| engine.delay(ps));
}

/// The running thread waits until all others are as far as it has computed. To be called before
/// it tells what depends on when it happens.
pub(crate) fn catch_up() {
    made(Engine::catch_up);
}

/// The running thread sleeps for `ps`.
pub(crate) fn sleep_for(ps: u64) {
    catch_up();
    with(|engine| engine.sleep_for(ps));
    suspend();
}

/// The running thread uses a resource for `time`: how long until that is over.
pub(crate) fn use_resource(resource: usize, time: u64) -> u64 {
    made(|engine| engine.use_resource(resource, time))
}
