// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The caches: who has which line, and what it costs to get it.
//!
//! Places are the machine's CPUs, numbered by where they are, so that the CPUs
//! of a core, a cluster, a die and a socket are next to each other.

pub(crate) use super::line::Kind;
use super::line::{Fill, Line, NONE};
use super::tree::Ps;
use crate::machine::{Distance, Home, Machine, Place};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Picoseconds of `ns`.
pub(crate) fn ps(ns: f64) -> Ps {
    (ns * 1000.0).round() as Ps
}

/// What a request costs, and where its line comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Price {
    pub cost: Ps,
    pub distance: Distance,
    /// The socket that sends the line.
    pub from: u16,
    pub from_memory: bool,
}

impl Price {
    /// Of what was not asked for.
    pub const NONE: Price = Price {
        cost: 0,
        distance: Distance::Own,
        from: 0,
        from_memory: false,
    };
}

/// Lines that are found without the index.
const FOUND: usize = 1024;

/// [`crate::machine::Costs`] in ps.
#[derive(Clone, Copy, Default)]
struct Table {
    load: Ps,
    load_shared: Ps,
    store: Ps,
    rmw: Ps,
    memory: Ps,
}

/// All lines that were ever touched, and the machine that they move in.
pub(crate) struct Caches {
    pub lines: Vec<Line>,
    index: FxHashMap<usize, u32>,
    /// Some entries of it: number of the line's address, and of the line.
    found: Box<[(usize, u32); FOUND]>,
    places: Vec<Place>,
    /// By place: the places of its core, cluster, die and socket.
    near: Vec<[Range<u16>; 4]>,
    sockets: Vec<Range<u16>>,
    /// By cluster: the first socket of its island.
    islands: Vec<u16>,
    /// By socket: the others, as [`Caches::nearest`] and [`Caches::farthest`] look through them.
    others: Vec<[Vec<u16>; 2]>,
    /// By die and by die: how far apart their places are. Within one it depends on them.
    dies: Vec<Distance>,
    die_count: usize,
    /// By node and by node: how far it is from a place in the first to a line whose home is the
    /// second.
    homes: Vec<Distance>,
    /// A place of each node.
    nodes: Vec<Place>,
    costs: [Table; Distance::COUNT],
    home: Home,
    invalidate: Ps,
    matrix: Option<Vec<f32>>,
    cores: usize,
}

/// The other sockets: by their distance, the nearest first, and the farthest first.
fn others(machine: &Machine, socket: usize) -> [Vec<u16>; 2] {
    let count = machine.socket_count();
    let mut others: Vec<usize> = (0..count).filter(|&other| other != socket).collect();
    others.sort_by_key(|other| machine.sockets[socket * count + other]);
    let nearest: Vec<u16> = others.iter().map(|&other| other as u16).collect();
    let farthest = nearest.iter().rev().copied().collect();
    [nearest, farthest]
}

/// By cluster: the first socket that no node controller parts from it.
fn islands(machine: &Machine, places: &[Place]) -> Vec<u16> {
    let count = machine.socket_count();
    let island = |socket: usize| {
        let row = &machine.sockets[socket * count..][..count];
        let near = |other: &usize| *other == socket || row[*other] != Distance::Controller;
        (0..count).find(near).map_or(0, |first| first as u16)
    };
    let clusters = places.chunk_by(|a, b| a.cluster == b.cluster);
    let socket = |cluster: &[Place]| usize::from(cluster[0].socket);
    clusters.map(|cluster| island(socket(cluster))).collect()
}

/// How far apart these places are, which are of different dies or nodes; or `own`, from itself.
fn distances(machine: &Machine, of: &[Place], own: Distance) -> Vec<Distance> {
    let count = machine.socket_count();
    let between = |a: &Place, b: &Place| match a == b {
        true => own,
        false if a.socket == b.socket => Distance::Socket,
        false => machine.sockets[usize::from(a.socket) * count + usize::from(b.socket)],
    };
    let row = |a| of.iter().map(move |b| between(a, b));
    of.iter().flat_map(row).collect()
}

