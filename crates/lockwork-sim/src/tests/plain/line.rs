// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A line's states, and what each access to it costs: "Lines" and "Prices" of docs/sim.md.

use crate::engine::caches::{ps, Kind};
use crate::engine::Ps;
use crate::machine::{Costs, Distance, Home, Machine, Place};
use std::collections::{BTreeMap, BTreeSet};

/// A part of a CPU that asks for lines: its thread (0), or one of its stores (1 to 3).
pub(super) type Who = (usize, usize);

/// The CPUs that have a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Nowhere,
    Alone(usize),
    Copies(BTreeSet<usize>),
    /// On its way to a CPU.
    Coming(usize),
}

#[derive(Debug)]
pub(super) struct Line {
    pub state: State,
    /// Copies of which the CPU that has it alone does not know: these were read from memory
    /// at the same time.
    pub beside: BTreeSet<usize>,
    /// Its only user so far.
    pub only: Option<usize>,
    /// The node of its first user.
    pub home: u16,
    pub free_at: Ps,
    /// Until then requests of its island come first.
    pub stays: Ps,
    /// Requests that have arrived, in that order.
    pub waiting: Vec<Who>,
    /// By cluster: when the copy in its shared cache is there, and when that can serve next.
    pub shared: BTreeMap<u16, (Ps, Ps)>,
}

impl Line {
    /// Nobody has used it yet but this CPU, of this node.
    pub fn new(home: u16, user: usize) -> Line {
        Line {
            state: State::Nowhere,
            beside: BTreeSet::new(),
            only: Some(user),
            home,
            free_at: 0,
            stays: 0,
            waiting: Vec::new(),
            shared: BTreeMap::new(),
        }
    }

    /// Whether `cpu` can do it without asking.
    pub fn serves(&self, cpu: usize, kind: Kind) -> bool {
        match &self.state {
            State::Alone(owner) if *owner == cpu => true,
            State::Alone(_) => kind == Kind::Load && self.beside.contains(&cpu),
            State::Copies(all) => kind == Kind::Load && all.contains(&cpu),
            State::Nowhere | State::Coming(_) => false,
        }
    }

    /// Copies that a store or read-modify-write of `cpu` takes back, besides one.
    fn further(&self, cpu: usize) -> usize {
        let all = match &self.state {
            State::Copies(all) => all,
            _ => &self.beside,
        };
        let others = all.iter().filter(|&&other| other != cpu);
        others.count().saturating_sub(1)
    }
}

/// What an access costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    pub cost: Ps,
    pub from_memory: bool,
    /// It comes from another cluster.
    pub from_far: bool,
    pub over_controller: bool,
}

/// The machine, and where the programs' CPUs are in it.
pub(super) struct Prices<'a> {
    pub machine: &'a Machine,
    /// By CPU of the programs: its number in the machine.
    pub cpus: Vec<usize>,
}

