// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork sim` as people use it, with simulations of microseconds.

mod common;

use std::fs;

use common::{stderr, stdout, text, Room};
use serde_json::Value;

/// Options that make a simulation short.
const TINY: [&str; 6] = ["--seeds", "2", "--loops", "30", "--threads", "1,4"];

fn sim(room: &Room, args: &[&str]) -> String {
    let output = room.run(&[&["sim"], args].concat());
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    stdout(&output)
}

fn refused(room: &Room, code: i32, args: &[&str], words: &[&str]) {
    let output = room.run(&[&["sim"], args].concat());
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    assert!(message.starts_with("lockwork: "), "{args:?}: {message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{args:?}: {message}");
    for word in words {
        assert!(message.contains(word), "{args:?}: {word}: {message}");
    }
    assert_eq!(stdout(&output), "", "{args:?}");
}

/// JSON lines, without what the host adds.
fn objects(text: &str) -> Vec<Value> {
    let read = |line: &str| {
        let mut object: Value = serde_json::from_str(line).expect("JSON");
        let map = object.as_object_mut().expect("an object");
        map.remove("host_seconds").expect("it is there");
        object
    };
    text.lines().map(read).collect()
}

#[test]
fn every_lock_runs_and_has_its_rows() {
    let room = Room::new();
    let locks: Vec<&str> = lockwork_catalogue::catalogue()
        .iter()
        .map(|l| l.name())
        .collect();
    let names = locks.join(",");
    let shown = sim(&room, &[&TINY[..], &["--lock", &names]].concat());
    for lock in locks {
        let rows = shown.lines().filter(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(lock) && words.next().is_some_and(|n| n == "1" || n == "4")
        });
        assert_eq!(rows.count(), 2 * 5, "{lock}: {shown}");
    }
    for heading in [
        "Average",
        "ms",
        "Why: memory",
        "Why: where",
        "Why: what waits",
        "Warning",
    ] {
        assert!(shown.contains(heading), "{heading}: {shown}");
    }
}

#[test]
fn the_same_seed_gives_the_same_whatever_runs_beside_it() {
    let room = Room::new();
    let common = [&TINY[..], &["--lock", "tas_lock,mutex", "--json", "--jobs"]].concat();
    let one = objects(&sim(&room, &[&common[..], &["1"]].concat()));
    let three = objects(&sim(&room, &[&common[..], &["3"]].concat()));
    assert_eq!(one.len(), 2 * 2 * 2);
    assert_eq!(one, three);
    for object in &one {
        let threads = object["threads"].as_u64().expect("a number");
        assert_eq!(object["acquisitions"], 30 * threads);
        assert!(object["finished_ns"].as_f64().is_some_and(|ns| ns > 0.0));
    }
}

#[test]
fn each_workload_runs_on_each_machine() {
    let room = Room::new();
    let list = sim(&room, &["--list"]);
    let names = |heading: &str| -> Vec<String> {
        let lines = list.lines().skip_while(|line| !line.starts_with(heading));
        let rows = lines.skip(1).take_while(|line| !line.is_empty());
        let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
        rows.filter_map(name).collect()
    };
    let (machines, workloads) = (names("Machines"), names("Workloads"));
    assert!(machines.len() > 1 && workloads.len() > 10, "{list}");
    for (i, workload) in workloads.iter().enumerate() {
        let machine = &machines[i % machines.len()];
        let length = match workload.as_str() {
            "spin-micro" => ["--loops", "50"],
            _ => ["--measure-us", "50"],
        };
        // Its roles have four parts, and some machines two CPUs.
        let threads = match workload.as_str() {
            "job-server" => ["--threads=4", "--cpus=2"],
            _ => ["--threads=2", "--cpus=2"],
        };
        let own = ["--workload", workload, "--machine", machine];
        let own = [&own[..], &threads].concat();
        let shown = sim(&room, &[&own[..], &length, &["--seeds", "1"]].concat());
        assert!(shown.contains("only one seed"), "{shown}");
    }
}

