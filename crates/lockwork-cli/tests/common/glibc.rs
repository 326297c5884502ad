// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The C libraries that the programs of `tests/preload` are built for and run on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARIES: &str = "lib/x86_64-linux-gnu";

/// A glibc to build for and to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glibc {
    /// The one that this system has.
    System,
    /// The one that `scripts/newer-glibc` put into the folder
    /// `LOCKWORK_NEWER_GLIBC`.
    Newer,
}

impl Glibc {
    /// A word for file names.
    pub fn name(self) -> &'static str {
        match self {
            Glibc::System => "system",
            Glibc::Newer => "newer",
        }
    }

    /// What the C compiler has to be told: where its headers are and, for
    /// programs, its loader and its libraries.
    pub fn flags(self) -> Vec<OsString> {
        if self == Glibc::System {
            return Vec::new();
        }
        let folder = std::env::var_os("LOCKWORK_NEWER_GLIBC").expect(
            "LOCKWORK_NEWER_GLIBC names no folder: have scripts/newer-glibc fill one and name it",
        );
        let root = PathBuf::from(folder).join("root");
        let libraries = root.join(LIBRARIES);
        let flag = |before: &str, path: PathBuf| {
            let mut flag = OsString::from(before);
            flag.push(path);
            flag
        };
        vec![
            flag("--sysroot=", root.clone()),
            // Without these two the linker finds the system's libraries first, in
            // the compiler's own list of folders.
            flag("-B", libraries.clone()),
            flag("-L", libraries.clone()),
            flag(
                "-Wl,--dynamic-linker=",
                root.join("lib64/ld-linux-x86-64.so.2"),
            ),
            // DT_RPATH, unlike DT_RUNPATH, is also used for what the C library loads.
            "-Wl,--disable-new-dtags".into(),
            flag("-Wl,-rpath,", libraries),
        ]
    }
}

/// The version, as the library says when `program` asks it.
pub fn version(program: &Path) -> (u32, u32) {
    let output = Command::new(program)
        .env_remove("LD_PRELOAD")
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers = said.trim().split_once('.');
    numbers
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)))
        .unwrap_or_else(|| panic!("{} says {said:?}", program.display()))
}
