// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Clusters of CPUs: from a text, and from a sysfs that this test makes up.
use lockwork_catalogue::{cluster_count, set_clusters, set_knob};
use std::ffi::{c_char, CString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};

extern "C" {
    /// Where the user world looks for sysfs.
    static mut lkp_sysfs: *const c_char;
    /// The cluster of a CPU.
    fn lkp_cluster_slow(cpu: u32) -> u32;
}

/// Where the system is not asked, and what is beyond the last CPU.
const BEYOND: [u32; 4] = [8191, 8192, 1 << 31, u32::MAX];

/// Clusters are the process's: one test at a time, each with a system of its own.
struct System {
    dir: PathBuf,
    _only: MutexGuard<'static, ()>,
}

impl System {
    fn new(name: &str) -> Self {
        static ONE: Mutex<()> = Mutex::new(());
        let only = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a writable target directory");
        let root = CString::new(dir.to_str().expect("a readable path")).expect("no zero byte");
        // SAFETY: a C string that is never freed; others ask while they hold ONE.
        unsafe { lkp_sysfs = root.into_raw() };
        Self { dir, _only: only }
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().expect("below dir")).expect("as above");
        fs::write(path, format!("{text}\n")).expect("as above");
    }

    fn online(&self, cpus: &str) {
        self.file("cpu/online", cpus);
    }

    /// `cpu` has caches of its own and, in the third level, one with `others`.
    fn cache(&self, cpu: u32, others: &str) {
        let own = cpu.to_string();
        for (index, level, cpus) in [(0, "1", &*own), (1, "1", &own), (2, "3", others)] {
            let cache = format!("cpu/cpu{cpu}/cache/index{index}");
            self.file(&format!("{cache}/level"), level);
            self.file(&format!("{cache}/shared_cpu_list"), cpus);
        }
    }

    /// Two caches for CPUs 0, 2 and 1, 3, and one node for all.
    fn usual(name: &str) -> Self {
        let system = Self::new(name);
        system.online("0-3");
        for (cpu, others) in [(0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")] {
            system.cache(cpu, others);
        }
        system.file("node/online", "1");
        system.file("node/node1/cpulist", "0-3");
        ask_again();
        system
    }
}

impl Drop for System {
    fn drop(&mut self) {
        set_knob("clusters", "llc").expect("its default");
    }
}

/// What the system says, which may have changed.
fn ask_again() {
    set_clusters("").expect("no text");
}

fn cluster(cpu: u32) -> u32 {
    // SAFETY: any number will do.
    let cluster = unsafe { lkp_cluster_slow(cpu) };
    assert!(cluster < cluster_count(), "CPU {cpu} is in {cluster}");
    cluster
}

fn clusters_of(cpus: std::ops::Range<u32>) -> Vec<u32> {
    cpus.map(cluster).collect()
}

#[test]
fn cpus_of_a_last_cache_are_a_cluster() {
    let _system = System::usual("caches");
    assert_eq!(clusters_of(0..4), [0, 1, 0, 1]);
    assert_eq!(cluster_count(), 2);
}

#[test]
fn the_knob_says_what_a_cluster_shares() {
    let _system = System::usual("knob");
    for (word, clusters) in [
        ("node", [0, 0, 0, 0]),
        ("cpu", [0, 1, 2, 3]),
        ("llc", [0, 1, 0, 1]),
    ] {
        set_knob("clusters", word).expect("one of its words");
        assert_eq!(clusters_of(0..4), clusters, "{word}");
    }
    set_clusters("0,1;2,3").expect("a good map");
    set_knob("clusters", "cpu").expect("one of its words");
    assert_eq!(clusters_of(0..4), [0, 0, 1, 1], "what was given counts");
}

#[test]
fn nodes_stand_in_for_caches_that_are_not_told() {
    let system = System::new("nodes");
    system.online("0-3");
    system.file("node/online", "0,2-3");
    system.file("node/node0/cpulist", "0-1");
    system.file("node/node3/cpulist", "2-3");
    ask_again();
    assert_eq!(clusters_of(0..4), [0, 0, 1, 1]);
    assert_eq!(cluster_count(), 2);
}