#[test]
fn help_list_and_page_have_the_knobs() {
    let room = Room::new();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sim.md");
    let page = fs::read_to_string(page).expect("the page");
    // Help is wrapped to the terminal's width.
    let help: Vec<String> = sim(&room, &["--help"])
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let (list, help) = (sim(&room, &["--list"]), help.join(" "));
    let knobs = lockwork_sim::knobs().expect("they load");
    assert!(!knobs.is_empty());
    for knob in knobs {
        let (name, text, range) = (knob.name, knob.help, knob.range());
        let default = knob.show(knob.default);
        let line = format!("{text} ({range}; default {default})");
        assert!(list.contains(&line), "{name}: {list}");
        assert!(help.contains(&format!("{name} {line}")), "{name}: {help}");
        // The table is of the library's knobs; the simulator's must be the same.
        let row = format!("| `{name}` | {default} | {range} | {text} |");
        assert!(page.contains(&row), "docs/sim.md lacks: {row}");
    }
}

#[test]
fn plots_and_a_timeline_are_written() {
    let room = Room::new();
    let dir = room.path("plots");
    let shown = sim(&room, &[&TINY[..], &["--plot", &text(&dir)]].concat());
    assert_eq!(shown.matches("plot: ").count(), 2);
    let svg = fs::read_to_string(dir.join("throughput-spin-micro-westmere-ex-4s.svg"));
    assert!(svg.expect("a plot").contains("ticket_lock"));

    let file = room.path("trace.json");
    let one = [
        "--threads",
        "4",
        "--lock",
        "mcs_lock",
        "--section-ns",
        "100",
    ];
    let own = ["--timeline", &text(&file), "--window", "0:5"];
    let shown = sim(&room, &[&one[..], &own].concat());
    assert!(shown.contains("timeline: "), "{shown}");
    let trace = fs::read_to_string(&file).expect("a timeline");
    let trace: Value = serde_json::from_str(&trace).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    for name in ["wait", "hold"] {
        assert!(
            events.iter().any(|e| e["name"] == name && e["ph"] == "X"),
            "{name}"
        );
    }
}

#[test]
fn a_workload_of_ones_own_is_read() {
    let room = Room::new();
    let file = room.path("mine.toml");
    let good = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/workloads/rw-mix-90.toml"
    );
    let good = fs::read_to_string(good).expect("a workload");
    fs::write(&file, &good).expect("written");
    let path = text(&file);
    let own = ["--workload", &path, "--measure-us", "20", "--threads", "2"];
    let shown = sim(&room, &own);
    assert!(shown.starts_with("Simulated: mine on "), "{shown}");
    let bad = good.replace("section =", "sektion =");
    let line = bad
        .lines()
        .position(|line| line.starts_with("sektion"))
        .expect("it")
        + 1;
    fs::write(&file, bad).expect("written");
    let place = format!("mine.toml:{line}: ");
    refused(&room, 125, &own, &[&place, "`sektion`", "`section`"]);
}

#[test]
fn ctrl_c_prints_what_there_is() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let room = Room::new();
    let many = [
        "sim",
        "--json",
        "--threads",
        "2",
        "--seeds",
        "10000",
        "--loops",
        "500",
    ];
    let mut command = room.lockwork(&many);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("lockwork starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    lines.next().expect("a line").expect("text");
    // SAFETY: our child, which has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    for line in lines {
        let line = line.expect("text");
        serde_json::from_str::<Value>(&line).expect("whole objects");
    }
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    assert!(stderr(&output).contains("interrupted after "));
}

