// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a report calls locks and functions: names that the program gives.

mod common;

use common::{stderr, text, Room};
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
        assert!(long.starts_with("a name of 62 bytes, "), "{long}");
        assert!(long.ends_with(", \u{e9}"), "{long}");
        assert_eq!(plain, "plain_mutex");
        assert!(first.starts_with("shard 0x") && second.starts_with("shard 0x"));
        assert_eq!(queue, "the queue");
    }
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
