// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A machine: where its CPUs are, and what its accesses cost.
//!
//! Times are in nanoseconds, as in the machine's file.

/// How far apart two CPUs, or a CPU and a line's home, are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Distance {
    /// The same CPU.
    Own,
    /// Two threads of one core.
    Smt,
    /// Cores that share a last-level cache: a cluster, a CCX.
    Cluster,
    /// Clusters of one die.
    Die,
    /// Dies of one socket.
    Socket,
    /// Sockets with a link between them.
    Hop1,
    /// Sockets two links apart.
    Hop2,
    /// Sockets that only a node controller joins.
    Controller,
}

impl Distance {
    /// How many there are.
    pub const COUNT: usize = 8;
    /// All, the nearest first.
    pub const ALL: [Distance; Distance::COUNT] = [
        Distance::Own,
        Distance::Smt,
        Distance::Cluster,
        Distance::Die,
        Distance::Socket,
        Distance::Hop1,
        Distance::Hop2,
        Distance::Controller,
    ];

    /// As files and tables name it.
    pub const fn name(self) -> &'static str {
        match self {
            Distance::Own => "own",
            Distance::Smt => "smt",
            Distance::Cluster => "cluster",
            Distance::Die => "die",
            Distance::Socket => "socket",
            Distance::Hop1 => "hop1",
            Distance::Hop2 => "hop2",
            Distance::Controller => "controller",
        }
    }
}

/// Where a CPU is. Numbers count through the whole machine, not within the parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The core.
    pub core: u16,
    /// The group of cores with one last-level cache.
    pub cluster: u16,
    /// The die.
    pub die: u16,
    /// The socket.
    pub socket: u16,
    /// The NUMA node, where lines have their home.
    pub node: u16,
}

impl Place {
    /// How far `other` is, if it is on the same socket.
    #[inline]
    pub fn within_socket(&self, other: &Place) -> Option<Distance> {
        if self.core == other.core {
            Some(Distance::Smt)
        } else if self.cluster == other.cluster {
            Some(Distance::Cluster)
        } else if self.die == other.die {
            Some(Distance::Die)
        } else if self.socket == other.socket {
            Some(Distance::Socket)
        } else {
            None
        }
    }
}

/// What it costs to get a line from a distance, in ns, uncontended. For
/// [`Distance::Own`]: the caller's own cache has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// A load of a line that is modified there.
    pub load: f64,
    /// A load of a line that is shared there, and nowhere nearer.
    pub load_shared: f64,
    /// A store to a line that was last used there.
    pub store: f64,
    /// A read-modify-write of such a line.
    pub rmw: f64,
    /// An access to a line that no cache has, with its home there.
    pub memory: f64,
}

/// How a line is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The requester asks all: the way is from it to the line.
    Snoop,
    /// The home knows which CPU has the line. The request goes to the home first, unless
    /// the line is in the requester's own cluster.
    Directory,
}

/// What happens at a line that several want.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineCosts {
    /// The share (0 to 1) of a transfer during which the new owner has the line
    /// already and the next request cannot take it yet: the way back to where
    /// requests are ordered.
    pub hold: f64,
    /// The same where it came for a plain store.
    pub store_hold: f64,
    /// The least time that a new owner keeps it, ns.
    pub hold_min: f64,
    /// How much of a transfer from the owner's side is over when the old owner
    /// loses the line (0 to 1): until then it goes on using it.
    pub request: f64,
    /// What each further copy adds to a store or read-modify-write, ns.
    pub invalidate: f64,
    /// The share (0 to 4) of a load's cost during which the line takes no other
    /// request, for a copy of a copy that comes from another cluster: there,
    /// requests are ordered one at a time. Within a cluster it is `hold_min`.
    pub occupancy: f64,
    /// How much a nearer request is preferred: a request waits as if it had come
    /// later by this many times its uncontended cost. 0: first come, first served.
    pub near_bias: f64,
    /// From a line's loss until a CPU that spins on it asks for it again, ns.
    pub respin: f64,
}

