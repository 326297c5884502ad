// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the build script says where it cannot make a shim.

#[path = "../build/library.rs"]
mod library;
#[path = "../build/shim.rs"]
mod shim;
#[path = "../build/version.rs"]
mod version;

use std::env::consts::ARCH;
use std::path::Path;

use library::{Library, LIBRARIES};

/// A shim's compilation outside of a build script.
fn compiler(cpp: bool) -> cc::Build {
    let target = format!("{ARCH}-unknown-linux-gnu");
    let mut build = shim::compiler(cpp);
    build.cargo_metadata(false).host(&target).target(&target);
    build
}

fn refused(library: &Library, build: &cc::Build) -> String {
    let room = tempfile::tempdir().unwrap();
    let reason = shim::make(library, build, &room.path().join("shim.so")).unwrap_err();
    assert!(!reason.contains('\n'), "{reason}");
    reason
}

const NONE: Library = Library {
    name: "none",
    header: "no/such/header.h",
    package: "libnone-dev",
    cpp: false,
    link: &[],
};

fn missing_header(cpp: bool) {
    let reason = refused(&Library { cpp, ..NONE }, &compiler(cpp));
    assert_eq!(
        reason,
        "no/such/header.h was not found when lockwork was built: install Debian's libnone-dev \
         (scripts/install-deps does) and build lockwork again"
    );
}

#[test]
fn a_missing_header_is_named_with_its_package() {
    missing_header(false);
}

#[test]
#[cfg_attr(
    not(has_cpp),
    ignore = "a C++ compiler is missing: a missing C++ header is not tested; scripts/install-deps \
              installs one"
)]
fn a_missing_cpp_header_is_named_with_its_package() {
    missing_header(true);
}

#[test]
fn a_missing_compiler_is_not_taken_for_a_missing_header() {
    for (cpp, package) in [(false, "gcc"), (true, "g++")] {
        let mut build = compiler(cpp);
        build.compiler("no-compiler-here");
        let reason = refused(&Library { cpp, ..NONE }, &build);
        assert!(reason.starts_with("no compiler for its shim"), "{reason}");
        assert!(reason.contains("cannot run no-compiler-here: "), "{reason}");
        let advice = format!("install Debian's {package} and build lockwork again");
        assert!(reason.ends_with(&advice), "{reason}");
    }
}

#[test]
fn a_shim_that_does_not_compile_or_link_says_where() {
    let no_source = Library {
        header: "stdio.h",
        ..NONE
    };
    let reason = refused(&no_source, &compiler(false));
    assert!(reason.contains("the installed libnone-dev"), "{reason}");
    assert!(reason.contains("none.c"), "{reason}");

    // layout.c compiles wherever glibc is; no library is called so.
    let no_library = Library {
        name: "layout",
        link: &["-lnone-such"],
        ..no_source
    };
    let reason = refused(&no_library, &compiler(false));
    assert!(reason.contains("none-such"), "{reason}");
}

#[test]
fn every_library_has_a_source_and_every_source_a_use() {
    let peers = lockwork_build::root().join(shim::SOURCES);
    let mut expected = vec!["glibc.c".to_owned(), "layout.c".to_owned()];
    for library in LIBRARIES {
        let suffix = if library.cpp { "cc" } else { "c" };
        expected.push(format!("{}.{suffix}", library.name));
    }
    let files = std::fs::read_dir(peers).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<_> = files
        .filter(|file| Path::new(file).extension() != Some("h".as_ref()))
        .collect();
    expected.sort();
    files.sort();
    assert_eq!(files, expected);
}

#[test]
fn versions() {
    let manifest = "a = \"=1.2\"\nab = \"=3.4.5\"\nb = \"1\"\n";
    assert_eq!(version::pinned(manifest, "ab"), Some("3.4.5"));
    assert_eq!(version::pinned(manifest, "b"), None);
    assert_eq!(version::package("no-such-package-of-debian"), None);
    let rust = version::rust();
    assert_eq!(rust.is_some(), std::env::var_os("RUSTC").is_some());
}
