// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs every program of `tests/preload` on the plain C library and under
//! `lockwork run`: on the system's glibc, and on a newer one where
//! `LOCKWORK_NEWER_GLIBC` names a folder that `scripts/newer-glibc` filled.
//!
//! A program is one C file.  `plugins/<name>.c`, where it exists, becomes a
//! shared object whose path is the program's argument; `plugins/<name>_needed.c`
//! one that the program is linked with.  `LOCKWORK_PRELOAD_ONLY=<name>` runs a
//! single program.
//!
//! `cargo test` runs all programs under each policy with rseq and without it, on one of
//! the two C libraries.  `scripts/conformance` runs the full matrix on both.

#[path = "common/glibc.rs"]
mod glibc;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use glibc::Glibc;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/preload");
/// Programs take seconds, and many times that beside many others on one CPU.
const WATCHDOG: Duration = Duration::from_secs(600);
/// After so many hung programs a mode is given up.
const MOST_HANGS: usize = 3;
/// The status of a program that this user or this kernel does not let run: `NOT_RUN`
/// of `expect.h`.
const NOT_RUN: i32 = 77;

struct Program {
    name: String,
    path: PathBuf,
    argument: Option<PathBuf>,
}

/// The programs for one C library.
struct Programs {
    all: Vec<Program>,
    version: (u32, u32),
}

#[derive(Clone, Copy)]
struct Mode {
    name: &'static str,
    lock: Option<&'static str>,
    /// The lock's knobs.
    set: &'static [&'static str],
    tunables: Option<&'static str>,
}

enum Outcome {
    Exited(ExitStatus),
    Hung,
}

fn directory(glibc: Glibc) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("preload-{}", glibc.name()))
}

/// Compiles `source` for `glibc` to `target`, which appears complete or not at all:
/// another test process may be using the one that is there.
fn compile(source: &Path, target: &Path, glibc: Glibc, extra: &[OsString]) -> Result<(), String> {
    let cc = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = cc.split_whitespace();
    let partial = target.with_extension(format!("{}.partial", process::id()));
    let output = Command::new(words.next().unwrap_or("cc"))
        .args(words)
        .args(["-O1", "-g", "-pthread", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(SOURCES)
        .arg("-o")
        .arg(&partial)
        .args(glibc.flags())
        .arg(source)
        .args(extra)
        .output()
        .map_err(|e| format!("cannot run the C compiler `{cc}`: {e}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} does not compile:\n{said}", source.display()));
    }
    fs::rename(&partial, target).map_err(|e| format!("{}: {e}", target.display()))
}

/// Builds `plugins/<name>.c` if there is one.
fn compile_plugin(name: &str, glibc: Glibc) -> Result<Option<PathBuf>, String> {
    let source = Path::new(SOURCES).join("plugins").join(format!("{name}.c"));
    if !source.exists() {
        return Ok(None);
    }
    let target = directory(glibc).join(format!("lib{name}.so"));
    let soname = format!("-Wl,-soname,lib{name}.so");
    compile(
        &source,
        &target,
        glibc,
        &["-fPIC".into(), "-shared".into(), soname.into()],
    )?;
    Ok(Some(target))
}

fn compile_program(source: &Path, glibc: Glibc) -> Result<Program, String> {
    let name = source
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let path = directory(glibc).join(&name);
    let argument = compile_plugin(&name, glibc)?;
    let mut extra = vec![OsString::from("-ldl")];
    if let Some(needed) = compile_plugin(&format!("{name}_needed"), glibc)? {
        extra.push(needed.into());
        extra.push(format!("-Wl,-rpath,{}", directory(glibc).display()).into());
    }
    compile(source, &path, glibc, &extra)?;
    Ok(Program {
        name,
        path,
        argument,
    })
}

/// Asks the C library that a program for `glibc` runs on.
fn compile_version(glibc: Glibc) -> Result<(u32, u32), String> {
    const SOURCE: &str = "#include <gnu/libc-version.h>\n#include <stdio.h>\n\
                          int main(void) { puts(gnu_get_libc_version()); return 0; }\n";
    let path = directory(glibc).join("glibc-version");
    let source = path.with_extension(format!("{}.c", process::id()));
    fs::write(&source, SOURCE).map_err(|e| format!("{}: {e}", source.display()))?;
    compile(&source, &path, glibc, &[])?;
    fs::remove_file(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    Ok(glibc::version(&path))
}

fn compile_all(glibc: Glibc) -> Result<Programs, String> {
    let failed = |e: io::Error| format!("{SOURCES}: {e}");
    let only = env::var("LOCKWORK_PRELOAD_ONLY").ok();
    fs::create_dir_all(directory(glibc)).map_err(failed)?;
    let mut sources = Vec::new();
    for entry in fs::read_dir(SOURCES).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let wanted = only
            .as_ref()
            .is_none_or(|name| path.file_stem().is_some_and(|stem| stem == &**name));
        if wanted && path.extension().is_some_and(|e| e == "c") {
            sources.push(path);
        }
    }
    if sources.is_empty() {
        return Err(format!("no programs in {SOURCES}"));
    }
    sources.sort();
    let all: Result<_, _> = sources.iter().map(|s| compile_program(s, glibc)).collect();
    Ok(Programs {
        all: all?,
        version: compile_version(glibc)?,
    })
}

fn programs(glibc: Glibc) -> &'static Programs {
    static SYSTEM: OnceLock<Result<Programs, String>> = OnceLock::new();
    static NEWER: OnceLock<Result<Programs, String>> = OnceLock::new();
    let programs = match glibc {
        Glibc::System => &SYSTEM,
        Glibc::Newer => &NEWER,
    };
    match programs.get_or_init(|| compile_all(glibc)) {
        Ok(programs) => programs,
        Err(message) => panic!("{message}"),
    }
}

