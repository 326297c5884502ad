// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a report calls locks and functions: names that the program gives, and those of debug files.

mod common;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use common::{stderr, stdout, text, Room};
use serde_json::Value;

const INCLUDE: &str = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include");

/// Names one mutex twice, two mutexes alike, one by too long a name, and one not at all.
const NAMED: &str = "#include <lockwork/profile.h>\n#include <pthread.h>\n#include <stdlib.h>\n\
    pthread_mutex_t plain_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static void use(pthread_mutex_t *m) { pthread_mutex_lock(m); pthread_mutex_unlock(m); }\n\
    static void *rename(void *m) { lw_profile_name(m, \"the queue\"); return NULL; }\n\
    int main(void) { pthread_mutex_t *m = calloc(4, sizeof(*m)); pthread_t t;\n\
    lw_profile_name(m, \"first name\");\n\
    pthread_create(&t, NULL, rename, m); pthread_join(t, NULL);\n\
    lw_profile_name(m + 1, \"shard\"); lw_profile_name(m + 2, \"shard\");\n\
    lw_profile_name(m + 3, \"a\\nname of 62 bytes, 12345678901234567890123456789012345678, \
    \u{e9}\u{e9}\");\n\
    lw_profile_name(NULL, \"nothing\"); lw_profile_name(&plain_mutex, NULL);\n\
    for (int i = 0; i < 4; i++) use(m + i);\n\
    use(&plain_mutex); return 0; }\n";

/// The one process of a recording.
fn recorded(room: &Room, command: &[&str]) -> Value {
    let file = text(&room.path("p.prof"));
    let ran = room.run(&[&["profile", "--quiet", "-o", &file, "--"], command].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let report = room.run(&["report", "--json", &file]);
    let all: Vec<Value> = serde_json::from_slice(&report.stdout).expect("JSON");
    let [one] = &all[..] else { panic!("{all:#?}") };
    assert!(one["cpu_seconds"].as_f64().is_some(), "{one:#?}");
    one.clone()
}

fn names(process: &Value) -> Vec<&str> {
    let locks = process["locks"].as_array().expect("locks").iter();
    let mut names: Vec<&str> = locks.filter_map(|lock| lock["name"].as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_lock_has_the_name_that_the_program_gives_it() {
    let room = Room::new();
    // An executable that is not position-independent has no dynamic symbol without need.
    for flags in [&["-fPIE", "-pie"], &["-fno-pie", "-no-pie"]] {
        let flags = [&["-O2", "-pthread", INCLUDE], &flags[..]].concat();
        let program = room.compile("named", NAMED, &flags);
        let process = recorded(&room, &[&program]);
        let names = names(&process);
        let [long, plain, first, second, queue] = names[..] else {
            panic!("{names:?}")
        };
        assert!(long.starts_with("a\\nname of 62 bytes, "), "{long}");
        assert!(long.ends_with(", \u{e9}"), "{long}");
        assert_eq!(plain, "plain_mutex");
        assert!(first.starts_with("shard 0x") && second.starts_with("shard 0x"));
        assert_eq!(queue, "the queue");
    }
}

/// Two static mutexes of one name.
const ALIKE: [&str; 2] = [
    "#include <pthread.h>\n\
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
        void left(void) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }\n",
    "#include <pthread.h>\nvoid left(void);\n\
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
        int main(void) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); left(); return 0; }\n",
];

#[test]
fn static_locks_of_one_name_have_their_source_files_beside_it() {
    let room = Room::new();
    let [left_text, right_text] = ALIKE;
    let left = room.path("left.c");
    std::fs::write(&left, left_text).expect("written");
    let program = room.compile("right", right_text, &["-O1", "-pthread", &text(&left)]);
    let process = recorded(&room, &[&program]);
    assert_eq!(names(&process), ["lock (left.c)", "lock (right.c)"]);
    // In files of one name only the addresses differ.
    let other = room.path("other");
    std::fs::create_dir(&other).expect("a folder");
    let twin = other.join("right.c");
    std::fs::write(&twin, left_text).expect("written");
    let program = room.compile("right", right_text, &["-O1", "-pthread", &text(&twin)]);
    let process = recorded(&room, &[&program]);
    let names = names(&process);
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(
        names.iter().all(|name| name.starts_with("lock 0x")),
        "{names:?}"
    );
}

