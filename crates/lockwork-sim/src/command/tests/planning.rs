// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;

#[test]
fn every_simulation_of_a_plan_is_made_once_and_in_order() {
    let plan = Arc::new(plan(&[
        "--lock",
        "tas_lock,rwlock,tas_lock",
        "--threads",
        "4,1,4",
        "--seeds",
        "2",
    ]));
    assert_eq!(plan.len(), 2 * 2 * 2);
    let (done, end) = done(&plan, 3, fake);
    assert!(matches!(end, End::Completed));
    let jobs: Vec<(usize, usize, u64)> = done
        .iter()
        .map(|done| (done.job.threads, done.job.lock, done.job.seed))
        .collect();
    let mut expected = Vec::new();
    for threads in [1, 4] {
        for lock in [0, 1] {
            expected.extend([(threads, lock, 1), (threads, lock, 2)]);
        }
    }
    assert_eq!(jobs, expected);
}

#[test]
fn stuck_threads_end_it_and_are_shown() {
    let plan = Arc::new(plan(&[
        "--lock",
        "rwlock,tas_lock",
        "--threads",
        "2",
        "--seeds",
        "2",
    ]));
    let (done, end) = done(&plan, 1, stuck);
    assert_eq!(done.len(), 2);
    let End::Stuck(job, stuck) = end else {
        panic!("not stuck");
    };
    assert_eq!((job.lock, job.seed), (1, 1));
    let text = told(&plan, job, &stuck);
    assert!(
        text.contains("tas_lock, 2 threads, seed 1: deadlock at 5 µs\n"),
        "{text}"
    );
    assert!(
        text.ends_with("  thread 0: CPU 0, waits at tas_lock.h:7\n"),
        "{text}"
    );
    let object = json::stuck(&plan, job, &stuck);
    assert_eq!(object["stuck"], "deadlock at 5 µs");
}

#[test]
fn what_the_command_line_says_stands_above_the_file() {
    let plan = plan(&[
        "--workload",
        "rw-mix-90",
        "--lock",
        "qrwlock,tas_lock",
        "--section-ns",
        "7",
        "--think-ns",
        "9",
        "--read-ratio",
        "0.25",
        "--measure-us",
        "11",
        "--affinity",
        "off",
        "--cpus",
        "8",
        "--placement",
        "per-node",
        "--overcommit",
        "3",
        "--threads",
        "2",
        "--clusters",
        "node",
        "--set",
        "depth=8,limit=1",
        "--set",
        "depth=9",
    ]);
    let job = plan.job(0);
    let setup = plan.setup(job);
    let workload = setup.workload;
    assert_eq!(
        (workload.section.mean(), workload.read_section.mean()),
        (7.0, 7.0)
    );
    assert_eq!(workload.think, crate::workload::Time::Exponential(9.0));
    assert_eq!((workload.reads, workload.measure_us), (0.25, 11.0));
    assert!(!workload.affinity);
    assert_eq!(
        (setup.cpus, setup.placement),
        (8, crate::Placement::PerNode)
    );
    assert_eq!(setup.guests.map(|guests| guests.overcommit), Some(3));
    let set: Vec<(&str, u32)> = setup.settings.iter().map(|s| (s.knob, s.value)).collect();
    assert_eq!(set, [("limit", 1), ("depth", 9)]);
    assert_eq!(setup.clusters, crate::Clusters::Node);
    let head = table::head(&plan);
    assert!(
        head.ends_with("clusters: the NUMA nodes\nknobs: limit=1, depth=9\n"),
        "{head}"
    );
    let changed = "\nchanged: section 7 ns, think time 9 ns, shared acquisitions 25 %, measured \
                   time 11 µs\n";
    assert!(head.contains(changed), "{head}");
    // A lock without readers is never asked to share.
    assert_eq!(plan.setup(Job { lock: 1, ..job }).workload.reads, 0.0);
}

#[test]
fn only_the_first_seed_records() {
    let plan = plan(&[
        "--lock",
        "tas_lock",
        "--threads",
        "2",
        "--timeline",
        "x",
        "--window",
        "5:7.5",
    ]);
    assert_eq!(plan.setup(plan.job(0)).window, Some((5.0, 7.5)));
    assert_eq!(plan.setup(plan.job(1)).window, None);
}

#[test]
fn groups_are_several_locks_and_fit_the_machine() {
    let names = |words: &[&str]| -> Vec<&str> {
        let plan = plan(&[words, &["--threads", "2"]].concat());
        plan.locks.iter().map(|lock| lock.name).collect()
    };
    let all = names(&["--locks", "all"]);
    assert_eq!(all.len(), known().locks.len());
    assert_eq!(names(&["--lock", "rivals"]), ["tas_lock"]);
    assert_eq!(names(&["--lock", "rivals,ours"])[0], "tas_lock");
    assert!(!names(&["--lock", "ours"]).contains(&"tas_lock"));
    let small = plan(&["--machine", "vm-2cpu", "--lock", "all", "--threads", "2"]);
    assert!(small.locks.iter().all(|lock| !lock.needs_clusters));
    assert_eq!(small.locks.len(), all.len() - 1);
    let note = small.oddities.join("\n");
    assert!(
        note.contains("one cluster") && note.contains("qrwlock"),
        "{note}"
    );
}

