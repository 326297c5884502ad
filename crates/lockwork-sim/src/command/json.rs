// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--json`: one object for each simulation, with all that it found.

use super::plan::{placed, Job, Plan};
use crate::machine::{DirectedYield, Distance};
use crate::outcome::{Counts, Outcome, Stuck};
use crate::settle::{Batch, Verdict};
use crate::{Clusters, Setup, Vcpus};
use hdrhistogram::Histogram;
use serde_json::{json, Map, Value};

/// What was asked for.
fn setup(plan: &Plan, job: Job) -> Map<String, Value> {
    let setup = plan.setup(job);
    let workload = setup.workload;
    let of_one_lock = workload.program.is_none();
    let object = json!({
        "lockwork": env!("CARGO_PKG_VERSION"),
        "machine": plan.machine.name,
        "workload": workload.name,
        "lock": setup.lock,
        "threads": setup.threads,
        "seed": setup.seed,
        "placement": placed(setup.placement),
        "cpus": plan.cpus(),
        "overcommit": setup.guests.map(|guests| guests.overcommit),
        "directed_yield": setup.guests.map(|_| yields(plan.machine.hypervisor.directed_yield)),
        "affinity": workload.affinity,
        "think_ns": of_one_lock.then(|| workload.think.mean()),
        "section_ns": of_one_lock.then(|| workload.section.mean()),
        "read_share": of_one_lock.then_some(workload.reads),
        "loops": workload.loops,
    });
    let Value::Object(mut map) = object else {
        return Map::new();
    };
    if setup.vms() > 1 {
        map.insert("vms".to_owned(), json!(setup.vms()));
    }
    if migrates(&setup) {
        map.insert("vcpus".to_owned(), json!("migrate"));
    }
    if workload.embedded {
        map.insert("embedded".to_owned(), json!(true));
    }
    if plan.static_key_ns > 0.0 {
        map.insert("static_key_ns".to_owned(), json!(plan.static_key_ns));
    }
    if setup.clusters == Clusters::Node {
        map.insert("clusters".to_owned(), json!("node"));
    }
    if !setup.settings.is_empty() {
        let settings = setup.settings.iter();
        let named = settings.map(|setting| (setting.knob.to_owned(), json!(setting.value)));
        map.insert("knobs".to_owned(), Value::Object(named.collect()));
    }
    map
}

fn yields(directed: DirectedYield) -> Value {
    match directed {
        DirectedYield::Off => json!(false),
        DirectedYield::On => json!(true),
        DirectedYield::Donate => json!("donate"),
    }
}

fn migrates(setup: &Setup) -> bool {
    let vcpus = setup.guests.map(|guests| guests.vcpus);
    vcpus == Some(Vcpus::Migrate)
}