#[test]
fn a_program_that_gives_names_needs_no_recorder() {
    let room = Room::new();
    for flags in [&["-fno-pie", "-no-pie"][..], &["-static"]] {
        let flags = [&["-O2", "-pthread", INCLUDE], flags].concat();
        let program = room.compile("named", NAMED, &flags);
        let ran = std::process::Command::new(program).status();
        assert!(ran.expect("it starts").success());
    }
}

/// Its file is so small that the data begins in the page that has the header.
const SMALL: &str = "#include <pthread.h>\n\
    static char before[8192] = { 1 };\n\
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;\n\
    pthread_mutex_t several[3] = { PTHREAD_MUTEX_INITIALIZER };\n\
    static void use(pthread_mutex_t *m) { pthread_mutex_lock(m); pthread_mutex_unlock(m); }\n\
    int main(void) { __asm__(\"\" : : \"r\"(before)); use(&own); use(&several[2]); return 0; }\n";

#[test]
fn a_lock_has_no_name_of_a_neighbour() {
    let room = Room::new();
    let flags = ["-O1", "-pthread", "-Wl,-z,noseparate-code"];
    for layout in [&["-fPIE", "-pie"][..], &["-fno-pie", "-no-pie"]] {
        let program = room.compile("small", SMALL, &[&flags[..], layout].concat());
        let process = recorded(&room, &[&program]);
        assert_eq!(names(&process), ["own", "several+0x50"], "{layout:?}");
    }
    // Without a symbol of its own, a lock is in no object that has one.
    let stripped = [&flags[..], &["-rdynamic", "-s"]].concat();
    let program = room.compile("small", SMALL, &stripped);
    let process = recorded(&room, &[&program]);
    let [several, nameless] = names(&process)[..] else {
        panic!("{process:#}")
    };
    assert!(nameless.starts_with("small+0x"), "{nameless}");
    assert_eq!(several, "several+0x50");
}

#[test]
fn a_programs_file_may_have_any_name() {
    let room = Room::new();
    let flags = ["-O1", "-pthread", "-fPIE", "-pie"];
    let program = room.compile("two\nlines \u{e9}", SMALL, &flags);
    let process = recorded(&room, &[&program]);
    assert_eq!(names(&process), ["own", "several+0x50"]);
}

/// Its only lock call is in a function that is inlined into `main`.
const INLINES: &str = "#include <pthread.h>\n\
    pthread_mutex_t one_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static inline __attribute__((always_inline)) void take(void) { pthread_mutex_lock(&one_mutex); }\n\
    int main(void) { take(); pthread_mutex_unlock(&one_mutex); return 0; }\n";

/// Where the lock is taken, and what is wrong with the debug information.
fn taken(room: &Room, program: &str) -> (String, String) {
    let process = recorded(room, &[program]);
    let site = process["locks"][0]["sites"][0]["site"].as_str();
    let site = site.expect("a site").to_owned();
    (site, process["warnings"].to_string())
}

fn objcopy(room: &Room, args: &[&str]) {
    let mut command = std::process::Command::new("objcopy");
    command.args(args).current_dir(room.path("."));
    assert!(command.status().expect("objcopy starts").success());
}

#[test]
fn a_stripped_program_has_the_names_of_the_debug_file_that_it_names() {
    let room = Room::new();
    let flags = ["-O1", "-g", "-pthread", "-Wl,--build-id=none"];
    let program = room.compile("app", INLINES, &flags);
    objcopy(&room, &["--only-keep-debug", "app", "app.debug"]);
    objcopy(
        &room,
        &["--strip-all", "--add-gnu-debuglink=app.debug", "app"],
    );
    let (site, warnings) = taken(&room, &program);
    assert_eq!((&*site, &*warnings), ("take (app.c:3)", "[]"));

    std::fs::create_dir(room.path(".debug")).expect("a folder");
    std::fs::rename(room.path("app.debug"), room.path(".debug/app.debug")).expect("moved");
    assert_eq!(taken(&room, &program).0, "take (app.c:3)");

    std::fs::write(room.path("app.debug"), "of another build").expect("written");
    assert_eq!(taken(&room, &program).0, "take (app.c:3)");
    std::fs::remove_file(room.path(".debug/app.debug")).expect("removed");
    let (site, warnings) = taken(&room, &program);
    assert!(site.starts_with("app+0x"), "{site}");
    assert!(warnings.contains("of another build of"), "{warnings}");
}

