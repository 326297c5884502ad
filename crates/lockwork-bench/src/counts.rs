// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table of events: what locks counted in their slow paths, if that was asked
//! for.
use crate::journal::Data;
use lockwork_catalogue::events;
use lockwork_report::table;
use lockwork_report::text::grouped;
use std::collections::BTreeMap;

/// Sums over all rounds of a lock in all cases, by lock in the plan's order.
pub(crate) fn section(data: &Data) -> String {
    let rows: Vec<Vec<String>> = data
        .header
        .plan
        .locks
        .iter()
        .flat_map(|lock| of_lock(data, lock))
        .collect();
    if rows.is_empty() {
        let asked = are_asked_for(&data.header.plan.knobs);
        let none = "\nNo events: none of these locks did what is counted.\n";
        return if asked { none.into() } else { String::new() };
    }
    let table = table::render(["Lock", "Event", "Sum", "An acquisition"], rows);
    format!("\n{table}\n{}", helps(data))
}

/// The last one that sets the knob counts.
fn are_asked_for(knobs: &[String]) -> bool {
    let value = |knob: &String| Some(knob.strip_prefix("count_events=")?.parse::<u32>() != Ok(0));
    knobs.iter().rev().find_map(value).unwrap_or(false)
}

fn of_lock(data: &Data, lock: &str) -> Vec<Vec<String>> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    let mut operations = 0;
    for sample in data.samples.iter().filter(|sample| sample.lock == lock) {
        operations += sample.measured.operations();
        for (name, sum) in &sample.events {
            *sums.entry(name).or_default() += sum;
        }
    }
    let row = |(name, sum): (&str, u64)| {
        let share = sum as f64 / operations.max(1) as f64;
        vec![
            lock.to_owned(),
            name.to_owned(),
            grouped(sum as f64, 0),
            format!("{share:.4}"),
        ]
    };
    sums.into_iter().map(row).collect()
}

/// A line for each event in the table: what it is.
fn helps(data: &Data) -> String {
    let seen = |name: &str| data.samples.iter().any(|s| s.events.contains_key(name));
    let known = events().into_iter().filter(|event| seen(event.name));
    known
        .map(|event| format!("{}: {}\n", event.name, event.help))
        .collect()
}