fn command(program: &Program, mode: &Mode) -> Command {
    let mut command = match mode.lock {
        Some(lock) => {
            let mut command = Command::new(env!("CARGO_BIN_EXE_lockwork"));
            command.args(["run", "--lock", lock]);
            command.args(mode.set.iter().flat_map(|knob| ["--set", knob]));
            command
                .arg("--")
                .arg(&program.path)
                .env("LOCKWORK_EXPECT", "1");
            command
        }
        None => {
            let mut command = Command::new(&program.path);
            command.env_remove("LOCKWORK_EXPECT");
            command
        }
    };
    command.args(&program.argument).env_remove("LD_PRELOAD");
    match mode.tunables {
        Some(tunables) => command.env("GLIBC_TUNABLES", tunables),
        None => command.env_remove("GLIBC_TUNABLES"),
    };
    // Alone in its group, so that a hung program goes with all its children.
    command.process_group(0);
    command
}

fn kill_group(child: &Child, signal: i32) {
    // SAFETY: a child that is not waited for yet keeps its number.
    unsafe { libc::kill(-(child.id() as i32), signal) };
}

/// On SIGQUIT a program writes where it stood; then it is ended.
fn give_up(child: &mut Child) -> io::Result<()> {
    kill_group(child, libc::SIGQUIT);
    thread::sleep(Duration::from_secs(1));
    kill_group(child, libc::SIGKILL);
    child.wait().map(drop)
}

