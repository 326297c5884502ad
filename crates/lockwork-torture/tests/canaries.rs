// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A harness must first fail: each canary is caught, by the probe of the property that its
//! own file names. Each runs in a process of its own, which its stuck threads
//! do not outlive.
use lockwork_torture::{canaries, choose, torture, Plan};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const CANARY: &str = "LOCKWORK_CANARY";
const PROPERTY: &str = "LOCKWORK_CANARY_PROPERTY";
/// Five canaries are caught for certain: `cancel`, `fifo`, `reader` and both `timeout`.
/// The others pause where they are broken, but other threads must come by themselves. In
/// 40 runs of each, half of them on one CPU, with 20 runnable threads of others for each
/// CPU, the first trial caught them, but for `switching`: 40 of 46 trials did. If 3 of 4
/// do, one run in 10^12 fails.
const TRIALS: u32 = 20;

/// The property whose probe must catch the canary, as its file says.
fn named_property(canary: &str) -> String {
    let stem = canary
        .strip_prefix("canary_")
        .expect("canaries are named so");
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/canaries");
    let path = dir.join(format!("{stem}.c"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|err| {
        panic!(
            "{}: {err}; a canary is one file named like it",
            path.display()
        )
    });
    let (_, rest) = text.split_once("Must be caught by: ").unwrap_or_else(|| {
        panic!(
            "{} does not name the property that it lacks",
            path.display()
        )
    });
    rest.chars().take_while(char::is_ascii_lowercase).collect()
}

#[test]
fn every_canary_is_caught() {
    let myself = std::env::current_exe().expect("the test knows its own file");
    let birds = canaries();
    assert!(birds.len() >= 3, "there are only {} canaries", birds.len());
    for bird in birds {
        let property = named_property(bird.name());
        let output = Command::new(&myself)
            .args(["--exact", "one_canary", "--ignored", "--nocapture"])
            .env(CANARY, bird.name())
            .env(PROPERTY, &property)
            .output()
            .expect("the test can start itself");
        let text = String::from_utf8_lossy(&output.stdout);
        let caught = output.status.success() && text.contains("caught by ");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            caught,
            "{} was not caught by {property}:\n{text}{errors}",
            bird.name()
        );
    }
}

#[test]
#[ignore = "a part of every_canary_is_caught, which runs it in a child"]
fn one_canary() {
    let (Ok(name), Ok(property)) = (std::env::var(CANARY), std::env::var(PROPERTY)) else {
        return;
    };
    let plan = Plan {
        patience: Duration::from_secs(2),
        ..Plan::quick().only(&[&property])
    };
    let kind = choose(&name).expect("a canary")[0];
    for trial in 1..=TRIALS {
        let report = torture(kind, &plan, &mut |_| {});
        if let Some(text) = report.failure(&property) {
            println!("{name} was caught by {property} in trial {trial}: {text}");
            return;
        }
    }
    panic!("{name} was not caught by {property} in {TRIALS} trials");
}
