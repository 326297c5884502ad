// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The prediction for programs: docs/predict.md has the schema.

use lockwork_profile::demand::{Demand, Kind, Program, Times};
use serde_json::{json, Value};

use crate::doubt;
use crate::nested::Round;
use crate::plan::{Case, Plan};
use crate::rows::{verdict, Banded, Results, Row};

/// There is nothing to predict.
pub fn nothing(program: &Program) -> String {
    printed(&head(program, false))
}

/// Everything.
pub fn prediction(program: &Program, hot: &[&Demand], plan: &Plan, results: &Results) -> String {
    let mut object = head(program, true);
    let cases = plan.cases.iter().enumerate();
    let cases: Vec<Value> = cases.map(|(at, case)| one(case, results, at)).collect();
    object["simulator_error"] = json!(doubt::SIMULATOR_ERROR);
    object["assumptions"] = json!(doubt::assumptions(hot, plan.is_crowded()));
    object["locks"] = hot.iter().map(|lock| demand(lock)).collect();
    object["predictions"] = json!(cases);
    printed(&object)
}

fn printed(value: &Value) -> String {
    format!("{value:#}\n")
}

fn head(program: &Program, predicted: bool) -> Value {
    let most = doubt::most(program);
    let is_bound = program.taken_back == 0;
    json!({
        "command": program.command,
        "lock": program.lock,
        "seconds": program.seconds,
        "threads": program.threads,
        "waited": program.waited,
        "bound": is_bound.then_some(most),
        "taken_back": program.taken_back,
        "notes": program.notes,
        "predicted": predicted,
    })
}

fn demand(lock: &Demand) -> Value {
    let times = |times: &Times| json!({ "mean_ns": times.mean, "classes_ns": times.classes });
    json!({
        "name": lock.name,
        "kind": match lock.kind {
            Kind::Mutex => "mutex",
            Kind::RwLock => "rwlock",
            Kind::Spinlock => "spinlock",
        },
        "acquisitions": lock.acquisitions,
        "of_waiting": lock.of_waiting,
        "threads": lock.threads,
        "rate": lock.rate,
        "held": lock.held,
        "reads": lock.reads,
        "held_beyond_run": lock.held_beyond,
        "section": times(&lock.section),
        "read_section": lock.read_section.as_ref().map(times),
        "think": times(&lock.think),
        "sleep": lock.sleep.map(|(share, ns)| json!({ "share": share, "mean_ns": ns })),
        "partner": lock.partner.as_ref().map(|partner| json!({
            "name": partner.lock.name,
            "is_outer": partner.is_outer,
            "together": partner.together,
            "simulated": Round::of(lock).is_some(),
        })),
        "left_out": lock.left_out.map(|(holds, share)| json!({ "holds": holds, "share": share })),
    })
}

fn one(case: &Case, results: &Results, at: usize) -> Value {
    let rows: Vec<Value> = results.rows(at).iter().map(row).collect();
    json!({
        "machine": case.machine.name,
        "lock": case.lock.name,
        "profiled": {
            "threads": case.profiled_threads(),
            "rate": case.lock.rate,
            "whole_rate": case.lock.whole_rate,
            "simulated": results.as_profiled(at),
        },
        "error": results.error(at),
        "left_out": case.left_out,
        "rows": rows,
    })
}

fn row(row: &Row) -> Value {
    let banded =
        |found: &Banded| json!({ "value": found.value, "low": found.low, "high": found.high });
    json!({
        "policies": row.policies,
        "simulated": row.lock,
        "threads": row.threads,
        "rate": row.rate.as_ref().map(banded),
        "over_glibc": row.ratio.as_ref().map(banded),
        "expect": row.ratio.as_ref().map(verdict),
        "waiting": row.rate.is_some().then_some(row.waiting),
        "settled": row.settled,
    })
}
