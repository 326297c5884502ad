// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is wrong in a file is said with its line.

use super::super::{Distance, Machine};
use super::parse;

const GOOD: &str = include_str!("example.toml");
const EPYC: &str = include_str!("../../../../data/machines/epyc-7551.toml");
const DL980: &str = include_str!("../../../../data/machines/dl980.toml");

fn machine(text: &str) -> Result<Machine, String> {
    let none = |file: &str| -> anyhow::Result<String> { anyhow::bail!("cannot read {file}") };
    parse("m", text, &none)
        .map(|loaded| loaded.machine)
        .map_err(|fault| fault.tell("m.toml", text))
}

/// `text` with its first `old` replaced is refused at that line, or at the line
/// of `at`, with these words.
fn refused_at(text: &str, old: &str, new: &str, at: &str, words: &[&str]) {
    assert!(text.contains(old), "{old}");
    let changed = text.replacen(old, new, 1);
    let line = changed.lines().position(|line| line.contains(at));
    let line = 1 + line.unwrap_or_else(|| panic!("{at} is there"));
    let error = machine(&changed).expect_err(new);
    assert!(
        error.starts_with(&format!("m.toml:{line}: ")),
        "{error} ({line})"
    );
    assert!(!error.contains('\n'), "{error}");
    for word in words {
        assert!(error.contains(word), "{word}: {error}");
    }
}

fn refused(old: &str, new: &str, words: &[&str]) {
    refused_at(GOOD, old, new, new.lines().next().expect("a line"), words);
}

#[test]
fn a_number_without_a_source_is_refused() {
    refused(
        "{ ns = 51.2, source = \"David",
        "51.2 # \"",
        &["51.2 has no source", "ns ="],
    );
    refused(
        "{ us = 5, source = \"assumed\" }",
        "{ us = 5 }",
        &["5 has no source"],
    );
    refused("source = \"assumed\"", "source = \" \"", &["no source"]);
}

#[test]
fn a_number_has_the_unit_of_its_field_and_is_possible() {
    refused(
        "{ us = 3000,",
        "{ ns = 3000,",
        &["there is no `ns`", "us = NUMBER"],
    );
    refused("ns = 51.2", "ns = -51.2", &["-51.2", "from 0"]);
    refused("ns = 51.2", "ns = nan", &["NaN"]);
    refused("ns = 51.2", "ns = inf", &["inf"]);
    refused(
        "ns = 51.2",
        "ns = \"51.2\"",
        &["the string \"51.2\"", "give a number"],
    );
    refused(
        "hold = { share = 0.5",
        "hold = { share = 1.5",
        &["1.5", "up to 1"],
    );
    refused("count = 32", "count = 0", &["whole number from 1"]);
    refused("count = 32", "count = 2.5", &["whole number"]);
    refused("{ ns = 51.2, source", "{ source", &["`ns` is missing"]);
}

#[test]
fn an_unknown_field_is_answered_with_those_there_are() {
    refused(
        "hold_min =",
        "hold_max =",
        &["`hold_max`", "`hold_min`", "`respin`"],
    );
    refused("[scheduler]", "[schedule]", &["`schedule`", "`scheduler`"]);
    refused(
        "[distance.cluster]",
        "[distance.near]",
        &["`near`", "`cluster`"],
    );
    refused("numa = \"socket\"", "numa = \"core\"", &["`core`", "`die`"]);
    refused(
        "home = \"snoop\"",
        "home = \"magic\"",
        &["`magic`", "`directory`"],
    );
}

#[test]
fn a_missing_field_and_bad_syntax_are_refused() {
    let respin = "respin = { ns = 5, source = \"assumed\" }\n";
    refused_at(GOOD, respin, "", "[line]", &["`respin` is missing"]);
    refused_at(GOOD, "[cpu]", "[cpu", "[cpu", &[]);
    let twice = "[machine] # again\n[cpu]";
    refused("[cpu]", twice, &["duplicate key", "keep one"]);
    let error = machine("").expect_err("empty");
    assert!(error.starts_with("m.toml:1: "), "{error}");
}

#[test]
fn costs_are_those_of_the_topology() {
    refused_at(
        GOOD,
        "[distance.cluster]",
        "[distance.die]",
        "[distance.",
        &["`cluster`"],
    );
    let die = "[distance.die]\nload = { ns = 1, source = \"assumed\" }\n\n[distance.cluster]";
    refused("[distance.cluster]", die, &["no two CPUs", "`die`"]);
    let shared = "[distance.own]\nload_shared = { ns = 1, source = \"assumed\" }";
    refused_at(
        GOOD,
        "[distance.own]",
        shared,
        "load_shared",
        &["same as load"],
    );
    let memory = "memory = { ns = 9, source = \"assumed\" }\nrmw = { ns = 56.3";
    refused("rmw = { ns = 56.3", memory, &["[distance.own] has"]);
    let rmw = "rmw = { ns = 152.1, source = \"assumed: David et al., SOSP 2013, table 2, \
               as remembered and not looked up\" }\n";
    refused_at(GOOD, rmw, "", "[distance.hop1]", &["lacks `rmw`"]);
    let (one, two) = ("threads_per_core = 1", "threads_per_core = 2");
    refused_at(GOOD, one, two, "[distance.own]", &["`smt`"]);
}