impl Caches {
    /// Cold caches, and for each CPU number its place.
    pub fn new(machine: &Machine) -> (Self, Vec<u16>) {
        let mut order: Vec<usize> = (0..machine.cpus()).collect();
        order.sort_by_key(|&cpu| {
            let at = &machine.places[cpu];
            (at.socket, at.die, at.cluster, at.core, cpu)
        });
        let mut place_of = vec![0; machine.cpus()];
        for (place, &cpu) in order.iter().enumerate() {
            place_of[cpu] = place as u16;
        }
        let places: Vec<Place> = order.iter().map(|&cpu| machine.places[cpu]).collect();
        let range = |same: &dyn Fn(&Place) -> bool| {
            let first = places.iter().position(same).unwrap_or(0);
            let count = places.iter().filter(|place| same(place)).count();
            first as u16..(first + count) as u16
        };
        let near = places
            .iter()
            .map(|at| {
                [
                    range(&|other| other.core == at.core),
                    range(&|other| other.cluster == at.cluster),
                    range(&|other| other.die == at.die),
                    range(&|other| other.socket == at.socket),
                ]
            })
            .collect();
        let sockets = (0..machine.socket_count())
            .map(|socket| range(&|other| usize::from(other.socket) == socket))
            .collect();
        let others = (0..machine.socket_count()).map(|socket| others(machine, socket));
        let node = |node| places.iter().find(|at| usize::from(at.node) == node);
        let nodes: Vec<Place> = (0..machine.nodes()).filter_map(node).copied().collect();
        let die_count = places.last().map_or(0, |last| usize::from(last.die) + 1);
        let die = |die| places.iter().find(|at| usize::from(at.die) == die);
        let dies: Vec<Place> = (0..die_count).filter_map(die).copied().collect();
        let costs = machine.costs.map(|costs| Table {
            load: ps(costs.load),
            load_shared: ps(costs.load_shared),
            store: ps(costs.store),
            rmw: ps(costs.rmw),
            memory: ps(costs.memory),
        });
        let caches = Caches {
            lines: Vec::new(),
            index: FxHashMap::default(),
            found: Box::new([(usize::MAX, 0); FOUND]),
            near,
            sockets,
            islands: islands(machine, &places),
            others: others.collect(),
            dies: distances(machine, &dies, Distance::Own),
            die_count,
            homes: distances(machine, &nodes, Distance::Die),
            nodes,
            costs,
            home: machine.home,
            invalidate: ps(machine.line.invalidate),
            matrix: machine.matrix.clone(),
            cores: places
                .iter()
                .map(|at| usize::from(at.core) + 1)
                .max()
                .unwrap_or(0),
            places,
        };
        (caches, place_of)
    }

    /// The line at `addr`; its home is the node of `place` if it is new.
    #[inline]
    pub fn line_of(&mut self, addr: usize, place: u16) -> u32 {
        self.find(addr, place).0
    }

    /// The line at `addr`; if it is new, `place` has it alone: as the stack of a thread that has
    /// run before.
    #[inline]
    pub fn own_line_of(&mut self, addr: usize, place: u16) -> u32 {
        let (line, new) = self.find(addr, place);
        if new {
            self.lines[line as usize].owner = place;
        }
        line
    }

    /// The line at `addr`, and whether it is new.
    #[inline]
    fn find(&mut self, addr: usize, place: u16) -> (u32, bool) {
        let number = addr >> 6;
        let found = self.found[number % FOUND];
        if found.0 == number {
            return (found.1, false);
        }
        self.find_in_index(number, place)
    }

    fn find_in_index(&mut self, number: usize, place: u16) -> (u32, bool) {
        let next = self.lines.len() as u32;
        let line = *self.index.entry(number).or_insert(next);
        if line == next {
            let home = self.places[usize::from(place)].node;
            self.lines.push(Line::new(home, place));
        }
        self.found[number % FOUND] = (number, line);
        (line, line == next)
    }

    /// Whether `place` can do `kind` to `line` without asking.
    #[inline]
    pub fn has(&self, line: u32, place: u16, kind: Kind) -> bool {
        let line = &self.lines[line as usize];
        line.owner == place || (kind == Kind::Load && line.copies > 0 && line.has_copy(place))
    }

    /// What its own cache costs a CPU.
    #[inline]
    pub fn hit(&self, kind: Kind) -> Ps {
        let own = &self.costs[Distance::Own as usize];
        match kind {
            Kind::Load => own.load,
            Kind::Store => own.store,
            Kind::Rmw => own.rmw,
        }
    }

