// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Lists of values.

use super::*;
use crate::command::sweep::{carry_out, is_asked, lines_of, page, points};

#[test]
fn each_pair_of_values_is_a_plan() {
    let pairs = |words: &[&str]| -> Vec<(Vec<f64>, Vec<f64>)> {
        let points = points(&args(words)).into_iter();
        points.map(|one| (one.section_ns, one.read_ratio)).collect()
    };
    assert_eq!(pairs(&[]), [(vec![], vec![])]);
    let both = pairs(&["--section-ns", "10,20", "--read-ratio", "0,0.5"]);
    let wanted = [(10.0, 0.0), (20.0, 0.0), (10.0, 0.5), (20.0, 0.5)];
    assert_eq!(both, wanted.map(|(ns, reads)| (vec![ns], vec![reads])));
    assert!(!is_asked(&args(&["--section-ns", "10"])));
    assert!(is_asked(&args(&["--read-ratio", "0,1"])));
}

#[test]
fn lines_have_their_values_and_the_gain() {
    let words = [
        "--lock",
        "rwlock,qrwlock",
        "--threads",
        "2",
        "--section-ns",
        "50,200",
    ];
    let plans = points(&args(&words)).into_iter();
    let plans: Vec<Arc<Plan>> = plans
        .map(|args| Arc::new(Plan::of(&args, &known()).expect("a plan")))
        .collect();
    let lines = |plan: &Arc<Plan>| {
        let run = simulations::run(plan, 1, fake, &mut |_| Ok(()));
        lines_of(plan, &run.expect("simulated").0)
    };
    let all: Vec<Vec<String>> = plans.iter().flat_map(lines).collect();
    let first: Vec<&str> = all.iter().map(|line| line[0].as_str()).collect();
    assert_eq!(first, ["50.00", "50.00", "200.0", "200.0"]);
    // The made-up rates go by the length of the name.
    assert_eq!(
        (all[1][2].as_str(), all[1][6].as_str()),
        ("qrwlock", "+16.7 %")
    );
    let text = page(&plans[0], all, vec!["a warning".to_owned()]);
    assert!(
        text.contains("Section") && text.ends_with("\nWarning\n  a warning\n"),
        "{text}"
    );
}

#[test]
fn charts_of_a_list_are_refused() {
    let args = args(&["--section-ns", "1,2", "--plot", "plots"]);
    let error = carry_out(&args, &known(), fake)
        .expect_err("one chart")
        .to_string();
    assert!(error.contains("one --section-ns"), "{error}");
}