/// What a CPU's own steps cost, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuCosts {
    /// One `cpu_relax()`.
    pub relax: f64,
    /// A call of a lock function, with the branches in it.
    pub call: f64,
    /// A full fence with an empty store buffer.
    pub fence: f64,
    /// Stores that a CPU may have under way.
    pub store_buffer: u32,
}

/// The operating system's scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchedulerCosts {
    /// How long a thread runs while others of its CPU are ready, µs.
    pub slice_us: f64,
    /// From a wake-up until the sleeper runs on an idle CPU, µs.
    pub wake_us: f64,
    /// What the waker pays for it, µs.
    pub waker_us: f64,
    /// To leave the CPU, and to switch threads, µs.
    pub switch_us: f64,
    /// A program's call that is to sleep and finds the word changed, until it is back, ns.
    pub wait_call: f64,
    /// A program's call that is to wake and finds nobody asleep, ns.
    pub wake_call: f64,
}

/// What a kick does beside waking the halted virtual CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirectedYield {
    /// Nothing: that one waits for its turn.
    #[default]
    Off,
    /// It runs at once, in place of the one that has its CPU.
    On,
    /// It runs at once if the kicker has its CPU, in place of the kicker and for the rest of
    /// the kicker's slice. Otherwise it is the next.
    Donate,
}

/// What runs the machine, where its CPUs are virtual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HypervisorCosts {
    /// How long a virtual CPU runs while others of its CPU are ready, µs.
    pub slice_us: f64,
    /// From a kick until the halted virtual CPU runs on an idle CPU, µs.
    pub kick_us: f64,
    /// What the kicker pays for it, µs.
    pub kicker_us: f64,
    /// To halt, and to switch virtual CPUs, µs.
    pub switch_us: f64,
    /// What a kick does for the kicked one.
    pub directed_yield: DirectedYield,
}

/// A machine, read from its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// What users type.
    pub name: String,
    /// One line for lists.
    pub summary: String,
    /// By CPU number.
    pub places: Vec<Place>,
    /// By socket, row after row: how far apart two sockets are.
    pub sockets: Vec<Distance>,
    /// By distance. What the machine does not have is zero; but `memory` is that
    /// of the CPU's own node for all distances within a node.
    pub costs: [Costs; Distance::COUNT],
    /// How a line is found.
    pub home: Home,
    /// Of lines that several want.
    pub line: LineCosts,
    /// Of a CPU's own steps.
    pub cpu: CpuCosts,
    /// By number of other threads of the core that compute: how many times as long a thread
    /// computes then. Empty: they do not disturb each other.
    pub smt: Vec<f64>,
    /// By number of active cores of a socket: how many times as long as with all of them
    /// active a core takes for its own steps. Empty: always as long.
    pub slowness: Vec<f64>,
    /// Of the scheduler.
    pub scheduler: SchedulerCosts,
    /// Of the hypervisor; used when a simulation has one.
    pub hypervisor: HypervisorCosts,
    /// By core, row after row: the cost of getting a modified line, ns. Where
    /// it is there it stands for `load`, `store` and `rmw` of other cores.
    pub matrix: Option<Vec<f32>>,
}

impl Machine {
    /// Its CPUs.
    pub fn cpus(&self) -> usize {
        self.places.len()
    }

    /// Whether threads of a core that compute slow each other down.
    pub fn slows_siblings(&self) -> bool {
        self.smt.iter().any(|&times| times > 1.0)
    }

    /// Its NUMA nodes.
    pub fn nodes(&self) -> usize {
        let nodes = self.places.iter().map(|place| usize::from(place.node) + 1);
        nodes.max().unwrap_or(0)
    }

    /// Its sockets.
    pub fn socket_count(&self) -> usize {
        self.sockets.len().isqrt()
    }

    /// How far apart two CPUs are.
    pub fn distance(&self, a: usize, b: usize) -> Distance {
        if a == b {
            return Distance::Own;
        }
        self.between(&self.places[a], &self.places[b])
    }

    /// How far apart two places are; one place from itself: [`Distance::Smt`].
    pub fn between(&self, a: &Place, b: &Place) -> Distance {
        a.within_socket(b).unwrap_or_else(|| {
            self.sockets[usize::from(a.socket) * self.socket_count() + usize::from(b.socket)]
        })
    }
}
