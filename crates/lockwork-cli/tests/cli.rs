// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork run` is as if it were not there, or says why it cannot help.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{set_mode, stderr, stdout, text, Room};

/// Expects `run` to end with `code` and one message that says `words`.
fn refused(room: &Room, args: &[&str], code: i32, words: &str) {
    let output = room.run(args);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    assert!(message.starts_with("lockwork: "), "{args:?}: {message}");
    assert!(message.contains(words), "{args:?}: {message}");
    assert_eq!(stdout(&output), "", "{args:?}");
}

#[test]
fn exit_codes_and_signals_are_the_programs() {
    let room = Room::new();
    for lock in ["glibc", "glibc_passthrough", "mutex"] {
        let code = |script| {
            let output = room.run(&["run", "--lock", lock, "--", "sh", "-c", script]);
            (output.status.code(), output.status.signal())
        };
        assert_eq!(code("exit 0"), (Some(0), None));
        assert_eq!(code("exit 7"), (Some(7), None));
        assert_eq!(code("kill -TERM $$"), (None, Some(libc::SIGTERM)));
    }
}

/// Takes a mutex so often, while its other thread holds it or not.
const COUNTED: &str = "#include <pthread.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static void *take(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return a; }\n\
    int main(int argc, char **argv) { pthread_t t;\n\
    if (argc < 3) return 9;\n\
    if (*argv[1] == 'h') pthread_mutex_lock(&m);\n\
    pthread_create(&t, 0, take, 0);\n\
    if (*argv[1] == 'h') { sleep(1); pthread_mutex_unlock(&m); }\n\
    pthread_join(t, 0);\n\
    for (int i = 0; i < 98; i++) take(0);\n\
    if (*argv[2] == 'k') abort();\n\
    return atoi(argv[2]); }\n";

#[test]
fn what_happened_is_said_if_it_is_to_be_counted() {
    let room = Room::new();
    let program = room.compile("counted", COUNTED, &["-pthread"]);
    let free = ["99 acquisitions of 1 lock in this run", "never contended"];
    let held = [
        "1.0 % of 100 acquisitions of 1 lock in this run",
        "waited for",
    ];
    for lock in ["glibc", "glibc_passthrough", "mutex"] {
        for (how, code, told) in [("free", "7", free), ("held", "0", held)] {
            let args = ["run", "--count", "--lock", lock, "--", &program, how, code];
            let output = room.run(&args);
            assert_eq!(output.status.code(), code.parse().ok(), "{lock} {how}");
            assert_eq!(stdout(&output), "");
            for part in told {
                assert!(stderr(&output).contains(part), "{}", stderr(&output));
            }
        }
    }
    let output = room.run(&["run", "--count", "--", &program, "free", "kill"]);
    assert_eq!(output.status.code(), Some(128 + libc::SIGABRT));
    assert!(
        stderr(&output).contains("99 acquisitions"),
        "{}",
        stderr(&output)
    );
    let output = room.run(&["run", "--count", "--", "true"]);
    assert!(
        stderr(&output).contains("This run made no lock call that an interposer sees"),
        "{}",
        stderr(&output)
    );
    let quiet = room.run(&["run", "--", &program, "free", "0"]);
    assert_eq!(
        stderr(&quiet),
        "",
        "nothing is counted unless that is asked for"
    );
}

