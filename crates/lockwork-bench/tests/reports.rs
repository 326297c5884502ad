// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From rounds to what people read: numbers that are known beforehand.
use lockwork_bench::{
    draw, render, scores, summaries, Calibration, Case, Contender, Data, End, Ended, Form, Header,
    Journal, LockInfo, Measured, Plan, Sample, Session, Tools, Waits, Work, SCHEMA,
};
use lockwork_report::machine::Machine;
use std::path::Path;

#[path = "common/cases.rs"]
mod cases;
use cases::case;

const LOCKS: [(&str, &str); 4] = [
    ("ours", "lockwork"),
    ("slow", "lockwork"),
    ("lib.fast", "lib"),
    ("lib.slow", "lib"),
];

fn calibration() -> Calibration {
    Calibration {
        rounds_per_ns: 1.0,
        delay_error: vec![(100, 0.01)],
        timing_ns: 30.0,
    }
}

fn header(cases: Vec<Case>) -> Header {
    let locks = LOCKS.map(|(name, library)| LockInfo {
        name: name.into(),
        library: library.into(),
        family: "mutex".into(),
        version: "1".into(),
    });
    Header {
        schema: SCHEMA,
        build: "1".to_owned(),
        debug: false,
        lockwork: "0".into(),
        started: 0,
        machine: Machine::look(),
        plan: Plan {
            form: Form::Cases,
            cases,
            locks: LOCKS.map(|(name, _)| name.into()).to_vec(),
            under_test: vec!["ours".into()],
            missing: Vec::new(),
            baseline: None,
            rounds: 3,
            pin: false,
            patience: 60,
            seed: 1,
            knobs: Vec::new(),
        },
        locks: locks.to_vec(),
        absent: Vec::new(),
        calibration: calibration(),
    }
}

/// A round with that many operations a second, each of which waited `wait`.
fn sample(case: &Case, lock: &str, round: u32, rate: u64, wait: u64) -> Sample {
    let mut waits = Waits::new();
    for _ in 0..10 {
        waits.record(wait);
    }
    Sample {
        case: case.clone(),
        lock: lock.into(),
        round,
        order: 1,
        repeats: 0,
        measured: Measured {
            seconds: 1.0,
            writes: vec![rate / 2; 2],
            cpu: 2.0,
            voluntary: rate / 1000,
            write_waits: Some(waits),
            ..Measured::default()
        },
        events: Default::default(),
    }
}

fn data() -> Data {
    let (few, many) = (case(1), case(8));
    let mut data = Data::new(header(vec![few.clone(), many.clone()]));
    for round in 1..=3 {
        // Drift of the machine, which hits all locks of a round.
        let drift = u64::from(round);
        for (lock, rate, wait) in [
            ("ours", 900, 20),
            ("slow", 500, 20),
            ("lib.fast", 1000, 50),
            ("lib.slow", 100, 900),
        ] {
            data.samples
                .push(sample(&few, lock, round, rate * 1000 * drift, wait));
        }
        for (lock, rate, wait) in [
            ("ours", 400, 60),
            ("slow", 300, 60),
            ("lib.fast", 800, 30),
            ("lib.slow", 500, 10),
        ] {
            data.samples
                .push(sample(&many, lock, round, rate * 1000 * drift, wait));
        }
    }
    data.end = Some(End {
        ended: Ended::Completed,
        calibration: calibration(),
        seconds: None,
        scores: Vec::new(),
    });
    data
}

#[test]
fn ratios_are_paired_by_round() {
    let all = summaries(&data());
    assert_eq!(all.len(), 2);
    let few = &all[0];
    let ours = &few.lines[0];
    let yardstick = ours.yardstick.as_ref().expect("a ratio");
    assert_eq!(yardstick.rivals, ["lib.fast"]);
    let (low, high) = yardstick.throughput.interval(0.95).expect("three rounds");
    // The rates differ by a factor of three between rounds, the ratios do not.
    assert!((low - 0.9).abs() < 1e-9 && (high - 0.9).abs() < 1e-9);
    assert_eq!((ours.rate, ours.jain), (1_800_000.0, 1.0));
    assert!(ours.variation.expect("three rounds") > 0.4);
    assert_eq!((ours.tail(), ours.writes.count()), (20, 30));
    assert!((ours.voluntary - 1.0).abs() < 1e-9);
    let fast = few.lines[2].yardstick.as_ref().expect("another peer");
    assert_eq!(fast.rivals, ["lib.slow"]);
    assert!((fast.throughput.ratio() - 10.0).abs() < 1e-9);
}

