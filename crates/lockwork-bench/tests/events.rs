// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--events`, from the command line to the JSON. One test: knobs belong to the
//! process.
use clap::Parser;
use lockwork_bench::{render, run, BenchArgs, Data};
use lockwork_catalogue::{force_knob, set_clusters};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    bench: BenchArgs,
}

/// A `numa_osq` that is forced to divide at each acquisition, by one thread.
#[test]
fn each_round_has_its_own_events() {
    set_clusters("0-7000;7001").expect("two clusters");
    for (name, value) in [("osq_lock_depth", u32::MAX), ("osq_keep_times", 0)] {
        // SAFETY: numbers that a numa_osq compares with counts.
        unsafe { force_knob(name, value) }.expect("a knob");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("raw.jsonl");
    let words = "bench --set count_events=0,spin_budget=7 --set spin_budget=900 \
                 --events --locks lockwork.numa_osq --threads 1 --rounds 2 --time 5";
    let args = words.split(' ').map(Into::into);
    let json = ["--json".into(), path.clone().into_os_string()];
    run(&Args::parse_from(args.chain(json)).bench).expect("a run");

    let (data, _) = Data::read(&path).expect("its JSON");
    assert_eq!(data.samples.len(), 2);
    for sample in &data.samples {
        let operations = sample.measured.operations();
        assert!(operations > 0);
        for event in ["numa_opened", "numa_closed_idle"] {
            assert_eq!(sample.events.get(event), Some(&operations), "{event}");
        }
    }
    let text = render(&data);
    assert!(
        text.contains("\nknobs: spin_budget=900, count_events=1\n"),
        "{text}"
    );
    assert!(text.contains("numa_opened"), "{text}");
    assert!(!text.contains("No events"), "{text}");

    for (set, said) in [("", true), (" --set count_events=0", false)] {
        let words = format!("bench --locks lockwork.tas_lock --threads 1 --rounds 1 --time 5{set}");
        let events = if said { " --events" } else { "" };
        let path = dir.path().join(format!("none{said}"));
        let words = format!("{words}{events} --json {}", path.display());
        run(&Args::parse_from(words.split(' ')).bench).expect("a run");
        let text = render(&Data::read(&path).expect("its JSON").0);
        assert_eq!(text.contains("No events"), said, "{text}");
    }
}
