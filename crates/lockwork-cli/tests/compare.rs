// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork compare` keeps every sample and claims only what they support.
//! Nothing here depends on how fast anything runs.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{stderr, stdout, text, Room, Started};
use serde_json::Value;

/// No run is stopped for taking too long, however busy the machine is.
const PATIENT: &str = "--timeout-factor=1000000";

/// Runs `compare` with `args`, patiently, and reads the JSON it writes.
fn compare(room: &Room, args: &[&str]) -> (Output, Value) {
    compare_with(room, &[&[PATIENT], args].concat())
}

fn compare_with(room: &Room, args: &[&str]) -> (Output, Value) {
    let file = text(&room.path("out.json"));
    let all = [&["compare", "--json", &file], args].concat();
    let output = room.run(&all);
    (output, read_json(&file))
}

fn read_json(file: &str) -> Value {
    let json = fs::read_to_string(file).expect("JSON was written");
    serde_json::from_str(&json).expect("JSON parses")
}

/// The samples of `arm` that count.
fn counted(json: &Value, arm: &str) -> usize {
    let samples = json["samples"].as_array().expect("samples");
    let of_arm = |s: &&Value| s["arm"] == arm && s["counted"] == true;
    samples.iter().filter(of_arm).count()
}

fn summary<'a>(json: &'a Value, arm: &str) -> &'a Value {
    let all = json["summary"].as_array().expect("summary");
    let found = all.iter().find(|s| s["arm"] == arm);
    found.expect("a summary of each arm")
}