/// The CPUs in use count, not the machine's.
#[test]
fn a_lock_of_clusters_needs_cpus_of_two() {
    let few = ["--machine", "epyc-7551", "--threads", "2", "--cpus"];
    let of = |cpus, more: &[&'static str]| [&few[..], &[cpus], more].concat();
    let text = refused(&of("4", &["--lock", "qrwlock"]));
    let said = "qrwlock serves waiters by clusters of CPUs, and the 4 CPUs in use of epyc-7551 \
                are of only one; take more CPUs (--cpus), another --placement or another lock";
    assert!(text.contains(said), "{text}");
    for (cpus, more) in [
        ("5", &["--lock", "qrwlock"][..]),
        ("4", &["--lock", "qrwlock", "--placement", "spread"]),
    ] {
        assert_eq!(plan(&of(cpus, more)).locks.len(), 1);
    }
    let nodes = ["--lock", "qrwlock", "--clusters", "node"];
    assert!(refused(&of("8", &nodes)).contains("are of only one"));
    let group = plan(&of("4", &["--lock", "all"]));
    let note = group.oddities.join("\n");
    assert!(
        note.contains("in use of epyc-7551 are of one cluster"),
        "{note}"
    );
}

#[test]
fn threads_fit_the_machine_unless_somebody_says_how() {
    let crowd = ["--lock", "tas_lock", "--threads", "2,50"];
    for way in [["--cpus", "40"], ["--overcommit", "2"]] {
        assert_eq!(plan(&[&crowd[..], &way].concat()).threads, [2, 50]);
    }
    let small = plan(&["--machine", "vm-2cpu", "--lock", "tas_lock"]);
    assert_eq!(small.threads, [1, 2]);
    let note = small.oddities.join("\n");
    assert!(note.contains("2 CPUs: up to 8"), "{note}");
}

#[test]
fn mistakes_say_what_exists() {
    for (words, parts) in [
        (
            &["--lock", "spin"][..],
            &["'spin'", "ticket_lock", "rwlock"][..],
        ),
        (&["--machine", "cray"], &["'cray'", "westmere-ex-4s"]),
        (
            &["--workload", "cray"],
            &["'cray'", "spin-micro", "rw-mix-50"],
        ),
        (&["--cpus", "41"], &["40 CPUs"]),
        (
            &["--threads", "41"],
            &["40 CPUs", "41 threads", "--overcommit", "--cpus 40"],
        ),
        (
            &[
                "--machine",
                "vm-2cpu",
                "--lock",
                "all,qrwlock",
                "--threads",
                "2",
            ],
            &["qrwlock", "vm-2cpu", "only one"],
        ),
        (&["--measure-us", "5"], &["--loops"]),
        (&["--workload", "ebizzy", "--loops", "5"], &["--measure-us"]),
        (
            &["--read-ratio", "0.5", "--lock", "tas_lock"],
            &["tas_lock has no shared acquisitions", "rwlock"],
        ),
        (&["--timeline", "x"], &["one lock", "--threads"]),
        (&["--set", "width=1"], &["'width'", "depth, limit"]),
        (&["--set", "depth=4"], &["depth", "'4'", "5 to 32"]),
        (&["--set", "depth"], &["'depth'", "KNOB=VALUE"]),
        (
            &["--threads", "3,9", "--overcommit", "2", "--vms", "4"],
            &["4 virtual machines", "3 threads", "80 virtual CPUs"],
        ),
        (
            &[
                "--workload",
                "job-server",
                "--lock",
                "tas_lock",
                "--overcommit",
                "2",
                "--vms",
                "2",
            ],
            &["job-server has roles", "one lock"],
        ),
    ] {
        let message = refused(words);
        assert!(!message.contains('\n'), "{message}");
        for part in parts {
            assert!(message.contains(part), "{words:?}: {part}: {message}");
        }
    }
    for words in [
        ["--window", "5"],
        ["--threads", "0"],
        ["--read-ratio", "2"],
        ["--vms", "2"],
        ["--vcpus", "migrate"],
    ] {
        assert!(
            Command::try_parse_from([&["sim", "--timeline", "x"][..], &words].concat()).is_err()
        );
    }
}

#[test]
fn a_static_key_and_an_embedded_lock_are_said() {
    let with = plan(&[
        "--static-key-ns",
        "2.5",
        "--embedded",
        "on",
        "--workload",
        "rw-mix-90",
    ]);
    let without = plan(&["--workload", "rw-mix-90"]);
    assert_eq!(with.machine.cpu.call, without.machine.cpu.call + 2.5);
    assert!(with.workload.embedded && !without.workload.embedded);
    let head = super::super::table::head(&with);
    assert!(
        head.contains("lock: in the first line of its data\nstatic key: 2.5 ns each"),
        "{head}"
    );
    let error = refused(&["--embedded", "on", "--workload", "spin-micro"]);
    assert!(error.contains("use no data"), "{error}");
}
