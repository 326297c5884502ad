// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every lock of the catalogue against every property that its promises call for.
use lockwork_catalogue::catalogue;
use lockwork_torture::{choose, torture, LockReport, Plan, Verdict};
use std::process::Command;

/// All failures, so that one broken lock does not hide another.
fn failures(reports: &[LockReport]) -> Vec<String> {
    let lines = |report: &LockReport| -> Vec<String> {
        report
            .failures()
            .map(|(property, text)| format!("{}: {property}: {text}", report.lock))
            .collect()
    };
    reports.iter().flat_map(lines).collect()
}

#[test]
fn every_lock_keeps_its_promises() {
    let kinds = catalogue();
    assert!(!kinds.is_empty(), "the catalogue is empty");
    let reports: Vec<LockReport> = kinds
        .iter()
        .map(|kind| torture(*kind, &Plan::quick(), &mut |_| {}))
        .collect();
    let failed = failures(&reports);
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));

    for (kind, report) in kinds.iter().zip(&reports) {
        let wanted = lockwork_torture::PROPERTIES
            .iter()
            .filter(|property| property.applies(kind));
        for property in wanted {
            let row = report
                .properties
                .iter()
                .find(|row| row.property == property.name);
            let verdict = &row.expect("each property has a row").verdict;
            let passed = matches!(verdict, Verdict::Pass(_));
            assert!(
                passed,
                "{}: {} came to {verdict:?}",
                kind.name(),
                property.name
            );
        }
        let numbers = report.numbers.as_ref().expect("the stress ran");
        assert!(
            numbers.least > 0,
            "{}: a thread never got the lock",
            kind.name()
        );
        if kind.has_read() {
            let most = numbers.most_readers;
            assert!(
                numbers.reads > 0 && most > 0,
                "{}: nobody read",
                kind.name()
            );
        }
    }
}

/// Without rseq (old glibc, old kernel, or switched off) a thread asks the
/// system for its CPU; nothing else may change.
#[test]
fn every_lock_keeps_its_promises_without_rseq() {
    let myself = std::env::current_exe().expect("the test knows its own file");
    let output = Command::new(myself)
        .args(["--exact", "every_lock_keeps_its_promises", "--nocapture"])
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
        .output()
        .expect("the test can start itself");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains("1 passed"), "nothing was run: {text}");
}

#[test]
fn names_are_found_or_refused_with_a_list() {
    assert_eq!(
        choose("all").expect("all is a name").len(),
        catalogue().len()
    );
    for kind in catalogue() {
        assert_eq!(
            choose(kind.name()).expect("in the catalogue")[0].name(),
            kind.name()
        );
    }
    let text = choose("nolock").expect_err("no such lock").to_string();
    assert!(
        text.contains("nolock") && text.contains(catalogue()[0].name()),
        "{text}"
    );
}