    /// The place's socket.
    pub fn socket(&self, place: u16) -> u16 {
        self.places[usize::from(place)].socket
    }

    /// The place's core.
    pub fn core(&self, place: u16) -> u16 {
        self.places[usize::from(place)].core
    }

    /// The place's NUMA node.
    pub fn node(&self, place: u16) -> u16 {
        self.places[usize::from(place)].node
    }

    /// The place's cluster.
    pub fn cluster(&self, place: u16) -> u16 {
        self.places[usize::from(place)].cluster
    }

    /// How many clusters there are.
    pub fn clusters(&self) -> usize {
        // They are numbered through, and places are in their order.
        self.places
            .last()
            .map_or(1, |last| usize::from(last.cluster) + 1)
    }

    /// How many NUMA nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// How far apart two places are.
    #[inline]
    pub fn distance(&self, a: u16, b: u16) -> Distance {
        let (at, other) = (&self.places[usize::from(a)], &self.places[usize::from(b)]);
        if at.die != other.die {
            return self.dies[usize::from(at.die) * self.die_count + usize::from(other.die)];
        }
        match (at.cluster == other.cluster, at.core == other.core) {
            (false, _) => Distance::Die,
            (true, false) => Distance::Cluster,
            (true, true) if a != b => Distance::Smt,
            (true, true) => Distance::Own,
        }
    }

    #[inline]
    fn to_home(&self, place: u16, home: u16) -> Distance {
        let node = self.places[usize::from(place)].node;
        self.homes[usize::from(node) * self.nodes.len() + usize::from(home)]
    }

    /// `direct`, or the longest of the ways over the home where all lead there.
    fn way(&self, direct: Distance, line: &Line, place: u16, other: u16) -> Distance {
        if self.home == Home::Snoop || direct <= Distance::Cluster {
            return direct;
        }
        let ways = [
            self.to_home(place, line.home),
            self.to_home(other, line.home),
        ];
        ways.into_iter().fold(direct, Distance::max)
    }

    /// What `kind` of access to `line` costs `place`, which does not have it.
    #[inline]
    pub fn price(&self, line: u32, place: u16, kind: Kind) -> Price {
        let line = &self.lines[line as usize];
        if line.owner != NONE {
            self.price_from(line.owner, line, place, kind)
        } else if line.copies > 0 {
            self.price_shared(line, place, kind)
        } else if line.coming != NONE {
            self.price_from(line.coming, line, place, kind)
        } else {
            self.memory(line, place)
        }
    }

    #[inline(never)]
    fn price_shared(&self, line: &Line, place: u16, kind: Kind) -> Price {
        let other = match (line.sole_copy_but(place), kind) {
            (Some(sole), _) if kind != Kind::Load || line.copies == 1 => sole,
            (_, Kind::Load) => self.nearest(line, place),
            (_, _) => self.farthest(line, place),
        };
        self.price_from(other, line, place, kind)
    }

    /// The same, where the line comes from `other`, or the answer that counts.
    #[inline]
    fn price_from(&self, other: u16, line: &Line, place: u16, kind: Kind) -> Price {
        let direct = self.distance(place, other);
        let distance = self.way(direct, line, place, other);
        let table = &self.costs[distance as usize];
        let mut cost = match kind {
            Kind::Load if line.owner == NONE => table.load_shared,
            Kind::Load => table.load,
            Kind::Store => table.store,
            Kind::Rmw => table.rmw,
        };
        if let (Some(matrix), true) = (&self.matrix, line.owner != NONE) {
            let core = |place: u16| usize::from(self.places[usize::from(place)].core);
            if core(place) != core(other) {
                cost = ps(f64::from(matrix[core(place) * self.cores + core(other)]));
            }
        }
        if kind != Kind::Load && line.copies > 1 {
            let others = line.copies - u16::from(line.has_copy(place));
            cost += self.invalidate * Ps::from(others.saturating_sub(1));
        }
        Price {
            cost,
            distance,
            from: self.socket(other),
            from_memory: false,
        }
    }

