// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Topologies from made-up trees of files, and the form of what is measured.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::super::file::Numa;
use super::alone::Alone;
use super::pairs::{self, Wake};
use super::plan::Measured;
use super::regular::{regular, Regular};
use super::runner::{allowed, Runner};
use super::sysfs::{parse_list, Sysfs};
use super::{fill, write, Host};
use crate::machine::{open_file, Distance, Loaded};

/// What is said of a CPU: socket, die, core's list, cache's list.
type Said<'a> = (usize, usize, &'a str, &'a str);

/// A `/sys` that says this of CPUs 0, 1, 2 … and of nodes (CPUs, distances).
fn sys(cpus: &[Said], nodes: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temporary directory");
    let put = |path: String, text: &str| {
        let path = dir.path().join("devices/system").join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, format!("{text}\n")).expect("file");
    };
    for (cpu, (socket, die, core, cache)) in cpus.iter().enumerate() {
        let topology = format!("cpu/cpu{cpu}/topology");
        put(
            format!("{topology}/physical_package_id"),
            &socket.to_string(),
        );
        put(format!("{topology}/die_id"), &die.to_string());
        put(format!("{topology}/core_cpus_list"), core);
        let caches = [
            ("0", "Data", "1", core),
            ("1", "Instruction", "1", core),
            ("2", "Unified", "3", cache),
        ];
        for (index, kind, level, shared) in caches {
            let dir = format!("cpu/cpu{cpu}/cache/index{index}");
            put(format!("{dir}/type"), kind);
            put(format!("{dir}/level"), level);
            put(format!("{dir}/shared_cpu_list"), shared);
            put(format!("{dir}/size"), "32M");
        }
    }
    for (node, (cpus, distances)) in nodes.iter().enumerate() {
        put(format!("node/node{node}/cpulist"), cpus);
        put(format!("node/node{node}/distance"), distances);
    }
    dir
}

fn found(root: &Path, cpus: usize) -> Regular {
    let all: Vec<usize> = (0..cpus).collect();
    regular(&Sysfs::read(root, &all).expect("readable"))
}

fn shape(found: &Regular) -> [usize; 5] {
    let shape = found.shape;
    [
        shape.sockets,
        shape.dies,
        shape.clusters,
        shape.cores,
        shape.threads,
    ]
}

