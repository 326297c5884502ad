// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What root's `lockwork` does where other users are about. Only root can make files of
//! other users, so these tests run only when asked for; `scripts/test` does that as root.

mod common;

use std::fs;
use std::os::unix::fs::{chown, lchown, symlink};
use std::path::Path;

use common::{set_mode, stderr, stdout, Room};

/// Some user who is not root.
const OTHER: u32 = 65534;

/// A program that takes no lock, as another user, started by one that dropped root.
const AS_OTHER: [&str; 7] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
    "sh",
    "-c",
    "cat /proc/self/maps",
];

#[test]
#[ignore = "needs root; scripts/test as root runs it"]
fn what_a_program_starts_after_it_dropped_root_has_the_lock_too() {
    let room = Room::new();
    let run = ["run", "--lock", "mutex", "--"];
    let output = room.run(&[&run[..], &AS_OTHER].concat());
    let maps = stdout(&output);
    assert!(maps.contains("liblockwork-preload-"), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
}

#[test]
#[ignore = "needs root; scripts/test as root runs it"]
fn says_that_others_cannot_read_the_cache() {
    let room = Room::new();
    set_mode(&room.path("cache"), 0o700);
    let compare = "compare -n1 --warmup=0 --locks=mutex true";
    for args in ["run true", compare] {
        let output = room.run(&args.split(' ').collect::<Vec<_>>());
        let said = stderr(&output);
        let line = format!(
            "lockwork: other users cannot pass through {}: ",
            room.path("cache").display()
        );
        assert_eq!(said.matches(&line).count(), 1, "{args}: {said}");
        assert!(output.status.success(), "{args}: {said}");
    }
    let output = room.run(&["run", "--lock", "glibc", "true"]);
    assert_eq!(stderr(&output), "");
}

#[test]
#[ignore = "needs root; scripts/test as root runs it"]
fn root_unpacks_to_where_others_can_read() {
    let room = Room::new();
    let mut command = room.lockwork(&["preload-path"]);
    command.env_remove("XDG_CACHE_HOME");
    let output = command.output().expect("lockwork starts");
    let path = stdout(&output);
    assert!(path.starts_with("/var/cache/lockwork/"), "{path}");
    assert_eq!(stderr(&output), "");
}

/// As with `sudo -E`, which keeps a user's XDG_CACHE_HOME: the user could put another
/// folder in the place of one that root made there.
#[test]
#[ignore = "needs root; scripts/test as root runs it"]
fn a_folder_that_another_user_can_change_is_refused() {
    let room = Room::new();
    let cache = room.path("cache");
    let refused = |what: &Path, words: &str| {
        let output = room.run(&["run", "true"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(125), "{what:?}: {said}");
        assert!(said.contains(words), "{what:?}: {said}");
    };
    let belongs = format!("cache belongs to user {OTHER}, ");
    for path in [&cache, &room.path("cache/lockwork"), &room.path("")] {
        fs::create_dir_all(path).expect("mkdir");
        set_mode(path, 0o755);
        chown(path, Some(OTHER), None).expect("chown");
        refused(path, &format!(" belongs to user {OTHER}, "));
        chown(path, Some(0), None).expect("chown");
        assert!(room.run(&["run", "true"]).status.success());
    }

    fs::rename(&cache, room.path("real")).expect("rename");
    symlink("real", &cache).expect("symlink");
    assert!(room.run(&["run", "true"]).status.success());
    lchown(&cache, Some(OTHER), None).expect("chown");
    refused(&cache, &belongs);
}
