// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a developer does: installs the library with CMake, then builds and runs
//! programs against what was installed (`tests/consumers`), in each language and
//! each way. The installed tree is moved first, because it must not name its place.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fs, io};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const TMP: &str = env!("CARGO_TARGET_TMPDIR");
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Runs a tool, which must be there and succeed.
fn done(command: &mut Command) -> Output {
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = command.output().unwrap_or_else(|err| {
        if err.kind() == io::ErrorKind::NotFound {
            panic!("this test needs {tool}, which is not installed: run scripts/install-deps");
        }
        panic!("cannot run {tool}: {err}")
    });
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn words(output: Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout).expect("tools print text");
    text.split_whitespace().map(str::to_owned).collect()
}

/// An empty directory of that name.
fn empty(name: &str) -> PathBuf {
    let dir = Path::new(TMP).join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).expect("our own directory");
    }
    fs::create_dir_all(&dir).expect("a writable target directory");
    dir
}

fn build(source: &Path, binary: &Path, options: &[String]) {
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(source).arg("-B").arg(binary);
    done(configure.args(options));
    done(Command::new("cmake").arg("--build").arg(binary));
}

/// The prefix, installed once and moved.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let (binary, first) = (empty("install-build"), empty("install-first"));
        let options = [
            format!("-DCMAKE_INSTALL_PREFIX={}", first.display()),
            // A folder that is deeper than usual, as Debian has it.
            "-DCMAKE_INSTALL_LIBDIR=lib/some-triplet".into(),
            "-DLOCKWORK_TOOLS=OFF".into(),
            "-DLOCKWORK_WERROR=ON".into(),
        ];
        build(Path::new(ROOT), &binary, &options);
        done(Command::new("cmake").arg("--install").arg(&binary));
        let prefix = Path::new(TMP).join("install-moved");
        let _ = fs::remove_dir_all(&prefix);
        fs::rename(first, &prefix).expect("in one file system");
        prefix
    })
}

fn libdir() -> PathBuf {
    prefix().join("lib/some-triplet")
}

fn pkg_config(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_LIBDIR", libdir().join("pkgconfig"));
    words(done(command.args(arguments).arg("lockwork")))
}

fn c_consumer(name: &str, arguments: Vec<String>) -> PathBuf {
    let program = empty(name).join("consumer");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut command = Command::new(compiler);
    command.current_dir(ROOT).arg("-std=c99").args(STRICT);
    command.args(["-pthread", "tests/consumers/c/main.c", "-o"]);
    done(command.arg(&program).args(arguments));
    program
}

#[test]
#[cfg_attr(
    not(all(has_cmake, has_pkg_config)),
    ignore = "cmake or pkg-config is missing: lockwork.pc is not tested; scripts/install-deps installs both"
)]
fn c_by_pkg_config_static() {
    let mut arguments = pkg_config(&["--static", "--cflags", "--libs"]);
    arguments.push("-static".into());
    done(&mut Command::new(c_consumer("c-static", arguments)));
}

#[test]
#[cfg_attr(
    not(all(has_cmake, has_pkg_config)),
    ignore = "cmake or pkg-config is missing: lockwork.pc is not tested; scripts/install-deps installs both"
)]
fn c_by_pkg_config_shared() {
    let program = c_consumer("c-shared", pkg_config(&["--cflags", "--libs"]));
    let alone = Command::new(&program).output().expect("it is there");
    let said = String::from_utf8_lossy(&alone.stderr);
    assert!(said.contains("liblockwork.so.0.1:"), "not shared: {said}");
    done(Command::new(&program).env("LD_LIBRARY_PATH", libdir()));
}

