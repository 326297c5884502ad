// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The numbers of a file, one by one.

use std::ops::Range;

use super::figure::{Basis, Figure, Unit};
use super::file::{File, COSTS};
use super::model::Distance;

/// A number of a file, with its place in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<'a> {
    /// Section and field.
    pub path: String,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Where it is from.
    pub source: &'a str,
    /// What it rests on.
    pub basis: Basis,
    /// Where it is in the file's text.
    pub span: Range<usize>,
}

fn entry<'a, U: Unit>(section: &str, field: &str, figure: &'a Figure<U>) -> Entry<'a> {
    Entry {
        path: format!("{section}.{field}"),
        value: figure.value,
        unit: U::NAME,
        source: &figure.source,
        basis: figure.basis(),
        span: figure.span.clone(),
    }
}

impl File {
    /// All its numbers, in the order of the documentation.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let mut all = Vec::new();
        for distance in Distance::ALL {
            let Some(class) = self.distance.get_ref().get(distance) else {
                continue;
            };
            let section = format!("distance.{}", distance.name());
            let costs = COSTS.iter().zip(class.get_ref().all());
            all.extend(costs.filter_map(|(name, figure)| Some(entry(&section, name, figure?))));
        }
        let (line, cpu) = (&self.line, &self.cpu);
        let (scheduler, hypervisor) = (&self.scheduler, &self.hypervisor);
        all.extend([
            entry("line", "hold", &line.hold),
            entry("line", "store_hold", &line.store_hold),
            entry("line", "hold_min", &line.hold_min),
            entry("line", "request", &line.request),
            entry("line", "invalidate", &line.invalidate),
            entry("line", "occupancy", &line.occupancy),
            entry("line", "near_bias", &line.near_bias),
            entry("line", "respin", &line.respin),
            entry("cpu", "relax", &cpu.relax),
            entry("cpu", "call", &cpu.call),
            entry("cpu", "fence", &cpu.fence),
            entry("cpu", "store_buffer", &cpu.store_buffer),
        ]);
        all.extend(
            cpu.smt_slowdown
                .iter()
                .map(|figure| entry("cpu", "smt_slowdown", figure)),
        );
        all.extend(self.smt.iter().map(|step| {
            let threads = step.threads.get_ref().to_string();
            entry("smt", &threads, &step.slowdown)
        }));
        all.extend(self.boost.iter().map(|step| {
            let cores = step.cores.get_ref().to_string();
            entry("boost", &cores, &step.clock)
        }));
        all.extend([
            entry("scheduler", "slice", &scheduler.slice),
            entry("scheduler", "wake", &scheduler.wake),
            entry("scheduler", "waker", &scheduler.waker),
            entry("scheduler", "switch", &scheduler.switch),
        ]);
        let calls = [
            ("wait_call", &scheduler.wait_call),
            ("wake_call", &scheduler.wake_call),
        ];
        let calls = calls
            .into_iter()
            .filter_map(|(name, call)| Some((name, call.as_ref()?)));
        all.extend(calls.map(|(name, call)| entry("scheduler", name, call)));
        all.extend([
            entry("hypervisor", "slice", &hypervisor.slice),
            entry("hypervisor", "kick", &hypervisor.kick),
            entry("hypervisor", "kicker", &hypervisor.kicker),
            entry("hypervisor", "switch", &hypervisor.switch),
        ]);
        all
    }

    /// How many numbers rest on a source, on nothing, and on calibration.
    pub fn bases(&self) -> [usize; 3] {
        let all = self.entries();
        [Basis::Sourced, Basis::Assumed, Basis::Calibrated]
            .map(|basis| all.iter().filter(|entry| entry.basis == basis).count())
    }
}
