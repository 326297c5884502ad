// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork bench` as people use it, with runs of milliseconds.

mod common;

use std::fs;
use std::path::Path;

use common::{stderr, stdout, text, Room};
use lockwork_bench::{contenders, Data};

/// Options that make a run short.
const TINY: [&str; 6] = ["--rounds", "2", "--time", "2", "--threads", "1,2"];

fn bench(room: &Room, args: &[&str]) -> String {
    let all = [&["bench"], args].concat();
    let output = room.run(&all);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {}",
        stderr(&output)
    );
    stdout(&output)
}

fn refused(room: &Room, code: i32, args: &[&str], words: &[&str]) {
    let all = [&["bench"], args].concat();
    let output = room.run(&all);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    assert!(message.starts_with("lockwork: "), "{args:?}: {message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{args:?}: {message}");
    for word in words {
        assert!(message.contains(word), "{args:?}: {word}: {message}");
    }
    assert_eq!(stdout(&output), "", "{args:?}");
}

/// Does `table` have a row for this lock?
fn has_row(table: &str, name: &str) -> bool {
    table
        .lines()
        .any(|line| line.split(' ').next() == Some(name))
}

fn read(path: &Path) -> Data {
    Data::read(path).expect("a run").0
}

#[test]
fn every_lock_has_a_row_and_every_round_is_kept() {
    let room = Room::new();
    let json = room.path("run.jsonl");
    let shown = bench(
        &room,
        &[&TINY[..], &["--locks", "all", "--json", &text(&json)]].concat(),
    );
    let data = read(&json);
    assert_eq!(data.samples.len(), contenders().len() * 2 * 2);
    for lock in contenders() {
        assert!(has_row(&shown, lock.name()), "{}: {shown}", lock.name());
        let rounds = data.samples.iter().filter(|s| s.lock == lock.name());
        assert!(rounds.clone().all(|s| s.measured.operations() > 0));
        assert_eq!(rounds.count(), 4, "{}", lock.name());
    }
    for absent in &lockwork_peers::peers().absent {
        assert!(
            shown.contains(&format!("absent: {} (", absent.name)),
            "{shown}"
        );
        assert!(shown.contains(&absent.reason), "{shown}");
    }
    assert_eq!(bench(&room, &["--from", &text(&json)]), shown);
}

#[test]
fn json_on_standard_output_is_alone_there() {
    let room = Room::new();
    let args = [&["bench", "--json", "-"], &TINY[..]].concat();
    let output = room.run(&args);
    assert!(output.status.success());
    let lines: Vec<serde_json::Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let kind = |i: usize| lines[i]["record"].as_str().map(str::to_owned);
    assert_eq!(kind(0).as_deref(), Some("header"));
    assert_eq!(kind(lines.len() - 1).as_deref(), Some("end"));
    assert!(lines.iter().any(|line| line["writes"].is_array()));
    assert!(stderr(&output).contains("Ops/s"));
}

#[test]
fn read_write_locks_have_both_sides() {
    let room = Room::new();
    let shown = bench(
        &room,
        &[&TINY[..], &["--locks", "rw", "--reads", "50"]].concat(),
    );
    assert!(
        shown.contains("W p99.9") && shown.contains("Reads/s"),
        "{shown}"
    );
    assert!(shown.contains("50 % reads"), "{shown}");
}

