// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Somebody who turns the knobs of the locks, and says other clusters of CPUs,
//! thousands of times a second, while others lock. What divides itself does so
//! at each acquisition then, on any machine.
use crate::rng::Rng;
use lockwork_catalogue::{force_knob, set_clusters};
use lockwork_report::machine::cpus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::thread::{sleep, Builder, JoinHandle};
use std::time::Duration;

/// The knobs, and what they are set to: what is there twice comes twice as often.
/// Below their minimum the first three make a lock divide and join at once; all
/// are compared with counts, but for osq_pool, which stays within its limits.
/// The last four, within their limits, have more threads queue, and for longer.
const DRIVEN: [(&str, &[u32]); 9] = [
    ("dynamic_enable", &[1, 1, 1, 1, 1, 1, 1, 0]),
    ("osq_lock_depth", &[u32::MAX, u32::MAX, u32::MAX, 0, 5]),
    ("osq_keep_times", &[0, 0, 0, 1, 1, 4, 64]),
    ("osq_node_max", &[1, 0, 5, 64]),
    ("osq_pool", &[64, 64, 64, 64, 64, 64, 1, 0]),
    ("brief_spins", &[0, 0, 100]),
    ("rwsem_looks", &[0, 0, 30]),
    ("watch_owner", &[0, 0, 1]),
    ("spin_budget", &[1000, 10_000, 40]),
];
/// Says which CPUs are a cluster, as the maps do meanwhile.
const CLUSTERS: &str = "clusters";
/// Counts what the locks do meanwhile.
const COUNT: &str = "count_events";
/// Between two changes: a thread that sleeps gets its turn among many that spin.
const NAP: Duration = Duration::from_micros(50);

/// Whether a driver has a knob of that name do what it wants.
pub(crate) fn is_driven(name: &str) -> bool {
    name == CLUSTERS || DRIVEN.iter().any(|(driven, _)| *driven == name)
}

/// Turns knobs from when it is made until it is dropped, and puts them back. The
/// clusters are then what the environment or the system says.
pub(crate) struct Driver {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    before: Vec<(&'static str, u32)>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    changes: AtomicU64,
}

impl Driver {
    pub(crate) fn start() -> Result<Self, String> {
        let mut driver = Self {
            shared: Arc::default(),
            thread: None,
            before: Vec::new(),
        };
        for (name, values) in DRIVEN {
            driver.before.push((name, force(name, values[0])?));
        }
        driver.before.push((COUNT, force(COUNT, 1)?));
        let maps = maps();
        set_clusters(&maps[0]).map_err(|err| err.to_string())?;
        let shared = Arc::clone(&driver.shared);
        let thread = Builder::new().spawn(move || drive(&shared, &maps));
        driver.thread = Some(thread.map_err(|err| crate::trial::no_thread(&err))?);
        Ok(driver)
    }

    /// How often it has changed something.
    pub(crate) fn changes(&self) -> u64 {
        self.shared.changes.load(Relaxed)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        for (name, value) in &self.before {
            let _ = force(name, *value);
        }
        let map = std::env::var("LOCKWORK_CLUSTERS").unwrap_or_default();
        if set_clusters(&map).is_err() {
            let _ = set_clusters("");
        }
    }
}

/// Returns what was there.
fn force(name: &str, value: u32) -> Result<u32, String> {
    // SAFETY: a value of DRIVEN, which the locks bear, or one that it had.
    let forced = unsafe { force_knob(name, value) };
    forced.map_err(|err| err.to_string())
}

/// CPUs by clusters: each its own (twice), every other one, more clusters than a
/// lock has queues, all in one of two, and one.
fn maps() -> Vec<String> {
    let list = |cpus: &mut dyn Iterator<Item = usize>, between: &str| {
        cpus.map(|cpu| cpu.to_string())
            .collect::<Vec<_>>()
            .join(between)
    };
    let n = cpus().max(2);
    let own = list(&mut (0..n), ";");
    let even = list(&mut (0..n).step_by(2), ",");
    let odd = list(&mut (1..n).step_by(2), ",");
    let many = list(&mut (1..41).rev().chain(std::iter::once(0)), ";");
    let one = list(&mut (0..n), ",");
    let near = format!("{one};{n}");
    vec![own.clone(), own, format!("{odd};{even}"), many, near, one]
}

fn drive(shared: &Shared, maps: &[String]) {
    let mut rng = Rng::new(DRIVEN.len());
    let mut any = |n: usize| rng.below(n as u32) as usize;
    while !shared.stop.load(Relaxed) {
        match DRIVEN.get(any(DRIVEN.len() + 1)) {
            Some((name, values)) => drop(force(name, values[any(values.len())])),
            None => drop(set_clusters(&maps[any(maps.len())])),
        }
        shared.changes.fetch_add(1, Relaxed);
        sleep(NAP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_catalogue::knobs;

    #[test]
    fn knobs_are_driven_and_put_back() {
        let values = || -> Vec<u32> { knobs().iter().map(|knob| knob.get()).collect() };
        let before = values();
        let driver = Driver::start().expect("a thread");
        assert_ne!(values(), before);
        while driver.changes() < 50 {
            sleep(NAP);
        }
        drop(driver);
        assert_eq!(values(), before);
    }

    #[test]
    fn each_map_is_one() {
        for map in maps() {
            set_clusters(&map).expect("a map of clusters");
        }
        set_clusters("").expect("the system's");
    }
}
