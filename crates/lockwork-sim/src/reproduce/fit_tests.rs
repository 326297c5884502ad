// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;

fn file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/machines/westmere-ex-4s.toml")
}

#[test]
fn numbers_stay_in_their_range_and_have_three_digits() {
    let dial = |start, range, are_shares| Dial {
        numbers: vec![("line.hold".to_owned(), start)],
        range,
        are_shares,
    };
    let number = |dial: &Dial, factor| dial.at(dial.kept(factor)).next().expect("one").1;
    assert_eq!(number(&dial(100.0, 1.5, false), 4.321), 150.0);
    assert_eq!(number(&dial(100.0, 1.5, false), 1.23456), 123.0);
    assert_eq!(number(&dial(0.5, 4.0, true), 3.4), 0.95);
    let dials = [dial(100.0, 1.5, false), dial(0.5, 4.0, true)];
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..100 {
        let factors = anywhere(&dials, &mut random);
        for factors in [near(&dials, &factors, 0.2, &mut random), factors] {
            let [one, other] = [0, 1].map(|at| number(&dials[at], factors[at]));
            assert!((66.0..=150.0).contains(&one), "{one}");
            assert!((0.05..=0.95).contains(&other), "{other}");
        }
    }
}

#[test]
fn costs_of_a_distance_keep_their_ratios() {
    let work = Work::open(&file()).expect("its file");
    let one = |dial: &&Dial| dial.numbers[0].0.starts_with("distance.hop1");
    let dial = work.dials.iter().find(one).expect("hop1");
    assert_eq!(dial.numbers.len(), 4);
    let starts = dial.numbers.iter().map(|number| number.1);
    for ((_, number), start) in dial.at(1.2).zip(starts) {
        assert!(
            (number / start / 1.2 - 1.0).abs() < 0.01,
            "{number} of {start}"
        );
    }
}

#[test]
fn only_what_the_file_names_is_simulated() {
    let work = Work::open(&file()).expect("its file");
    let locks = work.wanted.iter().flat_map(|cell| &cell.trials);
    let locks: Vec<&str> = locks.map(|trial| trial.lock).collect();
    assert_eq!(locks.len(), 24);
    assert!(locks
        .iter()
        .all(|lock| ["ticket_lock", "tas_lock"].contains(lock)));
    assert_eq!(work.dials.len(), 2 + 8);
}

#[test]
fn a_search_is_repeated_by_its_seed_and_finds_no_worse_than_its_start() {
    let work = Work::open(&file()).expect("its file");
    let start = vec![1.0; work.dials.len()];
    let at_start = work.error(&start, f64::MAX).expect("simulated");
    let run = || {
        let mut told = Vec::new();
        let search = Search {
            candidates: 2,
            followed: 2,
            rounds: 1,
            seed: 3,
            jobs: 2,
        };
        let text = fit(&file(), &search, &mut |line| told.push(line.to_owned()));
        (text.expect("a file"), told)
    };
    let (text, told) = run();
    assert_eq!((text.clone(), told.clone()), run());
    let error = |line: &String| line.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    let errors = told.iter().map(|line| error(line).expect("a number"));
    let best = errors.min_by(f64::total_cmp).expect("a search");
    assert!(best <= at_start + 1e-4, "{best} and {at_start}");
    from_text("westmere-ex-4s", &text).expect("a machine");
}
