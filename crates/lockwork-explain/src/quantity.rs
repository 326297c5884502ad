// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The vocabulary: what is said of a lock, in every world.

/// How a figure is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// A part of one.
    Share,
    /// So many for each acquisition.
    Each,
    /// Nanoseconds for each acquisition.
    Ns,
}

/// Something that is said of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Acquisitions, shared ones too.
    Acquisitions,
    /// Those that found the lock held, or that others came before.
    Contended,
    /// The time that threads waited for locks, of the time that they ran or slept.
    Waited,
    /// Atomic read-modify-writes.
    LockedInstructions,
    /// Lines from a cache of the same core.
    LinesCore,
    /// Of another core of the cluster.
    LinesCluster,
    /// Of another cluster of the socket.
    LinesSocket,
    /// Of another socket.
    LinesRemote,
    /// From memory.
    LinesMemory,
    /// The holder before ran on the same core.
    HandoverCore,
    /// On another core of the cluster.
    HandoverCluster,
    /// In another cluster of the socket.
    HandoverSocket,
    /// On another socket.
    HandoverRemote,
    /// Times that a waiter slept.
    Sleeps,
    /// Calls that wake a sleeper.
    Wakeups,
    /// Those whose sleeper got the lock before it slept again.
    UsefulWakeups,
    /// Those that found nobody asleep.
    FutileWakeups,
    /// Context switches because a thread slept.
    Voluntary,
    /// Context switches because a thread was preempted, or yielded.
    Involuntary,
    /// Holders that lost their CPU.
    PreemptedHolders,
    /// CPU time of the threads, with what they do inside and outside of the lock.
    Cpu,
}

use Quantity::{
    Acquisitions, Contended, Cpu, FutileWakeups, HandoverCluster, HandoverCore, HandoverRemote,
    HandoverSocket, Involuntary, LinesCluster, LinesCore, LinesMemory, LinesRemote, LinesSocket,
    LockedInstructions, PreemptedHolders, Sleeps, UsefulWakeups, Voluntary, Waited, Wakeups,
};

impl Quantity {
    /// All, in the order of the table.
    pub const ALL: [Quantity; 21] = [
        Acquisitions,
        Contended,
        Waited,
        LockedInstructions,
        LinesCore,
        LinesCluster,
        LinesSocket,
        LinesRemote,
        LinesMemory,
        HandoverCore,
        HandoverCluster,
        HandoverSocket,
        HandoverRemote,
        Sleeps,
        Wakeups,
        UsefulWakeups,
        FutileWakeups,
        Voluntary,
        Involuntary,
        PreemptedHolders,
        Cpu,
    ];
    /// Lines by where they came from.
    pub const LINES: [Quantity; 5] = [
        LinesCore,
        LinesCluster,
        LinesSocket,
        LinesRemote,
        LinesMemory,
    ];
    /// Hand-overs by how far away the holder before was.
    pub const HANDOVERS: [Quantity; 4] = [
        HandoverCore,
        HandoverCluster,
        HandoverSocket,
        HandoverRemote,
    ];

    /// As tables name it, and as programs do.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Acquisitions => ("acquisitions", "acquisitions"),
            Contended => ("contended, share", "contended"),
            Waited => ("time waited, share", "waited"),
            LockedInstructions => ("locked instructions", "locked_instructions"),
            LinesCore => ("lines from the same core", "lines_core"),
            LinesCluster => ("lines from the cluster", "lines_cluster"),
            LinesSocket => ("lines from the socket", "lines_socket"),
            LinesRemote => ("lines from other sockets", "lines_remote"),
            LinesMemory => ("lines from memory", "lines_memory"),
            HandoverCore => ("hand-overs on a core, share", "handovers_core"),
            HandoverCluster => ("hand-overs in a cluster, share", "handovers_cluster"),
            HandoverSocket => ("hand-overs in a socket, share", "handovers_socket"),
            HandoverRemote => ("hand-overs between sockets, share", "handovers_remote"),
            Sleeps => ("sleeps", "sleeps"),
            Wakeups => ("wake-ups", "wakeups"),
            UsefulWakeups => ("useful, share of wake-ups", "wakeups_useful"),
            FutileWakeups => ("found nobody, share of wake-ups", "wakeups_futile"),
            Voluntary => ("voluntary context switches", "voluntary_switches"),
            Involuntary => ("involuntary context switches", "involuntary_switches"),
            PreemptedHolders => ("preempted holders", "preempted_holders"),
            Cpu => ("CPU time", "cpu_ns"),
        }
    }

    /// What people read.
    pub fn label(self) -> &'static str {
        self.names().0
    }

    /// The key in JSON.
    pub fn key(self) -> &'static str {
        self.names().1
    }

    /// How it is written.
    pub fn unit(self) -> Unit {
        match self {
            Acquisitions => Unit::Count,
            Contended | Waited | UsefulWakeups | FutileWakeups => Unit::Share,
            HandoverCore | HandoverCluster | HandoverSocket | HandoverRemote => Unit::Share,
            Cpu => Unit::Ns,
            _ => Unit::Each,
        }
    }
}