/// C++17 and C++20, each with the static and with the shared library.
#[test]
#[cfg_attr(
    not(all(has_cmake, has_cpp)),
    ignore = "cmake or a C++ compiler is missing: find_package(lockwork) is not tested; scripts/install-deps installs both"
)]
fn cpp_by_find_package() {
    let binary = empty("cpp-build");
    // By CMAKE_PREFIX_PATH, cmake looks into folders of lib/ that it knows only.
    let package = libdir().join("cmake/lockwork");
    let options = [format!("-Dlockwork_DIR={}", package.display())];
    let source = Path::new(ROOT).join("tests/consumers/cpp");
    build(&source, &binary, &options);
    for program in ["static17", "static20", "shared17", "shared20"] {
        done(&mut Command::new(binary.join(program)));
    }
    let needed = |program: &str| {
        let mut readelf = Command::new("readelf");
        let words = words(done(readelf.arg("-d").arg(binary.join(program))));
        words
            .iter()
            .any(|word| word.contains("[liblockwork.so.0.1]"))
    };
    assert!(needed("shared17") && !needed("static17"));
}

/// The functions that the header declares: words of that form before a bracket.
fn declared() -> BTreeSet<String> {
    let header = prefix().join("include/lockwork/lockwork.h");
    let text = fs::read_to_string(header).expect("the header is installed");
    let code = text
        .split("/*")
        .map(|part| part.rsplit("*/").next().unwrap_or(""));
    let code: String = code.collect();
    let calls = code.split('(').filter_map(|before| {
        let name = before.rsplit(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        name.into_iter()
            .next()
            .filter(|name| name.starts_with("lw_"))
    });
    calls.map(str::to_owned).collect()
}

/// The names that an installed library defines, of those that `table` has.
fn symbols(table: &str, library: &str) -> BTreeSet<String> {
    let mut command = Command::new("nm");
    command.args([table, "--defined-only", "--format=just-symbols"]);
    let words = words(done(command.arg(libdir().join(library))));
    // Members of an archive are named too.
    let names = words.into_iter().filter(|word| !word.ends_with(':'));
    names.collect()
}

#[test]
#[cfg_attr(
    not(has_cmake),
    ignore = "cmake is missing: the installed library is not tested; scripts/install-deps installs it"
)]
fn the_shared_library_shows_the_header_and_nothing_else() {
    let shown = symbols("-D", "liblockwork.so");
    assert!(shown.contains("lw_mutex_lock"), "{shown:?}");
    assert_eq!(shown, declared());
}

/// A static library has no hidden names: each must have one of the project's prefixes, so that
/// a program may use all others.
#[test]
#[cfg_attr(
    not(has_cmake),
    ignore = "cmake is missing: the installed library is not tested; scripts/install-deps installs it"
)]
fn the_static_library_takes_only_names_with_a_prefix() {
    let names = symbols("-g", "liblockwork.a");
    let has_prefix = |name: &&String| {
        let prefixes = ["lw_", "lwlib_", "lk_", "lkp_"];
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    let others: Vec<&String> = names.iter().filter(|name| !has_prefix(name)).collect();
    assert!(names.contains("lw_mutex_lock"), "{names:?}");
    assert!(others.is_empty(), "{others:?}");
}

/// From a copy with the workspace's Cargo.lock, whose crates need no network.
#[test]
fn rust_by_path() {
    let copy = empty("rust-consumer");
    let from = Path::new(ROOT).join("tests/consumers/rust");
    let root = fs::canonicalize(ROOT).expect("the workspace");
    let manifest = fs::read_to_string(from.join("Cargo.toml")).expect("a manifest");
    let manifest = manifest.replace("../../..", root.to_str().expect("a readable path"));
    fs::create_dir(copy.join("src")).expect("a writable target directory");
    fs::write(copy.join("Cargo.toml"), manifest).expect("as above");
    for (source, target) in [
        (from.join("src/main.rs"), "src/main.rs"),
        (root.join("Cargo.lock"), "Cargo.lock"),
    ] {
        fs::copy(source, copy.join(target)).expect("as above");
    }
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo runs tests"));
    cargo
        .current_dir(&copy)
        .args(["run", "--offline", "--quiet"]);
    done(
        cargo
            .arg("--target-dir")
            .arg(Path::new(TMP).join("rust-target")),
    );
}