#[test]
fn split_debug_information_is_read_or_said_to_be_missing() {
    let room = Room::new();
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let flags = ["-O1", "-g", version, "-gsplit-dwarf", "-pthread"];
        let program = room.compile("app", INLINES, &flags);
        let (site, warnings) = taken(&room, &program);
        assert_eq!((&*site, &*warnings), ("take (app.c:3)", "[]"), "{version}");
        let mut parts = 0;
        for file in std::fs::read_dir(room.path("."))
            .expect("a folder")
            .flatten()
        {
            if file.path().extension().is_some_and(|end| end == "dwo") {
                std::fs::remove_file(file.path()).expect("removed");
                parts += 1;
            }
        }
        assert!(parts > 0, "no split files");
        let (site, warnings) = taken(&room, &program);
        assert_eq!(site, "main (app.c:3)", "{version}");
        assert!(warnings.contains("split debug files"), "{warnings}");
    }
}

/// `dwz` takes what two programs have in common out of them.
#[test]
#[cfg_attr(not(has_dwz), ignore = "dwz is missing")]
fn shared_debug_information_is_read_or_said_to_be_missing() {
    let room = Room::new();
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let flags = ["-O1", "-g", version, "-pthread"];
        let program = room.compile("app", INLINES, &flags);
        std::fs::copy(&program, room.path("other")).expect("a copy");
        let mut dwz = std::process::Command::new("dwz");
        dwz.args(["-m", "common.debug", "app", "other"]);
        dwz.current_dir(room.path("."));
        assert!(dwz.status().expect("dwz starts").success());
        let (site, warnings) = taken(&room, &program);
        assert_eq!((&*site, &*warnings), ("take (app.c:3)", "[]"), "{version}");

        std::fs::copy(&program, room.path("common.debug")).expect("a copy");
        let (site, warnings) = taken(&room, &program);
        assert_eq!(site, "main (app.c:3)", "{version}");
        assert!(warnings.contains("which is of another build"), "{warnings}");
        std::fs::remove_file(room.path("common.debug")).expect("removed");
        let (_, warnings) = taken(&room, &program);
        assert!(warnings.contains("which is not there"), "{warnings}");
    }
}

/// Two classes have a member of a class that wraps a mutex.
const WRAPS: &str = "#include <pthread.h>\n\
    struct Mutex { pthread_mutex_t m; Mutex(); void make(); };\n\
    void __attribute__((noinline)) Mutex::make() { pthread_mutex_init(&m, nullptr); }\n\
    __attribute__((noinline)) Mutex::Mutex() { make(); __asm__ volatile(\"\"); }\n\
    struct Left { Mutex mutex; Left(); }; struct Right { Mutex mutex; Right(); };\n\
    __attribute__((noinline)) Left::Left() { __asm__ volatile(\"\"); }\n\
    __attribute__((noinline)) Right::Right() { __asm__ volatile(\"\"); }\n\
    int main() { Left *l = new Left; Right *r = new Right;\n\
    pthread_mutex_t *all[] = {&l->mutex.m, &r->mutex.m};\n\
    for (pthread_mutex_t *m : all) {\n\
    pthread_mutex_lock(m); pthread_mutex_unlock(m); } return 0; }\n";

#[test]
fn a_lock_in_a_wrapper_is_made_by_the_wrappers_user() {
    let room = Room::new();
    let flags = ["-std=c++17", "-O1", "-fno-optimize-sibling-calls"];
    let cplusplus = room.compile_with("c++", "wraps", WRAPS, &flags);
    let process = recorded(&room, &[&cplusplus]);
    let names = names(&process);
    let [left, right] = names[..] else {
        panic!("{names:?}")
    };
    for class in ["Left::Left()", "Right::Right()"] {
        let made = format!(" made by {class}");
        assert!(left.ends_with(&made) || right.ends_with(&made), "{names:?}");
    }
}