/// A simulation that ended as it should.
pub(super) fn outcome(plan: &Plan, job: Job, outcome: &Outcome) -> Value {
    let split = &outcome.split;
    let mut object = setup(plan, job);
    let found = json!({
        "ns": outcome.ns,
        "settled": outcome.settled.map(Verdict::name),
        "batches": outcome.batches.iter().map(batch).collect::<Vec<_>>(),
        "acquisitions": outcome.acquisitions(),
        "reads": outcome.reads,
        "by_thread": outcome.by_thread,
        "finished_ns": outcome.finished_ns,
        "waits_ns": steps(&outcome.waits),
        "overtakes": steps(&outcome.overtakes),
        "wait_split_ns": {
            "queueing": split.queueing,
            "transfer": split.transfer,
            "preempted_holder": split.preempted_holder,
            "preempted_next": split.preempted_next,
            "asleep": split.asleep,
            "waking": split.waking,
        },
        "ns_in_lock": outcome.ns_in_lock,
        "ns_busy": outcome.ns_busy,
        "counts": counts(&outcome.counts),
        "host_operations": outcome.operations,
        "host_seconds": outcome.seconds,
    });
    if let Value::Object(found) = found {
        object.extend(found);
    }
    if !outcome.vms.is_empty() {
        let by: Vec<u64> = outcome.vms.iter().map(|vm| vm.acquisitions).collect();
        object.insert("by_vm".to_owned(), json!(by));
        let longest: Vec<u64> = outcome.vms.iter().map(|vm| vm.waits.max()).collect();
        object.insert("longest_by_vm_ns".to_owned(), json!(longest));
    }
    if migrates(&plan.setup(job)) {
        object.insert("migrations".to_owned(), json!(outcome.counts.migrations));
    }
    if plan.machine.hypervisor.directed_yield == DirectedYield::Donate {
        object.insert("donations".to_owned(), json!(outcome.counts.donations));
    }
    if outcome.counts.yields > 0 {
        object.insert("yields".to_owned(), json!(outcome.counts.yields));
    }
    if !outcome.read_waits.is_empty() {
        object.insert(
            "read_waits_ns".to_owned(),
            json!(steps(&outcome.read_waits)),
        );
    }
    if let (Some(of), Some(program)) = (&outcome.program, &plan.workload.program) {
        object.insert("program".to_owned(), super::several::json(of, program));
    }
    let events = events(&outcome.counts, &plan.events);
    if !events.is_empty() {
        object.insert("events".to_owned(), Value::Object(events));
        object.insert("divided".to_owned(), json!(outcome.counts.divided));
    }
    Value::Object(object)
}

/// Values, and how often each occurred.
pub(super) fn steps(all: &Histogram<u64>) -> Vec<[u64; 2]> {
    let steps = all.iter_recorded();
    steps
        .map(|step| [step.value_iterated_to(), step.count_at_value()])
        .collect()
}

/// A part of the measured time.
fn batch(batch: &Batch) -> Value {
    json!({
        "ns": batch.ns,
        "acquisitions": batch.acquisitions,
        "ns_in_lock": batch.ns_in_lock,
        "ns_busy": batch.ns_busy,
    })
}

/// One that could not go on.
pub(super) fn stuck(plan: &Plan, job: Job, stuck: &Stuck) -> Value {
    let mut object = setup(plan, job);
    object.insert("stuck".to_owned(), json!(stuck.what));
    object.insert("stuck_threads".to_owned(), json!(stuck.threads));
    Value::Object(object)
}

fn counts(counts: &Counts) -> Value {
    let sockets = counts.link_bytes.len().isqrt().max(1);
    let links: Vec<&[u64]> = counts.link_bytes.chunks(sockets).collect();
    json!({
        "loads": counts.loads,
        "stores": counts.stores,
        "rmws": counts.rmws,
        "moved": by_distance(&counts.moved),
        "from_memory": by_distance(&counts.from_memory),
        "link_bytes": links,
        "handovers": by_distance(&counts.handovers),
        "contended": counts.contended,
        "sleeps": counts.sleeps,
        "wakeups": counts.wakeups,
        "useful_wakeups": counts.useful_wakeups,
        "futile_wakeups": counts.futile_wakeups,
        "refused_sleeps": counts.refused_sleeps,
        "switches": counts.switches,
        "voluntary": counts.voluntary,
        "involuntary": counts.involuntary,
        "preempted_holders": counts.preempted_holders,
        "preemptions": counts.preemptions,
    })
}

/// What the locks counted, if they did.
fn events(counts: &Counts, names: &[&str]) -> Map<String, Value> {
    let all = names.iter().zip(&counts.events);
    let named = all.map(|(name, count)| ((*name).to_owned(), json!(count)));
    match counts.events.iter().any(|&count| count > 0) {
        true => named.collect(),
        false => Map::new(),
    }
}

fn by_distance(counts: &[u64; Distance::COUNT]) -> Value {
    let all = Distance::ALL.into_iter().zip(counts);
    let named = all.map(|(distance, count)| (distance.name().to_owned(), json!(count)));
    Value::Object(named.collect())
}