#[test]
fn mistakes_are_one_sentence_that_lists_what_exists() {
    let room = Room::new();
    refused(
        &room,
        2,
        &["--lock", "no_such"],
        &["'no_such'", "ticket_lock", "mutex"],
    );
    refused(
        &room,
        2,
        &["--machine", "no_such"],
        &["'no_such'", "westmere-ex-4s"],
    );
    refused(
        &room,
        2,
        &["--workload", "no_such"],
        &["'no_such'", "spin-micro"],
    );
    refused(
        &room,
        125,
        &["--workload", "/no/such.toml"],
        &["/no/such.toml"],
    );
    refused(&room, 2, &["--cpus", "1000"], &["--cpus", "40"]);
    refused(
        &room,
        2,
        &["--lock", "no_such_rival"],
        &["'no_such_rival'", "rivals", "cna", "hq_spinlock"],
    );
    refused(
        &room,
        2,
        &["--locks", "rivals", "--threads", "41"],
        &["40 CPUs", "41 threads", "--overcommit"],
    );
    refused(
        &room,
        2,
        &["--machine", "graviton-3", "--lock", "cna", "--threads", "2"],
        &["cna", "graviton-3", "only one"],
    );
    refused(
        &room,
        2,
        &["--set", "no_such=1"],
        &["'no_such'", "osq_lock_depth"],
    );
    refused(
        &room,
        2,
        &["--set", "osq_lock_depth=33"],
        &["osq_lock_depth", "'33'", "2 to 32"],
    );
    refused(&room, 2, &["--measure-us", "5"], &["--loops"]);
    refused(
        &room,
        2,
        &["--timeline", "/x/y", "--threads", "1"],
        &["one lock"],
    );
    let one = [
        "--timeline",
        "/no/such/dir/x",
        "--threads",
        "1",
        "--lock",
        "mutex",
    ];
    refused(&room, 125, &one, &["/no/such/dir/x", "cannot write"]);
    for wrong in [
        "--threads=0",
        "--placement=x",
        "--read-ratio=2",
        "--seeds=0",
        "--window=1:2",
    ] {
        let output = room.run(&["sim", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn rivals_are_compared_as_the_page_says_and_a_difference_fails() {
    let room = Room::new();
    let list = room.run(&["rivals", "--list"]);
    assert!(stdout(&list).contains("spin-graviton-3"), "{list:?}");
    let unknown = room.run(&["rivals", "nope"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("guests-spin"), "{unknown:?}");
    let part = "spin-graviton-3";
    let printed = room.run(&["rivals", part]);
    let page = stdout(&printed);
    assert!(
        page.contains("lockwork sim --workload rivals-spin"),
        "{page}"
    );
    assert!(page.contains("## Where ours is behind"), "{page}");
    let path = room.path("rivals.md");
    std::fs::write(&path, &page).expect("written");
    let path = path.to_str().expect("a path");
    let same = room.run(&["rivals", part, "--check", path, "--jobs", "1"]);
    assert_eq!(same.status.code(), Some(0), "{}", stderr(&same));
    std::fs::write(path, page.replace("tas\\_lock** | ", "tas\\_lock** | 9")).expect("written");
    let other = room.run(&["rivals", part, "--check", path]);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains(part), "{}", stderr(&other));
}

#[test]
fn answers_are_as_the_page_says_and_a_changed_figure_fails() {
    let room = Room::new();
    let answers = |args: &[&str]| room.run(&[&["answers"], args].concat());
    let list = stdout(&answers(&["--list"]));
    assert_eq!(list.lines().count(), 15, "{list}");
    let question = "osq-complexity";
    assert!(list.contains(question), "{list}");
    let printed = answers(&[question]);
    assert_eq!(printed.status.code(), Some(0), "{}", stderr(&printed));
    let page = stdout(&printed);
    for part in [
        "*Asked by*",
        "**Answer.**",
        "**Limit.**",
        "lockwork check osq_lock",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let path = room.path("answers.md");
    std::fs::write(&path, &page).expect("written");
    let path = path.to_str().expect("a path");
    let check = ["--question", question, "--jobs", "1", "--check", path];
    let same = answers(&check);
    assert_eq!(same.status.code(), Some(0), "{}", stderr(&same));
    assert_eq!(stdout(&same), format!("{path}: 1 answer as made now\n"));
    let row = "| lines of code | ";
    assert!(page.contains(row), "{page}");
    std::fs::write(path, page.replace(row, "| lines of code | 1")).expect("written");
    let other = answers(&check);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains(question), "{}", stderr(&other));
}

#[test]
fn an_answer_is_made_of_simulations_too() {
    let room = Room::new();
    let printed = room.run(&["answers", "--question", "rwlock-small-machines"]);
    assert_eq!(printed.status.code(), Some(0), "{}", stderr(&printed));
    let page = stdout(&printed);
    // A command of the answer has the answer's figures.
    let shown = sim(
        &room,
        &[
            "--workload",
            "rw-mix-90",
            "--machine",
            "vm-2cpu",
            "--threads",
            "2",
            "--read-ratio",
            "0.9",
            "--lock",
            "qrwlock",
            "--settle",
            "--seeds",
            "1",
        ],
    );
    let row = shown.lines().find(|line| line.starts_with("qrwlock"));
    let rate = row
        .and_then(|row| row.split_whitespace().nth(2))
        .expect("a rate");
    let answer = page
        .lines()
        .find(|line| line.starts_with("| 2 CPUs | 2 | 90 %"));
    assert!(
        answer.is_some_and(|line| line.contains(rate)),
        "{rate}: {page}"
    );
}

#[test]
fn what_cannot_be_answered_is_said_before_the_work() {
    let room = Room::new();
    let unknown = room.run(&["answers", "--question", "nope"]);
    assert_eq!(unknown.status.code(), Some(2));
    let message = stderr(&unknown);
    assert!(
        message.contains("'nope'") && message.contains("osq-low-end"),
        "{message}"
    );
    for command in ["answers", "rivals"] {
        let refused = room.run(&[command, "--write", "/no/such/dir/x.md"]);
        assert_eq!(refused.status.code(), Some(125), "{command}");
        let message = stderr(&refused);
        assert!(
            message.starts_with("lockwork: cannot write '/no/such/dir/x.md'"),
            "{message}"
        );
        assert_eq!(
            (message.lines().count(), stdout(&refused).as_str()),
            (1, ""),
            "{message}"
        );
    }
    for named in [&["osq-low-end"][..], &["--question", "osq-low-end"]] {
        let both = room.run(&[&["answers", "--write", "x.md"], named].concat());
        assert_eq!(both.status.code(), Some(2));
    }
    let missing = room.run(&["answers", "--check", "/no/such/page.md"]);
    assert_eq!(missing.status.code(), Some(125));
    assert!(
        stderr(&missing).contains("cannot read"),
        "{}",
        stderr(&missing)
    );
}

#[test]
fn a_directed_yield_needs_a_hypervisor() {
    let room = Room::new();
    let alone = room.run(&["sim", "--directed-yield", "on"]);
    assert_eq!(alone.status.code(), Some(2));
    let common = [
        "--lock",
        "qspinlock_pv",
        "--cpus",
        "1",
        "--overcommit",
        "2",
        "--threads",
        "2",
    ];
    let with = |switch| {
        sim(
            &room,
            &[&TINY[2..4], &common[..], &["--directed-yield", switch]].concat(),
        )
    };
    assert!(with("on").contains("2 virtual CPUs a CPU, directed yield"));
    assert!(with("donate").contains("2 virtual CPUs a CPU, directed yield that donates"));
    assert!(!with("off").contains("directed yield"));
}

#[test]
fn virtual_machines_share_cpus_and_need_threads() {
    let room = Room::new();
    let words = |vms| {
        [
            "--lock",
            "tas_lock",
            "--cpus",
            "2",
            "--overcommit",
            "2",
            "--threads",
            "4",
            "--vcpus",
            "migrate",
            "--vms",
            vms,
        ]
    };
    let text = sim(&room, &[&TINY[2..4], &words("2")[..]].concat());
    assert!(
        text.contains("2 virtual CPUs a CPU, of 2 virtual machines, which migrate\n"),
        "{text}"
    );
    assert!(text.contains("Why: the virtual machines"), "{text}");
    refused(&room, 2, &words("5"), &["5 virtual machines for 4 threads"]);
}