impl Prices<'_> {
    pub fn place(&self, cpu: usize) -> &Place {
        &self.machine.places[self.cpus[cpu]]
    }

    pub fn distance(&self, a: usize, b: usize) -> Distance {
        self.machine.distance(self.cpus[a], self.cpus[b])
    }

    /// Whether no node controller is between `cpu` and those that have `line`, or get it.
    pub fn in_island(&self, line: &Line, cpu: usize) -> bool {
        let near = |other: usize| self.distance(cpu, other) != Distance::Controller;
        let all = || 0..self.cpus.len();
        let cluster = |other: &usize| line.shared.contains_key(&self.place(*other).cluster);
        match &line.state {
            State::Alone(owner) => near(*owner),
            _ if !line.shared.is_empty() => all().filter(cluster).any(near),
            State::Coming(to) => near(*to),
            State::Copies(_) | State::Nowhere => false,
        }
    }

    /// What its own cache costs a CPU with all cores active.
    pub fn own(&self, kind: Kind) -> Ps {
        ps(by_kind(&self.at(Distance::Own), kind))
    }

    /// What a load costs that the cluster's cache serves.
    pub fn in_cluster(&self) -> Ps {
        ps(self.at(Distance::Cluster).load_shared)
    }

    fn at(&self, distance: Distance) -> Costs {
        self.machine.costs[distance as usize]
    }

    pub fn price(&self, line: &Line, cpu: usize, kind: Kind) -> Price {
        let other = match &line.state {
            State::Nowhere => return self.memory(line, cpu),
            State::Alone(other) | State::Coming(other) => *other,
            State::Copies(all) if kind == Kind::Load => self.nearest(all, cpu),
            State::Copies(all) => self.farthest(all, cpu),
        };
        let further = match kind {
            Kind::Load => 0,
            _ => line.further(cpu),
        };
        let alone = matches!(line.state, State::Alone(_));
        let distance = self.way(line, cpu, other);
        let cost = match (kind, alone) {
            (Kind::Load, false) => self.at(distance).load_shared,
            _ => by_kind(&self.at(distance), kind),
        };
        let cores = [cpu, other].map(|cpu| usize::from(self.place(cpu).core));
        let cost = match &self.machine.matrix {
            Some(matrix) if alone && cores[0] != cores[1] => {
                let all = self.machine.places.iter().map(|place| place.core + 1);
                let row = usize::from(all.max().expect("a core"));
                f64::from(matrix[cores[0] * row + cores[1]])
            }
            _ => cost,
        };
        Price {
            cost: ps(cost) + ps(self.machine.line.invalidate) * further as Ps,
            from_memory: false,
            from_far: distance > Distance::Cluster,
            over_controller: distance == Distance::Controller,
        }
    }

    fn memory(&self, line: &Line, cpu: usize) -> Price {
        let distance = match self.place(cpu).node == line.home {
            true => Distance::Own,
            false => self.to_home(line, cpu),
        };
        Price {
            cost: ps(self.at(distance).memory),
            from_memory: true,
            from_far: true,
            over_controller: distance == Distance::Controller,
        }
    }

    /// The way between two CPUs, or over the line's home if all lead there.
    fn way(&self, line: &Line, cpu: usize, other: usize) -> Distance {
        let direct = self.distance(cpu, other);
        if self.machine.home == Home::Snoop || direct <= Distance::Cluster {
            return direct;
        }
        let ways = [self.to_home(line, cpu), self.to_home(line, other)];
        direct.max(ways[0]).max(ways[1])
    }

    /// Within the home's node it is that of two clusters of a die.
    fn to_home(&self, line: &Line, cpu: usize) -> Distance {
        let here = self.place(cpu);
        let mut all = self.machine.places.iter();
        let home = all.find(|place| place.node == line.home).expect("a node");
        match here.node == home.node {
            true => Distance::Die,
            false if here.socket == home.socket => Distance::Socket,
            false => self.machine.between(here, home),
        }
    }

    /// Of several as near the first one, where they are.
    fn nearest(&self, all: &BTreeSet<usize>, cpu: usize) -> usize {
        let order = |&&other: &&usize| (self.distance(cpu, other), self.order(other));
        *all.iter().min_by_key(order).expect("a copy")
    }

    /// Of several as far the first one, but of several sockets the last one's.
    fn farthest(&self, all: &BTreeSet<usize>, cpu: usize) -> usize {
        let far = |other: usize| {
            let distance = self.distance(cpu, other);
            let elsewhere = self.place(other).socket != self.place(cpu).socket;
            (distance, elsewhere.then_some(self.place(other).socket))
        };
        let most = all.iter().map(|&other| far(other)).max();
        let those = all.iter().filter(|&&other| Some(far(other)) == most);
        *those.min_by_key(|&&other| self.order(other)).expect("one")
    }

    fn order(&self, cpu: usize) -> (u16, u16, u16, u16, usize) {
        let at = self.place(cpu);
        (at.socket, at.die, at.cluster, at.core, self.cpus[cpu])
    }
}

fn by_kind(costs: &Costs, kind: Kind) -> f64 {
    match kind {
        Kind::Load => costs.load,
        Kind::Store => costs.store,
        Kind::Rmw => costs.rmw,
    }
}
