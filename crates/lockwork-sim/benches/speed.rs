// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How fast the simulator is, and what memory it needs.
//!
//! Speed is million simulated memory operations for each second of CPU time of
//! this thread, so that a loaded host changes it little; best and median of some
//! rounds. Memory is the peak of a process that simulates nothing else.
//!
//! `cargo bench -p lockwork-sim`, with `-- --quick` for one short round.

use lockwork_sim::machine::{self, Distance, Machine, Place};
use lockwork_sim::workload::{Time, Workload};
use lockwork_sim::{simulate, Clusters, Placement, Rules, Setup};
use rustix::time::{clock_gettime, ClockId};
use std::process::Command;

const LOCKS: [&str; 4] = ["mcs_lock", "qspinlock_fair", "ticket_lock", "mutex"];
/// CPUs, and million operations a second that are wanted there.
const WANTED: [(usize, f64); 2] = [(80, 10.0), (1024, 4.0)];

/// CPU time of this thread, in seconds.
fn cpu_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The eight-socket machine with one thread a core, or sockets of 64 cores.
fn machine(cpus: usize) -> Machine {
    if cpus == 80 {
        return machine::load("dl980").expect("it is in the program");
    }
    let mut machine = machine::load("westmere-ex-4s").expect("it is in the program");
    let sockets = cpus / 64;
    let place = |cpu: u16| Place {
        core: cpu,
        cluster: cpu / 64,
        die: cpu / 64,
        socket: cpu / 64,
        node: cpu / 64,
    };
    machine.places = (0..cpus as u16).map(place).collect();
    let linked = |at: usize| match at % (sockets + 1) {
        0 => Distance::Socket,
        _ => Distance::Hop1,
    };
    machine.sockets = (0..sockets * sockets).map(linked).collect();
    machine
}

fn workload(measure_us: f64) -> Workload {
    let mut workload = lockwork_sim::workload::load("aim7-high-systime").expect("it is shipped");
    workload.think = Time::Exponential(1000.0);
    workload.section = Time::Exponential(100.0);
    workload.read_section = workload.section.clone();
    workload.sleep = None;
    workload.long_hold = None;
    workload.lines = 1;
    workload.reads = 0.0;
    workload.loops = None;
    (workload.warmup_us, workload.measure_us) = (0.0, measure_us);
    workload
}

/// Operations, and the CPU time that they took.
fn once(machine: &Machine, cpus: usize, lock: &str, measure_us: f64) -> (u64, f64) {
    let before = cpu_time();
    let found = simulate(&Setup {
        machine,
        lock,
        workload: &workload(measure_us),
        threads: cpus,
        placement: Placement::Compact,
        cpus,
        guests: None,
        clusters: Clusters::Llc,
        settings: &[],
        settle: None,
        rules: Rules::default(),
        seed: 1,
        window: None,
    });
    let seconds = cpu_time() - before;
    match found.expect("a possible setup") {
        Ok(outcome) => (outcome.operations, seconds),
        Err(stuck) => panic!("{lock}: {}", stuck.what),
    }
}

fn speed(rounds: usize, operations: u64) {
    println!("million operations a second of CPU time, best and median of {rounds}");
    for (cpus, wanted) in WANTED {
        let machine = machine(cpus);
        for lock in LOCKS {
            // As long as it takes for so many operations.
            let mut measure_us = 100.0;
            while once(&machine, cpus, lock, measure_us).0 < operations {
                measure_us *= 2.0;
            }
            let mut found: Vec<f64> = (0..rounds)
                .map(|_| once(&machine, cpus, lock, measure_us))
                .map(|(operations, seconds)| operations as f64 / seconds / 1e6)
                .collect();
            found.sort_by(f64::total_cmp);
            let (best, median) = (found[rounds - 1], found[rounds / 2]);
            let verdict = if median >= wanted { "" } else { "  below" };
            println!(
                "{cpus:5} CPUs  {lock:15} {best:6.1} {median:6.1}   wanted {wanted:.0}{verdict}"
            );
        }
    }
}

/// MiB at most of this process so far.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.expect("VmHWM in KiB") / 1024.0
}

fn memory() {
    println!("peak memory of a process, mutex, a thread for each CPU");
    let this = std::env::current_exe().expect("this program");
    for cpus in [64, 256, 1024] {
        let child = Command::new(&this).arg(format!("--peak={cpus}")).output();
        let text = String::from_utf8(child.expect("it runs").stdout).expect("a number");
        let mib: f64 = text.trim().parse().expect("a number");
        let each = mib * 1024.0 / cpus as f64;
        println!("{cpus:5} CPUs  {mib:6.1} MiB  {each:6.1} KiB each");
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(cpus) = args.iter().find_map(|arg| arg.strip_prefix("--peak=")) {
        let cpus = cpus.parse().expect("a number of CPUs");
        once(&machine(cpus), cpus, "mutex", 200.0);
        println!("{}", peak());
        return;
    }
    let quick = args.iter().any(|arg| arg == "--quick");
    let (rounds, operations) = if quick { (1, 100_000) } else { (5, 3_000_000) };
    speed(rounds, operations);
    memory();
}
