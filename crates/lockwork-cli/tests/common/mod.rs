// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the tests of the command line share.
#![allow(dead_code)] // each test file uses its part

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
        fs::write(&path, content).expect("write executable");
        set_mode(&path, 0o755);
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
