// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A workload of several locks: the steps of a thread's role, round after round.

use super::guarded::{beyond_records, Guarded, Nesting, LINE};
use super::outside::{sleep, Chance};
use crate::calls;
use crate::engine::caches::ps;
use crate::memory::{Layout, Memory, PAGE};
use crate::setup::Setup;
use crate::workload::{Program, Step, Time, What};
use crate::world::{Condition, Ops, World};
use std::ffi::c_void;

/// Words of a waiter on a thread's stack: more than it needs.
const WAITER_WORDS: usize = 64;

/// Room for a waiter, in lines of its own.
#[repr(align(64))]
struct WaiterRoom([u64; WAITER_WORDS]);

/// What a round costs that takes no time by itself: a nanosecond.
const LEAST_ROUND: u64 = 1000;

/// What all threads share.
pub(crate) struct Several {
    program: Program,
    /// Locks, name after name, and behind them those of the queues.
    locks: Vec<Guarded>,
    /// By name: the place of its first lock.
    first: Vec<usize>,
    queues: Vec<Queue>,
    condition: &'static Condition,
    call: u64,
    _memory: Memory,
}

/// A queue: its lock is at `lock`, and guards the number of items.
struct Queue {
    lock: usize,
    capacity: u64,
    not_full: *mut c_void,
    not_empty: *mut c_void,
}

/// A running thread.
struct Thread<'a> {
    chance: &'a mut Chance,
    nesting: Nesting,
}

/// Where a lock and its data are.
struct Placed {
    ops: &'static Ops,
    at: usize,
    data: usize,
    lines: u32,
}

impl Several {
    /// Locks, queues and data, new. `compared`: the kind of those that have no other.
    pub fn new(setup: &Setup, program: &Program, world: &World, compared: &'static Ops) -> Self {
        let kind = |name: &Option<String>| match name {
            Some(name) => world.named(name),
            None => compared,
        };
        let mut layout = Layout::default();
        let mut placed = Vec::new();
        let mut first = Vec::new();
        for lock in &program.locks {
            first.push(placed.len());
            let ops = kind(&lock.kind);
            let align = match lock.packed {
                true => ops.align as usize,
                false => LINE,
            };
            layout.take(0, PAGE);
            let at: Vec<usize> = (0..lock.count)
                .map(|_| layout.take(ops.size as usize, align))
                .collect();
            layout.take(0, PAGE);
            placed.extend(at.into_iter().map(|at| Placed {
                ops,
                at,
                data: layout.take(lock.lines as usize * LINE, LINE),
                lines: lock.lines,
            }));
        }
        let size = world.condition.size as usize;
        let mut conditions = Vec::new();
        for queue in &program.queues {
            first.push(placed.len());
            let ops = kind(&queue.kind);
            let at = layout.take(ops.size as usize, PAGE);
            conditions.push([0, 1].map(|_| layout.take(size, 8)));
            let data = layout.take(LINE, LINE);
            placed.push(Placed {
                ops,
                at,
                data,
                lines: 1,
            });
        }
        let memory = Memory::new(layout.bytes);
        let guarded = |(number, one): (usize, &Placed)| {
            let places = (memory.at(one.at), memory.at(one.data));
            let preemptible = setup.workload.preemptible;
            Guarded::new(one.ops, places, one.lines, number, preemptible)
        };
        let locks: Vec<Guarded> = placed.iter().enumerate().map(guarded).collect();
        let queues = program.queues.iter().zip(conditions).enumerate();
        let queues = queues.map(|(at, (queue, conditions))| Queue {
            lock: first[program.locks.len() + at],
            capacity: queue.capacity,
            not_full: memory.at(conditions[0]),
            not_empty: memory.at(conditions[1]),
        });
        assert!(world.condition.waiter_size as usize <= WAITER_WORDS * 8);
        Several {
            queues: queues.collect(),
            locks,
            first,
            condition: world.condition,
            program: program.clone(),
            call: ps(setup.machine.cpu.call),
            _memory: memory,
        }
    }

    /// Initialises the locks.
    pub fn init(&self) {
        self.locks.iter().for_each(Guarded::init);
    }

