// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All that `Cargo.lock` has builds with the Rust that the workspace asks for. Resolver 3
//! chooses such versions; `--precise`, or a crate without a `rust-version`, may not.
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Major and minor number of a version of Rust.
fn numbers(version: &str) -> (u32, u32) {
    let mut numbers = version.split('.').map(|n| n.parse().expect("a number"));
    (numbers.next().expect("major"), numbers.next().unwrap_or(0))
}

#[test]
fn locked_crates_build_with_the_oldest_rust() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {message}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let oldest = numbers(env!("CARGO_PKG_RUST_VERSION"));
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "{} packages", packages.len());
    for package in packages {
        if let Some(wants) = package["rust_version"].as_str() {
            assert!(
                numbers(wants) <= oldest,
                "{} {} wants Rust {wants}; `cargo update -p` chooses an older version",
                package["name"],
                package["version"],
            );
        }
    }
}
