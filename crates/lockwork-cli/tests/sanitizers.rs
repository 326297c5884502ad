// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `tests/sanitized/program.c`, built with AddressSanitizer and ThreadSanitizer, by GCC
//! and by Clang, with the runtime as a part of the program and as a shared object:
//! under `lockwork run` it ends as it does without, and nothing is reported. `lockwork profile`
//! records what can be recorded of it, and `lockwork compare` runs it with all arms.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/sanitized/program.c"
);

/// What ThreadSanitizer ends with after a report.
const RACED: i32 = 66;

struct Build {
    compiler: &'static str,
    sanitizer: &'static str,
    /// Where its runtime is to be.
    option: Option<&'static str>,
}

const BUILDS: &[Build] = &[
    Build::new("gcc", "thread", None),
    Build::new("gcc", "thread", Some("-static-libtsan")),
    Build::new("gcc", "address", None),
    Build::new("gcc", "address", Some("-static-libasan")),
    Build::new("clang", "thread", None),
    Build::new("clang", "thread", Some("-shared-libsan")),
    Build::new("clang", "address", None),
    Build::new("clang", "address", Some("-shared-libsan")),
];

impl Build {
    const fn new(
        compiler: &'static str,
        sanitizer: &'static str,
        option: Option<&'static str>,
    ) -> Build {
        Build {
            compiler,
            sanitizer,
            option,
        }
    }

    fn name(&self) -> String {
        let option = self.option.unwrap_or("-default");
        format!("{}-{}{option}", self.compiler, self.sanitizer)
    }

    fn compile(&self) -> PathBuf {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.name());
        let output = Command::new(self.compiler)
            .args(["-O1", "-g", "-pthread"])
            .arg(format!("-fsanitize={}", self.sanitizer))
            .args(self.option)
            .args(self.runtime_folder())
            .arg(SOURCE)
            .arg("-o")
            .arg(&target)
            .output()
            .unwrap_or_else(|e| {
                panic!(
                    "{}: {e}: have scripts/install-deps install it",
                    self.compiler
                )
            });
        assert!(
            output.status.success(),
            "{} does not build; scripts/install-deps installs what it needs:\n{}",
            self.name(),
            String::from_utf8_lossy(&output.stderr)
        );
        target
    }

    /// Clang's shared runtimes are in a folder of its own.
    fn runtime_folder(&self) -> Option<OsString> {
        self.option.filter(|&option| option == "-shared-libsan")?;
        let output = Command::new(self.compiler)
            .arg("-print-runtime-dir")
            .output()
            .ok()?;
        let printed = String::from_utf8(output.stdout).ok()?;
        let printed = Path::new(printed.trim());
        // Some print the folder of another layout than they use.
        let folder = match printed.exists() {
            true => printed.to_path_buf(),
            false => printed.parent()?.join("linux"),
        };
        let mut option = OsString::from("-Wl,-rpath,");
        option.push(folder);
        Some(option)
    }
}

/// Without address randomization: with more random bits than it was made for, a ThreadSanitizer ends
/// some of its programs when they start.
fn output(command: &mut Command) -> Output {
    let still = || {
        // SAFETY: a flag for the program that is executed next. Where it is forbidden nothing changes.
        unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
        Ok(())
    };
    // SAFETY: personality(2) may be called between fork and exec.
    unsafe { command.pre_exec(still) };
    command
        .env_remove("LD_PRELOAD")
        .output()
        .expect("the program runs")
}

fn plainly(program: &Path) -> Output {
    output(&mut Command::new(program))
}

fn under(lock: &str, program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockwork"));
    command.args(["run", "--lock", lock, "--"]).arg(program);
    output(command.args(arguments))
}

fn check(build: &Build, program: &Path) {
    let name = build.name();
    for lock in [
        "mutex",
        "mutex_numa",
        "qspinlock_steal",
        "glibc_passthrough",
    ] {
        let got = under(lock, program, &[]);
        let said = String::from_utf8_lossy(&got.stderr);
        assert!(
            got.status.success(),
            "{name}, {lock}: {}\n{said}",
            got.status
        );
        assert!(said.is_empty(), "{name}, {lock}: {said}");
    }
    if build.sanitizer == "thread" {
        let got = under("mutex", program, &["race"]);
        let said = String::from_utf8_lossy(&got.stderr);
        assert_eq!(got.status.code(), Some(RACED), "{name}: {said}");
        assert!(said.contains("data race"), "{name}: {said}");
    }
}

/// AddressSanitizer's programs are recorded, with the calls where they are. The others are refused.
fn check_recorder(build: &Build, program: &Path) {
    let name = build.name();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.prof"));
    let lockwork = || Command::new(env!("CARGO_BIN_EXE_lockwork"));
    let mut command = lockwork();
    command.args(["profile", "--quiet", "-o"]).arg(&file);
    let got = output(command.arg("--").arg(program));
    let said = String::from_utf8_lossy(&got.stderr);
    if build.sanitizer != "address" {
        assert_eq!(got.status.code(), Some(125), "{name}: {said}");
        assert!(said.contains("ThreadSanitizer"), "{name}: {said}");
        return;
    }
    assert!(got.status.success(), "{name}: {}\n{said}", got.status);
    assert!(said.is_empty(), "{name}: {said}");
    let report = output(lockwork().args(["report", "--json"]).arg(&file));
    let report = String::from_utf8_lossy(&report.stdout);
    assert!(report.contains("take_turn (program.c:"), "{name}: {report}");
}

/// Warm-up runs are made, too: the first one is recorded, if the program can be.
fn check_compare(build: &Build, program: &Path) {
    let name = build.name();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockwork"));
    command.args(["compare", "-n1", "--warmup=1", "--locks=mutex", "--json"]);
    let got = output(command.arg(&file).arg("--").arg(program));
    let said = String::from_utf8_lossy(&got.stderr);
    assert!(got.status.success(), "{name}: {}\n{said}", got.status);
    let json = fs::read_to_string(&file).expect("it was written");
    let is_recorded = !json.contains("\"locking\": null");
    assert_eq!(is_recorded, build.sanitizer == "address", "{name}: {json}");
}

/// A sanitizer may refuse to run on a kernel that is newer than it: that build is said to
/// be not run. One that is not installed is a failure, and so is a machine where none runs.
#[test]
fn sanitizers_work_under_the_interposer() {
    let mut ran = 0;
    for build in BUILDS {
        let program = build.compile();
        let plain = plainly(&program);
        if plain.status.success() {
            check(build, &program);
            check_recorder(build, &program);
            check_compare(build, &program);
            ran += 1;
            continue;
        }
        // Not by println!, which shows for tests that fail only.
        let _ = writeln!(
            io::stderr(),
            "{}: NOT RUN (without Lockwork it ends with {}: {})",
            build.name(),
            plain.status,
            String::from_utf8_lossy(&plain.stderr)
                .lines()
                .next()
                .unwrap_or("it says nothing")
        );
    }
    assert!(ran > 0, "no sanitizer runs on this machine");
}