    /// Runs a thread.
    pub fn run(&self, thread: usize, chance: &mut Chance) {
        let role = &self.program.roles[self.program.role_of(thread)];
        let mut thread = Thread {
            chance,
            nesting: Nesting::default(),
        };
        loop {
            let before = calls::with(|engine| engine.now());
            self.steps(&mut thread, &role.steps);
            // A round that takes no time would be repeated for ever.
            if calls::with(|engine| engine.now()) == before {
                calls::work(LEAST_ROUND);
            }
            calls::catch_up();
            calls::with(|engine| engine.count_round());
        }
    }

    fn steps(&self, thread: &mut Thread, steps: &[Step]) {
        for step in steps {
            if step.chance >= 1.0 || thread.chance.share() < step.chance {
                self.step(thread, &step.what);
            }
        }
    }

    fn step(&self, thread: &mut Thread, what: &What) {
        match what {
            What::Think(time) => calls::work(thread.chance.work(time)),
            What::Sleep(time) => sleep(thread.chance.time(time)),
            What::Lock {
                lock,
                reads,
                section,
                read_section,
                inside,
            } => {
                let reads = *reads > 0.0 && thread.chance.share() < *reads;
                let lock = self.one_of(thread, *lock);
                let shared = reads && lock.ops.is_rw();
                lock.take(&mut thread.nesting, shared, self.call);
                lock.use_data(shared);
                let length = if shared { read_section } else { section };
                calls::work(thread.chance.work(length));
                self.steps(thread, inside);
                lock.give_back(&mut thread.nesting, shared);
            }
            What::Put { queue, section } => self.pass(thread, *queue, section, true),
            What::Get { queue, section } => self.pass(thread, *queue, section, false),
            What::Use { resource, time } => {
                let time = thread.chance.time(time);
                let time = calls::use_resource(*resource, time);
                match self.program.resources[*resource].busy {
                    true => calls::delay(time),
                    false => sleep(time),
                }
            }
        }
    }

    /// One of the locks of a name.
    fn one_of(&self, thread: &mut Thread, name: usize) -> &Guarded {
        let at = match self.program.locks[name].count {
            1 => 0,
            count => thread.chance.one_of(count),
        };
        &self.locks[self.first[name] + at]
    }

    /// Puts an item into a queue, or takes one out. Then it signals the condition variable of the
    /// threads that may wait for that.
    fn pass(&self, thread: &mut Thread, number: usize, section: &Time, put: bool) {
        let queue = &self.queues[number];
        let lock = &self.locks[queue.lock];
        let (wanted, changed) = match put {
            true => (queue.not_full, queue.not_empty),
            false => (queue.not_empty, queue.not_full),
        };
        lock.take(&mut thread.nesting, false, self.call);
        let items = loop {
            let items = calls::load(lock.data, 8);
            if (put && items < queue.capacity) || (!put && items > 0) {
                break items;
            }
            self.wait(thread, lock, wanted);
        };
        let items = if put { items + 1 } else { items - 1 };
        calls::store(lock.data, 8, items);
        calls::with(|engine| engine.tally.passed(number, put, items));
        calls::work(thread.chance.work(section));
        // SAFETY: a condition variable, and the world's own call.
        beyond_records(|| unsafe { (self.condition.signal)(changed) });
        lock.give_back(&mut thread.nesting, false);
    }

    /// Waits for a condition variable of a queue, whose lock is held before and after.
    fn wait(&self, thread: &mut Thread, lock: &Guarded, condition: *mut c_void) {
        let mut room = WaiterRoom([0; WAITER_WORDS]);
        let waiter: *mut c_void = room.0.as_mut_ptr().cast();
        let of = self.condition;
        let ops = std::ptr::from_ref(lock.ops).cast();
        // SAFETY, here and below: the world's own calls, in their order, and their memory.
        unsafe { (of.enqueue)(condition, waiter, lock.at, ops) };
        lock.give_back(&mut thread.nesting, false);
        unsafe { (of.sleep)(waiter) };
        let relock = || unsafe { (of.relock)(waiter) };
        lock.take_unless(&mut thread.nesting, false, self.call, relock);
        unsafe { (of.done)(waiter) };
    }
}