fn wait(child: &mut Child) -> io::Result<Outcome> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Outcome::Exited(status));
        }
        if begun.elapsed() > WATCHDOG {
            give_up(child)?;
            return Ok(Outcome::Hung);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Output goes to a file: a pipe would stay open as long as a stray child.
fn run(program: &Program, mode: &Mode) -> io::Result<(Outcome, String)> {
    let log = program
        .path
        .with_extension(format!("{}.{}.log", mode.name, process::id()));
    let file = File::create(&log)?;
    let mut child = command(program, mode)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()?;
    let outcome = wait(&mut child)?;
    let said = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    fs::remove_file(&log)?;
    Ok((outcome, said))
}

fn run_all(mode: &Mode, glibc: Glibc) {
    let Programs { all, version } = programs(glibc);
    // Not by println!, which shows for tests that fail only.
    let _ = writeln!(
        io::stderr(),
        "{}: {} programs on glibc {}.{}",
        mode.name,
        all.len(),
        version.0,
        version.1
    );
    run_these(all, mode, glibc);
}

/// Runs them, and says how many passed.
fn run_these(these: impl IntoIterator<Item = &'static Program>, mode: &Mode, glibc: Glibc) {
    let (major, minor) = programs(glibc).version;
    let mut failures = Vec::new();
    let mut hangs = 0;
    let mut passed = 0;
    let mut not_run = 0;
    for program in these {
        let begun = Instant::now();
        let (outcome, said) = run(program, mode)
            .unwrap_or_else(|e| panic!("{}: cannot run {}: {e}", mode.name, program.name));
        let verdict = match outcome {
            Outcome::Exited(status) if status.success() => "passed".into(),
            Outcome::Exited(status) if status.code() == Some(NOT_RUN) => {
                format!("NOT RUN ({})", said.trim())
            }
            Outcome::Exited(status) => format!("FAILED ({status})"),
            Outcome::Hung => format!("HUNG (over {} s)", WATCHDOG.as_secs()),
        };
        let line = format!(
            "glibc {major}.{minor}, {}: {} {verdict} after {:.2} s",
            mode.name,
            program.name,
            begun.elapsed().as_secs_f64()
        );
        println!("{line}");
        if verdict.starts_with("NOT RUN") {
            // Not by println!, which shows for tests that fail only.
            let _ = writeln!(io::stderr(), "{line}");
            not_run += 1;
        } else if verdict == "passed" {
            passed += 1;
        } else {
            failures.push(format!("{line}\n{said}"));
        }
        hangs += usize::from(matches!(outcome, Outcome::Hung));
        if hangs == MOST_HANGS {
            failures.push(format!(
                "{}: {hangs} programs hung, the rest were not run",
                mode.name
            ));
            break;
        }
    }
    let _ = writeln!(
        io::stderr(),
        "glibc {major}.{minor}, {}: {passed} passed, {not_run} not run, {} failed",
        mode.name,
        failures.len()
    );
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

const PLAIN: Mode = Mode {
    name: "plain",
    lock: None,
    set: &[],
    tunables: None,
};

const MUTEX: Mode = Mode {
    name: "mutex",
    lock: Some("mutex"),
    ..PLAIN
};

/// No waiter spins, and the first sleeper rests: what a mutex learns now and then only.
const RESTING: Mode = Mode {
    name: "mutex_resting",
    set: &["wait_way=3"],
    ..MUTEX
};

/// Each CPU a cluster of its own, and divided as soon as the knobs allow.
const DIVIDE: &[&str] = &["clusters=cpu", "osq_lock_depth=5", "osq_keep_times=16"];

const MUTEX_NUMA: Mode = Mode {
    name: "mutex_numa",
    lock: Some("mutex_numa"),
    set: DIVIDE,
    ..PLAIN
};

const QSPINLOCK_FAIR: Mode = Mode {
    name: "qspinlock_fair",
    lock: Some("qspinlock_fair"),
    ..PLAIN
};

const QSPINLOCK_STEAL: Mode = Mode {
    name: "qspinlock_steal",
    lock: Some("qspinlock_steal"),
    ..PLAIN
};

const QSPINLOCK_TAS: Mode = Mode {
    name: "qspinlock_tas",
    lock: Some("qspinlock_tas"),
    ..PLAIN
};

const POLICIES: [Mode; 5] = [
    MUTEX,
    MUTEX_NUMA,
    QSPINLOCK_FAIR,
    QSPINLOCK_STEAL,
    QSPINLOCK_TAS,
];

/// The same where glibc registers no rseq, so that threads do not know their CPU.
fn without_rseq(mode: Mode) -> Mode {
    Mode {
        name: format!("{}_without_rseq", mode.name).leak(),
        tunables: Some("glibc.pthread.rseq=0"),
        ..mode
    }
}

fn run_the_matrix(glibc: Glibc) {
    run_all(&PLAIN, glibc);
    run_all(&RESTING, glibc);
    for mode in POLICIES {
        run_all(&mode, glibc);
        run_all(&without_rseq(mode), glibc);
    }
}

#[test]
fn on_the_plain_c_library() {
    run_all(&PLAIN, Glibc::System);
}

#[test]
fn under_mutex() {
    run_all(&MUTEX, Glibc::System);
}

#[test]
fn under_a_mutex_that_rests() {
    run_all(&RESTING, Glibc::System);
}

/// A rest that is over before the first sleeper is stopped, as a rule: it must not be
/// promised the mutex then.
#[test]
fn a_first_that_rested_is_stopped() {
    let mode = Mode {
        name: "mutex_rested",
        set: &["wait_way=3", "rest_us=1"],
        ..MUTEX
    };
    let programs = &programs(Glibc::System).all;
    let first = programs
        .iter()
        .filter(|program| program.name == "first_is_stopped");
    run_these(first, &mode, Glibc::System);
}

#[test]
fn under_mutex_numa() {
    run_all(&MUTEX_NUMA, Glibc::System);
}

/// Waiters that spin for so long make a queue that is long enough to be divided, as a
/// rule; all programs would take minutes so.
#[test]
fn a_crowd_that_spins_under_mutex_numa() {
    let set = [DIVIDE, &["spin_budget=20000", "watch_owner=0"]].concat();
    let mode = Mode {
        name: "mutex_numa_spinning",
        set: set.leak(),
        ..MUTEX_NUMA
    };
    let programs = &programs(Glibc::System).all;
    let crowd = programs.iter().filter(|program| program.name == "crowd");
    run_these(crowd, &mode, Glibc::System);
}

#[test]
fn under_qspinlock_steal() {
    run_all(&QSPINLOCK_STEAL, Glibc::System);
}

#[test]
fn under_qspinlock_fair() {
    run_all(&QSPINLOCK_FAIR, Glibc::System);
}

#[test]
fn under_qspinlock_tas() {
    run_all(&QSPINLOCK_TAS, Glibc::System);
}

#[test]
fn under_mutex_without_rseq() {
    run_all(&without_rseq(MUTEX), Glibc::System);
}

/// A new policy gets its tests here.
#[test]
fn every_policy_has_a_mode() {
    let policies = include_str!("../../../preload/policies.def");
    let known = lockwork_build::policies::policies(policies).expect("policies");
    let known = known.iter().map(|policy| Some(policy.name.as_str()));
    assert!(known.eq(POLICIES.iter().map(|mode| mode.lock)));
}

#[test]
#[ignore = "the full matrix takes ten minutes: run scripts/conformance"]
fn the_matrix() {
    run_the_matrix(Glibc::System);
}

/// The same on a newer glibc, which has other fields in its condition variables. The
/// interposer is the one that was built on this system.
mod on_a_newer_glibc {
    use super::*;

    /// Otherwise the others would only repeat what they did above.
    #[test]
    #[cfg_attr(
        not(has_newer_glibc),
        ignore = "the interposer on a newer glibc is not tested: run scripts/newer-glibc DIR and set LOCKWORK_NEWER_GLIBC=DIR"
    )]
    fn it_is_newer() {
        let newer = programs(Glibc::Newer).version;
        assert!(newer > programs(Glibc::System).version);
        assert!(newer >= (2, 41), "condition variables changed in 2.41");
    }

    #[test]
    #[cfg_attr(
        not(has_newer_glibc),
        ignore = "the interposer on a newer glibc is not tested: run scripts/newer-glibc DIR and set LOCKWORK_NEWER_GLIBC=DIR"
    )]
    fn plain() {
        run_all(&PLAIN, Glibc::Newer);
    }

    #[test]
    #[cfg_attr(
        not(has_newer_glibc),
        ignore = "the interposer on a newer glibc is not tested: run scripts/newer-glibc DIR and set LOCKWORK_NEWER_GLIBC=DIR"
    )]
    fn under_mutex() {
        run_all(&MUTEX, Glibc::Newer);
    }

    #[test]
    #[cfg_attr(
        not(has_newer_glibc),
        ignore = "the interposer on a newer glibc is not tested: run scripts/newer-glibc DIR and set LOCKWORK_NEWER_GLIBC=DIR"
    )]
    fn under_mutex_numa_without_rseq() {
        run_all(&without_rseq(MUTEX_NUMA), Glibc::Newer);
    }

    #[test]
    #[cfg_attr(
        not(has_newer_glibc),
        ignore = "the interposer on a newer glibc is not tested: run scripts/newer-glibc DIR and set LOCKWORK_NEWER_GLIBC=DIR"
    )]
    fn under_qspinlock_fair_without_rseq() {
        run_all(&without_rseq(QSPINLOCK_FAIR), Glibc::Newer);
    }

    #[test]
    #[cfg_attr(
        not(has_newer_glibc),
        ignore = "the interposer on a newer glibc is not tested: run scripts/newer-glibc DIR and set LOCKWORK_NEWER_GLIBC=DIR"
    )]
    fn under_qspinlock_steal_without_rseq() {
        run_all(&without_rseq(QSPINLOCK_STEAL), Glibc::Newer);
    }

    #[test]
    #[cfg_attr(
        not(has_newer_glibc),
        ignore = "the interposer on a newer glibc is not tested: run scripts/newer-glibc DIR and set LOCKWORK_NEWER_GLIBC=DIR"
    )]
    fn under_qspinlock_tas_without_rseq() {
        run_all(&without_rseq(QSPINLOCK_TAS), Glibc::Newer);
    }

    #[test]
    #[ignore = "the full matrix takes ten minutes: run scripts/conformance"]
    fn the_matrix() {
        run_the_matrix(Glibc::Newer);
    }
}
