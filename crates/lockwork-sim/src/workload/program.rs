// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A workload of several locks: what its threads share, and the steps of their roles.

use super::time::Time;

/// Several locks, queues and resources, and the roles of the threads that use them.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Locks.
    pub locks: Vec<SharedLock>,
    /// Bounded queues, each with a lock and two condition variables.
    pub queues: Vec<Queue>,
    /// Devices and links.
    pub resources: Vec<Resource>,
    /// What threads do.
    pub roles: Vec<Role>,
}

/// A lock, or several of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedLock {
    /// Its name in the workload.
    pub name: String,
    /// The kind of lock it always is; none: the kind that is compared.
    pub kind: Option<String>,
    /// How many there are; a step takes one of them by chance.
    pub count: usize,
    /// Lines of data that a section of it reads and writes (a shared one only reads).
    pub lines: u32,
    /// Locks of this name lie one after another, and share lines; else each begins a line of
    /// its own.
    pub packed: bool,
}

/// A queue of items in bounded room. Threads that find it full, or empty, wait for a
/// condition variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Its name in the workload.
    pub name: String,
    /// The kind of its lock; none: the kind that is compared.
    pub kind: Option<String>,
    /// Items that it has room for.
    pub capacity: u64,
}

/// What serves one use after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its name in the workload.
    pub name: String,
    /// Each NUMA node has one; else the machine.
    pub per_node: bool,
    /// Uses that it serves at the same time.
    pub servers: usize,
    /// Threads keep their CPU while they use it; else they sleep.
    pub busy: bool,
    /// Bytes in a nanosecond, if uses are given in bytes.
    pub rate: Option<f64>,
}

/// What some of the threads do, round after round.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// Its name in the workload.
    pub name: String,
    /// Of as many threads as all roles have parts, this many have this role.
    pub parts: usize,
    /// A round.
    pub steps: Vec<Step>,
}

/// A step, and with which probability a round has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// From 0 to 1.
    pub chance: f64,
    /// What is done.
    pub what: What,
}

/// What a step does. Locks, queues and resources are named by their place in the program.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Computes.
    Think(Time),
    /// Sleeps.
    Sleep(Time),
    /// Takes a lock, does what is inside, and gives it back.
    Lock {
        /// Which.
        lock: usize,
        /// With this probability it is shared.
        reads: f64,
        /// The time inside besides the lock's lines and the steps inside.
        section: Time,
        /// The same of shared ones.
        read_section: Time,
        /// Steps before the lock is given back.
        inside: Vec<Step>,
    },
    /// Puts an item into a queue; waits while it is full.
    Put {
        /// Which.
        queue: usize,
        /// The time under the queue's lock.
        section: Time,
    },
    /// Takes an item from a queue; waits while it is empty.
    Get {
        /// Which.
        queue: usize,
        /// The time under the queue's lock.
        section: Time,
    },
    /// Uses a resource.
    Use {
        /// Which.
        resource: usize,
        /// The time of a server.
        time: Time,
    },
}

impl Program {
    /// Parts of all roles: the least number of threads.
    pub fn parts(&self) -> usize {
        self.roles.iter().map(|role| role.parts).sum()
    }

    /// The place of a thread's role. Threads get them in turn, each role as many in a row as
    /// it has parts.
    pub fn role_of(&self, thread: usize) -> usize {
        let mut left = thread % self.parts();
        for (at, role) in self.roles.iter().enumerate() {
            if left < role.parts {
                return at;
            }
            left -= role.parts;
        }
        unreachable!("the parts are of the roles")
    }

    /// By lock, those of the queues behind the others: the place of its name in
    /// [`Program::lock_names`].
    pub(crate) fn names_of_locks(&self) -> Vec<usize> {
        let counts = self.locks.iter().map(|lock| lock.count);
        let counts = counts.chain(self.queues.iter().map(|_| 1));
        counts
            .enumerate()
            .flat_map(|(name, count)| std::iter::repeat_n(name, count))
            .collect()
    }

    /// The names of the locks, and of the queues behind them, as those of their locks.
    pub fn lock_names(&self) -> impl Iterator<Item = &str> + Clone {
        let locks = self.locks.iter().map(|lock| lock.name.as_str());
        locks.chain(self.queues.iter().map(|queue| queue.name.as_str()))
    }

    /// The kinds that locks and queues ask for, and whether somebody takes them shared.
    pub(crate) fn kinds(&self) -> Vec<(&str, bool)> {
        let locks = self.locks.iter().enumerate();
        let of_locks = locks.filter_map(|(at, lock)| {
            let kind = lock.kind.as_deref()?;
            Some((kind, self.is_shared(at)))
        });
        let of_queues = self.queues.iter().filter_map(|queue| queue.kind.as_deref());
        of_locks
            .chain(of_queues.map(|kind| (kind, false)))
            .collect()
    }

    /// Whether a lock of the compared kind is taken shared.
    pub(crate) fn shares_compared(&self) -> bool {
        let mut locks = self.locks.iter().enumerate();
        locks.any(|(at, lock)| lock.kind.is_none() && self.is_shared(at))
    }

    fn is_shared(&self, of: usize) -> bool {
        let mut roles = self.roles.iter();
        roles.any(|role| any(&role.steps, &|what| {
            matches!(what, What::Lock { lock, reads, .. } if *lock == of && *reads > 0.0)
        }))
    }
}

/// Whether `is` is true of a step, or of one inside.
fn any(steps: &[Step], is: &impl Fn(&What) -> bool) -> bool {
    steps.iter().any(|step| {
        let inside = match &step.what {
            What::Lock { inside, .. } => any(inside, is),
            _ => false,
        };
        inside || is(&step.what)
    })
}
