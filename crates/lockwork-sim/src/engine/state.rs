// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the state of a simulation consists of. The other files of this folder are
//! what happens to it.

use super::caches::{Caches, Price};
use super::clocks::Clocks;
use super::fixed::Fixed;
use super::line::Rank;
use super::measured::Measured;
use super::of_thread::OfThread;
use super::real::Guests;
use super::request::{Request, PARTS};
use super::resources::Resources;
use super::round::Round;
use super::tally::Tally;
use super::tree::{Ps, Tree, NEVER};
use crate::rules::Rules;
use crate::setup::Clusters;
use corosensei::Yielder;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// No thread.
pub(super) const NOBODY: u32 = u32::MAX;

/// What is to happen at the time of an agent in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The thread goes on.
    Run,
    /// Its request reaches the place where requests for the line are ordered.
    Arrive,
    /// The line is free for the next request.
    Choose,
    /// The line is here.
    Done,
}

/// A wait that costs no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parked {
    No,
    /// Until a line is taken away.
    Line,
    /// The same, or what was asked of the scheduler changes.
    Relax,
}

/// A store that is not visible yet.
pub(super) struct Store {
    pub(super) addr: usize,
    pub(super) line: u32,
    pub(super) size: u32,
    /// None: it is in memory already, because the lock put it there by a plain store.
    pub(super) value: Option<u64>,
}

impl Store {
    /// Whether it has bytes in common with the `size` ones at `addr`.
    pub(super) fn overlaps(&self, addr: usize, size: u32) -> bool {
        self.addr < addr + size as usize && addr < self.addr + self.size as usize
    }

    /// Whether the `size` bytes at `addr` are what it stored, or part of what is in memory.
    pub(super) fn has_all(&self, addr: usize, size: u32) -> bool {
        let within = self.addr <= addr && addr + size as usize <= self.addr + self.size as usize;
        match self.value {
            Some(_) => (self.addr, self.size) == (addr, size),
            None => within,
        }
    }
}

/// A CPU, virtual if there is a hypervisor. What most events look at comes first, and so is in two
/// lines of the host's cache.
#[repr(C, align(64))]
pub(super) struct Cpu {
    /// Its own clock.
    pub(super) now: Ps,
    pub(super) thread: u32,
    /// The number of its latest wait, so that old entries are known as such.
    pub(super) wait: u32,
    /// The real CPU that it runs on, or ran on last: whose cache it uses.
    pub(super) place: u16,
    pub(super) actions: [Action; PARTS],
    /// Its thread should leave.
    pub(super) resched: bool,
    /// The access that the thread waits for can be made now.
    pub(super) granted: bool,
    pub(super) parked: Parked,
    /// Off the real CPU.
    pub(super) paused: bool,
    /// All that the thread loaded since its last pause was in its cache.
    pub(super) round_hit: bool,
    /// What it loaded since that pause.
    pub(super) round: Round,
    /// How long the thread has computed since it did anything else.
    pub(super) computed: Ps,
    pub(super) stores: VecDeque<Store>,
    /// The request of the thread, and those of its oldest stores.
    pub(super) requests: [Option<Request>; PARTS],
    pub(super) site: *const Site,
    /// Rounds in which nothing changed.
    pub(super) quiet: u32,
    /// The place that its guest takes it to be at: the first.
    pub(super) told: u16,
    pub(super) halted: bool,
    /// When the slice of its thread ends, if a timer is set for that, or [`NEVER`].
    pub(super) slice_ends: Ps,
    /// The thread or CPU whose state the thread asked for in this round.
    pub(super) asked: Option<Asked>,
    /// The thread waits for its stores: until no more than so many are left.
    pub(super) draining: Option<usize>,
    /// When the thread's last read-modify-write that missed was asked for, and done.
    pub(super) ahead: (Ps, Ps),
    /// Its virtual machine.
    pub(super) vm: usize,
    /// Ready threads besides that one.
    pub(super) ready: VecDeque<u32>,
    /// So many of them, the first ones, have slept.
    pub(super) rested: usize,
    /// When its thread got it.
    pub(super) since: Ps,
    /// The rest of what it was at when it was paused, if it was computing.
    pub(super) rest: Option<Ps>,
    /// The CPU that kicked it last, or [`NOBODY`].
    pub(super) kicker: u32,
}

/// Whose state a spinner looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Thread(u32),
    Cpu(u32),
}

/// `struct lws_site`.
#[repr(C)]
pub(crate) struct Site {
    pub(super) file: *const std::ffi::c_char,
    pub(super) func: *const std::ffi::c_char,
    pub(super) line: u32,
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It has a CPU, which may be paused or halted.
    Running,
    /// It waits for its CPU.
    Ready,
    /// Until somebody wakes who sleeps at this address; 0: until a time.
    Asleep(usize),
    /// Woken, not ready yet.
    Waking,
    /// At its end.
    Done,
}