#[test]
fn an_interrupted_run_is_resumed() {
    let room = Room::new();
    let (whole, cut) = (room.path("whole.jsonl"), room.path("cut.jsonl"));
    bench(&room, &[&TINY[..], &["--json", &text(&whole)]].concat());
    let all = fs::read_to_string(&whole).expect("JSON");
    // The header, three rounds and a half: as a power cut leaves it.
    let lines: Vec<&str> = all.split_inclusive('\n').collect();
    let half = &lines[4][..lines[4].len() / 2];
    fs::write(&cut, lines[..4].concat() + half).expect("written");
    let shown = bench(&room, &["--resume", &text(&cut)]);
    let (data, before) = (read(&cut), read(&whole));
    assert_eq!(data.samples.len(), before.samples.len());
    assert_eq!(data.samples[..3], before.samples[..3]);
    let key = |data: &Data| -> Vec<_> {
        let samples = data.samples.iter();
        samples
            .map(|s| (s.case.clone(), s.lock.clone(), s.round, s.order))
            .collect()
    };
    assert_eq!(
        key(&data),
        key(&before),
        "the order does not depend on the stop"
    );
    assert!(
        !shown.contains("interrupted") && !shown.contains("not complete"),
        "{shown}"
    );
    // Nothing is left to do.
    bench(&room, &["--resume", &text(&cut), "--patience", "999"]);
    assert_eq!(read(&cut).samples.len(), before.samples.len());
    let resumed = read(&cut).resumed;
    assert_eq!(resumed.last().map(|header| header.plan.patience), Some(999));
    let other = "resumed with another build";
    assert!(!shown.contains(other), "{shown}");
    let changed = all.replacen("\"build\":\"", "\"build\":\"0", 1);
    fs::write(&cut, changed).expect("written");
    let shown = bench(&room, &["--resume", &text(&cut)]);
    assert!(shown.contains(other), "{shown}");
}

/// A run takes hours at times.
#[test]
fn a_run_is_not_overwritten_by_another_one() {
    let room = Room::new();
    let path = room.path("run.jsonl");
    let file = text(&path);
    let args = [&TINY[..], &["--locks", "lockwork.mutex", "--json", &file]].concat();
    fs::write(&path, "not a run\n").expect("written");
    bench(&room, &args);
    let before = fs::read_to_string(&path).expect("JSON");
    let plots = text(&room.path("plots"));
    let words = [&*format!("--resume {file}"), "another file"];
    let more = [&args[..], &["--plots", &plots]].concat();
    refused(&room, 2, &more, &words);
    assert!(!Path::new(&plots).exists());
    assert_eq!(fs::read_to_string(&path).expect("JSON"), before);
    // A header alone is of a run that measured nothing.
    let header = before.split_inclusive('\n').next().expect("a line");
    fs::write(&path, header).expect("written");
    bench(&room, &args);
    assert_eq!(read(&path).samples.len(), 4);
}

/// What took too long to stop has no figures, and so would look better than it is.
#[test]
fn cases_that_a_lock_was_left_out_of_are_counted() {
    let room = Room::new();
    let path = room.path("out.jsonl");
    let locks = ["--locks", "glibc.mutex,lockwork.mutex"];
    let json = ["--json", &text(&path)];
    bench(&room, &[&TINY[..], &locks, &json].concat());
    let all = fs::read_to_string(&path).expect("JSON");
    let mut lines = Vec::new();
    for line in all.lines() {
        let mut record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let of_two = record["lock"] == "mutex" && record["case"]["threads"] == 2;
        match (of_two, record["round"].as_u64()) {
            (true, Some(1)) => record["overrun"] = 1e3.into(),
            (true, _) => continue,
            _ => {}
        }
        lines.push(format!("{record}\n"));
    }
    fs::write(&path, lines.concat()).expect("written");
    let shown = bench(&room, &["--from", &text(&path)]);
    assert!(shown.contains("left out of 1 more case"), "{shown}");
}

#[test]
fn the_table_is_printed_even_if_nothing_can_be_drawn() {
    let room = Room::new();
    let path = room.path("out.jsonl");
    bench(&room, &[&TINY[..], &["--json", &text(&path)]].concat());
    let dir = room.path("plots");
    let plots = text(&dir);
    let from = ["bench", "--from", &text(&path), "--plots", &plots];
    bench(&room, &from[1..]);
    let drawn = fs::read_dir(&dir).expect("plots");
    for file in drawn.map(|file| file.expect("a file").path()) {
        fs::remove_file(&file).expect("removed");
        fs::create_dir(&file).expect("a folder in its place");
    }
    let output = room.run(&from);
    assert_eq!(output.status.code(), Some(125));
    assert!(has_row(&stdout(&output), "mutex"), "{}", stdout(&output));
}

