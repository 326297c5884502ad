// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::file::parse;
use super::*;

const GOOD: &str = r#"summary = "a test"
locks = ["ticket_lock"]
threads = [1, 2]
affinity = true
preemptible = false
think = { us = 1.5, distribution = "exponential", source = "assumed" }
section = { ns = 50, source = "assumed" }
warmup = { us = 10, source = "assumed" }
measure = { us = 100, source = "assumed" }
"#;

fn refused(text: &str) -> String {
    let error = parse("x.toml", "x", text).expect_err(text);
    format!("{error:#}")
}

/// The message about `GOOD` with `line`, counted from 1, replaced.
fn with_line(number: usize, line: &str) -> String {
    let mut lines: Vec<&str> = GOOD.lines().collect();
    lines[number - 1] = line;
    refused(&lines.join("\n"))
}

#[test]
fn a_file_is_read_with_its_units() {
    let workload = parse("x.toml", "x", GOOD).expect("a workload");
    assert_eq!(workload.name, "x");
    assert_eq!(workload.think, Time::Exponential(1500.0));
    assert_eq!(workload.section, Time::Fixed(50.0));
    assert_eq!(workload.read_section, Time::Fixed(50.0));
    assert_eq!((workload.warmup_us, workload.measure_us), (10.0, 100.0));
    assert_eq!((workload.reads, workload.lines), (0.0, 0));
    assert_eq!((workload.sleep, workload.loops), (None, None));
    let more = format!(
        "{GOOD}{}",
        r#"read_section = { ns = 7, source = "s" }
sleep = { us = 2, source = "s" }
reads = { share = 0.25, source = "s" }
lines = { count = 3, source = "s" }
loops = { count = 9, source = "s" }
long_hold = { one_in = 200, us = 500, source = "s" }
short_hold = { one_in = 4, us = 2, source = "s" }
entries = { bytes = 16, source = "s" }
"#
    );
    let workload = parse("x.toml", "x", &more).expect("a workload");
    assert_eq!(workload.read_section, Time::Fixed(7.0));
    assert_eq!(workload.sleep, Some(Time::Fixed(2000.0)));
    assert_eq!((workload.reads, workload.lines), (0.25, 3));
    assert_eq!(workload.loops, Some(9));
    assert_eq!(workload.long_hold, Some((200.0, 500_000.0)));
    assert_eq!(workload.short_hold, Some((4.0, 2000.0)));
    assert_eq!(workload.entry_bytes, 16);
}

#[test]
fn a_time_may_be_a_histogram() {
    let with = |section: &str| {
        let text = GOOD.replace("section = { ns = 50, source = \"assumed\" }", section);
        parse("x.toml", "x", &text).expect("a workload").section
    };
    let classes = "distribution = \"histogram\", classes = [[0, 64, 1], [64, 128, 3]]";
    let plain = with(&format!("section = {{ {classes}, source = \"s\" }}"));
    let histogram = Histogram::new(&[(0.0, 64.0, 1), (64.0, 128.0, 3)]).expect("right");
    assert_eq!(plain, Time::Histogram(histogram));
    assert_eq!(plain.mean(), 80.0);
    let scaled = with(&format!(
        "section = {{ us = 1, {classes}, source = \"s\" }}"
    ));
    assert!((scaled.mean() - 1000.0).abs() < 1e-9);
}

#[test]
fn mistakes_have_their_line_and_what_exists() {
    for (line, text, words) in [
        (
            7,
            "sektion = 5",
            &["no field `sektion`", "read_section"][..],
        ),
        (
            7,
            "section = 5",
            &["5 is not possible here", "give a table"],
        ),
        (7, "section = { ns = 5 }", &["missing field `source`"]),
        (7, "section = { ms = 5, source = \"s\" }", &["`ms`", "`us`"]),
        (7, "section = { source = \"s\" }", &["either ns or us"]),
        (
            7,
            "section = { ns = 1, us = 1, source = \"s\" }",
            &["either ns or us"],
        ),
        (
            7,
            "section = { ns = -1, source = \"s\" }",
            &["0 to 10 s", "-1"],
        ),
        (7, "section = { ns = nan, source = \"s\" }", &["0 to 10 s"]),
        (
            7,
            "section = { ns = 1, source = \" \" }",
            &["no source", "assumed"],
        ),
        (
            6,
            "think = { ns = 1, distribution = \"x\", source = \"s\" }",
            &["`fixed`"],
        ),
        (
            7,
            "section = { ns = 1, classes = [[1, 2, 3]], source = \"s\" }",
            &["\"histogram\""],
        ),
        (
            7,
            "section = { ns = 1, distribution = \"histogram\", source = \"s\" }",
            &["classes = [[from, to, count]"],
        ),
        (
            7,
            "section = { distribution = \"histogram\", classes = [[2, 1, 3]], source = \"s\" }",
            &["rising order"],
        ),
        (
            7,
            "section = { distribution = \"histogram\", classes = [[2, 2e10, 3]], source = \"s\" }",
            &["10 s"],
        ),
        (3, "threads = [0]", &["1 to 16000"]),
        (3, "threads = []", &["1 to 16000"]),
        (2, "locks = []", &["at least one"]),
        (
            9,
            "measure = { us = 0, source = \"s\" }",
            &["longer than nothing"],
        ),
        (4, "affinity = \"yes\"", &["true or false"]),
        (5, "preemptible = ", &[]),
    ] {
        let message = with_line(line, text);
        assert!(
            message.starts_with(&format!("x.toml:{line}: ")),
            "{text}: {message}"
        );
        assert!(!message.contains('\n'), "{message}");
        for word in words {
            assert!(message.contains(word), "{text}: {word}: {message}");
        }
    }
    for (text, word) in [
        ("reads = { share = 1.5, source = \"s\" }", "0 to 1"),
        ("lines = { count = 5000, source = \"s\" }", "0 to 4096"),
        ("loops = { count = 0, source = \"s\" }", "1 to 1000000000"),
        (
            "long_hold = { one_in = 0, us = 1, source = \"s\" }",
            "1 or more",
        ),
        ("entries = { bytes = 12, source = \"s\" }", "by eights"),
    ] {
        let message = refused(&format!("{GOOD}{text}\n"));
        assert!(message.starts_with("x.toml:10: "), "{message}");
        assert!(message.contains(word), "{message}");
    }
    assert!(with_line(6, "").contains("missing field `think`"));
}

