// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork machine` as people use it. What is measured is tested for its form
//! only: a busy machine has other numbers, and the same ones.

mod common;

use std::fs;

use common::{stderr, stdout, text, Room, Started};

fn ok(room: &Room, args: &[&str]) -> String {
    let output = room.run(&[&["machine"], args].concat());
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    stdout(&output)
}

fn refused(room: &Room, code: i32, args: &[&str], words: &[&str]) {
    let output = room.run(&[&["machine"], args].concat());
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    assert!(message.starts_with("lockwork: "), "{args:?}: {message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{args:?}: {message}");
    for word in words {
        assert!(message.contains(word), "{args:?}: {word}: {message}");
    }
    assert_eq!(stdout(&output), "", "{args:?}");
}

/// A shipped machine's file with a change, in the room.
fn changed(room: &Room, old: &str, new: &str) -> String {
    let shipped = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/machines/dl980.toml"
    );
    let content = fs::read_to_string(shipped).expect("dl980.toml");
    assert!(content.contains(old), "{old}");
    let path = room.path("mine.toml");
    fs::write(&path, content.replacen(old, new, 1)).expect("written");
    text(&path)
}

#[test]
fn a_copy_is_the_machine_with_what_its_file_names() {
    let room = Room::new();
    for name in lockwork_sim::machine::names() {
        let path = text(&room.path(&format!("{name}.toml")));
        ok(&room, &["copy", name, &path]);
        let copy = lockwork_sim::machine::load(&path).expect(name);
        assert_eq!(copy, lockwork_sim::machine::load(name).expect(name));
    }
    assert!(room.path("vm-2cpu.csv").exists());
    let again = text(&room.path("again.toml"));
    ok(&room, &["copy", &text(&room.path("dl980.toml")), &again]);
    assert!(ok(&room, &["validate", &again]).contains("sound"));
}

#[test]
fn a_copy_overwrites_nothing_unasked() {
    let room = Room::new();
    let mine = text(&room.path("mine.toml"));
    fs::write(&mine, "mine").expect("written");
    refused(
        &room,
        125,
        &["copy", "dl980", &mine],
        &["exists", "--force"],
    );
    assert_eq!(fs::read_to_string(&mine).expect("there"), "mine");
    ok(&room, &["copy", "dl980", &mine, "--force"]);
    refused(&room, 2, &["copy", "dl98", &mine], &["nearest: dl980"]);
    refused(&room, 2, &["copy", "dl980", "mine"], &["mine.toml"]);
    let nowhere = text(&room.path("no/mine.toml"));
    refused(&room, 125, &["copy", "dl980", &nowhere], &["cannot write"]);
}

#[test]
fn the_list_has_a_line_for_each_machine_and_show_knows_it() {
    let room = Room::new();
    let list = ok(&room, &["list"]);
    for name in lockwork_sim::machine::names() {
        let row = list
            .lines()
            .find(|line| line.split(' ').next() == Some(name));
        let row = row.unwrap_or_else(|| panic!("{name}: {list}"));
        let machine = lockwork_sim::machine::load(name).expect(name);
        assert!(row.contains(&machine.summary), "{row}");
        let cpus = row.split_whitespace().nth(1);
        assert_eq!(cpus, Some(&*machine.cpus().to_string()), "{row}");
        assert!(
            ok(&room, &["show", name]).contains(&machine.summary),
            "{name}"
        );
        assert!(ok(&room, &["validate", name]).contains("sound"), "{name}");
    }
}

