// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork kernel`: what it refuses, and that no QEMU is left behind. Whole tortures are
//! run by .ci/run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// It keeps what it builds in the user's cache: a kernel is large.
fn lockwork() -> Command {
    Command::new(env!("CARGO_BIN_EXE_lockwork"))
}

/// What it says on standard error, after it ended with `code`.
fn refused(code: i32, args: &[&str]) -> String {
    let output = lockwork().arg("kernel").args(args).output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn a_wrong_command_line_boots_nothing() {
    for (args, words) in [
        (&["--torture", "no_such_lock"][..], "no_such_lock"),
        (&["--torture", "canary_reader"], "--canaries"),
        (
            &["--torture", "qspinlock_fair+no_such_lock"],
            "no_such_lock",
        ),
        (&["--cpus", "7"], "choose a multiple"),
        (&["--cpus", "100000"], "from 1 to 255"),
        (&["--nodes", "0"], "from 1 to 16"),
        (&["--seconds", "0"], "from 1 to 86400"),
        (&["--set", "writers=-1"], "from 0 to 4096"),
        (&["--set", "osq_lock_depth=1"], "from 2 to 32"),
        (&["--set", "no_such_option=1"], "hotplug_ms"),
        (&["--set", "pin"], "KNOB=VALUE"),
        (&["--shell", "--json"], "cannot be used with"),
        (&["--linux", "/usr"], "make bzImage modules"),
    ] {
        let said = refused(2, &[&["module"], args].concat());
        assert!(said.contains(words), "{args:?}: {said}");
    }
    for (args, words) in [
        (&["--torture", "mutex_lok"][..], "mutex_lok"),
        (&["--load", "no_such_load"], "aim7_disk"),
        (
            &["--load", "mwcm", "--set", "writers=0"],
            "without a worker",
        ),
        (&["--load", "mwcm", "--set", "pin=1"], "has no pin"),
        (
            &["--torture", "spin_lock", "--set", "readers=2"],
            "has no readers",
        ),
        (&["--off", "--set", "osq_pool=1"], "osq_pool"),
        (
            &["--off", "--options", "QUEUE_RWLOCK"],
            "cannot be used with",
        ),
        (&["--lockdep", "--kcsan"], "cannot be used with"),
        (&["--series", "locks"], "osq"),
        (&["--series", "rwlock", "--set", "osq_pool=1"], "osq_pool"),
        (&["--cpus", "7"], "choose a multiple"),
    ] {
        let said = refused(2, &[&["patched"], args].concat());
        assert!(said.contains(words), "{args:?}: {said}");
    }
    refused(2, &["no_such_kernel"]);
}

#[test]
fn patches_are_for_kernel_sources_that_they_fit() {
    let room = tempfile::tempdir().expect("a folder");
    let path = room.path().to_str().expect("UTF-8");
    refused(2, &["patches"]);
    let said = refused(2, &["patches", "--apply", path]);
    assert!(said.contains("holds no kernel sources"), "{said}");
    let said = refused(2, &["patches", "--source", path, "-o", path]);
    assert!(said.contains("holds no kernel sources"), "{said}");
    // Before it looks at the sources, which it would fetch otherwise.
    let file = room.path().join("file");
    fs::write(&file, "precious").expect("a file");
    for output in [file.clone(), file.join("below")] {
        let output = output.to_str().expect("UTF-8");
        let said = refused(2, &["patches", "--source", path, "-o", output]);
        assert!(said.contains("is not a folder: name a folder"), "{said}");
    }

    let makefile = room.path().join("kernel/locking/Makefile");
    fs::create_dir_all(makefile.parent().expect("a folder")).expect("folders");
    fs::write(&makefile, "obj-y += none.o\n").expect("a file");
    fs::write(room.path().join("kernel/Kconfig.locks"), "").expect("a file");
    let said = refused(125, &["patches", "--apply", path]);
    for words in ["does not fit", "osq_lock.h"] {
        assert!(said.contains(words), "{said}");
    }
    // Half a series is not left behind.
    let text = fs::read_to_string(&makefile).expect("a file");
    assert_eq!(text, "obj-y += none.o\n");
    assert!(!room.path().join("kernel/locking/lockwork").exists());
}

#[test]
fn without_packages_it_says_which() {
    let mut command = lockwork();
    command
        .args(["kernel", "module"])
        .env("PATH", "/nonexistent");
    let output = command.stdin(Stdio::null()).output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    for words in ["qemu-system-x86", "busybox-static", "apt-get"] {
        assert!(said.contains(words), "{said}");
    }
}

/// The QEMU that is a child of `process`.
fn guest(process: u32) -> Option<PathBuf> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    let children = children.split_whitespace();
    let mut dirs = children.map(|child| Path::new("/proc").join(child));
    dirs.find(|dir| fs::read_to_string(dir.join("comm")).is_ok_and(|name| name.starts_with("qemu")))
}

#[test]
#[cfg_attr(
    not(has_guest),
    ignore = "QEMU, busybox or kernel headers are missing: booting a kernel is not tested"
)]
fn a_guest_that_does_not_boot_in_time_is_ended() {
    let said = refused(
        1,
        &[
            "module",
            "--accel",
            "tcg",
            "--boot-seconds",
            "1",
            "--torture",
            "mutex",
        ],
    );
    assert!(said.contains("did not boot within 1 s"), "{said}");
    // The kernel is Debian's, and emulation is to blame: it gets more than one chance.
    assert!(said.contains("booting it again (3 of 3)"), "{said}");
}

#[test]
#[cfg_attr(
    not(has_guest),
    ignore = "QEMU, busybox or kernel headers are missing: booting a kernel is not tested"
)]
fn ctrl_c_leaves_no_guest() {
    let mut command = lockwork();
    command.args(["kernel", "module", "--accel", "tcg", "--torture", "mutex"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("runs");
    let guest = loop {
        if let Some(guest) = guest(child.id()) {
            break guest;
        }
        assert!(child.try_wait().expect("waits").is_none(), "it ended");
        sleep(Duration::from_millis(20));
    };
    let number = i32::try_from(child.id()).expect("a process's number");
    // SAFETY: sends a signal to a child that has not been waited for.
    unsafe { libc::kill(number, libc::SIGINT) };
    let status = child.wait().expect("waits");
    assert_eq!(status.code(), Some(130));
    assert!(!guest.exists(), "{} is left", guest.display());
}