#[test]
fn nothing_is_counted_of_what_is_recorded() {
    let room = Room::new();
    let lockwork = env!("CARGO_BIN_EXE_lockwork");
    let file = text(&room.path("p.prof"));
    let outer = ["profile", "--quiet", "-o", &file, "--", lockwork];
    let output = room.run(&[&outer[..], &["run", "--count", "--", "true"]].concat());
    assert_eq!(output.status.code(), Some(125));
    assert!(
        stderr(&output).contains("leave --count out"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn standard_streams_are_the_programs() {
    let room = Room::new();
    let mut command = room.lockwork(&["run", "--", "sh", "-c", "cat; echo err >&2"]);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut child = command.spawn().expect("lockwork starts");
    let mut input = child.stdin.take().expect("stdin");
    input.write_all(b"in\0put\n").expect("write");
    drop(input);
    let output = child.wait_with_output().expect("output");
    assert_eq!(output.stdout, b"in\0put\n");
    assert_eq!(output.stderr, b"err\n");
}

#[test]
fn adds_three_variables_and_no_more() {
    let room = Room::new();
    let mut command = room.lockwork(&["run", "--set", "spin_budget=7", "--", "env", "-0"]);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command.env("XDG_CACHE_HOME", room.path("cache"));
    command.env("MESSY", "a=b\n c").env("EMPTY", "");
    let output = command.output().expect("lockwork starts");
    let shown = stdout(&output);
    let mut found: Vec<&str> = shown.split_terminator('\0').collect();
    found.sort_unstable();
    let cache = format!("XDG_CACHE_HOME={}", room.path("cache").display());
    let preload = found.iter().find(|v| v.starts_with("LD_PRELOAD="));
    let preload = preload.expect("LD_PRELOAD").to_string();
    assert!(preload.contains("/lockwork/liblockwork-preload-"));
    let mut wanted = vec![
        "EMPTY=",
        &preload,
        "LOCKWORK_LOCK=mutex",
        "LOCKWORK_SET=spin_budget=7",
        "MESSY=a=b\n c",
        "PATH=/usr/bin:/bin",
        &cache,
    ];
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

#[test]
fn settings_of_the_environment_are_not_used_and_that_is_said() {
    let room = Room::new();
    let run = ["run", "--set", "spin_budget=7", "--", "printenv"];
    let compare = [
        "compare",
        "-n2",
        "--warmup=0",
        "--locks=mutex",
        "--",
        "true",
    ];
    for (args, shown) in [
        (
            &[&run[..], &["LOCKWORK_SET"]].concat()[..],
            "spin_budget=7\n",
        ),
        (&compare, "glibc_passthrough"),
    ] {
        for (set, said) in [(None, false), (Some(""), false), (Some("osq_pool=3"), true)] {
            let mut command = room.lockwork(args);
            command.envs(set.map(|set| ("LOCKWORK_SET", set)));
            let output = command.output().expect("lockwork starts");
            assert!(stdout(&output).contains(shown), "{args:?}");
            let line =
                "lockwork: LOCKWORK_SET is not used; give its settings by --set 'osq_pool=3'";
            let lines = stderr(&output);
            let lines = lines.lines().filter(|found| *found == line);
            assert_eq!(lines.count(), usize::from(said), "{args:?} {set:?}");
        }
    }
}

#[test]
fn a_lock_of_the_environment_is_not_used_and_that_is_said() {
    let room = Room::new();
    let shows_lock = ["run", "--", "printenv", "LOCKWORK_LOCK"];
    let mut command = room.lockwork(&shows_lock);
    let output = command.env("LOCKWORK_LOCK", "mutex_numa").output();
    let output = output.expect("lockwork starts");
    assert_eq!(stdout(&output), "mutex\n");
    assert_eq!(
        stderr(&output),
        "lockwork: LOCKWORK_LOCK is not used; give the lock by --lock 'mutex_numa'\n"
    );

    let own = env!("CARGO_BIN_EXE_lockwork");
    let outer = ["run", "--lock", "mutex_numa", "--set", "osq_pool=3", "--"];
    let inner = [&outer[..], &[own], &shows_lock[..]].concat();
    let output = room.run(&inner);
    assert_eq!(
        (stdout(&output), stderr(&output)),
        ("mutex\n".into(), "".into())
    );
}

#[test]
fn signals_and_descriptors_are_inherited() {
    let room = Room::new();
    let lockwork = env!("CARGO_BIN_EXE_lockwork");
    let shell = |setup: &str, via: &str, what: &str| {
        let script = format!("{setup} exec {via} {what}");
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        command.env("XDG_CACHE_HOME", room.path("cache"));
        stdout(&command.output().expect("sh"))
    };
    let run = format!("{lockwork} run --");
    for setup in ["", "trap '' PIPE HUP;"] {
        let what = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status";
        assert_eq!(shell(setup, &run, what), shell(setup, "", what));
    }
    let what = "find /proc/self/fd -maxdepth 1 -name 0";
    assert_eq!(shell("exec <&-;", &run, what), shell("exec <&-;", "", what));
}

#[test]
fn keeps_an_existing_preload_behind_its_own() {
    let room = Room::new();
    let path = stdout(&room.run(&["preload-path", "--passthrough"]));
    let other = room.path("other.so");
    fs::copy(path.trim(), &other).expect("copy");
    let echo = ["--", "sh", "-c", "echo $LD_PRELOAD"];
    let shown = |lock: &str, preload: &str| {
        let args = [&["run", "--lock", lock], &echo[..]].concat();
        let mut command = room.lockwork(&args);
        command.env("LD_PRELOAD", preload);
        let output = command.output().expect("lockwork starts");
        stdout(&output).trim().to_string()
    };
    let both = shown("mutex", &text(&other));
    let (first, second) = both.split_once(':').expect("two libraries");
    assert!(first.contains("liblockwork-preload-"));
    assert_eq!(second, text(&other));
    assert_eq!(shown("glibc", &text(&other)), text(&other));
    // A lock inside a lock replaces it.
    assert_eq!(shown("mutex", &both), both);
    assert_eq!(shown("glibc", &both), text(&other));
}

#[test]
fn loads_what_was_asked_for() {
    let room = Room::new();
    for (lock, library) in [
        ("glibc", None),
        ("glibc_passthrough", Some("liblockwork-passthrough-")),
        ("qspinlock_steal", Some("liblockwork-preload-")),
    ] {
        let output = room.run(&["run", "--lock", lock, "--", "cat", "/proc/self/maps"]);
        let maps = stdout(&output);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(maps.contains("liblockwork-"), library.is_some(), "{lock}");
        assert!(library.is_none_or(|l| maps.contains(l)), "{lock}");
    }
}

/// Prints each of its arguments that is a function of no preloaded interposer.
const WHOSE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *fn = dlsym(RTLD_DEFAULT, argv[i]);
		Dl_info from;
		if (!fn || !dladdr(fn, &from) || !strstr(from.dli_fname, "liblockwork-"))
			printf("%s\n", argv[i]);
	}
	return 0;
}
"#;

#[test]
fn the_control_arm_replaces_every_lock_function() {
    let room = Room::new();
    let whose = room.compile("whose", WHOSE, &["-ldl"]);
    let groups = [
        (
            "pthread_mutex_",
            "init destroy lock trylock timedlock clocklock unlock",
        ),
        (
            "pthread_cond_",
            "init destroy wait timedwait clockwait signal broadcast",
        ),
        (
            "pthread_rwlock_",
            "init destroy rdlock wrlock tryrdlock trywrlock timedrdlock",
        ),
        (
            "pthread_rwlock_",
            "timedwrlock clockrdlock clockwrlock unlock",
        ),
        ("pthread_spin_", "init destroy lock trylock unlock"),
        ("mtx_", "init destroy lock trylock timedlock unlock"),
        ("cnd_", "init destroy wait timedwait signal broadcast"),
    ];
    let names: Vec<String> = groups
        .iter()
        .flat_map(|(prefix, ends)| ends.split(' ').map(move |end| format!("{prefix}{end}")))
        .collect();
    assert_eq!(names.len(), 42);
    let run = |lock| {
        let mut command = room.lockwork(&["run", "--lock", lock, "--", &whose]);
        stdout(&command.args(&names).output().expect("lockwork starts"))
    };
    assert_eq!(run("glibc_passthrough"), "");
    assert_eq!(run("glibc").lines().count(), names.len());
}

#[test]
fn names_what_it_cannot_find_or_execute() {
    let room = Room::new();
    let plain = text(&room.path("plain"));
    fs::write(&plain, "x").expect("write");
    let dir = text(room.dir.path());
    let orphan = room.executable("orphan", b"#!/no/such/interpreter\n");
    let env_orphan = room.executable("env", b"#!/usr/bin/env no-such-program-here\n");
    refused(&room, &["run", "no-such-program-here"], 127, "in PATH");
    refused(&room, &["run", "/no/such"], 127, "there is no program");
    refused(&room, &["run", ""], 127, "name is empty");
    refused(&room, &["run", &plain], 126, "not executable");
    refused(&room, &["run", &dir], 126, "directory");
    refused(&room, &["run", &orphan], 127, "/no/such/interpreter");
    refused(&room, &["run", &env_orphan], 127, "no-such-program-here");
    let glibc = ["run", "--lock", "glibc", "no-such-program-here"];
    refused(&room, &glibc, 127, "in PATH");
}

#[test]
fn runs_scripts_as_execvp_does() {
    let room = Room::new();
    let script = room.script("script", "echo $LOCKWORK_LOCK $1");
    let bare = room.executable("bare", b"echo $LOCKWORK_LOCK $1\n");
    let via_env = room.executable("via_env", b"#!/usr/bin/env sh\necho $LOCKWORK_LOCK $1\n");
    for program in [script, bare, via_env] {
        let output = room.run(&["run", &program, "arg"]);
        assert_eq!(stdout(&output), "mutex arg\n", "{}", stderr(&output));
    }
}

const EMPTY_MAIN: &str = "int main(void) { return 0; }\n";

#[test]
fn refuses_static_programs() {
    let room = Room::new();
    let fixed = room.compile("static", EMPTY_MAIN, &["-static"]);
    let pie = room.compile("static_pie", EMPTY_MAIN, &["-static-pie", "-fPIE"]);
    for program in [&fixed, &pie] {
        refused(&room, &["run", program], 125, "statically linked");
        let plain = room.run(&["run", "--lock", "glibc", program]);
        assert_eq!(plain.status.code(), Some(0));
    }
    let script = room.executable("script", format!("#!{fixed}\n").as_bytes());
    refused(&room, &["run", &script], 125, "statically linked");
    refused(&room, &["compare", "--", &fixed], 125, "statically linked");
}

#[test]
fn refuses_other_machines_and_other_loaders() {
    let room = Room::new();
    let program = room.compile("program", EMPTY_MAIN, &[]);
    let mut bytes = fs::read(&program).expect("read");
    let machine = if bytes[18] == 21 { 183 } else { 21 }; // POWER, or AArch64
    bytes[18] = machine;
    let foreign = room.executable("foreign", &bytes);
    refused(&room, &["run", &foreign], 125, "it is built for");

    let musl = ["-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"];
    let musl = room.compile("musl", EMPTY_MAIN, &musl);
    refused(&room, &["run", &musl], 125, "needs glibc");
    let lost = ["-Wl,--dynamic-linker=/no/such/ld-linux.so.2"];
    let lost = room.compile("lost", EMPTY_MAIN, &lost);
    refused(&room, &["run", &lost], 127, "/no/such/ld-linux.so.2");
    let broken = room.executable("broken", &bytes_of_broken(&program));
    refused(&room, &["run", &broken], 125, "ELF");
}

/// An ELF file whose program headers lie beyond its end.
fn bytes_of_broken(program: &str) -> Vec<u8> {
    let mut bytes = fs::read(program).expect("read");
    bytes[32..40].fill(0x7f);
    bytes
}

/// A setuid or setgid file that would really change who runs it. Root can make
/// one; others find one, as every system has some.
fn privileged(room: &Room) -> String {
    // SAFETY: cannot fail and touches no memory.
    if unsafe { libc::geteuid() } == 0 {
        let built = room.compile("setuid", EMPTY_MAIN, &[]);
        // A temporary folder may be on a filesystem whose setuid bits mean nothing.
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("setuid");
        let _ = fs::remove_file(&program);
        fs::copy(built, &program).expect("a copy");
        std::os::unix::fs::chown(&program, Some(65534), None).expect("chown");
        set_mode(&program, 0o4755);
        return text(&program);
    }
    let usual = [
        "/usr/bin/su",
        "/usr/bin/passwd",
        "/usr/bin/mount",
        "/bin/su",
    ];
    let is_setuid = |path: &&&str| {
        let mode = fs::metadata(path).map_or(0, |m| m.permissions().mode());
        mode & 0o4000 != 0
    };
    let found = usual.iter().find(is_setuid);
    found.expect("a setuid program on this system").to_string()
}

/// Whether the bits of `file` change who runs it: not on some filesystems, and not for a process that
/// gave up new privileges, as in some containers.
fn setuid_counts(file: &str) -> bool {
    let path = std::ffi::CString::new(file).expect("a path");
    // SAFETY: a zeroed structure is a valid one, and statvfs fills it; prctl only reads.
    unsafe {
        let mut facts: libc::statvfs = std::mem::zeroed();
        assert_eq!(libc::statvfs(path.as_ptr(), &mut facts), 0, "{file}");
        facts.f_flag & libc::ST_NOSUID == 0
            && libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0
    }
}

#[test]
fn refuses_privileged_programs() {
    let room = Room::new();
    let program = privileged(&room);
    if setuid_counts(&program) {
        refused(&room, &["run", &program], 125, "setuid");
    } else if program.ends_with("/tmp/setuid") {
        // It is ours, and harmless.
        let output = room.run(&["run", &program]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
fn lists_the_knobs_for_experts_on_request_only() {
    let room = Room::new();
    let listed = |arguments: &[&str]| -> Vec<String> {
        let list = stdout(&room.run(arguments));
        let (_, knobs) = list.split_once("Knobs").expect("a list of knobs");
        let lines = knobs.lines().skip(1).take_while(|line| !line.is_empty());
        let names = lines.filter_map(|line| line.trim().split(' ').next());
        names.map(str::to_owned).collect()
    };
    let mut for_users = [
        "spin_budget",
        "overtake_limit",
        "clusters",
        "count_events",
        "dynamic_enable",
        "osq_lock_depth",
        "osq_keep_times",
        "osq_node_max",
        "osq_pool",
    ];
    for_users.sort_unstable();
    let mut seen = listed(&["locks"]);
    seen.sort_unstable();
    assert_eq!(seen, for_users);
    let all = listed(&["locks", "--expert"]);
    for name in for_users
        .iter()
        .chain(&["watch_owner", "wait_way", "brief_spins"])
    {
        assert!(all.iter().any(|knob| knob == name), "{name}: {all:?}");
    }
}

#[test]
fn every_command_says_where_a_rival_can_be_tried() {
    let room = Room::new();
    let where_to = "cna is a rival, which is in the simulator and the model checker only: use \
                    'lockwork sim --lock cna'";
    refused(&room, &["torture", "cna"], 2, where_to);
    refused(&room, &["check", "cna"], 2, where_to);
    refused(&room, &["bench", "--locks", "mutex,cna"], 2, where_to);
    refused(
        &room,
        &["compare", "--locks", "cna:spin_budget=0", "--", "true"],
        2,
        where_to,
    );
    refused(&room, &["run", "--lock", "cna", "true"], 125, where_to);
    refused(&room, &["torture", "no_such_lock"], 2, "no_such_lock");
}

#[test]
fn lists_what_there_is_for_wrong_names() {
    let room = Room::new();
    let unknown = ["run", "--lock", "nope", "true"];
    refused(&room, &unknown, 125, "there is no lock 'nope'");
    for name in ["glibc", "mutex", "mutex_numa", "qspinlock_tas"] {
        refused(&room, &unknown, 125, name);
        assert!(stdout(&room.run(&["locks"])).contains(name));
    }
    let set = |setting| vec!["run", "--lock=mutex_numa", "--set", setting, "true"];
    refused(&room, &set("nope=1"), 125, "spin_budget");
    refused(&room, &set("spin_budget=-1"), 125, "from 0 to");
    refused(&room, &set("spin_budget="), 125, "from 0 to");
    refused(&room, &set("osq_lock_depth=1"), 125, "from 2 to 32");
    refused(&room, &set("osq_keep_times=2049"), 125, "from 16 to 2048");
    refused(&room, &set("clusters=core"), 125, "one of llc, node, cpu");
    refused(&room, &set("spin_budget"), 125, "KNOB=VALUE");
    let plain = ["run", "--lock", "glibc", "--set", "spin_budget=1", "true"];
    refused(&room, &plain, 125, "has no knobs");
    let long = format!("osq_pool={}1", "0".repeat(90));
    refused(&room, &set(&long), 125, "longer than 95 characters");
    let longest = format!("osq_pool={}1", "0".repeat(85));
    assert!(room.run(&set(&longest)).status.success());
}

/// Main waits for a mutex that a thread holds until main sleeps; with CLEAR, without its
/// environment.
const WAITS: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held, comes;
static int main_sleeps(void)
{
	char path[50], stat[500] = "";
	FILE *file;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	file = fopen(path, "r");
	fread(stat, 1, sizeof(stat) - 1, file);
	fclose(file);
	return strstr(stat, ") S ") != NULL;
}
static void *hold(void *arg)
{
	pthread_mutex_lock(&mutex);
	held = 1;
	while (!comes || !main_sleeps())
		usleep(100);
	pthread_mutex_unlock(&mutex);
	return arg;
}
int main(void)
{
	pthread_t thread;
#ifdef CLEAR
	if (clearenv())
		return 1;
#endif
#ifdef DAEMON /* its data gets the number of standard error */
	close(2);
	if (open("data", O_WRONLY | O_CREAT | DAEMON, 0600) != 2)
		return 1;
#endif
	pthread_create(&thread, NULL, hold, NULL);
	while (!held)
		usleep(100);
	comes = 1;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return pthread_join(thread, NULL);
}
"#;

#[test]
fn the_interposer_names_each_setting_that_it_ignores() {
    let room = Room::new();
    let library = stdout(&room.run(&["preload-path"]));
    let long = format!("osq_pool={}1", "0".repeat(90));
    let known = "`lockwork locks` lists what is known";
    let shortened = &long[..95];
    let expected = format!(
        "lockwork: ignored {shortened}; it has more than 95 characters\n\
         lockwork: ignored osq_node_max=4; {known}\n\
         lockwork: ignored nope=1; {known}\n"
    );
    let wrong = format!("{long},osq_node_max=4,nope=1");
    let many = ",osq_pool=3".repeat(200);
    for (name, flags) in [
        ("waits", &["-pthread"][..]),
        ("clears", &["-pthread", "-DCLEAR"]),
    ] {
        let program = room.compile(name, WAITS, flags);
        for set in [&wrong, &(wrong.clone() + &many)] {
            let mut command = Command::new(&program);
            command.env("LD_PRELOAD", library.trim());
            command.env("LOCKWORK_LOCK", "mutex_numa");
            command.env("LOCKWORK_SET", set);
            let output = command.output().expect("the program starts");
            assert!(output.status.success(), "{name}");
            assert_eq!(stderr(&output), expected, "{name}");
        }
    }
}

/// A daemon closes its standard error, and then opens its own file. A log it may be.
#[test]
fn the_interposer_says_nothing_into_the_programs_data() {
    let room = Room::new();
    let library = stdout(&room.run(&["preload-path"]));
    for (name, flag, says) in [
        ("daemon", "-DDAEMON=O_TRUNC", false),
        ("logger", "-DDAEMON=O_APPEND", true),
    ] {
        let mut command = Command::new(room.compile(name, WAITS, &["-pthread", flag]));
        command.current_dir(room.path(""));
        command.env("LD_PRELOAD", library.trim());
        command.env("LOCKWORK_SET", "nope=1");
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{name}");
        let data = fs::read_to_string(room.path("data")).expect("its file");
        assert_eq!(data.contains("ignored nope=1"), says, "{name}: {data}");
        fs::remove_file(room.path("data")).ok();
    }
}

/// The program itself would say so only when many wait for a mutex, or never.
#[test]
fn a_map_of_clusters_is_checked_before_the_program_starts() {
    let room = Room::new();
    let run = |lock, map: &OsStr| {
        let mut command = room.lockwork(&["run", "--lock", lock, "--", "true"]);
        command.env("LOCKWORK_CLUSTERS", map);
        command.output().expect("lockwork starts")
    };
    for map in ["0;1-", "0;0", "0;x", "9000", "0;1\n"] {
        let output = run("mutex_numa", OsStr::new(map));
        assert_eq!(output.status.code(), Some(125), "{map}");
        let message = stderr(&output);
        assert!(message.contains("LOCKWORK_CLUSTERS"), "{message}");
        assert!(message.contains("write them as in"), "{message}");
        assert!(run("glibc", OsStr::new(map)).status.success(), "{map}");
    }
    let no_text = run("mutex_numa", OsStr::from_bytes(b"0;\xff"));
    assert_eq!(no_text.status.code(), Some(125));
    for map in ["", "0;1-8191"] {
        let output = run("mutex_numa", OsStr::new(map));
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
fn wrong_usage_cannot_be_taken_for_the_programs_failure() {
    let room = Room::new();
    assert_eq!(room.run(&["run"]).status.code(), Some(125));
    assert_eq!(room.run(&["run", "--nope", "x"]).status.code(), Some(125));
    for wrong in [
        &["compare", "--nope"][..],
        &["compare", "--locks", "nope", "--", "true"],
        &["torture", "nope"],
        &["torture", "--property", "nope"],
        &["reproduce", "nope"],
        &["rivals", "nope"],
        &["answers", "--question", "nope"],
        &["nope"],
    ] {
        assert_eq!(room.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
    for args in [["run", "--help"], ["compare", "--help"]] {
        let output = room.run(&args);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("Examples:"));
    }
    assert!(stdout(&room.run(&["--version"])).starts_with("lockwork "));
}

#[test]
fn refuses_a_cache_that_others_can_change() {
    let room = Room::new();
    let (home, cache) = (room.path("cache"), room.path("cache/lockwork"));
    fs::create_dir(&cache).expect("mkdir");
    for (path, mode, usable) in [
        (&cache, 0o755, true),
        (&cache, 0o775, false),
        (&cache, 0o1777, false), // others could make a file of the right name
        (&cache, 0o700, true),
        (&home, 0o775, false),
        (&home, 0o757, false),
        (&home, 0o1777, true), // others cannot move what is ours
        (&home, 0o755, true),
        (&room.path(""), 0o777, false), // a parent
        (&room.path(""), 0o755, true),
    ] {
        set_mode(path, mode);
        if usable {
            assert!(room.run(&["run", "true"]).status.success(), "{path:?}");
            continue;
        }
        let words = format!("(mode {:03o}; `chmod go-w ", mode & 0o777);
        refused(&room, &["run", "true"], 125, &words);
        refused(&room, &["preload-path"], 125, "only you can write to");
        set_mode(path, 0o755);
    }

    fs::remove_dir_all(&cache).expect("rm");
    fs::write(&cache, "").expect("write");
    refused(&room, &["run", "true"], 125, "not a directory");
}

#[test]
fn follows_links_to_the_cache_as_long_as_nobody_else_can_change_them() {
    let room = Room::new();
    let (behind, cache) = (room.path("behind"), room.path("cache/lockwork"));
    fs::create_dir(&behind).expect("mkdir");
    set_mode(&behind, 0o755);
    symlink("../behind", &cache).expect("symlink");
    let path = stdout(&room.run(&["preload-path"]));
    assert_eq!(Path::new(path.trim()).parent(), Some(&*behind));

    set_mode(&behind, 0o777);
    refused(&room, &["run", "true"], 125, "behind (mode 777; ");
}

#[test]
fn a_relative_cache_is_passed_over() {
    let room = Room::new();
    let mut command = room.lockwork(&["preload-path"]);
    command.current_dir(room.dir.path());
    command
        .env("XDG_CACHE_HOME", "cache")
        .env("HOME", room.path("home"));
    fs::create_dir(room.path("home")).expect("mkdir");
    let output = command.output().expect("lockwork starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let cache = fs::read_dir(room.path("cache")).expect("readable");
    assert_eq!(cache.count(), 0, "{}", stdout(&output));
}

/// Processes of several containers that share a home may have the same number: none
/// may remove or overwrite the file that another is writing.
#[test]
fn many_may_unpack_at_once() {
    let room = Room::new();
    let start = || {
        let mut command = room.lockwork(&["preload-path"]);
        command.stdout(Stdio::piped()).spawn().expect("starts")
    };
    let all: Vec<_> = (0..8).map(|_| start()).collect();
    let mut paths: Vec<String> = all
        .into_iter()
        .map(|child| stdout(&child.wait_with_output().expect("an end")))
        .collect();
    paths.dedup();
    assert_eq!(paths.len(), 1, "{paths:?}");
    let cache = fs::read_dir(room.path("cache/lockwork")).expect("readable");
    assert_eq!(cache.count(), 1, "a temporary file is left");
}

/// What could be in the way of a name that is made of a process's number.
#[test]
fn nothing_is_in_the_way_of_a_new_file() {
    let room = Room::new();
    let cache = room.path("cache/lockwork");
    fs::create_dir(&cache).expect("mkdir");
    set_mode(&cache, 0o755);
    let lockwork = env!("CARGO_BIN_EXE_lockwork");
    let script = format!(
        "mkdir {}/.liblockwork-preload.$$ && exec {lockwork} preload-path",
        text(&cache)
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    command.env("XDG_CACHE_HOME", room.path("cache"));
    let output = command.output().expect("sh");
    let path = stdout(&output);
    assert!(path.starts_with(&text(&cache)), "{}", stderr(&output));
}

#[test]
fn repairs_a_cached_file_that_was_changed() {
    let room = Room::new();
    let path = stdout(&room.run(&["preload-path"]));
    let path = Path::new(path.trim());
    let good = fs::read(path).expect("read");
    assert!(good.starts_with(b"\x7fELF"));
    let mode = |path| fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().expect("parent")), 0o755);
    assert_eq!(mode(path), 0o644);
    set_mode(path, 0o666);
    assert!(room.run(&["run", "true"]).status.success());
    assert_eq!(mode(path), 0o644);

    let mut bad = good.clone();
    bad[100] ^= 1;
    fs::write(path, &bad).expect("write");
    assert!(room.run(&["run", "true"]).status.success());
    assert_eq!(fs::read(path).expect("read"), good);

    fs::remove_file(path).expect("rm");
    symlink(room.path("trap"), path).expect("symlink");
    assert!(room.run(&["run", "true"]).status.success());
    assert!(fs::symlink_metadata(path).expect("metadata").is_file());
    assert_eq!(fs::read(path).expect("read"), good);
}

#[test]
fn writes_man_pages() {
    let room = Room::new();
    let dir = text(&room.path("man"));
    assert!(room.run(&["man", &dir]).status.success());
    for page in ["lockwork.1", "lockwork-run.1", "lockwork-compare.1"] {
        let page = fs::read_to_string(Path::new(&dir).join(page)).expect("page");
        assert!(page.contains(".SH"));
    }
}

/// Runs bash's script, as bash does for `words` of which the last one is to be completed.
fn completed(room: &Room, words: &[&str]) -> Vec<String> {
    let (last, before) = words.split_last().expect("words");
    let body = format!(
        "source <({lockwork} completions bash)\n\
         COMP_WORDS=({words}) COMP_CWORD={at}\n\
         _lockwork lockwork '{last}' '{previous}'\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        lockwork = env!("CARGO_BIN_EXE_lockwork"),
        words = words.join(" "),
        at = before.len(),
        previous = before.last().expect("a word"),
    );
    let mut command = Command::new("bash");
    command
        .args(["-c", &body])
        .env("XDG_CACHE_HOME", room.path("cache"));
    let output = command.output().expect("bash");
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).lines().map(str::to_owned).collect()
}

#[test]
fn completes_commands_locks_and_machines() {
    let room = Room::new();
    assert_eq!(
        completed(&room, &["lockwork", "comp"]),
        ["compare", "completions"]
    );
    let hidden = completed(&room, &["lockwork", "ch"]);
    assert_eq!(hidden, ["check"]);
    let locks = completed(&room, &["lockwork", "run", "--lock", "mutex_n"]);
    assert_eq!(locks, ["mutex_numa"]);
    let machines = completed(&room, &["lockwork", "sim", "--machine", "epyc-96"]);
    assert!(machines.iter().any(|machine| machine == "epyc-9654"));
    for shell in ["zsh", "fish"] {
        let output = room.run(&["completions", shell]);
        assert!(stdout(&output).contains("mutex_numa"), "{shell}");
    }
}

/// Who starts this may ignore the end of its children: we wait for ours, and the program gets what we got.
#[test]
fn an_ignored_end_of_children_is_the_programs_own_matter() {
    let room = Room::new();
    let file = text(&room.path("p.prof"));
    // SIGCHLD is 17: the lowest bit of the fifth digit.
    let ignored = [
        "grep",
        "-q",
        "^SigIgn:.*[13579bdf]....$",
        "/proc/self/status",
    ];
    for words in [
        &["compare", "-n1", "--warmup=0", "--locks=mutex", "--"][..],
        &["profile", "--quiet", "-o", &file, "--"],
        &["run", "--count", "--"],
        &["run", "--"],
    ] {
        let mut command = room.lockwork(words);
        let ignore = || {
            // SAFETY: no handler is set.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
            Ok(())
        };
        // SAFETY: signal(2) may be called between fork and exec.
        unsafe { command.pre_exec(ignore) };
        let output = command.args(ignored).output();
        let output = output.expect("lockwork starts");
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn a_closed_pipe_is_no_crash() {
    let room = Room::new();
    let lockwork = env!("CARGO_BIN_EXE_lockwork");
    let script = format!("({lockwork} locks; echo $? >&2) | true; {lockwork} locks >&-");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .env("XDG_CACHE_HOME", room.path("cache"));
    let output = command.output().expect("sh");
    assert!(!stderr(&output).contains("panic"), "{}", stderr(&output));
}

#[test]
fn a_knob_that_no_lock_of_the_command_reads_is_refused() {
    let room = Room::new();
    let words = "does not read osq_pool: choose a lock that does (";
    for (tail, code) in [
        (&["run", "--set", "osq_pool=1", "--", "true"][..], 125),
        (&["run", "--lock=mutex:osq_pool=1", "--", "true"], 125),
        (
            &["profile", "--lock=mutex", "--set=osq_pool=1", "--", "true"],
            125,
        ),
        (
            &["compare", "--locks=mutex", "--set=osq_pool=1", "--", "true"],
            2,
        ),
        (&["bench", "--locks=tas_lock", "--set=osq_pool=1"], 2),
        (&["sim", "--lock=mutex", "--set=osq_pool=1"], 2),
    ] {
        refused(&room, tail, code, words);
    }
    for (knob, lock, reader) in [
        ("rest_us=5", "tas_lock", "mutex, "),
        ("steal_patience=5", "rwsem", "qspinlock_steal"),
        ("rwsem_batch=5", "qrwlock", "rwsem"),
    ] {
        let words = ": choose a lock that does (";
        let args = ["bench", "--locks", lock, "--set", knob];
        refused(&room, &args, 2, words);
        refused(&room, &args, 2, reader);
    }
    // No policy has a lock that does.
    let args = ["run", "--set", "short_rounds=5", "--", "true"];
    refused(
        &room,
        &args,
        125,
        "no other lock here does: leave short_rounds out",
    );
    // One lock that reads it is enough, and a baseline may.
    let both = "sim --lock mutex,mutex_numa --threads 1 --loops 50 --set osq_pool=1";
    let other = "sim --lock malthusian --threads 1 --loops 50 --set osq_keep_times=16";
    for words in [both, other] {
        let output = room.run(&words.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{words}: {}", stderr(&output));
    }
}

#[test]
fn every_command_reads_settings_alike() {
    let room = Room::new();
    let tails: [&[&'static str]; 5] = [
        &["run", "--lock=mutex_numa", "true"],
        &["compare", "-n2", "--warmup=0", "--locks=mutex_numa", "true"],
        &["torture", "--list"],
        &[
            "bench",
            "--locks=numa_spinlock",
            "--threads=1",
            "--rounds=1",
            "--time=1",
        ],
        &["sim", "--lock=mutex_numa", "--threads=1", "--loops=50"],
    ];
    for tail in tails {
        let with = |set: &[&'static str]| [&tail[..1], set, &tail[1..]].concat();
        let twice = [
            "--set",
            "osq_pool=3,osq_lock_depth=9",
            "--set",
            "osq_pool=4",
        ];
        let output = room.run(&with(&twice));
        assert!(output.status.success(), "{tail:?}: {}", stderr(&output));
        let range = "the knob osq_pool cannot be '65'; it takes a number from 0 to 64";
        let wrong = "osq_lock_depth=9,osq_pool=65,osq_pool=4";
        let code = if tail[0] == "run" { 125 } else { 2 };
        refused(&room, &with(&["--set", wrong]), code, range);
        let no_value = "'osq_pool' sets no knob; write KNOB=VALUE";
        refused(&room, &with(&["--set", "osq_pool"]), code, no_value);
        let unknown = "there is no knob named 'nope'; ";
        refused(&room, &with(&["--set", "osq_pool=1,nope=1"]), code, unknown);
    }
}