#[test]
fn ctrl_c_prints_what_there_is() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;

    let room = Room::new();
    let mut command = room.lockwork(&["bench", "--json", "-", "--rounds", "100000", "--time", "1"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("lockwork starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for _ in 0..4 {
        lines.next().expect("a line").expect("text");
    }
    // SAFETY: our child, which has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    let last = lines
        .map(|line| line.expect("text"))
        .last()
        .expect("an end");
    assert!(last.contains("\"how\":\"interrupted\""), "{last}");
    let mut shown = String::new();
    child
        .stderr
        .take()
        .expect("a pipe")
        .read_to_string(&mut shown)
        .expect("text");
    assert!(
        shown.contains("Ops/s") && shown.contains("interrupted after"),
        "{shown}"
    );
    let last = shown.lines().last().expect("a line");
    assert!(last.contains("`lockwork bench --resume FILE`"), "{last}");
    assert_eq!(child.wait().expect("an end").code(), Some(130));
}

/// SIGCONT comes while a round is measured, which has no end before: the next one that is
/// written was repeated.
#[test]
fn a_round_is_repeated_if_the_process_was_stopped() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let room = Room::new();
    let args = ["bench", "--json", "-", "--rounds", "100000", "--time", "50"];
    let mut command = room.lockwork(&[&args[..], &["--locks", "mutex"]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("lockwork starts");
    let mut child = child;
    let pid = child.id() as libc::pid_t;
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // One may come between two rounds, and then says nothing of either.
    loop {
        let line = lines.next().expect("a line").expect("text");
        if line.contains("\"repeats\":") {
            break;
        }
        // SAFETY: our child, which has not been waited for.
        unsafe {
            libc::kill(pid, libc::SIGSTOP);
            libc::kill(pid, libc::SIGCONT);
        }
    }
    // SAFETY: as above.
    unsafe { libc::kill(pid, libc::SIGINT) };
    assert!(lines.all(|line| line.is_ok()));
    let output = child.wait_with_output().expect("an end");
    let shown = stderr(&output);
    assert!(
        shown.contains("measured again: lockwork was stopped"),
        "{shown}"
    );
}

#[test]
fn presets_have_their_rows() {
    let room = Room::new();
    let micro = bench(
        &room,
        &[
            "--preset",
            "spin-micro",
            "--loops",
            "200",
            "--rounds",
            "1",
            "--threads",
            "1,2",
        ],
    );
    assert!(micro.contains("\n1 ") && micro.contains("\n2 "), "{micro}");
    assert!(
        micro.contains("Waiman Long") && micro.contains("unfair_byte_ms"),
        "{micro}"
    );
    for lock in [
        "ticket_lock",
        "qspinlock_fair",
        "qspinlock_steal",
        "tas_lock",
    ] {
        assert!(
            micro.contains(lock),
            "{lock} is there or said to be missing: {micro}"
        );
    }

    let endless = [
        "--preset",
        "spin-micro",
        "--loops",
        "1000000000000",
        "--time",
        "2",
        "--rounds",
        "1",
        "--threads",
        "2",
    ];
    let endless = bench(&room, &endless);
    assert!(
        endless.contains("> ") && endless.contains("(≈ "),
        "{endless}"
    );

    let single = bench(
        &room,
        &[
            "--preset",
            "single-thread",
            "--loops",
            "50",
            "--rounds",
            "3",
        ],
    );
    for lock in contenders() {
        assert!(has_row(&single, lock.name()), "{}: {single}", lock.name());
    }
    assert!(
        has_row(&single, "bare") && has_row(&single, "queue_write_lock"),
        "{single}"
    );
    let pointer = [
        "--preset",
        "single-thread",
        "--calls",
        "pointer",
        "--loops",
        "50",
        "--rounds",
        "1",
    ];
    let pointer = bench(&room, &pointer);
    assert!(
        !pointer.contains("compiled together with the lock:"),
        "{pointer}"
    );

    let torture = [
        "--preset",
        "locktorture",
        "--threads",
        "1,2",
        "--time",
        "3",
        "--rounds",
        "3",
        "--baseline",
        "glibc.mutex",
    ];
    let torture = bench(&room, &torture);
    assert!(
        torture.contains("Improve on glibc.mutex") && torture.contains("2 writers"),
        "{torture}"
    );
    assert!(has_row(&torture, "mutex"), "{torture}");
}

#[test]
fn the_sweep_has_all_its_cells() {
    let room = Room::new();
    let json = room.path("sweep.jsonl");
    let args = [
        "--preset",
        "sweep",
        "--quick",
        "--rounds",
        "1",
        "--time",
        "1",
        "--threads",
        "1,2",
    ];
    let file = text(&json);
    let own = ["--locks", "lockwork.mutex", "--json", &file];
    let args = [&args[..], &own].concat();
    let shown = bench(&room, &args);
    assert_eq!(read(&json).header.plan.cases.len(), 2 * 4 * 3);
    assert!(shown.contains("0 inside, 1us outside"), "{shown}");
    assert!(shown.contains("10us inside, 100us outside"), "{shown}");
    assert!(shown.contains("is compared with nothing"), "{shown}");
}

#[test]
fn plots_are_drawn_and_named() {
    let room = Room::new();
    let dir = room.path("plots");
    let shown = bench(&room, &[&TINY[..], &["--plots", &text(&dir)]].concat());
    let files: Vec<_> = fs::read_dir(&dir).expect("plots").collect();
    assert_eq!(files.len(), 2);
    assert_eq!(shown.matches("plot: ").count(), 2);
}

#[test]
fn the_list_has_all() {
    let room = Room::new();
    let shown = bench(&room, &["--list"]);
    for lock in contenders() {
        assert!(has_row(&shown, lock.name()), "{shown}");
    }
    assert_eq!(
        shown.matches("absent: ").count(),
        lockwork_peers::peers().absent.len()
    );
    assert!(
        shown.contains("spin-micro") && shown.contains("sweep"),
        "{shown}"
    );
}

#[test]
fn mistakes_are_one_sentence_that_lists_what_exists() {
    let room = Room::new();
    refused(
        &room,
        2,
        &["--locks", "no_such"],
        &["'no_such'", "mutex", "peers", "glibc.mutex"],
    );
    refused(
        &room,
        2,
        &["--preset", "no_such"],
        &["'no_such'", "spin-micro", "sweep"],
    );
    refused(
        &room,
        2,
        &["--set", "no_such=1"],
        &["'no_such'", "spin_budget"],
    );
    refused(&room, 2, &["--set", "spin_budget"], &["KNOB=VALUE"]);
    refused(
        &room,
        2,
        &["--locks", "lockwork.mutex", "--reads", "5"],
        &["no readers", "rw"],
    );
    refused(&room, 2, &["--loops", "5"], &["--loops", "spin-micro"]);
    refused(&room, 2, &["--quick"], &["--quick", "sweep"]);
    refused(&room, 2, &["--baseline", "mutex"], &["locktorture"]);
    refused(
        &room,
        2,
        &["--preset", "locktorture", "--baseline", "x"],
        &["'x'", "glibc.mutex"],
    );
    refused(
        &room,
        2,
        &["--preset", "locktorture", "--outside", "2x"],
        &["--outside", "locktorture"],
    );
    refused(
        &room,
        2,
        &["--preset", "single-thread", "--threads", "2"],
        &["--threads"],
    );
    refused(
        &room,
        125,
        &["--json", "/no/such/dir/x"],
        &["/no/such/dir/x", "cannot write"],
    );
    refused(
        &room,
        125,
        &["--from", "/no/such"],
        &["cannot read '/no/such'"],
    );
    refused(
        &room,
        125,
        &["--resume", "/no/such"],
        &["cannot read '/no/such'"],
    );
    for wrong in ["--inside=5s", "--threads=0", "--reads=101", "--outside=x"] {
        let output = room.run(&["bench", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}