/// Has each library that its arguments name take a lock.
const LOADS: &str = "#include <dlfcn.h>\n\
    int main(int argc, char **argv) { void (*work)(void); (void)argc;\n\
    for (char **name = argv + 1; *name; name++) {\n\
    void *library = dlopen(*name, RTLD_NOW); if (!library) return 1;\n\
    *(void **)&work = dlsym(library, \"work\"); if (!work) return 2; work(); } return 0; }\n";
const LOADED: &str = "#include <pthread.h>\n\
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;\n\
    static __attribute__((noinline)) void use(void) {\n\
    pthread_mutex_lock(&own); pthread_mutex_unlock(&own); }\n\
    void work(void) { use(); __asm__ volatile(\"\"); }\n";

#[test]
fn files_whose_names_differ_in_what_is_no_text_stay_apart() {
    let room = Room::new();
    let program = room.compile("loads", LOADS, &["-O1"]);
    // Without symbols, so that functions and locks are named by their files.
    let flags = ["-O1", "-shared", "-fPIC", "-s"];
    let library = std::fs::read(room.compile("loaded.so", LOADED, &flags)).expect("it is there");
    let names: [&[u8]; 5] = [
        b"a\xff.so",
        b"a\xfe.so",
        b"a;\n\x1b[31m\xc2\x9b.so",
        b"a: \x1b[31m\xc2\x9b.so",
        b"a\\xff.so",
    ];
    let files = names.map(|name| room.dir.path().join(OsStr::from_bytes(name)));
    for file in &files {
        std::fs::write(file, &library).expect("written");
    }
    // So is the recording.
    let file = room.dir.path().join(OsStr::from_bytes(b"p\xff\n\x1b.prof"));
    let mut command = room.lockwork(&["profile", "--stacks", "all", "-o"]);
    let ran = command.arg(&file).arg("--").arg(&program).args(&files);
    let ran = ran.output().expect("it starts");
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let report = |options: &[&str]| {
        let mut command = room.lockwork(&["report"]);
        let output = command.arg(&file).args(options).output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output), "", "{options:?}");
        stdout(&output)
    };
    let is_plain = |text: &str| !text.contains(|c: char| c.is_control() && c != '\n');
    assert!(is_plain(&stderr(&ran)), "{}", stderr(&ran));
    let shown = report(&[]);
    assert!(is_plain(&shown), "{shown}");
    let written = [
        "a\\xff.so+0x",
        "a\\xfe.so+0x",
        "a;\\n\\u{1b}[31m\\u{9b}.so+0x",
        "a: \\u{1b}[31m\\u{9b}.so+0x",
        "a\\\\xff.so+0x",
    ];
    let json: Vec<Value> = serde_json::from_str(&report(&["--json"])).expect("JSON");
    let calls = report(&["--calls"]);
    assert!(is_plain(&calls), "{calls}");
    for name in written {
        let locks = self::names(&json[0]);
        let such = locks.iter().filter(|lock| lock.starts_with(name));
        assert_eq!(such.count(), 1, "{name}: {locks:?}");
        assert!(shown.contains(&format!("mutex {name}")), "{name}: {shown}");
        let folded = format!(";mutex {}", name.replace(';', "\\x3b"));
        let lines: Vec<&str> = calls.lines().filter(|l| l.contains(&folded)).collect();
        assert_eq!(lines.len(), 1, "{name}: {calls}");
        assert!(lines[0].ends_with(" 1"), "{name}: {calls}");
    }
    for option in ["--folded", "--deadlock"] {
        assert!(is_plain(&report(&[option])), "{option}");
    }
    for option in ["--html", "--speedscope"] {
        let out = room.path("out");
        report(&[option, &text(&out)]);
        assert!(std::fs::read(out).is_ok_and(|bytes| !bytes.is_empty()));
    }

    let whole = std::fs::read(&file).expect("the profile");
    std::fs::write(&file, &whole[..140_000]).expect("cut short");
    let shown = report(&["--alone"]);
    assert!(
        shown.contains("p\\xff\\n\\u{1b}.prof is cut short"),
        "{shown}"
    );
    assert!(is_plain(&shown), "{shown}");
    let refused = room
        .lockwork(&["report", "--process", "1"])
        .arg(&file)
        .output();
    let said = stderr(&refused.expect("it starts"));
    assert!(said.starts_with("lockwork: ") && is_plain(&said), "{said}");
}