#[test]
fn a_lock_that_is_left_out_is_named() {
    let mut data = data();
    let slow = |s: &Sample| s.lock == "lib.slow" && s.case.threads == 8;
    data.samples.retain(|s| !slow(s) || s.round == 1);
    for sample in data.samples.iter_mut().filter(|s| slow(s)) {
        sample.measured.overrun = 7.0;
    }
    let all = summaries(&data);
    assert!(all[0].left_out.is_empty());
    let out = &all[1].left_out[0];
    assert_eq!(
        (out.lock.as_str(), out.rounds, out.threads),
        ("lib.slow", 1, 8)
    );
    let note = "left out after 1 round here: lib.slow, which took 7.0 s to stop with 8 threads";
    assert!(render(&data).contains(note), "{}", render(&data));
}

#[test]
fn the_last_section_says_where_we_lose_and_by_how_much() {
    let text = render(&data());
    let lost =
        "ours is not on the Pareto front of throughput and p99.9 wait in:\n  8 threads, 100ns \
                inside, 200ns outside: lib.fast (throughput x2.00, p99.9 wait x0.50), lib.slow \
                (throughput x1.25, p99.9 wait x0.17)\n";
    assert!(text.contains(lost), "{text}");
    for score in [
        "ours: geometric mean 0.67 (95 % interval 0.67 to 0.67) of the best peer's throughput in \
         2 cases\n",
        "  worst case: 0.50 (95 % interval 0.50 to 0.50) (8 threads, 100ns inside, 200ns outside; \
         best peer lib.fast)",
        "  under 0.90 in 1, in 1 of them by the whole interval; 0.85 or more in 1\n",
        "  on the Pareto front in 1 of 2;",
        // 2 CPU seconds for 900 and 400 acquisitions, beside 1000 and 800.
        "  CPU time of an acquisition: 1.49 (",
    ] {
        assert!(text.contains(score), "{score}: {text}");
    }
    assert!(
        text.contains("rounds vary much (CV above 10 %): ours, slow"),
        "{text}"
    );
    assert!(!text.contains("slow is not on the Pareto front"), "{text}");
}

/// Writes all of `data` as a run that ended would.
fn write(data: &Data, path: &Path) {
    let mut journal = Journal::open(Some(path)).expect("a file");
    journal.header(&data.header).expect("written");
    for sample in &data.samples {
        journal.sample(sample).expect("written");
    }
    let end = data.end.as_ref().expect("an end");
    journal.end(end).expect("written");
}

#[test]
fn what_is_written_is_read_again_and_prints_the_same() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.jsonl");
    let data = data();
    write(&data, &path);
    let (read, whole) = Data::read(&path).expect("read");
    assert_eq!(read.samples, data.samples);
    assert_eq!(render(&read), render(&data));

    // The machine went down in the middle of a line.
    let text = std::fs::read_to_string(&path).expect("text");
    assert_eq!(whole, text.len() as u64);
    let last = text.trim_end().rfind('\n').expect("lines") + 1;
    std::fs::write(&path, &text[..text.len() - 5]).expect("cut");
    let (cut, whole) = Data::read(&path).expect("read");
    assert_eq!(
        (cut.samples.len(), whole),
        (data.samples.len(), last as u64)
    );
    assert!(render(&cut).contains("not complete: 24 measurements so far"));
}

/// What versions without scores wrote, which called a case a cell.
#[test]
fn an_older_file_has_the_same_report() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.jsonl");
    let mut data = data();
    let found = scores(&data);
    let end = data.end.as_mut().expect("an end");
    (end.seconds, end.scores) = (Some(7.0), found);
    assert_eq!(data.end.as_ref().expect("an end").scores.len(), 1);
    write(&data, &path);
    let new = std::fs::read_to_string(&path).expect("text");
    assert_eq!(
        Data::read(&path).expect("read").0.end.expect("end").scores,
        scores(&data)
    );
    let (rest, last) = new.trim_end().rsplit_once('\n').expect("lines");
    let mut end: serde_json::Value = serde_json::from_str(last).expect("JSON");
    let fields = end.as_object_mut().expect("an object");
    assert!(fields.remove("scores").is_some() && fields.remove("seconds").is_some());
    let rest = rest.replace("\"case\":", "\"cell\":");
    let rest = rest.replace("\"cases\"", "\"cells\"");
    std::fs::write(&path, format!("{rest}\n{end}\n")).expect("written");
    let old = render(&Data::read(&path).expect("read").0);
    assert_eq!(
        old.replace(" of rounds\n", " of rounds; it took 7.0 s\n"),
        render(&data)
    );
}

