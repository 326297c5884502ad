// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A lock joins the whole lab by its own files, one line in the catalogue and
//! its rows in the docs. The pattern in `tests/toy_lock/` is added so, and by
//! nothing else, to a copy of the sources; the copy is built and tried.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{stderr, stdout, text};
use tempfile::TempDir;

/// Beside the sources, in a checkout that is worked in.
const NO_SOURCES: [&str; 3] = ["target", "build", ".git"];

/// What runs briefly here need not be compiled as if it ran for hours.
const QUICKLY: &str = "profile.dev.package.lockwork-check.opt-level=0";

/// A copy of the sources with its own build directory.
struct Copy {
    dir: TempDir,
    /// `debug` or `release`, as this test was built.
    profile: String,
}

impl Copy {
    fn new() -> Copy {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("directory");
        let built = Path::new(env!("CARGO_BIN_EXE_lockwork"))
            .parent()
            .expect("the command lies in a directory");
        let profile = built.file_name().expect("it has a name").to_string_lossy();
        let copy = Copy {
            profile: profile.into_owned(),
            dir,
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let no_source = |name: &str| NO_SOURCES.contains(&name);
        place_all(&root, &copy.root(), &no_source, &|from, to| {
            fs::copy(from, to).map(drop)
        });
        copy.take_dependencies(built);
        copy
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn target(&self) -> PathBuf {
        self.dir.path().join("target")
    }

    /// What cargo has built already, but for this workspace's own crates: those
    /// have to meet the new lock. Saves minutes, changes nothing.
    fn take_dependencies(&self, built: &Path) {
        let own = |name: &str| name.contains("lockwork");
        for part in [".fingerprint", "build", "deps"] {
            let to = self.target().join(&self.profile).join(part);
            place_all(&built.join(part), &to, &own, &|from, to| match part {
                // Cargo writes to these in place.
                ".fingerprint" => fs::copy(from, to).map(drop),
                _ => fs::hard_link(from, to),
            });
        }
    }

    /// Adds the pattern by what CONTRIBUTING.md asks for.
    fn add_toy_lock(&self) {
        for (name, to) in [
            ("toy_lock.h", "locks/toy_lock.h"),
            ("toy_lock.c", "locks/toy_lock.c"),
            ("toy_lock_client.c", "tests/check/toy_lock_client.c"),
            ("toy_lock.md", "docs/locks/toy_lock.md"),
        ] {
            let from = self.path("tests/toy_lock").join(name);
            fs::rename(from, self.path(to)).expect("a file of the pattern");
        }
        self.add_line("locks/catalogue.def", "LK_LOCK(", "LK_LOCK(lk_toy_ops)");
        self.add_line(
            "docs/locks/README.md",
            "| [",
            "| [toy_lock](toy_lock.md) | 4 B | no | no | nothing |",
        );
    }

    /// Adds `line` behind the first one that begins like `start`.
    fn add_line(&self, file: &str, start: &str, line: &str) {
        let before = fs::read_to_string(self.path(file)).expect("a file of a checkout");
        let mut lines: Vec<&str> = before.lines().collect();
        let at = lines.iter().position(|line| line.starts_with(start));
        lines.insert(at.expect("the place of the line") + 1, line);
        fs::write(self.path(file), lines.join("\n") + "\n").expect("written");
    }

    fn cargo(&self, args: &[&str]) -> Output {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(args);
        command.args(["--locked", "--offline", "--config", QUICKLY]);
        command.current_dir(self.root());
        command.env("CARGO_TARGET_DIR", self.target());
        if self.profile == "release" {
            command.arg("--release");
        }
        succeeded(command)
    }

    fn lockwork(&self, args: &[&str]) -> String {
        let mut command = Command::new(self.target().join(&self.profile).join("lockwork"));
        command.args(args);
        stdout(&succeeded(command))
    }
}

/// How one file gets from one place to another.
type Place<'a> = &'a dyn Fn(&Path, &Path) -> std::io::Result<()>;

/// Puts all that is in the directory `from`, but for names to be left out there,
/// into `to`.
fn place_all(from: &Path, to: &Path, left_out: &dyn Fn(&str) -> bool, file: Place<'_>) {
    fs::create_dir_all(to).expect("directory");
    for entry in fs::read_dir(from).expect("it can be listed") {
        let name = entry.expect("entry").file_name();
        let (from, to) = (from.join(&name), to.join(&name));
        if left_out(&name.to_string_lossy()) {
            continue;
        } else if from.is_dir() {
            place_all(&from, &to, &|_| false, file);
        } else if let Err(err) = file(&from, &to) {
            panic!("{} to {}: {err}", text(&from), text(&to));
        }
    }
}

/// Runs it to its end, which must be good.
fn succeeded(mut command: Command) -> Output {
    let output = command.output().expect("it starts");
    let (shown, errors) = (stdout(&output), stderr(&output));
    assert!(output.status.success(), "{command:?}:\n{shown}\n{errors}");
    output
}

#[test]
fn a_lock_joins_by_its_files_and_a_line() {
    let copy = Copy::new();
    copy.add_toy_lock();
    copy.cargo(&["build", "-p", "lockwork-cli"]);

    let listed = copy.lockwork(&["torture", "--list"]);
    assert!(listed.contains("\n  toy_lock "), "{listed}");
    let tortured = copy.lockwork(&["torture", "toy_lock", "--seconds", "1", "--threads", "4"]);
    assert!(tortured.starts_with("toy_lock (4 bytes"), "{tortured}");
    let briefly = ["--threads", "2", "--rounds", "1", "--time", "1"];
    let benched = copy.lockwork(&[&["bench", "--locks", "toy_lock"], &briefly[..]].concat());
    assert!(benched.contains("\ntoy_lock "), "{benched}");

    let checked = copy.lockwork(&["check", "toy_lock", "--mutants", "--fuzz", "20"]);
    assert!(checked.contains("3 of 3 runs passed"), "{checked}");
    for mutant in ["toy.A ", "toy.B ", "test and set in two steps "] {
        assert!(checked.contains(mutant), "{mutant}: {checked}");
    }
    assert!(checked.contains("3 mutants: 3 killed"), "{checked}");
    copy.lockwork(&["check", "--pairs", &text(&copy.root())]);
    copy.lockwork(&["docs", &text(&copy.root())]);
    let page = fs::read_to_string(copy.path("docs/proof.md")).expect("a page");
    assert!(page.contains("| toy_lock | exclusion | 3x2@2 | "), "{page}");

    // The tests that walk the catalogue: pages, clients, rows. The command is
    // named again so that its dependencies stay what they are.
    let packages = ["lockwork-cli", "lockwork-catalogue", "lockwork-check"];
    let mut walks = vec!["test", "--test", "pages", "--test", "clients"];
    walks.extend(packages.iter().flat_map(|package| ["-p", package]));
    let shown = stdout(&copy.cargo(&walks));
    assert_eq!(shown.matches("test result: ok.").count(), 2, "{shown}");
}