#[test]
fn each_access_takes_time() {
    for zero in ["0", "0.0", "-0.0"] {
        let cost = format!("rmw = {{ ns = {zero}");
        refused(
            "rmw = { ns = 56.3",
            &cost,
            &["`rmw` of [distance.", "above 0"],
        );
    }
}

#[test]
fn a_nearer_line_that_costs_more_is_only_odd() {
    let none = |_: &str| -> anyhow::Result<String> { anyhow::bail!("no file") };
    let odd = GOOD.replacen("ns = 51.2", "ns = 151.2", 1);
    let loaded = parse("m", &odd, &none).expect("a machine");
    assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
    assert!(
        loaded.warnings[0].contains("151.2"),
        "{:?}",
        loaded.warnings
    );
    let loaded = parse("m", GOOD, &none).expect("a machine");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[test]
fn impossible_topologies_are_refused() {
    refused("sockets = 4", "sockets = 0", &["sockets is 0", "from 1"]);
    refused("sockets = 4", "sockets = -1", &["sockets is -1"]);
    refused("sockets = 4", "sockets = 205", &["2050 CPUs", "2047"]);
    refused(
        "cores_per_cluster = 10",
        "cores_per_cluster = 9999",
        &["9999"],
    );
    refused(
        "links = \"full\"",
        "island_sockets = 3",
        &["do not divide 4"],
    );
    refused(
        "links = \"full\"",
        "links = \"star\"",
        &["`star`", "`ring`"],
    );
    let both = "links = \"full\"\nisland_sockets = 2";
    refused("links = \"full\"", both, &["exclude one another"]);
    let eight = GOOD.replacen("sockets = 4", "sockets = 8", 1);
    refused_at(
        &eight,
        "\"full\"",
        "\"ring\"",
        "\"ring\"",
        &["ring of 8", "hops"],
    );
}

#[test]
fn hops_are_square_and_symmetric() {
    let good = "hops = [\n[0, 1, 2, 1],\n[1, 0, 1, 2],\n[2, 1, 0, 1],\n[1, 2, 1, 0],\n]";
    let hops = |new: &str, at: &str, words: &[&str]| {
        refused_at(GOOD, "links = \"full\"", new, at, words);
    };
    hops(
        &good.replacen("[2, 1, 0, 1],\n", "", 1),
        "hops = ",
        &["3 entries", "4"],
    );
    hops(
        &good.replacen("[1, 0, 1, 2]", "[1, 0, 1]", 1),
        "[1, 0, 1]",
        &["row 1"],
    );
    hops(
        &good.replacen("[0, 1, 2, 1]", "[1, 1, 2, 1]", 1),
        "[1, 1,",
        &["links apart"],
    );
    hops(
        &good.replacen("[0, 1, 2, 1]", "[0, 3, 2, 1]", 1),
        "[0, 3,",
        &["3 links"],
    );
    hops(
        &good.replacen("[0, 1, 2, 1]", "[0, 1, 1, 1]", 1),
        "[0, 1, 1,",
        &["and back"],
    );
    // Sound, but then there are distances of two hops, whose costs are missing.
    hops(good, "[distance.", &["`hop2`"]);
}

#[test]
fn what_is_calibrated_says_to_what() {
    let fitted = |text: &str| {
        text.replacen(
            "hold = { share = 0.5, source = \"assumed\"",
            "hold = { share = 0.4, source = \"calibrated\"",
            1,
        )
    };
    let bare = fitted(GOOD);
    refused_at(
        &bare,
        "0.4",
        "0.3",
        "hold = ",
        &["line.hold is calibrated", "fitted"],
    );
    let says = "\n[calibration]\nrows = [\"qspinlock_micro.csv: fair_queue_ms\"]\nfitted = [\"line.hold\"]\n";
    let told = bare + says;
    assert!(machine(&told).is_ok(), "{:?}", machine(&told).err());
    let at = "[calibration]";
    refused_at(
        &told,
        "[\"line.hold\"]",
        "[\"line.hold\", \"cpu.call\"]",
        at,
        &["cpu.call"],
    );
    refused_at(
        &told,
        "[\"qspinlock_micro.csv: fair_queue_ms\"]",
        "[]",
        at,
        &["no rows"],
    );
    assert!(machine(&(GOOD.to_owned() + says)).is_err());
}

fn matrix(csv: &str) -> Result<Machine, String> {
    let small = GOOD.replacen("sockets = 4", "sockets = 1", 1).replacen(
        "cores_per_cluster = 10",
        "cores_per_cluster = 2",
        1,
    );
    let (before, rest) = small.split_once("[distance.hop1]").expect("hop1");
    let (_, after) = rest.split_once("[line]").expect("line");
    let text = format!("{before}[matrix]\nfile = \"c.csv\"\nsource = \"s\"\n\n[line]{after}");
    let read = |file: &str| -> anyhow::Result<String> {
        assert_eq!(file, "c.csv");
        Ok(csv.to_owned())
    };
    let line = 1 + text
        .lines()
        .position(|l| l.starts_with("file ="))
        .expect("file");
    parse("m", &text, &read)
        .map(|loaded| loaded.machine)
        .map_err(|fault| {
            let told = fault.tell("m.toml", &text);
            assert!(
                told.starts_with(&format!("m.toml:{line}: c.csv: ")),
                "{told}"
            );
            told
        })
}

#[test]
fn a_matrix_has_a_number_for_each_pair_of_cores() {
    let machine = matrix("# source: s\n0, 40.5\n41.5,\n").expect("a matrix");
    assert_eq!(machine.matrix, Some(vec![0.0, 40.5, 41.5, 0.0]));
    let half = matrix(",\n41.5,\n").expect("one half is enough");
    assert_eq!(half.matrix, Some(vec![0.0, 41.5, 41.5, 0.0]));
    for (csv, word) in [
        ("0,1\n", "1 rows"),
        ("0,1,2\n1,0,2\n", "line 1 has 3 cells"),
        ("0,1\n1\n", "line 2 has 1 cells"),
        ("0,1\nfast,0\n", "'fast' in line 2"),
        ("0,-1\n1,0\n", "'-1'"),
        ("0,NaN\n1,0\n", "'NaN'"),
        ("0,\n,0\n", "cores 0 and 1"),
    ] {
        let error = matrix(csv).expect_err(csv);
        assert!(error.contains(word), "{word}: {error}");
    }
}

#[test]
fn cpus_are_numbered_first_threads_first() {
    let machine = machine(DL980).expect("dl980");
    assert_eq!(
        (machine.cpus(), machine.nodes(), machine.socket_count()),
        (160, 8, 8)
    );
    let cores: std::collections::HashSet<u16> = machine.places[..80]
        .iter()
        .map(|place| place.core)
        .collect();
    assert_eq!(cores.len(), 80);
    for (a, b, distance) in [
        (3, 3, Distance::Own),
        (3, 83, Distance::Smt),
        (0, 9, Distance::Cluster),
        (0, 89, Distance::Cluster),
        (0, 10, Distance::Hop1),
        (10, 20, Distance::Controller),
        (0, 159, Distance::Controller),
        (70, 69, Distance::Hop1),
    ] {
        assert_eq!(machine.distance(a, b), distance, "{a} {b}");
        assert_eq!(machine.distance(b, a), distance, "{b} {a}");
    }
}

#[test]
fn dies_and_clusters_are_told_apart() {
    let machine = machine(EPYC).expect("epyc");
    assert_eq!(
        (machine.cpus(), machine.nodes(), machine.socket_count()),
        (128, 8, 2)
    );
    for (a, b, distance) in [
        (0, 64, Distance::Smt),
        (0, 3, Distance::Cluster),
        (0, 4, Distance::Die),
        (0, 8, Distance::Socket),
        (0, 31, Distance::Socket),
        (0, 32, Distance::Hop1),
        (31, 127, Distance::Hop1),
    ] {
        assert_eq!(machine.distance(a, b), distance, "{a} {b}");
    }
    let memory = machine.costs.map(|costs| costs.memory);
    let own = memory[Distance::Own as usize];
    assert_eq!(memory[Distance::Die as usize], own);
    assert!(memory[Distance::Socket as usize] > own);
    assert!(memory[Distance::Hop1 as usize] > memory[Distance::Socket as usize]);
}

#[test]
fn a_ring_of_five_has_two_hops_at_most() {
    let ring = GOOD
        .replacen("sockets = 4", "sockets = 5", 1)
        .replacen("\"full\"", "\"ring\"", 1);
    let (before, rest) = ring.split_once("[distance.hop1]").expect("hop1");
    let (hop1, after) = rest.split_once("[line]").expect("line");
    let text = format!("{before}[distance.hop1]{hop1}[distance.hop2]{hop1}[line]{after}");
    let machine = machine(&text).expect("a ring");
    let from_0 = [10, 20, 30, 40].map(|cpu| machine.distance(0, cpu));
    let [one, two] = [Distance::Hop1, Distance::Hop2];
    assert_eq!(from_0, [one, two, two, one]);
}
