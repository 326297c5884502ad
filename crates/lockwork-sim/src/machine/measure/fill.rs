// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From what was measured to a machine's file.

use std::fmt::Write;

use lockwork_report::machine::Machine as Host;
use toml::Spanned;

use super::super::costs::in_node;
use super::super::figure::{Figure, Unit};
use super::super::file::{
    About, Class, Cpu, Distances, File, Home, Hypervisor, Line, MatrixFile, Scheduler, Topology,
};
use super::plan::Measured;
use super::regular::Regular;
use crate::machine::Distance;

fn plain<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

fn assumed<U: Unit>(value: f64) -> Figure<U> {
    Figure::new(value, "assumed")
}

/// A number as it is worth writing: to a tenth of a percent or so.
fn rounded(value: f64) -> f64 {
    let decimals = if value < 10.0 { 100.0 } else { 10.0 };
    (value * decimals).round() / decimals
}

/// The file.
pub(super) fn file(
    measured: &Measured,
    regular: &Regular,
    host: &Host,
    source: &str,
    matrix: &str,
) -> File {
    let of = |value: f64| Figure::new(rounded(value), source);
    let alone = &measured.alone;
    File {
        machine: About {
            summary: summary(regular, host),
            source: source.to_owned(),
        },
        topology: topology(regular),
        matrix: (regular.shape.all_cores() > 1).then(|| MatrixFile {
            file: plain(matrix.to_owned()),
            source: source.to_owned(),
        }),
        distance: plain(distances(measured, regular, source)),
        line: line(),
        cpu: Cpu {
            relax: of(alone.relax),
            call: assumed(2.0),
            fence: of(alone.fence),
            store_buffer: assumed(50.0),
            smt_slowdown: None,
        },
        smt: Vec::new(),
        boost: Vec::new(),
        scheduler: scheduler(measured, source),
        hypervisor: Hypervisor {
            slice: assumed(6000.0),
            kick: assumed(5.0),
            kicker: assumed(2.0),
            switch: assumed(3.0),
            directed_yield: false,
        },
        calibration: None,
    }
}

fn summary(regular: &Regular, host: &Host) -> String {
    let shape = &regular.shape;
    let model = host.model.as_deref().unwrap_or("unnamed processor");
    let cpus = regular.cpus.len();
    format!(
        "{model}: {cpus} CPU{}, {} socket{}",
        if cpus == 1 { "" } else { "s" },
        shape.sockets,
        if shape.sockets == 1 { "" } else { "s" }
    )
}

fn topology(regular: &Regular) -> Topology {
    let count = |n: usize| plain(n as i64);
    let shape = &regular.shape;
    let rows = |rows: &Vec<Vec<i64>>| plain(rows.iter().cloned().map(plain).collect());
    Topology {
        sockets: count(shape.sockets),
        dies_per_socket: count(shape.dies),
        clusters_per_die: count(shape.clusters),
        cores_per_cluster: count(shape.cores),
        threads_per_core: count(shape.threads),
        numa: regular.numa,
        links: None,
        hops: regular.hops.as_ref().map(rows),
        island_sockets: None,
    }
}

/// The distance's median of the matrix, as far as there is one.
pub(super) fn medians(measured: &Measured, regular: &Regular) -> [Option<f64>; Distance::COUNT] {
    let cores = regular.shape.all_cores();
    let mut by_distance: [Vec<f64>; Distance::COUNT] = Default::default();
    for a in 0..cores {
        for b in a + 1..cores {
            let distance = regular.distance(a, b);
            by_distance[distance as usize].push(measured.matrix[a * cores + b]);
        }
    }
    by_distance.map(|mut all| super::pairs::spread(&mut all).map(|spread| spread.median))
}