#[test]
fn a_cpu_that_comes_later_gets_its_cluster() {
    let system = System::usual("later");
    assert_eq!(cluster_count(), 2);
    system.cache(4, "1,3-4");
    system.cache(5, "5-6");
    system.cache(6, "5-6");
    assert_eq!(cluster(4), 1, "that of its cache");
    assert_eq!(cluster_count(), 2);
    assert_eq!((cluster(6), cluster(5)), (2, 2), "a new one");
    assert_eq!(cluster_count(), 3);
    assert_eq!(cluster(7), 0, "the system does not say");
    assert_eq!(clusters_of(0..4), [0, 1, 0, 1], "the others stay");
}

#[test]
fn a_system_that_says_nothing_is_one_cluster() {
    let system = System::new("nothing");
    ask_again();
    assert_eq!(clusters_of(0..3), [0, 0, 0]);
    assert_eq!(cluster_count(), 1);
    system.online("0-1");
    ask_again();
    assert_eq!(clusters_of(0..3), [0, 0, 0]);
    assert_eq!(cluster_count(), 1);
    system.online("none");
    ask_again();
    assert_eq!(cluster_count(), 1);
}

#[test]
fn no_cpu_is_out_of_range() {
    let _system = System::usual("range");
    let first = BEYOND.map(|_| 0);
    assert_eq!(BEYOND.map(cluster), first);
    set_clusters("7").expect("one cluster, of a CPU that is not here");
    assert_eq!(cluster_count(), 1);
    assert_eq!(BEYOND.map(cluster), first);
    assert_eq!(clusters_of(0..8), [0; 8]);
    set_clusters("0;8191").expect("the last CPU there may be");
    assert_eq!(BEYOND.map(cluster), [1, 0, 0, 0]);
}

#[test]
fn a_bad_map_is_refused_and_changes_nothing() {
    let _system = System::usual("maps");
    set_clusters("0-1;2;3").expect("a good map");
    for (map, why) in [
        (";", "a CPU's number is missing"),
        ("0;", "a CPU's number is missing"),
        ("0,,1", "a CPU's number is missing"),
        ("-1", "a CPU's number is missing"),
        ("0-", "a range has no end"),
        ("0--1", "a range has no end"),
        ("0-1-2", "a range has two ends"),
        ("5-2", "a range ends before it begins"),
        ("0-3;3", "a CPU is named twice"),
        ("1,0-1", "a CPU is named twice"),
        ("0-8192", "CPUs are numbered from 0 to 8191"),
        (
            "99999999999999999999999",
            "CPUs are numbered from 0 to 8191",
        ),
        (
            "0x1",
            "it has other characters than digits, '-', ',' and ';'",
        ),
        (
            "0-3:2/4",
            "it has other characters than digits, '-', ',' and ';'",
        ),
        (
            " 0",
            "it has other characters than digits, '-', ',' and ';'",
        ),
        (
            "0; 1",
            "it has other characters than digits, '-', ',' and ';'",
        ),
        (
            "0-x",
            "it has other characters than digits, '-', ',' and ';'",
        ),
        ("0\n1", "it has a line break"),
        ("0;1\n", "it has a line break"),
    ] {
        let error = set_clusters(map).expect_err(map);
        assert_eq!((error.why, &*error.map), (why, map));
        assert_eq!(clusters_of(0..4), [0, 0, 1, 2], "{map:?}");
    }
    let text = set_clusters("5-2").unwrap_err().to_string();
    assert_eq!(
        text,
        "'5-2' says no clusters of CPUs, as a range ends before it begins; write them as in 0-3,8;4-7"
    );
}

/// They ask while the answer is being found, which for a while is cluster 0.
#[test]
fn threads_learn_at_once() {
    let system = System::usual("at_once");
    for cpu in 4..64 {
        system.cache(cpu, &cpu.to_string());
    }
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                clusters_of(0..64);
            });
        }
    });
    // A CPU that was asked for only while another answer was being found is asked for again.
    let mut later = clusters_of(4..64);
    later.sort_unstable();
    assert_eq!(cluster_count(), 62);
    assert_eq!(later, (2..62).collect::<Vec<_>>());
}