/// A thread. What most steps look at comes first.
#[repr(C, align(64))]
pub(super) struct Thread {
    pub(super) yielder: *const Yielder<(), ()>,
    /// Who may not be preempted; nests.
    pub(super) preempt: i32,
    /// In the kernel, where nobody loses a CPU against its will; it may sleep.
    pub(super) keeps: bool,
    pub(super) timed_out: bool,
    pub(super) tally: OfThread,
    pub(super) cpu: u32,
    pub(super) state: State,
    /// What is left of a computation that was interrupted.
    pub(super) rest: Ps,
    /// Which of its sleeps this is.
    pub(super) sleep: u32,
}

/// What happens at a time, to no CPU in particular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A sleeper that was woken is ready.
    Wake(u32),
    /// A sleep of a thread, by number, has lasted long enough.
    Timeout(u32, u32),
    /// A thread's slice is over.
    Slice(u32),
    /// A virtual CPU's slice on this real one is over.
    GuestSlice(u16),
    /// A halted CPU, or one that has a thread now, wants to run.
    GuestReady(u32),
    /// An idle real CPU looks for a virtual one again.
    GuestIdle(u16),
    /// A virtual CPU that waits for its next slice looks for a better place again.
    GuestWaits(u32),
    /// The warm-up is over.
    Measure,
    /// A part of the measured time is over.
    Batch,
}

/// A simulation.
pub(crate) struct Engine {
    pub(super) tree: Tree,
    pub(super) timers: BinaryHeap<Reverse<(Ps, u64, Timer)>>,
    /// The time of the first of them.
    pub(super) next_timer: Ps,
    pub(super) set_timers: u64,
    pub caches: Caches,
    pub(super) fixed: Fixed,
    pub(super) cpus: Vec<Cpu>,
    /// By virtual machine: its CPUs. Without any, all.
    pub(super) vms: Vec<Range<usize>>,
    pub(super) clocks: Clocks,
    /// By place: those of the other threads of its core; empty if they do not disturb it.
    pub(super) siblings: Vec<Vec<u16>>,
    /// By place: its CPU, if that is not virtual, or [`NOBODY`].
    pub(super) cpu_at: Vec<u32>,
    pub(super) threads: Vec<Thread>,
    pub resources: Resources,
    pub(super) affinity: bool,
    pub(super) clusters: Clusters,
    pub(super) rules: Rules,
    pub(super) sleepers: FxHashMap<usize, VecDeque<u32>>,
    /// Spinners in [`Parked::Relax`] that asked about somebody.
    pub(super) askers: Vec<u32>,
    /// By agent: the price of its last request, as of when it asked.
    pub(super) prices: Vec<Price>,
    /// Room for [`Engine::choose`].
    pub(super) ranked: Vec<(Rank, u16)>,
    pub(super) guests: Option<Guests>,
    pub random: fastrand::Rng,
    pub tally: Tally,
    pub(super) measured: Measured,
    /// The CPU whose coroutine runs, and the thread that it is of.
    pub(super) current: usize,
    pub(super) running: usize,
    /// The time of what happens now.
    pub(super) time: Ps,
    pub(super) alive: usize,
    pub(super) over: bool,
    /// Accesses take no time: nothing runs yet.
    pub direct: bool,
}

impl Cpu {
    pub(super) fn new(place: u16) -> Self {
        Cpu {
            place,
            told: place,
            vm: 0,
            now: 0,
            thread: NOBODY,
            ready: VecDeque::new(),
            rested: 0,
            resched: false,
            since: 0,
            slice_ends: NEVER,
            stores: VecDeque::new(),
            draining: None,
            requests: [None; PARTS],
            actions: [Action::Run; PARTS],
            ahead: (0, 0),
            computed: 0,
            granted: false,
            parked: Parked::No,
            wait: 0,
            round: Round::default(),
            round_hit: true,
            quiet: 0,
            asked: None,
            site: std::ptr::null(),
            paused: false,
            rest: None,
            halted: false,
            kicker: NOBODY,
        }
    }
}

impl Thread {
    pub(super) fn new(cpu: u32) -> Self {
        Thread {
            yielder: std::ptr::null(),
            cpu,
            state: State::Ready,
            preempt: 0,
            keeps: false,
            rest: 0,
            sleep: 0,
            timed_out: false,
            tally: OfThread::default(),
        }
    }

    /// Whether it may not lose its CPU now.
    pub(super) fn keeps_cpu(&self) -> bool {
        self.preempt > 0 || self.keeps
    }
}

impl Site {
    pub(super) fn describe(&self) -> String {
        // SAFETY: the compiler made both texts.
        let text = |text| unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy();
        format!("{}:{} ({})", text(self.file), self.line, text(self.func))
    }
}
