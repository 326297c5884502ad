// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What `lockwork report` says of a process that still runs, was killed, or never ends by
//! itself, and of libraries that it loads after it has changed its user.

mod common;

use std::cell::RefCell;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{stderr, stdout, text, Room, Started};
use serde_json::Value;

/// A thread waits for ever for a mutex that main holds.
const HANGS: &str = "#include <pthread.h>\n#include <unistd.h>\n\
    pthread_mutex_t held_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static void *wait_for_it(void *x) { pthread_mutex_lock(&held_mutex); return x; }\n\
    int main(void) { pthread_t t; pthread_mutex_lock(&held_mutex);\n\
    pthread_create(&t, 0, wait_for_it, 0); for (;;) pause(); }\n";

/// A thread finds the mutex held, and sleeps until main gives it up. Then there are many short
/// sections, and with an argument the program waits for signals.
const SERVES: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdio.h>\n\
    #include <unistd.h>\npthread_mutex_t hot_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static int tid;\n\
    static void *hold(void *x) { __atomic_store_n(&tid, gettid(), __ATOMIC_RELEASE);\n\
    pthread_mutex_lock(&hot_mutex); pthread_mutex_unlock(&hot_mutex); return x; }\n\
    static int sleeps(void) { char name[64], state = 0; FILE *f;\n\
    int at = __atomic_load_n(&tid, __ATOMIC_ACQUIRE); if (!at) return 0;\n\
    snprintf(name, 64, \"/proc/self/task/%d/stat\", at); f = fopen(name, \"r\");\n\
    if (!f || fscanf(f, \"%*d %*s %c\", &state) != 1) return 0; fclose(f); return state == 'S'; }\n\
    int main(int argc, char **argv) { pthread_t t; pthread_mutex_lock(&hot_mutex); (void)argv;\n\
    pthread_create(&t, 0, hold, 0); while (!sleeps()) usleep(1000);\n\
    pthread_mutex_unlock(&hot_mutex); pthread_join(t, 0);\n\
    for (int i = 0; i < 100000; i++) {\n\
    pthread_mutex_lock(&hot_mutex); pthread_mutex_unlock(&hot_mutex); }\n\
    while (argc > 1) pause(); return 0; }\n";

/// Ends a program that does not end by itself.
fn end(running: Started, signal: i32) {
    running.signal(signal);
    running.output();
}

/// The program, recorded as a service is: by two variables.
fn service(room: &Room, command: &[&str]) -> Started {
    let path = room.run(&["preload-path", "--recorder"]);
    assert!(path.status.success(), "{}", stderr(&path));
    let mut program = Command::new(command[0]);
    program
        .args(&command[1..])
        .env("LD_PRELOAD", stdout(&path).trim())
        .env("LOCKWORK_RECORD", room.path("p.prof"))
        .stdin(Stdio::null());
    Started::new(&mut program)
}

/// The first process that the report in JSON has; null: there is no profile yet.
fn process(room: &Room) -> Value {
    let output = room.run(&["report", "--json", &text(&room.path("p.prof"))]);
    let all: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_default();
    all.into_iter().next().unwrap_or_default()
}

/// The process, once this holds.
fn await_process(room: &Room, running: &mut Started, holds: impl Fn(&Value) -> bool) -> Value {
    let found = RefCell::new(Value::Null);
    running.until(|| {
        found.replace(process(room));
        holds(&found.borrow())
    });
    found.into_inner()
}

fn waits(process: &Value) -> bool {
    !process["waiting_now"][0].is_null()
}

/// For how long the first waiter has waited.
fn waited_ns(process: &Value) -> u64 {
    let ns = process["waiting_now"][0]["for_ns"].as_f64();
    ns.unwrap_or_else(|| panic!("nobody waits: {process:#}")) as u64
}

const NAP: Duration = Duration::from_millis(300);

#[test]
fn a_wait_of_a_program_that_hangs_is_as_long_as_it_is() {
    let room = Room::new();
    let program = room.compile("hangs", HANGS, &["-pthread"]);
    let mut running = service(&room, &[&program]);
    let first = await_process(&room, &mut running, waits);
    std::thread::sleep(NAP);
    let later = process(&room);
    let passed = waited_ns(&later) - waited_ns(&first);
    // The counter's length of a tick is measured anew each time.
    assert!(passed > NAP.as_nanos() as u64 * 9 / 10, "{passed} ns");
    let seconds = later["seconds"].as_f64().expect("seconds");
    assert!(seconds * 1e9 >= waited_ns(&later) as f64, "{seconds}");
    assert_eq!(later["end"], "runs");

    // Nobody saw when it was killed; that it waited when it was seen last is known.
    end(running, libc::SIGKILL);
    let killed = process(&room);
    assert_eq!(killed["end"], "not seen");
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(waited_ns(&killed), waited_ns(&process(&room)));
}

#[test]
fn the_end_of_a_killed_program_is_known_to_who_started_it() {
    let room = Room::new();
    let program = room.compile("hangs", HANGS, &["-pthread"]);
    let file = text(&room.path("p.prof"));
    let mut command = room.lockwork(&["profile", "--quiet", "-o", &file, "--", &program]);
    let mut running = Started::new(&mut command);
    await_process(&room, &mut running, waits);
    std::thread::sleep(NAP);
    let before = process(&room);
    end(running, libc::SIGTERM);
    let killed = process(&room);
    assert_eq!(killed["end"], "signal 15");
    assert_eq!(killed["ended"], false);
    assert!(waited_ns(&killed) >= waited_ns(&before) * 9 / 10);
    assert!(waited_ns(&killed) >= NAP.as_nanos() as u64 * 9 / 10);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(waited_ns(&killed), waited_ns(&process(&room)));
}

#[test]
fn a_file_that_is_recorded_into_is_kept() {
    let room = Room::new();
    let program = room.compile("hangs", HANGS, &["-pthread"]);
    let mut running = service(&room, &[&program]);
    await_process(&room, &mut running, waits);
    let file = text(&room.path("p.prof"));
    let again = ["profile", "-o", &file, "--", "true"];
    let refused = room.run(&again);
    assert_eq!(refused.status.code(), Some(125));
    let said = stderr(&refused);
    let pid = running.id();
    assert!(
        said.contains(&format!("process {pid} is recorded into it now")),
        "{said}"
    );
    assert!(waits(&process(&room)));
    end(running, libc::SIGKILL);
    assert!(room.run(&again).status.success());
}

/// What to try for the first lock.
fn advice(process: &Value) -> String {
    let why = &process["locks"][0]["why"]["advice"];
    why.as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_comparison_of_a_server_needs_a_script() {
    let room = Room::new();
    let program = room.compile("serves", SERVES, &["-pthread"]);
    let mut running = service(&room, &[&program, "for-ever"]);
    let seen = await_process(&room, &mut running, |process| {
        process["locks"][0]["counts"]["count"] == 100_002
    });
    drop(running);
    let is_for_servers = |advice: &str| {
        advice.contains("-- ./SCRIPT, where SCRIPT starts serves,") && !advice.contains("for-ever")
    };
    assert!(is_for_servers(&advice(&seen)), "{}", advice(&seen));
    let killed = process(&room);
    assert!(is_for_servers(&advice(&killed)), "{}", advice(&killed));

    // A program that ends is simply run again, and so is a script that starts and ends another.
    let file = text(&room.path("p.prof"));
    let script = format!("{program}; exit 0");
    let quoted = format!("sh -c '{script}'");
    for (command, shown) in [
        (&[&*program][..], &program),
        (&["sh", "-c", &script], &quoted),
    ] {
        let output = room.run(&[&["profile", "--quiet", "-o", &file, "--"], command].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let again = format!("-- {shown}");
        let found = process(&room);
        assert!(advice(&found).ends_with(&again), "{}", advice(&found));
    }
}

/// Changes its user if it can, is closed to others in any case, and loads a library then.
const CHANGES_USER: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <sys/prctl.h>\n\
    #include <unistd.h>\nint main(int argc, char **argv) { void (*work)(void);\n\
    if (argc != 2 || (!getuid() && setresuid(65534, 65534, 65534))) return 1;\n\
    prctl(PR_SET_DUMPABLE, 0); void *library = dlopen(argv[1], RTLD_NOW);\n\
    if (!library) return 2; *(void **)&work = dlsym(library, \"work\");\n\
    if (!work) return 3; work(); return access(\"/proc/self/mem\", R_OK) ? 0 : 4; }\n";
const LIBRARY: &str = "#include <pthread.h>\n\
    static pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    void work(void) { pthread_mutex_lock(&own_mutex); pthread_mutex_unlock(&own_mutex); }\n";

#[test]
fn a_library_has_its_build_id_after_a_change_of_user() {
    let room = Room::new();
    let shared = ["-shared", "-fPIC", "-Wl,--build-id=0x0123456789abcdef"];
    let library = room.compile("late.so", LIBRARY, &shared);
    let program = room.compile("changes", CHANGES_USER, &[]);
    common::set_mode(room.path("").as_path(), 0o755);
    for name in ["late.so", "changes"] {
        common::set_mode(&room.path(name), 0o755);
    }
    let file = text(&room.path("p.prof"));
    let args = ["profile", "--quiet", "-o", &file, "--", &program, &library];
    let output = room.run(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let bytes = fs::read(&file).expect("the profile");
    let found = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = found
        .lines()
        .skip_while(|l| !l.ends_with("late.so"))
        .collect();
    assert!(
        lines
            .get(1)
            .is_some_and(|l| l.starts_with("id ") && l.ends_with(" 0123456789abcdef")),
        "{:?}",
        lines.get(..2)
    );
}

/// Locks a mutex, and then is replaced by the program that its arguments name.
const EXECS: &str = "#include <pthread.h>\n#include <unistd.h>\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    int main(int argc, char **argv) { if (argc < 2) return 1;\n\
    pthread_mutex_lock(&m); pthread_mutex_unlock(&m);\n\
    execv(argv[1], argv + 1); return 2; }\n";
/// Runs until its standard input ends, and makes no lock call.
const READS: &str = "#include <unistd.h>\n\
    int main(void) { char c; while (read(0, &c, 1) > 0) {} return 0; }\n";

#[test]
fn a_program_ends_where_exec_replaces_it_by_one_without_locks() {
    let room = Room::new();
    let old = room.compile("execs", EXECS, &["-pthread"]);
    let file = text(&room.path("p.prof"));
    for flags in [&[][..], &["-static"]] {
        let new = room.compile("reads", READS, flags);
        // What has no recorder is seen by who started it.
        let args = ["profile", "--quiet", "-o", &file, "--", &old, &new];
        let began = Instant::now();
        let mut command = room.lockwork(&args);
        let mut running = Started::new(command.stdin(Stdio::piped()));
        let input = running.input();
        let seen = await_process(&room, &mut running, |process| process["end"] == "exec");
        assert_eq!(seen["locks"][0]["counts"]["count"], 1, "{flags:?}");
        std::thread::sleep(NAP);
        drop(input);
        let status = running.output().status;
        assert!(status.success(), "{status}");
        let passed = began.elapsed();
        let ended = process(&room);
        assert_eq!(ended["end"], "exec", "{flags:?}");
        assert_eq!(ended["ended"], false, "{flags:?}");
        let seconds = ended["seconds"].as_f64().expect("seconds");
        // A recorder notes it at once, and who started it within half a second, or later on a busy
        // machine.
        let most = if flags.is_empty() {
            passed - NAP
        } else {
            passed
        };
        let most = most.as_secs_f64() * 1.05;
        assert!(seconds <= most, "{flags:?}: {seconds} of {most}");
        let report = stdout(&room.run(&["report", &file]));
        let note =
            "exec replaced the program by another one, which made no lock call that was seen";
        assert!(report.contains(note), "{report}");
    }
}

/// Its malloc has a mutex, as jemalloc's: the recorder's own preparations then make lock calls.
#[test]
fn a_malloc_that_locks_is_no_other_program() {
    let room = Room::new();
    let source = include_str!("../../../tests/record/allocator.c");
    let allocates = room.compile("allocates", source, &["-pthread"]);
    let file = text(&room.path("p.prof"));
    let record = |program: &[&str]| {
        let args = ["profile", "--quiet", "-o", &file, "--"];
        let output = room.run(&[&args, program].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    record(&[&allocates]);
    assert_eq!(process(&room)["end"], "by itself");
    // What such a program replaces ends there, and the new one does not.
    std::fs::remove_file(&file).expect("removed");
    let old = room.compile("execs", EXECS, &["-pthread"]);
    record(&[&old, &allocates]);
    let output = room.run(&["report", "--json", &file]);
    let all: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let end = |program: &str| {
        let ended = |one: &&Value| one["command"][0] == program;
        let found = all.iter().find(ended);
        found.unwrap_or_else(|| panic!("{all:#?}"))["end"].clone()
    };
    assert_eq!(
        (end(&old), end(&allocates)),
        ("exec".into(), "by itself".into())
    );
}

#[test]
fn a_service_that_is_replaced_says_so() {
    let room = Room::new();
    let old = room.compile("execs", EXECS, &["-pthread"]);
    let new = room.compile("hangs", HANGS, &["-pthread"]);
    let idle = room.compile("reads", READS, &[]);
    // One after the other is the same process; the last one locks again, and hangs.
    let mut running = service(&room, &[&old, &old, &new]);
    let last = room.path(&format!("p.prof.{}.2", running.id()));
    running.until(|| {
        let output = room.run(&["report", "--alone", "--json", &text(&last)]);
        let all: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_default();
        all.first().is_some_and(waits)
    });
    let file = text(&room.path("p.prof"));
    let output = room.run(&["report", "--json", &file]);
    let all: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let ends: Vec<&str> = all.iter().filter_map(|one| one["end"].as_str()).collect();
    assert_eq!(ends, ["runs", "exec", "exec"], "{all:#?}");
    drop(running);

    // A child of a program is no such program, whatever it executes.
    std::fs::remove_file(&file).expect("removed");
    let script = format!("{old} {idle} < /dev/null; {idle} < /dev/null; exit 0");
    let output = room.run(&["profile", "--quiet", "-o", &file, "--", "sh", "-c", &script]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = room.run(&["report", "--json", &file]);
    let all: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let end = |program: &str| {
        let such = all.iter().find(|one| one["command"][0] == program);
        such.unwrap_or_else(|| panic!("{all:#?}"))["end"].clone()
    };
    assert_eq!((end("sh"), end(&old)), ("by itself".into(), "exec".into()));
}
