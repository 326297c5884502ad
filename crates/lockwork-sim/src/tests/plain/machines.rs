// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Machines on which the engines are compared: some that come with the program, and small
//! ones with their costs, so that few threads are on all threads of a core.

use crate::machine::{self, Machine, Place};
use fastrand::Rng;

/// Sockets, dies in each, clusters in each, cores in each, threads of each.
type Shape = [usize; 5];

/// A shipped machine, as it is or with fewer of everything.
const ALL: [(&str, Option<Shape>); 10] = [
    ("westmere-ex-4s", Some([1, 1, 1, 8, 1])),
    ("westmere-ex-4s", None),
    ("dl980", Some([4, 1, 1, 2, 2])),
    ("epyc-7551", Some([2, 2, 2, 2, 2])),
    ("epyc-7551", None),
    ("epyc-9654-nps4", None),
    ("power9-2s", Some([2, 1, 2, 1, 4])),
    ("kunpeng-920-2s", None),
    ("skylake-sp-4s", None),
    ("vm-2cpu", None),
];

/// One of them, often with other costs of contended lines.
pub(super) fn random(random: &mut Rng) -> (&'static str, Machine) {
    let (name, shape) = ALL[random.usize(..ALL.len())];
    let mut machine = machine::load(name).expect("it is in the program");
    if let Some(shape) = shape {
        shrink(&mut machine, shape);
    }
    if random.bool() {
        machine.cpu.store_buffer = random.u32(1..6);
    }
    if random.bool() {
        change(&mut machine, random);
    }
    (name, machine)
}

fn shrink(machine: &mut Machine, [sockets, dies, clusters, cores, threads]: Shape) {
    let by_die = machine.nodes() > machine.socket_count();
    let place = |core: usize| {
        let cluster = core / cores;
        let die = cluster / clusters;
        let socket = die / dies;
        let node = if by_die { die } else { socket };
        Place {
            core: core as u16,
            cluster: cluster as u16,
            die: die as u16,
            socket: socket as u16,
            node: node as u16,
        }
    };
    let all = sockets * dies * clusters * cores;
    let old = machine.socket_count();
    let rows = machine.sockets.chunks(old).take(sockets);
    machine.sockets = rows.flat_map(|row| row[..sockets].to_vec()).collect();
    machine.places = (0..all * threads).map(|cpu| place(cpu % all)).collect();
    if threads > 2 {
        machine.smt = vec![1.0, 1.4, 1.9, 2.6];
    }
    if !machine.slowness.is_empty() {
        let of_socket = dies * clusters * cores;
        machine.slowness = (0..=of_socket).map(|n| 0.8 + 0.03 * n as f64).collect();
    }
}

fn change(machine: &mut Machine, random: &mut Rng) {
    let line = &mut machine.line;
    line.hold = random.f64();
    line.store_hold = random.f64();
    line.hold_min = 1.0 + 20.0 * random.f64();
    line.request = [0.0, 1.0, random.f64()][random.usize(..3)];
    line.invalidate = 20.0 * random.f64();
    line.occupancy = 2.0 * random.f64();
    line.near_bias = [0.0, 2.0 * random.f64()][random.usize(..2)];
    line.respin = 30.0 * random.f64();
    if random.u32(..4) == 0 {
        let cores = machine.places.iter().map(|place| place.core + 1);
        let cores = usize::from(cores.max().expect("a core"));
        let cell = |_| 20.0 + 200.0 * random.f32();
        machine.matrix = Some((0..cores * cores).map(cell).collect());
    }
}
