// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The library's C interface: builds `tests/lib/api.c` with the library's own
//! sources and runs it, as it is and with `LOCKWORK_DEBUG=1`. And a numa_osq in a
//! world of more slots.

use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SIGABRT: i32 = 6;

fn c_files(dir: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(ROOT).join(dir)).expect("the sources are there");
    entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect()
}

/// Builds `sources` and all of the library but what `left_out` says.
fn compile(name: &str, flags: &[&str], sources: Vec<PathBuf>, left_out: &[&str]) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let own = [
        "locks",
        "platform",
        "platform/library",
        "platform/user",
        "lib",
    ]
    .map(c_files);
    let own = own.into_iter().flatten();
    let status = Command::new(&compiler)
        .current_dir(ROOT)
        .args(["-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror"])
        .args(["-fno-strict-aliasing", "-pthread"])
        .args(["-Iinclude", "-Iplatform/library", "-Iplatform/user"])
        .args(["-Iplatform", "-Ilocks", "-o"])
        .arg(&target)
        .args(flags)
        .args(sources)
        .args(own.filter(|path| !left_out.iter().any(|file| path.ends_with(file))))
        .status()
        .expect("a C compiler");
    assert!(status.success(), "{compiler} failed on {name}");
    target
}

/// The test program, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compile("api", &[], c_files("tests/lib"), &[]))
}

/// The program includes two files of `locks/`. As many slots as the user world has, as
/// its tail can name, and two between them.
#[test]
fn a_numa_osq_names_up_to_65534_slots() {
    let included = ["locks/numa_osq.c", "locks/numa_divide.c"];
    for slots in [16_383, 21_845, 30_000, 65_534] {
        let flag = format!("-DSLOTS={slots}u");
        let program = compile("slots", &[&flag], c_files("tests/numa_osq"), &included);
        let output = Command::new(program).output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{slots} slots: {said}");
    }
}

/// A thread's end must not call code that is gone.
#[test]
fn a_plugin_with_the_library_in_it_can_be_unloaded() {
    let source = |name: &str| vec![Path::new(ROOT).join("tests/unload").join(name)];
    let flags = ["-shared", "-fPIC"];
    let plugin = compile("plugin.so", &flags, source("plugin.c"), &[]);
    let program = compile("unload", &[], source("program.c"), &[]);
    let output = Command::new(program).arg(plugin).output();
    let output = output.expect("the program runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{:?}: {said}", output.status);
}

/// Builds and runs what is in `dir`.
fn passes(name: &str, dir: &str) {
    let program = compile(name, &[], c_files(dir), &[]);
    let output = Command::new(program).output().expect("the program runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}

/// What decides when a numa_osq divides is arithmetic, in a header of its own.
#[test]
fn a_numa_osq_decides_by_its_counts() {
    passes("merit", "tests/numa_merit");
}

/// In which way the threads wait for a sleeping lock, with times that are made up.
#[test]
fn a_sleeping_lock_learns_the_fastest_way_to_wait() {
    passes("adapt", "tests/adapt");
}

/// What a signal handler leaves in a section of a list, it finds there.
#[test]
fn a_section_knows_its_handlers() {
    passes("sections", "tests/sections");
}

/// A waiter that halts is found by a hash of its lock, which is the lock's alone.
#[test]
fn a_kick_is_for_one_lock() {
    passes("kick", "tests/kick");
}

/// What a handler's waiter leaves in a queue does not harm the call that it interrupted.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_handler_may_lock_at_each_instruction() {
    passes("handlers", "tests/handlers");
}

fn run(debug: bool, how: Option<&str>) -> Output {
    let mut command = Command::new(program());
    command.env("LOCKWORK_DEBUG", if debug { "1" } else { "0" });
    command.args(how);
    command.output().expect("the program runs")
}

#[test]
fn each_call_does_what_it_says() {
    for debug in [false, true] {
        for how in [None, Some("numa")] {
            let output = run(debug, how);
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "debug {debug}, {how:?}: {said}");
        }
    }
}

/// What the program `what` prints on standard output and on standard error.
fn report(what: &str, clusters: Option<&str>) -> (String, String) {
    let mut command = Command::new(program());
    command.arg(what).env_remove("LOCKWORK_CLUSTERS");
    command.envs(clusters.map(|map| ("LOCKWORK_CLUSTERS", map)));
    let output = command.output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let (said, complaints) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{what}: {said} {complaints}");
    (said, complaints)
}

#[test]
fn the_environment_says_which_cpus_are_a_cluster() {
    let (own, nothing) = report("clusters", None);
    assert_eq!(nothing, "");
    assert_eq!(
        report("clusters", Some("0;1;2-8191")),
        ("3".into(), String::new())
    );
    assert_eq!(
        report("clusters", Some("")),
        (own.clone(), nothing),
        "an empty one says nothing"
    );
    let complaint = "lockwork: ignored LOCKWORK_CLUSTERS=0;1-; a range has no end";
    assert_eq!(report("clusters", Some("0;1-")), (own, complaint.into()));
}

#[test]
fn events_are_printed_at_the_end() {
    let (processes, events) = report("events", None);
    let (parent, child) = processes.split_once(' ').expect("two numbers");
    let expected = format!("lockwork[{child}]: numa_local 1\nlockwork[{parent}]: numa_opened 3");
    assert_eq!(events, expected);
}

/// The message names the mutex and, where somebody holds it, the holder.
fn aborts(how: &str, held: bool) {
    let output = run(true, Some(how));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let facts = String::from_utf8_lossy(&output.stdout).into_owned();
    let (address, thread) = facts.trim().split_once(' ').expect("two facts");
    assert_eq!(output.status.signal(), Some(SIGABRT), "{how}: {said}");
    assert!(said.contains(&format!("mutex {address}:")), "{how}: {said}");
    let holder = format!("held by thread {thread}\n");
    assert_eq!(said.contains(&holder), held, "{how}: {said}");
}

#[test]
fn debug_mode_names_lock_and_holder() {
    aborts("relock", true);
    aborts("destroy", true);
    aborts("foreign-unlock", true);
    aborts("unlock-free", false);
}

/// Each thread of a ring holds a mutex before any waits for the next one. The report
/// names all of them, and where they were called; it comes once.
fn reports_a_ring_of(size: usize) {
    let output = run(true, Some(&format!("ring{size}")));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let facts = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.signal(), Some(SIGABRT), "{said}");
    let head = format!("lockwork: deadlock of {size} threads\n");
    assert!(said.starts_with(&head), "{said}");
    assert_eq!(said.lines().count(), 1 + size, "{said}");
    assert_eq!(facts.lines().count(), size, "{facts}");
    for fact in facts.lines() {
        let (mutex, holder) = fact.split_once(' ').expect("two facts");
        let waits = said.lines().find(|line| {
            line.contains(&format!(" waits for mutex {mutex} at api+0x"))
                && line.contains(&format!("; thread {holder} holds it, locked at api+0x"))
        });
        assert!(waits.is_some(), "{fact}: {said}");
        let waiter = format!("  thread {holder} waits for mutex ");
        assert!(said.contains(&waiter), "{fact}: {said}");
    }
}

#[test]
fn debug_mode_reports_a_deadlock() {
    for size in 2..=5 {
        reports_a_ring_of(size);
    }
}
