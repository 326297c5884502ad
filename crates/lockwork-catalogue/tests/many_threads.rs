// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! More threads than there are slots, all alive at once. One test: slots and
//! threads are counted in the whole process.
use lockwork_catalogue::{catalogue, slots_in_use, Lock, LockKind, Promises, MAX_SLOTS};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::io::Error;
use std::mem::MaybeUninit;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Barrier, Condvar, Mutex};
use std::thread::yield_now;
use std::time::Duration;

const THREADS: usize = MAX_SLOTS as usize + 64;
const STACK: usize = 64 * 1024;
/// Threads that fight at the end, half of them without a slot.
const CROWD: usize = 24;
const TURNS: usize = 40;

/// What all threads share; leaked, so that no thread outlives it.
struct Shared {
    gate: Lock,
    /// Threads that have been through the gate.
    through: AtomicU32,
    open: Mutex<bool>,
    opened: Condvar,
}

extern "C" fn live(shared: *mut c_void) -> *mut c_void {
    // SAFETY: leaked by the test.
    let shared = unsafe { &*shared.cast::<Shared>() };
    // SAFETY: this thread unlocks what it locked.
    unsafe {
        shared.gate.lock();
        shared.gate.unlock();
    }
    shared.through.fetch_add(1, SeqCst);
    let mut open = shared.open.lock().expect("nobody panics inside");
    while !*open {
        open = shared.opened.wait(open).expect("nobody panics inside");
    }
    ptr::null_mut()
}

/// A thread with a small stack and without what Rust adds to it: a map a
/// thread, of which a process has 65,530.
fn start(shared: &'static Shared) -> Result<libc::pthread_t, Error> {
    let mut attr = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: both are initialised by the calls.
    unsafe {
        libc::pthread_attr_init(attr.as_mut_ptr());
        libc::pthread_attr_setstacksize(attr.as_mut_ptr(), STACK);
        libc::pthread_attr_setguardsize(attr.as_mut_ptr(), 0);
        let shared = ptr::from_ref(shared).cast_mut().cast();
        let err = libc::pthread_create(thread.as_mut_ptr(), attr.as_ptr(), live, shared);
        libc::pthread_attr_destroy(attr.as_mut_ptr());
        match err {
            0 => Ok(thread.assume_init()),
            err => Err(Error::from_raw_os_error(err)),
        }
    }
}

/// The clock of the CPU time of the calling thread, which other threads may read.
fn own_clock() -> libc::clockid_t {
    let mut clock = 0;
    // SAFETY: this thread is alive.
    let err = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
    assert_eq!(err, 0, "a thread has a clock");
    clock
}