#[test]
fn a_file_of_a_later_format_is_refused_in_a_sentence() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.jsonl");
    let mut journal = Journal::open(Some(&path)).expect("a file");
    let mut header = header(vec![case(1)]);
    header.schema = SCHEMA + 1;
    journal.header(&header).expect("written");
    let error = Data::read(&path).expect_err("a later format").to_string();
    assert!(
        error.ends_with("has format 2, and this lockwork reads format 1"),
        "{error}"
    );
}

#[test]
fn a_file_of_something_else_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.jsonl");
    for text in [
        "",
        "{}\n",
        "hello\n",
        "{\"record\":\"end\",\"how\":\"completed\"}\n",
    ] {
        std::fs::write(&path, text).expect("written");
        let error = Data::read(&path).expect_err(text);
        assert!(
            format!("{error:#}").contains("not what 'lockwork bench --json' writes"),
            "{error:#}"
        );
    }
}

#[test]
fn plots_are_whole_and_hold_every_lock() {
    let dir = tempfile::tempdir().expect("a directory");
    let files = draw(&data(), dir.path()).expect("plots");
    assert_eq!(files.len(), 2);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a plot");
        assert!(
            text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"),
            "{text}"
        );
        for tag in ["svg", "text"] {
            let (open, close) = (format!("<{tag} "), format!("</{tag}>"));
            assert_eq!(text.matches(&open).count(), text.matches(&close).count());
        }
        for (name, _) in LOCKS {
            assert!(text.contains(name), "{name}");
        }
        // Two points a lock, beside lines and legend.
        assert!(text.matches("<circle ").count() >= 2 * LOCKS.len());
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }
}

#[test]
fn a_single_case_can_be_drawn() {
    let mut data = data();
    data.header.plan.cases.truncate(1);
    let dir = tempfile::tempdir().expect("a directory");
    assert_eq!(draw(&data, dir.path()).expect("plots").len(), 2);
}

#[test]
fn a_broken_lock_ends_the_run_and_is_named() {
    let mut kinds = lockwork_torture::canaries().into_iter();
    let broken = kinds.find(|kind| kind.name() == "canary_exclusion");
    let locks = [Contender::ours(broken.expect("that canary"))];
    let visit = Case {
        inside: Work::Ns(20_000_000),
        outside: Work::Ns(0),
        time_ms: 100,
        ..case(8)
    };
    let mut data = Data::new(header(vec![visit]));
    data.header.plan.rounds = 200;
    data.header.plan.locks = vec!["canary_exclusion".into()];
    let (tools, mut journal) = (Tools::calibrate(), Journal::None);
    let session = Session::new(&locks, &tools, &mut data, &mut journal);
    let ended = session.expect("signals").run().expect("no journal");
    let Ended::Failed { why } = ended else {
        panic!("{ended:?}");
    };
    assert!(
        why.starts_with("canary_exclusion with 8 threads, 20ms inside"),
        "{why}"
    );
    assert!(why.contains("mutual exclusion was lost"), "{why}");
}

#[test]
fn events_are_summed_by_lock_over_all_rounds_and_cases() {
    let mut data = data();
    assert!(!render(&data).contains("Event"), "nothing was counted");
    for sample in data.samples.iter_mut().filter(|s| s.lock == "ours") {
        sample.events = [("numa_opened".to_owned(), 700)].into();
    }
    let text = render(&data);
    let row = text.lines().find(|line| line.contains("numa_opened "));
    // 3 rounds in 2 cases; (900 + 400) * 1000 * (1 + 2 + 3) acquisitions.
    let row: Vec<&str> = row.expect("a row").split_whitespace().collect();
    assert_eq!(row, ["ours", "numa_opened", "4,200", "0.0005"]);
    assert!(
        text.contains("numa_opened: queues divided by clusters"),
        "{text}"
    );
    let others = text.lines().filter(|line| line.contains("numa_opened "));
    assert_eq!(others.count(), 1, "{text}");
}