#[test]
fn writes_every_sample() {
    let room = Room::new();
    let args = [
        "-n",
        "4",
        "--warmup",
        "2",
        "--locks",
        "mutex,mutex:spin_budget=0",
    ];
    let (output, json) = compare(&room, &[&args[..], &["--", "true", "x"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json["schema"], 1);
    assert_eq!(json["command"], serde_json::json!(["true", "x"]));
    assert_eq!(json["ended"]["how"], "completed");
    assert_eq!(json["samples"].as_array().map(Vec::len), Some(4 * 6));
    let shown = stdout(&output);
    for arm in ["glibc", "glibc_passthrough", "mutex", "mutex:spin_budget=0"] {
        assert_eq!(counted(&json, arm), 4, "{arm}");
        assert!(shown.contains(arm), "{shown}");
    }
    assert_eq!(json["arms"][3]["settings"]["spin_budget"], "0");
    for sample in json["samples"].as_array().expect("samples") {
        assert!(sample["wall"].as_f64().is_some_and(|wall| wall > 0.0));
        assert_eq!(sample["exit_code"], 0);
        let is_warmup = sample["round"].as_i64().is_some_and(|round| round < 1);
        assert_eq!(sample["counted"], !is_warmup);
    }
    assert!(summary(&json, "mutex")["interval"].is_array());
    assert!(json["machine"]["kernel"].is_string());
}

#[test]
fn json_alone_on_standard_output() {
    let room = Room::new();
    let args = [
        "compare", "-n1", "--locks", "mutex", "--json", "-", "--", "true",
    ];
    let output = room.run(&args);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON only");
    assert_eq!(counted(&json, "mutex"), 1);
    assert!(stderr(&output).contains("Improve"));
    let mixed = [&args[..6], &["--output", "inherit", "--", "true"]].concat();
    assert_eq!(room.run(&mixed).status.code(), Some(2));
}

/// A program whose result depends on its lock, and on nothing else.
fn rated(room: &Room) -> String {
    let body = "case \"$LOCKWORK_LOCK\" in\n\
                mutex) echo 'rate: 1\nrate: 2,000';;\n\
                qspinlock_fair) echo 'rate: 500';;\n\
                *) echo 'rate: 1,000';;\nesac";
    room.script("rated", body)
}

#[test]
fn says_which_lock_is_better() {
    let room = Room::new();
    let program = rated(&room);
    let args = [
        "-n",
        "3",
        // Nothing is recorded: the program calls no lock.
        "--warmup",
        "0",
        "--locks",
        "mutex,qspinlock_fair",
        "--metric",
        "rate: ([0-9,]+)",
    ];
    let (output, json) = compare(&room, &[&args[..], &["--", &program]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(summary(&json, "mutex")["improve"], 1.0);
    assert_eq!(summary(&json, "qspinlock_fair")["improve"], -0.5);
    assert_eq!(summary(&json, "glibc_passthrough")["improve"], 0.0);
    let verdict = json["verdict"].as_str().expect("verdict");
    assert!(
        verdict.starts_with("mutex does better than glibc here, by 100.0 %"),
        "{verdict}"
    );
    assert!(stdout(&output).contains(verdict));

    let lower = ["--lower-is-better", "--", &program];
    let (_, json) = compare(&room, &[&args[..], &lower].concat());
    assert_eq!(summary(&json, "mutex")["improve"], -0.5);
    let verdict = json["verdict"].as_str().expect("verdict");
    assert!(
        verdict.starts_with("qspinlock_fair does better"),
        "{verdict}"
    );
}

#[test]
fn plots_each_lock_but_the_baseline() {
    let room = Room::new();
    let program = rated(&room);
    let file = text(&room.path("improve.svg"));
    let args = [
        "-n3",
        "--locks",
        "mutex,qspinlock_fair",
        "--metric",
        "rate: ([0-9,]+)",
        "--plot",
        &file,
        "--",
        &program,
    ];
    let (output, _) = compare(&room, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let svg = fs::read_to_string(&file).expect("a chart");
    for label in ["mutex", "+100.0 %", "qspinlock_fair", "-50.0 %"] {
        assert!(svg.contains(&format!("\n{label}\n")), "{label}: {svg}");
    }
    assert!(svg.contains("\nglibc_passthrough\n") && !svg.contains("\nglibc\n"));
}

#[test]
fn other_programs_read_the_table() {
    let room = Room::new();
    let program = rated(&room);
    let (csv, md) = (text(&room.path("out.csv")), text(&room.path("out.md")));
    let files = ["--csv", &csv, "--markdown", &md, "--locks", "mutex"];
    let args = [
        "-n3",
        "--warmup=0",
        "--metric=rate: ([0-9,]+)",
        "--",
        &program,
    ];
    let (output, json) = compare(&room, &[&files[..], &args].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for field in ["min", "median", "max"] {
        assert_eq!(summary(&json, "mutex")[field], 2000.0, "{field}");
    }
    let table = fs::read_to_string(csv).expect("CSV");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[0].starts_with("lock,samples,average,median,min,max,"));
    assert!(
        lines[1].starts_with("glibc,3,1000,1000,1000,1000,0,,,,"),
        "{table}"
    );
    assert!(
        lines[3].starts_with("mutex,3,2000,2000,2000,2000,0,1,"),
        "{table}"
    );
    let page = fs::read_to_string(md).expect("Markdown");
    assert!(
        page.contains("| mutex | 2,000 | 0.0 % | +100.0 % | +100.0 % … +100.0 % |"),
        "{page}"
    );
    assert!(
        page.contains("\nmutex does better than glibc here"),
        "{page}"
    );
}

#[test]
fn claims_nothing_from_too_few_rounds() {
    let room = Room::new();
    let program = rated(&room);
    let args = [
        "-n",
        "2",
        // Nothing is recorded: the program calls no lock.
        "--warmup",
        "0",
        "--locks",
        "mutex",
        "--metric",
        "rate: ([0-9,]+)",
        "--",
        &program,
    ];
    let (_, json) = compare(&room, &args);
    let verdict = json["verdict"].as_str().expect("verdict");
    assert!(verdict.contains("too few to claim anything"), "{verdict}");
    assert!(summary(&json, "mutex")["interval"].is_null());
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("mutex: only 2 samples"), "{warnings}");
}

#[test]
fn claims_nothing_where_nothing_differs() {
    let room = Room::new();
    let same = room.script("same", "echo rate: 5");
    let args = [
        "-n",
        "3",
        // Nothing is recorded: the program calls no lock.
        "--warmup",
        "0",
        "--locks",
        "mutex",
        "--metric",
        "rate: ([0-9]+)",
        "--",
        &same,
    ];
    let (_, json) = compare(&room, &args);
    let verdict = json["verdict"].as_str().expect("verdict");
    assert!(
        verdict.starts_with("No difference from glibc can be shown with 3 runs"),
        "{verdict}"
    );
}

#[test]
fn a_crash_is_reported_and_samples_are_kept() {
    let room = Room::new();
    let body = "[ \"$LOCKWORK_LOCK\" = mutex ] || exit 0\n\
                echo run >>\"$0.runs\"\n[ $(wc -l <\"$0.runs\") -lt 3 ] || kill -ABRT $$";
    let program = room.script("crash", body);
    let args = [
        "-n", "5", "--warmup", "1", "--locks", "mutex", "--", &program,
    ];
    let (output, json) = compare(&room, &args);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.contains("under mutex in round 2"), "{message}");
    assert!(message.contains("SIGABRT"), "{message}");
    assert_eq!(json["ended"]["how"], "failed");
    assert_eq!(json["ended"]["what"], "run");
    assert_eq!(counted(&json, "mutex"), 1);
    assert!(counted(&json, "glibc") >= 1);
    assert!(stdout(&output).contains("glibc_passthrough"));
    let last = json["samples"]
        .as_array()
        .and_then(|s| s.last())
        .expect("a sample");
    assert_eq!(last["signal"], "SIGABRT");
    assert_eq!(last["outcome"], "failed");
}

#[test]
fn an_exit_code_is_a_failure_unless_ignored() {
    let room = Room::new();
    let program = room.script("fails", "echo its words; exit 3");
    let args = ["-n", "2", "--locks", "mutex", "--output", "pipe"];
    let (output, json) = compare(&room, &[&args[..], &["--", &program]].concat());
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.contains("exit code 3"), "{message}");
    assert!(message.contains("| its words"), "{message}");
    assert_eq!(json["samples"].as_array().map(Vec::len), Some(1));
    // There is nothing else to say.
    assert_eq!(stdout(&output), "");
    let (output, _) = compare(&room, &[&args[..], &["--", "false"]].concat());
    let message = stderr(&output);
    assert!(message.ends_with("; it printed nothing\n"), "{message:?}");
    let verdict = json["verdict"].as_str().expect("one");
    assert!(verdict.starts_with("No verdict on the locks: the comparison ended"));

    let ignoring = ["--ignore-failure", "--", &program];
    let (output, json) = compare(&room, &[&args[..], &ignoring].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(counted(&json, "mutex"), 2);
    assert!(json["warnings"].to_string().contains(" failed"));
}

/// The numbers that are left would make it look good.
#[test]
fn a_lock_whose_runs_mostly_give_no_number_is_not_better() {
    let room = Room::new();
    let body = "dir=$(dirname \"$0\")\n\
                [ \"$LOCKWORK_LOCK\" = mutex ] || { echo rate: 100; exit; }\n\
                echo >>\"$dir/runs\"\n\
                [ $(($(wc -l <\"$dir/runs\") % 3)) = 0 ] || exit 1\n\
                echo rate: 150";
    let program = room.script("fails", body);
    let args = ["-n", "12", "--locks", "mutex", "--ignore-failure"];
    let metric = ["--metric", "rate: ([0-9]+)", "--fail-if-worse", "1"];
    let (output, json) = compare(&room, &[&args[..], &metric, &["--", &program]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        !stdout(&output).contains("better than"),
        "{}",
        stdout(&output)
    );
    let said = stdout(&output);
    assert!(
        said.contains("mutex failed in 8 runs, glibc in 0"),
        "{said}"
    );
    let summary = json["summary"].as_array().expect("locks");
    let mutex = summary.iter().find(|lock| lock["arm"] == "mutex");
    let mutex = mutex.expect("a summary of it");
    assert_eq!(
        (&mutex["samples"], &mutex["failed"]),
        (&4.into(), &8.into())
    );
}

#[test]
fn an_output_without_the_number_is_shown() {
    let room = Room::new();
    let program = room.script("silent", "echo no such thing here");
    let args = ["-n", "1", "--metric", "rate: ([0-9]+)", "--", &program];
    let (output, _) = compare(&room, &args);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("| no such thing here"));
}

#[test]
fn it_says_if_only_the_end_of_the_output_was_searched() {
    let room = Room::new();
    let body = "echo rate: 1; head -c 9000000 /dev/zero | tr '\\0' .; echo; echo the end";
    let program = room.script("talks", body);
    let args = ["-n1", "--metric", "rate: ([0-9]+)", "--", &program];
    let (output, _) = compare(&room, &args);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    let part = "does not match --metric 'rate: ([0-9]+)'; only the last 4 MiB of it were searched";
    assert!(
        message.contains(part) && message.contains("| the end"),
        "{message}"
    );
}

#[test]
fn what_a_program_complains_of_is_shown_though_its_output_is_thrown_away() {
    let room = Room::new();
    let body =
        "echo not this; head -c 5000 /dev/zero | tr '\\0' . >&2\necho >&2; echo no db >&2; exit 3";
    let program = room.script("complains", body);
    let (output, _) = compare(&room, &["-n1", "--locks", "mutex", "--", &program]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    let part = "it ended with exit code 3; its standard error ends with:";
    assert!(
        message.contains(part) && message.contains("| no db"),
        "{message}"
    );
    assert!(
        !message.contains("not this") && message.len() < 2000,
        "{message}"
    );
}

#[test]
fn wrong_options_are_refused_before_the_first_run() {
    let room = Room::new();
    let witness = room.path("ran");
    let program = room.script("witness", "touch \"$(dirname \"$0\")/ran\"");
    for (option, words) in [
        (vec!["--metric", "rate: ("], "not a regular expression"),
        (vec!["--metric", "rate: [0-9]+"], "exactly one"),
        (vec!["--metric", "(a)(b)"], "exactly one"),
        (vec!["--metric", "(a)", "--output", "null"], "--output"),
        (vec!["--locks", "mutex,nope"], "there is no lock 'nope'"),
        (
            vec!["--locks", "mutex:nope=1"],
            "there is no knob named 'nope'",
        ),
        (vec!["--locks", "mutex:spin_budget=x"], "it takes"),
        (vec!["--locks", "glibc"], "nothing to compare"),
        (vec!["--set", "nope=1"], "there is no knob named 'nope'"),
        (vec!["--set", "spin_budget"], "KNOB=VALUE"),
        (vec!["--json", "/no/such/dir/file"], "cannot write to"),
        (vec!["--plot", "/no/such/dir/file"], "cannot write to"),
        (vec!["--plot", "-"], "name a file"),
        (vec!["--stdin", "/no/such/file"], "cannot open --stdin"),
    ] {
        let args = [&["compare"], &option[..], &["--", &program]].concat();
        let output = room.run(&args);
        let path_is_wrong = option[1].starts_with("/no/such");
        let code = if path_is_wrong { 125 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{option:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let absent = room.run(&["compare", "--", "no-such-program-here"]);
    assert_eq!(absent.status.code(), Some(127));
    assert!(!witness.exists());
}

#[test]
fn a_hopeless_lock_is_stopped_and_the_rest_goes_on() {
    let room = Room::new();
    let program = room.script("hangs", "[ \"$LOCKWORK_LOCK\" != mutex ] || sleep 100000");
    let args = ["-n", "3", "--locks", "mutex,qspinlock_tas"];
    let args = [&args[..], &["--", &program]].concat();
    let (output, json) = compare_with(&room, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(summary(&json, "mutex")["stopped"], true);
    // Ten times glibc's slowest run until then, and a second.
    let limit = summary(&json, "mutex")["limit"].as_f64().expect("a limit");
    let shown = stdout(&output);
    let row = shown.lines().find(|line| line.starts_with("mutex"));
    let row = row.expect("a row");
    assert!(
        limit > 1.0 && row.contains("> ") && row.contains(" s, stopped"),
        "{row}"
    );
    let runs = json["samples"].as_array().expect("samples");
    assert_eq!(runs.iter().filter(|s| s["arm"] == "mutex").count(), 1);
    assert_eq!(counted(&json, "glibc"), 3);
    let verdict = json["verdict"].as_str().expect("verdict");
    assert!(verdict.contains("took too long: mutex"), "{verdict}");
}

#[test]
fn what_the_program_leaves_running_is_stopped() {
    let room = Room::new();
    let program = room.script("leaves", "sleep 100000 & echo $! >\"$0.pid\"; echo rate: 1");
    let args = [
        "-n",
        "1",
        "--locks",
        "mutex",
        "--metric",
        "rate: (1)",
        "--",
        &program,
    ];
    let (output, json) = compare(&room, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(counted(&json, "mutex"), 1);
    wait_until_gone(&format!("{program}.pid"));
}

/// Waits until the process whose number is in `file` is gone, or a zombie that
/// somebody else has to reap.
fn wait_until_gone(file: &str) {
    let pid = fs::read_to_string(file).expect("process number");
    let stat = format!("/proc/{}/stat", pid.trim());
    let runs = || fs::read_to_string(&stat).is_ok_and(|s| !s.contains(") Z "));
    while runs() {
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn ctrl_c_keeps_the_samples() {
    let room = Room::new();
    let body = "echo run >>\"$0.runs\"\n[ $(wc -l <\"$0.runs\") -lt 6 ] && exit 0\n\
                sleep 100000 &\necho $! >\"$0.tmp\"; mv \"$0.tmp\" \"$0.pid\"; wait";
    let program = room.script("long", body);
    let file = text(&room.path("out.json"));
    let args = [
        "compare",
        "-n5",
        "--warmup=0",
        "--locks=mutex",
        PATIENT, // the signal comes first, however late
        "--json",
        &file,
    ];
    let mut command = room.lockwork(&[&args[..], &["--", &program]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut started = Started::new(&mut command);
    let marker = format!("{program}.pid");
    started.until(|| Path::new(&marker).exists());
    started.signal(libc::SIGINT);
    let output = started.output();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stdout(&output).contains("glibc_passthrough"));
    let json = read_json(&file);
    assert_eq!(json["ended"]["how"], "interrupted");
    assert_eq!(json["ended"]["signal"], "SIGINT");
    let samples = json["samples"].as_array().expect("samples");
    assert_eq!(samples.len(), 6);
    assert_eq!(samples.iter().filter(|s| s["counted"] == true).count(), 5);
    wait_until_gone(&marker);
}

/// Whether the process is stopped.
fn is_stopped(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") T "))
}

/// A run under the mutex has lockwork stopped by `signal` once, and ends when the file `go` is there.
/// Whether the program is stopped with it is checked if `together`.
fn stopped_once(signal: &str, together: bool) {
    let room = Room::new();
    // The script waits without a command of its own: a shell that is stopped between the vfork and
    // the exec of one waits for it and never gets into the state that is looked for here.
    let body = format!(
        "[ \"$LOCKWORK_LOCK\" = mutex ] && mkdir \"$0.once\" 2>/dev/null || exit 0\n\
         echo $$ >\"$0.tmp\"; mv \"$0.tmp\" \"$0.pid\"\n\
         kill -{signal} $PPID\n\
         while [ ! -e \"$0.go\" ]; do :; done\nexit 3"
    );
    let program = room.script("long", &body);
    let file = text(&room.path("out.json"));
    let args = [
        "compare",
        "-n2",
        "--warmup=0",
        "--locks=mutex",
        PATIENT,
        "--json",
        &file,
        "--",
        &program,
    ];
    let mut command = room.lockwork(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut started = Started::new(&mut command);
    let own = started.id();
    started.until(|| is_stopped(own));
    if together {
        let pid = fs::read_to_string(format!("{program}.pid")).expect("its number");
        let pid = pid.trim().parse().expect("a number");
        started.until(|| is_stopped(pid));
    }
    fs::write(format!("{program}.go"), "").expect("written");
    started.signal(libc::SIGCONT);
    let output = started.output();
    // That it failed then does not count either.
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json = read_json(&file);
    for arm in ["glibc", "glibc_passthrough", "mutex"] {
        assert_eq!(counted(&json, arm), 2, "{arm}");
    }
    let samples = json["samples"].as_array().expect("samples");
    let paused: Vec<&Value> = (samples.iter().filter(|s| s["outcome"] == "paused")).collect();
    assert_eq!(paused.len(), 1);
    assert_eq!(paused[0]["arm"], "mutex");
    assert_eq!(paused[0]["counted"], false);
    let said = stdout(&output);
    assert!(
        said.contains("warning: lockwork was stopped during 1 run"),
        "{said}"
    );
}

#[test]
fn ctrl_z_stops_the_program_too_and_its_run_does_not_count() {
    stopped_once("TSTP", true);
}

#[test]
fn a_stop_that_cannot_be_caught_is_noticed() {
    stopped_once("STOP", false);
}

/// Its temporary folder is gone, too.
#[test]
fn sigquit_ends_it_as_ctrl_c_does() {
    let room = Room::new();
    let program = room.script(
        "long",
        "echo $$ >\"$0.tmp\"; mv \"$0.tmp\" \"$0.pid\"; exec sleep 100000",
    );
    let args = ["compare", "-n2", "--locks=mutex", PATIENT, "--", &program];
    let mut command = room.lockwork(&args);
    fs::create_dir(room.path("tmp")).expect("a folder");
    command.env("TMPDIR", room.path("tmp"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut started = Started::new(&mut command);
    let marker = format!("{program}.pid");
    started.until(|| Path::new(&marker).exists());
    started.signal(libc::SIGQUIT);
    let output = started.output();
    assert_eq!(output.status.code(), Some(131), "{}", stderr(&output));
    assert_eq!(fs::read_dir(room.path("tmp")).expect("it").count(), 0);
    wait_until_gone(&marker);
}

#[test]
fn the_seed_fixes_the_order() {
    let room = Room::new();
    let order = |seed: &str| {
        let args = ["-n", "3", "--locks", "mutex", "--seed", seed, "--", "true"];
        let (_, json) = compare(&room, &args);
        let samples = json["samples"].as_array().expect("samples");
        let arms = samples.iter().map(|s| s["arm"].to_string());
        arms.collect::<Vec<_>>()
    };
    assert_eq!(order("5"), order("5"));
    assert_ne!(order("5"), order("6"));
}

#[test]
fn runs_the_embedded_workload() {
    let room = Room::new();
    let small = [
        "workload",
        "--threads",
        "3",
        "--ops",
        "20000",
        "--keys",
        "500",
    ];
    let output = room.run(&small);
    assert!(output.status.success(), "{}", stderr(&output));
    for words in [
        "throughput: ",
        "fairness: ",
        "contended: ",
        "longest wait",
        "hits: ",
    ] {
        assert!(stdout(&output).contains(words));
    }
    let args = ["-n", "1", "--warmup", "0", "--locks", "mutex"];
    let (output, json) = compare(&room, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json["embedded"], true);
    let contended = json["samples"][0]["contended"].as_f64().expect("a share");
    assert!((0.0..=1.0).contains(&contended));
    let note = json["note"].as_str().expect("a note");
    assert!(note.contains("% of its acquisitions under glibc found their lock held"));
    assert!(stdout(&output).contains(note));
    assert_eq!(json["plan"]["better"], "higher");
    assert!(json["samples"][0]["metric"]
        .as_f64()
        .is_some_and(|m| m > 0.0));
}

/// Under a trylock that always finds its mutex held.
#[test]
fn the_embedded_workload_counts_what_it_found_held() {
    let room = Room::new();
    let held = "int pthread_mutex_trylock(void *m) { return m ? 16 : 0; }\n";
    let held = room.compile("held.so", held, &["-shared", "-fPIC"]);
    let small = "workload --threads 2 --ops 20000 --keys 500";
    let mut command = room.lockwork(&small.split(' ').collect::<Vec<_>>());
    command.env("LD_PRELOAD", held);
    let output = command.output().expect("lockwork starts");
    let shown = stdout(&output);
    assert!(shown.contains("contended: 100.00 % of "), "{shown}");
}

#[test]
fn a_program_without_locks_has_no_locks_to_replace() {
    let room = Room::new();
    let (output, json) = compare(&room, &["-n", "1", "--locks", "mutex", "--", "true"]);
    let note = json["note"].as_str().expect("a note");
    assert!(note.contains("made no lock call that an interposer sees"));
    assert!(stdout(&output).contains(note));
    assert_eq!(json["locking"]["acquisitions"], 0);
    assert!(json["samples"][0]["contended"].is_null());
    assert!(!stdout(&output).contains("found their lock held"));
}

#[test]
fn commands_run_around_what_is_measured() {
    let room = Room::new();
    let log = text(&room.path("log"));
    let say = |word: &str| format!("echo \"{word}$LOCKWORK_LOCK\" >>'{log}'");
    let program = room.script("app", &format!("echo run >>'{log}'"));
    let hooks = [
        "--prepare",
        &say("prepare"),
        "--setup",
        &say("setup"),
        "--cleanup",
        &say("cleanup"),
    ];
    let args = [&hooks[..], &["-n1", "--locks", "mutex", "--", &program]].concat();
    let (output, _) = compare(&room, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // Two rounds of three arms.
    let expected = format!("setup\n{}cleanup\n", "prepare\nrun\n".repeat(6));
    assert_eq!(fs::read_to_string(&log).expect("a log"), expected);

    for (hook, what, runs) in [
        ("--setup", "setup", 0),
        ("--prepare", "prepare", 0),
        ("--cleanup", "cleanup", 6),
    ] {
        fs::write(&log, "").expect("written");
        let fails = [hook, "echo its words; exit 3", "-n1", "--locks", "mutex"];
        let (output, json) = compare(&room, &[&fails[..], &["--", &program]].concat());
        assert_eq!(output.status.code(), Some(1), "{hook}");
        let message = stderr(&output);
        assert!(
            message.contains(&format!("{hook} 'echo its words; exit 3' failed")),
            "{message}"
        );
        assert!(
            message.contains("exit code 3") && message.contains("| its words"),
            "{message}"
        );
        assert_eq!(
            json["samples"].as_array().map(Vec::len),
            Some(runs),
            "{hook}"
        );
        assert_eq!(json["ended"]["how"], "failed", "{hook}");
        assert_eq!(json["ended"]["what"], what);
        let warnings = json["warnings"].to_string();
        assert!(warnings.contains(&format!("{hook} failed")), "{warnings}");
        assert!(!warnings.contains("last one failed"), "{warnings}");
        let fails = [hook, "exit 3", "-n1", "--locks", "mutex", "--", &program];
        let message = stderr(&compare(&room, &fails).0);
        assert!(
            message.ends_with("it ended with exit code 3\n"),
            "{message:?}"
        );
    }
    // The last one runs after a failure, too.
    fs::write(&log, "").expect("written");
    let args = [&hooks[4..], &["-n1", "--locks", "mutex", "--", "false"]].concat();
    assert_eq!(compare(&room, &args).0.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&log).expect("a log"), "cleanup\n");
}

#[test]
fn a_time_limit_holds_for_glibc_too() {
    let room = Room::new();
    let args = ["-n1", "--warmup=0", "--locks=mutex", "--timeout", "0.01"];
    let (output, _) = compare(&room, &[&args[..], &["--", "sleep", "100000"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    let why = "a run under glibc took longer than the time limit of 0.01 s";
    assert!(message.contains(why), "{message}");
}

#[test]
fn arms_that_vary_much_share_one_warning() {
    let room = Room::new();
    let body = "echo >>\"$0.runs\"; echo rate: $(($(wc -l <\"$0.runs\") * 100))";
    let program = room.script("grows", body);
    let args = [
        "-n4",
        "--warmup=0",
        "--locks=mutex",
        "--metric=rate: ([0-9]+)",
    ];
    let (_, json) = compare(&room, &[&args[..], &["--", &program]].concat());
    let warnings = json["warnings"].as_array().expect("warnings");
    let vary = warnings.iter().filter_map(Value::as_str);
    let vary: Vec<&str> = vary.filter(|w| w.contains("vary much")).collect();
    assert_eq!(vary.len(), 1, "{vary:?}");
    for arm in ["glibc ", "glibc_passthrough ", "mutex "] {
        assert!(vary[0].contains(arm), "{vary:?}");
    }
}

#[test]
fn a_warm_up_run_that_cannot_be_recorded_is_mentioned() {
    let room = Room::new();
    let file = text(&room.path("out.json"));
    let args = ["compare", "-n1", "--locks=mutex", PATIENT, "--json", &file];
    let mut command = room.lockwork(&[&args[..], &["--", "true"]].concat());
    command.env("TMPDIR", room.path("no-such-folder"));
    let output = command.output().expect("lockwork starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json = read_json(&file);
    assert!(json["locking"].is_null());
    let warnings = json["warnings"].to_string();
    assert!(
        warnings.contains("the warm-up run was not recorded"),
        "{warnings}"
    );
    assert!(
        warnings.contains("TMPDIR") && warnings.contains("cannot make a folder"),
        "{warnings}"
    );
    // A file of the recorder's size cannot be made. What lockwork loads is there from before.
    room.run(&[&args[..4], &["--", "true"]].concat());
    let output = room.run_on_full_disk(8, &[&args[..4], &["--", "true"]].concat());
    let said = stdout(&output);
    assert!(said.contains("the warm-up run was not recorded"), "{said}");
}

/// A difference that is not from waiting is not denied in the next line.
#[test]
fn a_difference_without_contention_is_said_not_to_come_from_waiting() {
    let room = Room::new();
    let source =
        "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                  int main(void) {\n\
                  static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
                  const char *lock = getenv(\"LOCKWORK_LOCK\");\n\
                  pthread_mutex_lock(&m); pthread_mutex_unlock(&m);\n\
                  printf(\"rate: %d\\n\", lock && !strcmp(lock, \"mutex\") ? 200 : 100);\n\
                  return 0; }\n";
    let program = room.compile("free", source, &["-pthread"]);
    let args = ["-n", "3", "--locks", "mutex", "--metric", "rate: ([0-9]+)"];
    let (output, json) = compare(&room, &[&args[..], &["--", &program]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(
        said.contains("mutex does better than glibc here, by 100.0 %"),
        "{said}"
    );
    assert_eq!(json["locking"]["contended"], 0);
    let note = "the difference probably does not come from waiting for locks.";
    assert!(
        said.contains(note) && !said.contains("no lock makes it faster"),
        "{said}"
    );
}

/// A program that is half as good under the mutex as under anything else.
const HALF: &str = "if [ \"$LOCKWORK_LOCK\" = mutex ]; then echo rate: 50; else echo rate: 100; fi";

#[test]
fn a_lock_that_is_worse_than_allowed_fails() {
    let room = Room::new();
    let half = room.script("half", HALF);
    let run = |options: &[&str]| {
        let all = [
            "compare",
            PATIENT,
            "--locks",
            "mutex",
            "--metric",
            "rate: ([0-9]+)",
        ];
        let output = room.run(&[&all[..], options, &["--", &half]].concat());
        (output.status.code(), stderr(&output))
    };
    let (code, message) = run(&["-n", "4", "--fail-if-worse", "40"]);
    assert_eq!(code, Some(1), "{message}");
    assert!(
        message.contains("worse than glibc by more than 40 %: mutex (at least 50.0 %)"),
        "{message}"
    );
    for allowed in [&["-n", "4", "--fail-if-worse", "50"][..], &["-n", "4"]] {
        let (code, message) = run(allowed);
        assert_eq!(code, Some(0), "{allowed:?}: {message}");
    }
    // Two rounds show nothing, so that it could never fail.
    let (code, message) = run(&["-n", "2", "--fail-if-worse", "0"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(
        message.contains("can never fail with 2 rounds"),
        "{message}"
    );
    let (code, message) = run(&["--fail-if-worse", "100"]);
    assert_eq!(code, Some(2), "{message}");
}

/// It leaves the process group before the one that started it ends.
const DAEMON: &str = "mkfifo up; setsid sh -c 'echo > up; exec sleep 1000' & read line < up; rm up";

#[test]
fn daemons_are_ended_with_their_run() {
    let room = Room::new();
    let script = format!("cd {}; {DAEMON}", text(&room.path("")));
    let args = ["-n", "2", "--warmup", "1", "--locks", "mutex"];
    let (output, json) = compare(&room, &[&args[..], &["--", "sh", "-c", &script]].concat());
    let shown = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for sample in json["samples"].as_array().expect("samples") {
        assert_eq!(sample["behind"], 1, "{sample}");
    }
    let verdict = json["verdict"].as_str().expect("a verdict");
    assert!(
        verdict.contains("the program went on in the background"),
        "{shown}"
    );
    assert!(
        shown.contains("9 of 9 runs left processes behind"),
        "{shown}"
    );
}

/// What lockwork's process had as children before is not of its runs.
#[test]
fn children_of_before_are_spared() {
    let room = Room::new();
    let script = "sleep 1000 >/dev/null 2>&1 & echo $!; \
                  exec \"$0\" compare -n 1 --warmup 0 --locks mutex -- true";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_lockwork")])
        .env("XDG_CACHE_HOME", room.path("cache"))
        .output()
        .expect("sh starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = stdout(&output);
    let child = shown.lines().next().expect("its number");
    let killed = std::process::Command::new("kill").arg(child).status();
    assert!(killed.expect("kill starts").success(), "it is gone");
}

#[test]
fn no_result_is_written_over_a_program_or_an_input() {
    let room = Room::new();
    let script = room.executable("app", b"#!/bin/sh\nexit 0\n");
    let input = text(&room.path("input"));
    fs::write(&input, "text").expect("written");
    let options = ["--json", "--plot", "--html", "--csv", "--markdown"];
    let run = ["-n1", "--warmup=0", "--locks=mutex"];
    for option in options {
        let refused = |file: &str, why: &str| {
            let given = ["compare", option, file, "--stdin", &input];
            let output = room.run(&[&given[..], &run, &["--", &script]].concat());
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
            assert!(stderr(&output).contains(why), "{}", stderr(&output));
        };
        let before = fs::read(&script).expect("it is there");
        refused(&script, "is read by this command");
        assert_eq!(fs::read(&script).expect("it is there"), before);
        let other = room.executable("other", b"#!/bin/sh\n");
        refused(&other, "is executable");
        refused(&input, "is read by this command");
        assert_eq!(fs::read(&input).expect("it is there"), b"text");
    }
    let suite = text(&room.path("s.toml"));
    let program = "locks = ['mutex']\nrounds = 1\nthreads = [2]\n\
                   [[program]]\nname = 'a'\ncommand = ['true']\n";
    fs::write(&suite, program).expect("written");
    let output = room.run(&["compare", "--suite", &suite, "--json", &suite]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("is read by this command"), "{said}");
    assert_eq!(fs::read_to_string(&suite).expect("it"), program);
}