    /// What a load costs `place` that the cache of its cluster serves.
    pub fn price_in_cluster(&self, place: u16) -> Price {
        Price {
            cost: self.costs[Distance::Cluster as usize].load_shared,
            distance: Distance::Cluster,
            from: self.socket(place),
            from_memory: false,
        }
    }

    /// Whether an island has the line, or it is on its way there: that of `place`. Its sockets are
    /// those that no node controller parts from it.
    pub fn in_island(&self, line: u32, place: u16) -> bool {
        let line = &self.lines[line as usize];
        let island = self.islands[usize::from(self.cluster(place))];
        let of = |place| self.islands[usize::from(self.cluster(place))] == island;
        if line.owner != NONE {
            return of(line.owner);
        }
        if line.fills.is_empty() {
            return line.coming != NONE && of(line.coming);
        }
        let mut fills = line.fills.iter();
        fills.any(|fill| self.islands[usize::from(fill.cluster)] == island)
    }

    /// The copy of the place's cluster, there or on its way, if the line is shared.
    pub fn fill_of(&mut self, line: u32, place: u16) -> Option<&mut Fill> {
        let cluster = self.cluster(place);
        let line = &mut self.lines[line as usize];
        if line.owner != NONE {
            return None;
        }
        line.fills.iter_mut().find(|fill| fill.cluster == cluster)
    }

    /// From `ready` on, the place's cluster has a copy.
    pub fn fill(&mut self, line: u32, place: u16, ready: Ps) {
        if self.fill_of(line, place).is_none() {
            let cluster = self.cluster(place);
            self.lines[line as usize].fills.push(Fill {
                cluster,
                ready,
                free_at: 0,
            });
        }
    }

    fn memory(&self, line: &Line, place: u16) -> Price {
        let local = self.places[usize::from(place)].node == line.home;
        let distance = if local {
            Distance::Own
        } else {
            self.to_home(place, line.home)
        };
        Price {
            cost: self.costs[distance as usize].memory,
            distance,
            from: self.nodes[usize::from(line.home)].socket,
            from_memory: true,
        }
    }

    fn nearest(&self, line: &Line, place: u16) -> u16 {
        let rings = &self.near[usize::from(place)];
        let near = rings.iter().find_map(|ring| line.first_copy_in(ring));
        let others = &self.others[usize::from(self.socket(place))][0];
        near.unwrap_or_else(|| self.copy_in(line, place, others))
    }

    fn farthest(&self, line: &Line, place: u16) -> u16 {
        let rings = &self.near[usize::from(place)];
        if line.copies > line.copies_in(&rings[3]) {
            let others = &self.others[usize::from(self.socket(place))][1];
            return self.copy_in(line, place, others);
        }
        let outside = |ring: &Range<u16>, inner: &Range<u16>| {
            let before = line.first_copy_in(&(ring.start..inner.start));
            before.or_else(|| line.first_copy_in(&(inner.end..ring.end)))
        };
        let found = (1..4).rev().find_map(|i| outside(&rings[i], &rings[i - 1]));
        found
            .or_else(|| line.first_copy_in(&(rings[0].start..place)))
            .or_else(|| line.first_copy_in(&(place + 1..rings[0].end)))
            .unwrap_or(place)
    }

    /// The first copy in `others`, which are sockets.
    fn copy_in(&self, line: &Line, place: u16, others: &[u16]) -> u16 {
        let copy = |&socket: &u16| line.first_copy_in(&self.sockets[usize::from(socket)]);
        others.iter().find_map(copy).unwrap_or(place)
    }

    /// Takes the line from all that have it.
    pub fn take_away(&mut self, line: u32) {
        self.lines[line as usize].take_away();
    }

    /// The line has arrived at `place`, which has it alone now.
    pub fn give_alone(&mut self, line: u32, place: u16) {
        let line = &mut self.lines[line as usize];
        line.owner = place;
        line.changes += 1;
    }

    /// Who had it alone shares it from now on.
    pub fn share(&mut self, line: u32) {
        let at = &mut self.lines[line as usize];
        let owner = at.owner;
        if owner != NONE {
            at.owner = NONE;
            at.changes += 1;
            self.give_copy(line, owner);
        }
    }

    /// A copy has arrived at `place`.
    pub fn give_copy(&mut self, line: u32, place: u16) {
        let places = self.places.len();
        self.lines[line as usize].give_copy(place, places);
    }
}