fn distances(measured: &Measured, regular: &Regular, source: &str) -> Distances {
    let of = |value: f64| Some(Figure::new(rounded(value), source));
    let alone = &measured.alone;
    let mut all = Distances {
        own: Some(plain(Class {
            load: of(alone.load),
            load_shared: None,
            store: of(alone.store),
            rmw: of(alone.rmw),
            memory: measured.memory[Distance::Own as usize].and_then(of),
        })),
        ..Distances::default()
    };
    let mut medians = medians(measured, regular);
    medians[Distance::Smt as usize] = measured.smt;
    for distance in Distance::ALL {
        let Some(way) = medians[distance as usize] else {
            continue;
        };
        let memory =
            measured.memory[distance as usize].filter(|_| !in_node(distance, regular.numa));
        let source = match measured.wild[distance as usize] {
            0.0 => source.to_owned(),
            wild => format!("{source}; its samples vary by {:.0} %", wild * 100.0),
        };
        let way_of = |value: f64| Some(Figure::new(rounded(value), &source));
        // A thread of the same core reads the same cache.
        let shared = match distance {
            Distance::Smt => of(alone.load),
            _ => Some(Figure::new(rounded(way), "assumed: as load")),
        };
        *all.slot(distance) = Some(plain(Class {
            load: way_of(way),
            load_shared: shared,
            store: way_of(way),
            rmw: way_of(way),
            memory: memory.and_then(of),
        }));
    }
    all
}

fn line() -> Line {
    Line {
        home: Home::Snoop,
        hold: assumed(0.5),
        store_hold: assumed(0.3),
        hold_min: assumed(10.0),
        request: assumed(0.5),
        invalidate: assumed(5.0),
        occupancy: assumed(1.0),
        near_bias: assumed(1.0),
        respin: assumed(5.0),
    }
}

/// Two threads on one CPU can only wake and switch: both are in `switch`.
fn scheduler(measured: &Measured, source: &str) -> Scheduler {
    let of = |value: Option<f64>, or: f64| match value {
        Some(value) => Figure::new(rounded(value), source),
        None => assumed(or),
    };
    let wake = measured.wake;
    Scheduler {
        slice: assumed(3000.0),
        wake: of(wake.map(|wake| wake.way), 5.0),
        waker: of(wake.map(|wake| wake.waker), 1.0),
        switch: Figure::new(
            rounded(measured.switch.way),
            format!("{source}; a wake-up on the same CPU included"),
        ),
        wait_call: Some(Figure::new(rounded(measured.alone.wait_call), source)),
        wake_call: Some(Figure::new(rounded(measured.alone.wake_call), source)),
    }
}

/// The matrix, for the file beside.
pub(super) fn matrix_csv(measured: &Measured, source: &str) -> String {
    let cores = measured.matrix.len().isqrt();
    let mut out = format!("# source: {source}\n# one way of a line between cores, ns\n");
    for row in measured.matrix.chunks(cores.max(1)) {
        let cells: Vec<String> = row.iter().map(|&cell| rounded(cell).to_string()).collect();
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

impl Regular {
    /// How far apart two cores are.
    pub(super) fn distance(&self, a: usize, b: usize) -> Distance {
        let shape = &self.shape;
        let cluster = |core: usize| core / shape.cores;
        let die = |core: usize| cluster(core) / shape.clusters;
        let socket = |core: usize| die(core) / shape.dies;
        if cluster(a) == cluster(b) {
            Distance::Cluster
        } else if die(a) == die(b) {
            Distance::Die
        } else if socket(a) == socket(b) {
            Distance::Socket
        } else {
            match &self.hops {
                Some(hops) if hops[socket(a)][socket(b)] > 1 => Distance::Hop2,
                _ => Distance::Hop1,
            }
        }
    }

    /// For each core: its CPU's index, its distance from core 0, and whether it is
    /// in the same NUMA node.
    pub(super) fn seen_from_first(&self) -> Vec<(usize, Distance, bool)> {
        let one = |core: usize| {
            let distance = match core {
                0 => Distance::Own,
                _ => self.distance(0, core),
            };
            (core, distance, in_node(distance, self.numa))
        };
        (0..self.shape.all_cores()).map(one).collect()
    }
}
