// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the tests of the command line share.
#![allow(dead_code)] // each test file uses its part

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

/// A directory for one test, and a `lockwork` that keeps its cache there.
pub struct Room {
    /// Goes away with the test.
    pub dir: TempDir,
}

impl Room {
    /// One with an empty cache, which all users can read.
    pub fn new() -> Room {
        let room = Room {
            dir: tempfile::tempdir().expect("temporary directory"),
        };
        fs::create_dir(room.path("cache")).expect("cache");
        set_mode(room.dir.path(), 0o755);
        set_mode(&room.path("cache"), 0o755);
        room
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `lockwork` with `args`, not started.
    pub fn lockwork(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockwork"));
        command.args(args);
        self.clean(&mut command);
        command
    }

    /// What `lockwork` prints if no file may have more than so many blocks of 512 bytes, which
    /// stands for a disk that fills up.
    pub fn run_on_full_disk(&self, blocks: u32, args: &[&str]) -> Output {
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_lockwork")]);
        command.args(args);
        self.clean(&mut command);
        command.output().expect("sh starts")
    }

    fn clean(&self, command: &mut Command) {
        heed_signals(command);
        command.env("XDG_CACHE_HOME", self.path("cache"));
        for variable in [
            "LD_PRELOAD",
            "LOCKWORK_LOCK",
            "LOCKWORK_SET",
            "LOCKWORK_CLUSTERS",
        ] {
            command.env_remove(variable);
        }
    }

    /// `lockwork` with `args`, run to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        self.lockwork(args).output().expect("lockwork starts")
    }

    /// An executable shell script.
    pub fn script(&self, name: &str, body: &str) -> String {
        self.executable(name, format!("#!/bin/sh\n{body}\n").as_bytes())
    }

    /// An executable file.
    pub fn executable(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        write_executable(&path, content);
        text(&path)
    }

    /// A compiled C program.
    pub fn compile(&self, name: &str, source: &str, flags: &[&str]) -> String {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
        self.compile_with(&compiler, name, source, flags)
    }

    /// The same by another compiler.
    pub fn compile_with(&self, compiler: &str, name: &str, source: &str, flags: &[&str]) -> String {
        let (from, to) = (self.path(&format!("{name}.c")), self.path(name));
        fs::write(&from, source).expect("write source");
        let status = Command::new(compiler)
            .arg(&from)
            .arg("-o")
            .arg(&to)
            .args(flags)
            .status()
            .expect("C compiler");
        assert!(status.success(), "compiling {name} with {flags:?}");
        text(&to)
    }
}

/// Has `command` begin with the usual meaning of signals that whoever started these tests may have
/// had ignored, as a shell does for jobs in the background.
pub fn heed_signals(command: &mut Command) {
    let heed = || {
        for signal in [
            libc::SIGHUP,
            libc::SIGQUIT,
            libc::SIGUSR1,
            libc::SIGUSR2,
            libc::SIGALRM,
            libc::SIGTSTP,
            libc::SIGCHLD,
        ] {
            // SAFETY: no handler is set.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: signal(2) may be called between fork and exec.
    unsafe { command.pre_exec(heed) };
}

/// Has a child write it. A descriptor of this process for writing may get into a child that another
/// test starts meanwhile, and as long as one is open the file cannot be executed.
pub fn write_executable(path: &Path, content: &[u8]) {
    let mut writer = Command::new("sh");
    writer
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(path);
    let mut writer = writer.stdin(Stdio::piped()).spawn().expect("sh starts");
    let mut to = writer.stdin.take().expect("a pipe");
    to.write_all(content).expect("write executable");
    drop(to);
    assert!(writer.wait().expect("it ends").success());
}

/// A started process, which is killed if its test fails.
pub struct Started(Option<Child>);

impl Started {
    /// Starts `command`.
    pub fn new(command: &mut Command) -> Started {
        Started(Some(command.spawn().expect("it starts")))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it was not waited for")
    }

    /// The process number.
    pub fn id(&self) -> u32 {
        self.0.as_ref().expect("it was not waited for").id()
    }

    /// What it reads from a pipe; that ends when this is dropped.
    pub fn input(&mut self) -> ChildStdin {
        self.child().stdin.take().expect("a pipe")
    }

    /// Sends it `signal`.
    pub fn signal(&self, signal: i32) {
        // SAFETY: the child has not been waited for.
        unsafe { libc::kill(self.id() as libc::pid_t, signal) };
    }

    /// Waits until this is so. The test fails if the process ends before.
    pub fn until(&mut self, is_so: impl Fn() -> bool) {
        while !is_so() {
            if let Some(status) = self.child().try_wait().expect("a child") {
                assert!(is_so(), "it ended too early, {status}: {}", self.said());
            }
            sleep(Duration::from_millis(5));
        }
    }

    fn said(&mut self) -> String {
        let mut said = Vec::new();
        if let Some(mut from) = self.child().stderr.take() {
            let _ = from.read_to_end(&mut said);
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Its end, and what it printed into pipes.
    pub fn output(mut self) -> Output {
        let child = self.0.take().expect("it was not waited for");
        child.wait_with_output().expect("its output")
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sets permission bits.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
}

/// A path as text.
pub fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8 path").to_string()
}

/// What went to standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What went to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
