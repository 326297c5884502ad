// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What only a process of its own can show: this test program, run again.
use std::env;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use lockwork_catalogue::Lock;
use lockwork_peers::peers;

/// Says what the process of its own has to do.
const TASK: &str = "LOCKWORK_PEERS_TEST_TASK";

/// A command that runs `test` again, to do `task`.
fn again(test: &str, task: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command.env(TASK, task);
    command
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .concat()
}

/// Locks that keep a node or a guard for each acquisition.
const KEEPERS: &[&str] = &[
    "std.mutex",
    "std.rwlock",
    "ck.mcs",
    "tbb.queuing_mutex",
    "tbb.queuing_rw_mutex",
];

/// Takes nine locks of the kind `name`, or unlocks two in the wrong order.
fn misuse(task: &str) {
    let (name, how) = task.split_once(' ').unwrap();
    let mut peers = peers().present.iter();
    let kind = peers.find(|peer| peer.kind.name() == name).unwrap().kind;
    let locks: Vec<Lock> = (0..9).map(|_| kind.create()).collect();
    let take = if how == "deep" { 9 } else { 2 };
    // SAFETY: the second of them ends this process, or the last.
    unsafe {
        locks[..take].iter().for_each(|lock| lock.lock());
        locks[0].unlock();
    }
}

#[test]
fn misuse_is_one_sentence_and_the_end() {
    if let Ok(task) = env::var(TASK) {
        return misuse(&task);
    }
    let present = peers().present.iter().map(|peer| peer.kind.name());
    let keepers: Vec<_> = present.filter(|name| KEEPERS.contains(name)).collect();
    assert!(keepers.contains(&"std.mutex"));
    for name in keepers {
        for (how, sentence) in [
            (
                "deep",
                "a thread holds at most 8 locks of this kind; hold fewer at once",
            ),
            (
                "crossed",
                "not the lock that this thread took last; unlock in reverse order",
            ),
        ] {
            let mut command = again(
                "misuse_is_one_sentence_and_the_end",
                &format!("{name} {how}"),
            );
            let output = command.output().unwrap();
            let text = text(&output);
            assert!(output.status.signal().is_some(), "{name} {how}: {text}");
            let line = format!("lockwork: {name}: {sentence}");
            assert!(text.lines().any(|l| l == line), "{name} {how}: {text}");
        }
    }
}

/// A stand-in for pthread_mutex_lock, as an interposer has one.
const INTERPOSER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
int pthread_mutex_lock(void *mutex)
{
	return ((int (*)(void *))dlsym(RTLD_NEXT, "pthread_mutex_lock"))(mutex);
}
"#;

#[test]
fn glibc_is_absent_where_something_else_took_its_place() {
    if env::var(TASK).is_ok() {
        for absent in &peers().absent {
            println!("{}: {}", absent.name, absent.reason);
        }
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let (source, object) = (room.path().join("take.c"), room.path().join("take.so"));
    std::fs::write(&source, INTERPOSER).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-o"])
        .args([&object, &source]);
    assert!(compiler.status().unwrap().success());

    let mut command = again(
        "glibc_is_absent_where_something_else_took_its_place",
        "list",
    );
    let plain = text(&command.output().unwrap());
    assert!(!plain.contains("glibc.mutex: "), "{plain}");
    let output = command.env("LD_PRELOAD", &object).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("glibc.mutex: pthread_mutex_lock and the like are not glibc's"),
        "{text}"
    );
    assert!(text.contains("run without LD_PRELOAD"), "{text}");
    assert!(!text.contains("std.mutex: "), "{text}");
}

/// A library's file name among the process's mappings, if it is loaded.
const FILES: &[(&str, &str)] = &[
    ("absl", "/libabsl_synchronization.so"),
    ("nsync", "/libnsync.so"),
    ("tbb", "/libtbb.so"),
];

#[test]
fn libraries_are_loaded_and_not_linked() {
    let loaded = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let files = FILES.iter().filter(|(_, file)| maps.contains(file));
        files.map(|(library, _)| *library).collect::<Vec<_>>()
    };
    if env::var(TASK).is_ok() {
        assert_eq!(loaded(), [""; 0]);
        let mut present: Vec<_> = peers().present.iter().map(|peer| peer.library).collect();
        present.dedup();
        present.retain(|library| FILES.iter().any(|(name, _)| name == library));
        assert_eq!(loaded(), present);
        return;
    }
    let mut command = again("libraries_are_loaded_and_not_linked", "look");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
}