#[test]
fn show_has_topology_costs_and_sources() {
    let room = Room::new();
    let shown = ok(&room, &["show", "dl980"]);
    for word in [
        "160 CPUs, 8 sockets",
        "CPUs 0 to 79 are the first threads",
        "controller",
        "distance.hop1.load",
        "David et al., SOSP 2013",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
}

#[test]
fn json_is_json_with_every_number_and_its_source() {
    let room = Room::new();
    let shown = ok(&room, &["show", "dl980", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(json["cpus"].as_array().map(Vec::len), Some(160));
    assert_eq!(json["sockets"][0][2], "controller");
    assert_eq!(json["cpus"][80]["core"], 0);
    let load = &json["file"]["distance"]["cluster"]["load"];
    assert_eq!(load["ns"], 51.2);
    assert!(
        load["source"].as_str().is_some_and(|s| s.contains("SOSP")),
        "{load}"
    );
}

#[test]
fn a_file_of_ones_own_is_a_path() {
    let room = Room::new();
    let mine = changed(&room, "summary = \"8", "summary = \"mine: 8");
    assert!(ok(&room, &["show", &mine]).starts_with("mine: mine: 8"));
    assert!(ok(&room, &["validate", &mine]).contains("sound. 160 CPUs"));
    let mut here = room.lockwork(&["machine", "validate", "mine.toml"]);
    let output = here.current_dir(room.dir.path()).output().expect("starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_mistake_is_named_with_its_line() {
    let room = Room::new();
    let mine = changed(&room, "sockets = 8", "sockets = 7");
    let content = fs::read_to_string(&mine).expect("readable");
    let line = content
        .lines()
        .position(|line| line.starts_with("island_sockets"));
    let place = format!("mine.toml:{}: ", line.expect("islands") + 1);
    refused(&room, 1, &["validate", &mine], &[&place, "do not divide 7"]);
    refused(&room, 125, &["show", &mine], &[&place, "do not divide 7"]);
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let room = Room::new();
    refused(
        &room,
        2,
        &["show", "cray-1"],
        &["cray-1", "dl980", "epyc-7551"],
    );
    refused(&room, 2, &["validate", "cray-1"], &["dl980"]);
    refused(
        &room,
        125,
        &["validate", "no/such.toml"],
        &["cannot read no/such.toml"],
    );
}

#[test]
fn an_odd_machine_is_only_warned_about() {
    let room = Room::new();
    let mine = changed(&room, "ns = 51.2", "ns = 510.2");
    let output = room.run(&["machine", "validate", &mine]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).starts_with("warning: `load` costs 510.2 ns"));
}

#[test]
fn what_is_measured_is_written_sound_and_overwritten_only_by_force() {
    let room = Room::new();
    let path = text(&room.path("here.toml"));
    let measure = ["measure", "--seconds", "0.01", "-o", &path];
    let written = ok(&room, &measure);
    assert!(written.contains("written"), "{written}");
    assert!(ok(&room, &["validate", &path]).contains("sound"));
    assert!(ok(&room, &["show", &path]).contains("measured, 20"));
    let before = fs::read_to_string(&path).expect("readable");
    refused(&room, 125, &measure, &["here.toml", "--force"]);
    assert_eq!(fs::read_to_string(&path).expect("readable"), before);
    ok(&room, &[&measure[..], &["--force"]].concat());
}

#[test]
fn what_cannot_be_measured_is_refused_before() {
    let room = Room::new();
    let path = text(&room.path("here.toml"));
    let cpus = |list| ["measure", "-o", &*path, "--cpus", list].map(str::to_owned);
    for (list, word) in [("99999", "CPU 99999"), ("x", "'x'"), (",", "no CPU")] {
        let args = cpus(list);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        refused(&room, 2, &args, &["--cpus", word]);
    }
    for seconds in ["0", "-1", "nan", "86401"] {
        let seconds = format!("--seconds={seconds}");
        let output = room.run(&["machine", "measure", "-o", &path, &seconds]);
        assert_eq!(output.status.code(), Some(2), "{seconds}");
        assert!(stderr(&output).contains("above 0"), "{}", stderr(&output));
    }
    let other = text(&room.path("here.txt"));
    refused(&room, 2, &["measure", "-o", &other], &["must end in .toml"]);
    let nowhere = text(&room.path("no/here.toml"));
    refused(
        &room,
        125,
        &["measure", "-o", &nowhere],
        &["does not exist"],
    );
    // No file can be made in /proc, not even by root.
    let proc = ["measure", "-o", "/proc/here.toml"];
    refused(
        &room,
        125,
        &proc,
        &["a folder that you can write to", "'/proc/here.toml'"],
    );
    fs::create_dir(room.path("here.csv")).expect("a folder where the matrix would be");
    let forced = ["measure", "--force", "-o", &path];
    refused(
        &room,
        125,
        &forced,
        &["a folder that you can write to", "here.csv'"],
    );
    assert!(!room.path("here.toml").exists());
}

/// One CPU is enough to ask for; then no line can move, and the file says so.
#[test]
fn one_cpu_has_no_distances() {
    let room = Room::new();
    let path = text(&room.path("one.toml"));
    let status = fs::read_to_string("/proc/self/status").expect("procfs");
    let allowed = status
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"));
    let first = allowed
        .expect("a list")
        .trim()
        .split([',', '-'])
        .next()
        .expect("a CPU");
    let args = [
        "machine",
        "measure",
        "--seconds",
        "0.01",
        "-o",
        &*path,
        "--cpus",
        first,
    ];
    let output = room.run(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("one core only"),
        "{}",
        stderr(&output)
    );
    let shown = ok(&room, &["show", &path]);
    assert!(shown.contains("1 CPU, 1 socket"), "{shown}");
    assert!(!room.path("one.csv").exists());
}

#[test]
fn ctrl_c_writes_nothing() {
    let room = Room::new();
    let path = room.path("here.toml");
    let args = [
        "machine",
        "measure",
        "--seconds",
        "86400",
        "-o",
        &*text(&path),
    ];
    let mut command = room.lockwork(&args);
    let mut started = Started::new(command.stderr(std::process::Stdio::piped()));
    // It has hours to go when it begins to listen.
    let status_file = format!("/proc/{}/status", started.id());
    let listens = || {
        let status = fs::read_to_string(&status_file);
        let status = status.unwrap_or_default();
        let caught = status.lines().find_map(|l| l.strip_prefix("SigCgt:"));
        caught.is_some_and(|set| u64::from_str_radix(set.trim(), 16).is_ok_and(|s| s & 2 != 0))
    };
    started.until(listens);
    started.signal(libc::SIGINT);
    let output = started.output();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("nothing was written"));
    assert!(!path.exists());
}
