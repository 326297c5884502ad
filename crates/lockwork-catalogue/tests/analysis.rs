// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! clang's thread safety analysis of programs that use the library: it warns where
//! `tests/analysis/` says so, and nowhere else. Other compilers see nothing of it.

use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const C: [&str; 2] = ["-std=c99", "-D_POSIX_C_SOURCE=200809L"];
const CPP: [&str; 1] = ["-std=c++17"];

fn compile(compiler: &str, flags: &[&str], file: &str) {
    let output = Command::new(compiler)
        .current_dir(ROOT)
        .args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Iinclude"])
        .args(flags)
        .arg(file)
        .output()
        .expect("a compiler");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler} {file}: {said}");
}

fn warns_as_the_file_says(compiler: &str, flags: &[&str], file: &str) {
    let verify = [
        "-Wno-error",
        "-Wthread-safety",
        "-Xclang",
        "-verify",
        "-Xclang",
        "-verify-ignore-unexpected=note",
    ];
    compile(compiler, &[flags, verify.as_slice()].concat(), file);
}

#[test]
fn the_calls_of_c() {
    warns_as_the_file_says("clang", &C, "tests/analysis/calls.c");
    compile("gcc", &C, "tests/analysis/calls.c");
}

#[test]
fn the_classes_of_cpp() {
    warns_as_the_file_says("clang++", &CPP, "tests/analysis/classes.cpp");
    compile("g++", &CPP, "tests/analysis/classes.cpp");
}