#[test]
fn a_missing_field_is_named_with_its_table() {
    let message = with_line(7, "section = { ns = 5 }");
    let line = "x.toml:7: missing field `source` in `section`; add it (docs/sim.md";
    assert!(message.starts_with(line), "{message}");
    for (line, field) in [(1, "summary"), (3, "threads"), (6, "think")] {
        let message = with_line(line, "");
        let words = format!("x.toml:1: missing field `{field}` of the whole workload; add it");
        assert!(message.starts_with(&words), "{message}");
    }
    for (table, words) in [
        (
            "[[lock]]\ncount = { count = 1, source = \"s\" }",
            ":10: missing field `name` in [[lock]];",
        ),
        (
            "[[lock]]\nname = \"a\"\n\n[[queue]] # of jobs\nname = \"q\"",
            ":13: missing field `capacity` in [[queue]];",
        ),
        (
            "[[lock]]\nname = \"a\"\nlines = { count = 1 }",
            ":12: missing field `source` in `lines` of [[lock]];",
        ),
        (
            "[[role]]\nname = \"r\"\nsteps = [\n  { think = { ns = 1 } },\n]",
            ":13: missing field `source` in `think` of [[role]];",
        ),
    ] {
        let message = refused(&format!("{GOOD}{table}\n"));
        assert!(message.contains(words), "{words}: {message}");
    }
}

#[test]
fn the_program_carries_every_file() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/workloads");
    let mut files: Vec<String> = std::fs::read_dir(dir)
        .expect("the directory")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
        .collect();
    files.sort();
    let mut carried = names();
    carried.sort_unstable();
    assert_eq!(files, carried);
    let all = all().expect("all can be read");
    assert_eq!(all.len(), carried.len());
}

#[test]
fn a_users_file_is_found_by_its_path() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("mine.toml");
    std::fs::write(&path, GOOD).expect("written");
    let path = path.to_str().expect("text");
    assert_eq!(load(path).expect("a workload").name, "mine");
    let message = format!("{:#}", load("/no/such.toml").expect_err("no file"));
    assert!(message.contains("/no/such.toml"), "{message}");
    let message = format!("{:#}", load("spin-makro").expect_err("no name"));
    assert!(
        message.contains("spin-micro") && message.contains(".toml"),
        "{message}"
    );
}

/// One in 40 for each thread, of 50 µs: half of 2.5 µs over the threads, which the real
/// one in 200,000 of 500 ms is, because the real writers halt for half of the time beside it.
#[test]
fn the_scaled_long_hold_weighs_half_as_much() {
    let (one_in, ns) = load("locktorture-mutex")
        .expect("read")
        .long_hold
        .expect("it");
    assert_eq!(2.0 * ns / one_in, 500e6 / (2000.0 * 100.0));
    let (one_in, ns) = load("locktorture-spin")
        .expect("read")
        .long_hold
        .expect("it");
    assert_eq!(2.0 * ns / one_in, 100e6 / (2000.0 * 100.0));
}

#[test]
fn classes_of_nothing_cannot_be_scaled() {
    let with = |time: &str| {
        let think = format!("think = {{ {time}, source = \"a test\" }}");
        let lines = GOOD.lines().map(|line| match line.starts_with("think") {
            true => think.clone(),
            false => line.to_owned(),
        });
        parse("w.toml", "w", &lines.collect::<Vec<String>>().join("\n"))
    };
    let zero = r#"distribution = "histogram", classes = [[0, 0, 1]]"#;
    assert_eq!(with(zero).expect("no time at all").think.mean(), 0.0);
    let error = with(&format!("ns = 5, {zero}"))
        .expect_err("no factor")
        .to_string();
    assert!(error.contains("think.classes are all 0"), "{error}");
    assert!(error.starts_with("w.toml:"), "{error}");
}
