// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What some tests need beyond Rust and a C compiler.
//!
//! A build script finds out what is installed. A test that needs it says
//! `#[cfg_attr(not(has_cmake), ignore = "cmake is missing: …")]`, so `cargo test`
//! lists the test as ignored, with the reason. Where `LOCKWORK_TEST_ALL` is set,
//! something missing is an error instead.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

/// Set by `scripts/test`: no test may be left out.
const ALL: &str = "LOCKWORK_TEST_ALL";

/// Debian's list of what is installed. A package that comes or goes changes it.
const PACKAGES: &str = "/var/lib/dpkg/status";

/// Declares the cfg `has_NAME` to cargo, and sets it if `found` is `Ok`. Cargo asks
/// again when packages of Debian's, `PATH` or `LOCKWORK_TEST_ALL` change.
///
/// # Panics
/// With one sentence, if `found` is an error and `LOCKWORK_TEST_ALL` is set.
pub fn declare<T>(name: &str, found: &Result<T, String>) {
    println!("cargo::rustc-check-cfg=cfg(has_{name})");
    println!("cargo::rerun-if-env-changed={ALL}");
    println!("cargo::rerun-if-env-changed=PATH");
    // Cargo runs a script again each time if a path that it names is missing.
    if Path::new(PACKAGES).exists() {
        println!("cargo::rerun-if-changed={PACKAGES}");
    }
    match found {
        Ok(_) => println!("cargo::rustc-cfg=has_{name}"),
        Err(reason) if env::var_os(ALL).is_some_and(|all| !all.is_empty()) => {
            panic!("{ALL} is set, but {reason}; scripts/test gets all that tests need")
        }
        Err(_) => {}
    }
}

/// Whether `program` can be run: it answers to `--version`.
///
/// # Errors
/// What is missing.
pub fn program(program: &str) -> Result<(), String> {
    let mut command = Command::new(program);
    command.arg("--version");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    match command.stderr(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program} --version` fails ({status})")),
        Err(err) => Err(format!("{program} cannot be run: {err}")),
    }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_program_is_found_or_the_reason_is_said() {
        assert_eq!(program("cc"), Ok(()));
        let missing = program("no-such-program").unwrap_err();
        assert!(missing.starts_with("no-such-program cannot be run: "));
        let failing = program("false").unwrap_err();
        assert!(failing.contains("`false --version` fails"), "{failing}");
    }
}