fn time_on(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock of a thread that is alive.
    let err = unsafe { libc::clock_gettime(clock, &mut time) };
    assert_eq!(err, 0, "a thread has a clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A kind whose waiters take a slot as soon as they wait.
fn slot_taker() -> LockKind {
    let takes = |kind: &LockKind| {
        let lock = kind.create();
        let before = slots_in_use();
        let (tell, told) = channel();
        // SAFETY: each thread unlocks what it locked.
        std::thread::scope(|scope| unsafe {
            lock.lock();
            scope.spawn(|| {
                tell.send(own_clock()).expect("heard");
                lock.lock();
                lock.unlock();
            });
            let clock = told.recv().expect("a thread");
            // It spins: its time passes.
            let end = time_on(clock) + Duration::from_millis(5);
            while slots_in_use() == before && time_on(clock) < end {
                std::thread::sleep(Duration::from_micros(50));
            }
            let took = slots_in_use() > before;
            lock.unlock();
            took
        })
    };
    let candidates = catalogue().into_iter().filter(|kind| {
        !kind
            .flags()
            .intersects(Promises::KEEPS_NODE | Promises::SLEEPS | Promises::CANCEL)
    });
    candidates
        .into_iter()
        .find(takes)
        .expect("some lock of the catalogue queues its waiters")
}

/// The threads of a scope may still be on their way out when it ends.
fn wait_for_slots(of: &str) {
    at(format!("waiting for the slots of {of}, which ended"));
    while slots_in_use() > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Starts one thread after the other; each has waited for the lock once.
fn start_all(shared: &'static Shared) -> Vec<libc::pthread_t> {
    let mut threads = Vec::new();
    for number in 0..THREADS {
        at(format!("starting thread {number}"));
        let wanted = MAX_SLOTS.min(number as u32 + 1);
        // SAFETY: this thread unlocks what it locked.
        unsafe { shared.gate.lock() };
        let thread = start(shared).unwrap_or_else(|err| {
            panic!(
                "this machine refused thread {number} of {THREADS} ({err}): the test needs them \
                 all; raise ulimit -u, kernel.threads-max, kernel.pid_max or vm.max_map_count"
            )
        });
        threads.push(thread);
        while slots_in_use() < wanted {
            yield_now();
        }
        // Past the last slot nothing shows that it waits: give it some time.
        let looks = if number < MAX_SLOTS as usize { 0 } else { 20 };
        (0..looks).for_each(|_| yield_now());
        // SAFETY: as above.
        unsafe { shared.gate.unlock() };
        while shared.through.load(SeqCst) as usize <= number {
            yield_now();
        }
    }
    threads
}

/// What the test is at, for the message of `no_hang`.
static AT: Mutex<String> = Mutex::new(String::new());

fn at(what: String) {
    *AT.lock().expect("nobody panics inside") = what;
}

/// A lock that hangs fails the test instead: no step takes this long.
fn no_hang() {
    std::thread::spawn(|| {
        let mut before = String::new();
        loop {
            std::thread::sleep(Duration::from_secs(300));
            let now = AT.lock().expect("nobody panics inside").clone();
            if now == before {
                eprintln!("no progress for 300 s while {now}");
                std::process::exit(1);
            }
            before = now;
        }
    });
}

struct Counter(UnsafeCell<u64>);
// SAFETY: only touched under the lock that the test is about.
unsafe impl Sync for Counter {}

fn fight(lock: &Lock) {
    at(format!(
        "{CROWD} threads without slots fight over {}",
        lock.kind().name()
    ));
    fight_anywhere(lock);
}

/// New threads, for which there is no slot, fight over `lock`. In a forked child, too.
fn fight_anywhere(lock: &Lock) {
    let counter = Counter(UnsafeCell::new(0));
    let (counter, start) = (&counter, Barrier::new(CROWD));
    std::thread::scope(|scope| {
        for _ in 0..CROWD {
            scope.spawn(|| {
                start.wait();
                for turn in 0..TURNS {
                    // SAFETY: the lock makes the access exclusive.
                    unsafe {
                        lock.lock();
                        let seen = counter.0.get().read_volatile();
                        if turn % 8 == 0 {
                            yield_now();
                        }
                        counter.0.get().write_volatile(seen + 1);
                        lock.unlock();
                    }
                }
            });
        }
    });
    // SAFETY: all threads have ended.
    let got = unsafe { *counter.0.get() };
    assert_eq!(
        got,
        (CROWD * TURNS) as u64,
        "{} lost updates",
        lock.kind().name()
    );
}

/// A child has one thread; the slots of all others must be free in it.
fn forked_child_has_slots(kind: LockKind) {
    let lock = kind.create();
    // SAFETY: the child locks, counts and ends.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "cannot fork: {}", Error::last_os_error());
    if child == 0 {
        // The test's harness would catch a panic, and the process would end with status 0.
        let lost = catch_unwind(AssertUnwindSafe(|| fight_anywhere(&lock))).is_err();
        let few = slots_in_use() as usize <= CROWD + 1;
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!few) + 2 * i32::from(lost)) };
    }
    let mut status = 0;
    // SAFETY: our own child.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert!(libc::WIFEXITED(status), "the child died: {status:#x}");
    assert_eq!(
        libc::WEXITSTATUS(status),
        0,
        "1: the child still counts slots of threads that it does not have; 2: its threads lost updates"
    );
}

#[test]
fn more_threads_than_slots() {
    no_hang();
    let kind = slot_taker();
    wait_for_slots("those who tried kinds");
    let shared: &'static Shared = Box::leak(Box::new(Shared {
        gate: kind.create(),
        through: AtomicU32::new(0),
        open: Mutex::new(false),
        opened: Condvar::new(),
    }));
    let threads = start_all(shared);
    assert_eq!(slots_in_use(), MAX_SLOTS, "{THREADS} threads have waited");

    for kind in catalogue() {
        if !kind.flags().contains(Promises::KEEPS_NODE) {
            fight(&kind.create());
        }
    }
    forked_child_has_slots(kind);

    *shared.open.lock().expect("nobody panics inside") = true;
    shared.opened.notify_all();
    for thread in threads {
        // SAFETY: started above, joined once.
        unsafe { libc::pthread_join(thread, ptr::null_mut()) };
    }
    wait_for_slots("all threads");
    fight(&kind.create());
}