#[test]
fn threads_that_alternate_are_numbered_first_threads_first() {
    // Two sockets of two cores, whose threads are neighbours.
    let said = [
        (0, 0, "0-1", "0-3"),
        (0, 0, "0-1", "0-3"),
        (0, 0, "2-3", "0-3"),
        (0, 0, "2-3", "0-3"),
        (1, 0, "4-5", "4-7"),
        (1, 0, "4-5", "4-7"),
        (1, 0, "6-7", "4-7"),
        (1, 0, "6-7", "4-7"),
    ];
    let dir = sys(&said, &[("0-3", "10 20"), ("4-7", "20 10")]);
    let found = found(dir.path(), 8);
    assert_eq!(shape(&found), [2, 1, 1, 2, 2]);
    assert_eq!(found.cpus, [0, 2, 4, 6, 1, 3, 5, 7]);
    assert_eq!(found.numa, Numa::Socket);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn what_is_not_regular_is_left_out_and_said() {
    // Two cores with two threads, two with one; one cache.
    let said = [
        (0, 0, "0-1", "0-5"),
        (0, 0, "0-1", "0-5"),
        (0, 0, "2-3", "0-5"),
        (0, 0, "2-3", "0-5"),
        (0, 0, "4", "0-5"),
        (0, 0, "5", "0-5"),
    ];
    let dir = sys(&said, &[("0-5", "10")]);
    let found = found(dir.path(), 6);
    assert_eq!(shape(&found), [1, 1, 1, 4, 1]);
    assert_eq!(found.cpus, [0, 2, 4, 5]);
    assert!(
        found.warnings[0].contains("left out: 1,3"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn nodes_within_a_socket_are_dies_and_caches_are_clusters() {
    let said = [
        (0, 0, "0", "0"),
        (0, 0, "1", "1"),
        (0, 0, "2", "2"),
        (0, 0, "3", "3"),
    ];
    let dir = sys(&said, &[("0-1", "10 12"), ("2-3", "12 10")]);
    let found = found(dir.path(), 4);
    assert_eq!(shape(&found), [1, 2, 2, 1, 1]);
    assert_eq!(found.numa, Numa::Die);
}

#[test]
fn far_sockets_are_two_hops_apart() {
    let core = |n: usize| -> Said<'static> {
        let list = ["0", "1", "2", "3"][n];
        (n, 0, list, list)
    };
    let said = [core(0), core(1), core(2), core(3)];
    let nodes = [
        ("0", "10 16 22 16"),
        ("1", "16 10 16 22"),
        ("2", "22 16 10 16"),
        ("3", "16 22 16 10"),
    ];
    let dir = sys(&said, &nodes);
    let found = found(dir.path(), 4);
    let hops = found.hops.expect("two distances");
    assert_eq!(
        hops,
        [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
    );
}

#[test]
fn a_kernel_that_says_nothing_makes_one_die() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let found = found(dir.path(), 3);
    assert_eq!(shape(&found), [1, 1, 1, 3, 1]);
    assert!(
        found.warnings[0].contains("last-level cache"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn lists_of_cpus_are_read_or_refused() {
    assert_eq!(parse_list("0-3,8").expect("a list"), [0, 1, 2, 3, 8]);
    assert_eq!(parse_list("2,1,2").expect("a list"), [1, 2]);
    for wrong in ["3-1", "a", "1-", "-1", "0-99999999"] {
        let error = parse_list(wrong).expect_err(wrong).to_string();
        assert!(error.contains("0-3,8"), "{error}");
    }
}

/// The file that this topology and made-up costs give, read back.
fn written(regular: &Regular) -> Loaded {
    let cores = regular.shape.all_cores();
    let way = |i: usize| {
        if i / cores == i % cores {
            0.0
        } else {
            40.0 + (i % 3) as f64
        }
    };
    let wake = Wake {
        way: 5.0,
        waker: 1.0,
    };
    let mut wild = [0.0; Distance::COUNT];
    wild[Distance::Hop1 as usize] = 24.18;
    let measured = Measured {
        matrix: (0..cores * cores).map(way).collect(),
        wild,
        smt: (regular.shape.threads > 1).then_some(9.0),
        alone: Alone {
            load: 1.5,
            store: 0.4,
            rmw: 6.0,
            fence: 7.0,
            relax: 3.0,
            wait_call: 240.0,
            wake_call: 150.0,
        },
        memory: [Some(90.0); Distance::COUNT],
        wake: (cores > 1).then_some(wake),
        switch: wake,
        warnings: Vec::new(),
    };
    let dir = tempfile::tempdir().expect("temporary directory");
    let path = dir.path().join("m.toml");
    let file = fill::file(&measured, regular, &Host::look(), "a \"source\"", "m.csv");
    fs::write(&path, write::text(&file, &["a note".into()])).expect("written");
    fs::write(dir.path().join("m.csv"), fill::matrix_csv(&measured, "s")).expect("written");
    open_file(&path).unwrap_or_else(|error| panic!("{error:#}"))
}

#[test]
fn what_is_written_can_be_read_whatever_the_topology() {
    let said = [
        (0, 0, "0,8", "0"),
        (0, 0, "1,9", "1"),
        (0, 0, "2,10", "2"),
        (0, 0, "3,11", "3"),
        (1, 0, "4,12", "4"),
        (1, 0, "5,13", "5"),
        (1, 0, "6,14", "6"),
        (1, 0, "7,15", "7"),
        (0, 0, "0,8", "0"),
        (0, 0, "1,9", "1"),
        (0, 0, "2,10", "2"),
        (0, 0, "3,11", "3"),
        (1, 0, "4,12", "4"),
        (1, 0, "5,13", "5"),
        (1, 0, "6,14", "6"),
        (1, 0, "7,15", "7"),
    ];
    let nodes = [
        ("0-1,8-9", ""),
        ("2-3,10-11", ""),
        ("4-5,12-13", ""),
        ("6-7,14-15", ""),
    ];
    let dir = sys(&said, &nodes);
    let regular = found(dir.path(), 16);
    assert_eq!(shape(&regular), [2, 2, 2, 1, 2]);
    let loaded = written(&regular);
    let machine = &loaded.machine;
    assert_eq!((machine.cpus(), machine.nodes()), (16, 4));
    assert_eq!(machine.costs[Distance::Smt as usize].rmw, 9.0);
    assert!(machine.costs[Distance::Socket as usize].rmw >= 40.0);
    assert_eq!(machine.costs[Distance::Hop1 as usize].memory, 90.0);
    assert_eq!(machine.matrix.as_ref().map(Vec::len), Some(64));
    assert_eq!(loaded.file.machine.source, "a \"source\"");
    let sources = |field: &str| {
        let entries = loaded.file.entries().into_iter();
        let found = entries.filter(|entry| entry.path.ends_with(field));
        found
            .map(|entry| entry.source.to_owned())
            .collect::<Vec<_>>()
    };
    let wild = "a \"source\"; its samples vary by 2418 %";
    assert_eq!(sources("distance.hop1.load"), [wild]);
    assert_eq!(sources("distance.hop1.memory"), ["a \"source\""]);
    assert_eq!(sources("distance.socket.load"), ["a \"source\""]);
    let scheduler = &machine.scheduler;
    assert_eq!((scheduler.wait_call, scheduler.wake_call), (240.0, 150.0));
    let alone = found(sys(&said[..1], &[("0", "10")]).path(), 1);
    assert_eq!(written(&alone).machine.cpus(), 1);
}

#[test]
fn a_line_and_a_sleeper_go_from_cpu_to_cpu() {
    let cpus = allowed().expect("CPUs");
    let [first, last] = [cpus[0], cpus[cpus.len() - 1]];
    let runner = Runner::new().expect("signals");
    let none = Duration::ZERO;
    // On one CPU threads take turns only when the kernel lets them: that is slow,
    // and all right.
    let way = runner.run(|stop| pairs::line_way(first, last, none, stop));
    let way = way.expect("two threads").expect("an answer");
    assert!(way.median > 0.0 && way.spread >= 0.0, "{way:?}");
    let wake = runner.run(|stop| pairs::wake(first, first, none, stop));
    let wake = wake.expect("two threads").expect("an answer");
    assert!(wake.way > 0.0 && wake.waker > 0.0, "{wake:?}");
    let alone = runner.run(|stop| super::alone::alone(first, stop));
    let alone = alone.expect("a CPU").expect("an answer");
    assert!(alone.wait_call > 0.0 && alone.wake_call > 0.0, "{alone:?}");
}
