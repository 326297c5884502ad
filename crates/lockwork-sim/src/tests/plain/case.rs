// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is compared: a machine, and programs.

use super::super::{setup, workload};
use super::machines;
use super::program::{self, Programs};
use crate::machine::Machine;
use crate::rules::{Rule, Rules};
use crate::workload::Workload;
use crate::{Placement, Setup};
use fastrand::Rng;

/// What both engines run on.
#[derive(Debug)]
pub(super) struct Case {
    pub name: &'static str,
    pub machine: Machine,
    pub placement: Placement,
    pub workload: Workload,
    pub threads: usize,
    pub rules: Rules,
    pub seed: u64,
    /// Prices and holds vary at random.
    pub chance: bool,
}

impl Case {
    pub fn setup(&self) -> Setup<'_> {
        Setup {
            threads: self.threads,
            cpus: 0,
            placement: self.placement,
            rules: self.rules,
            seed: self.seed,
            ..setup(&self.machine, "none", &self.workload)
        }
    }

    /// The machine's CPUs with a thread, by thread.
    pub fn cpus(&self) -> Vec<usize> {
        let places = &self.machine.places;
        let mut cpus: Vec<usize> = (0..places.len()).collect();
        if self.placement != Placement::Compact {
            // Round and round the nodes.
            let before = |cpu: &usize| {
                let node = places[*cpu].node;
                let same = places[..*cpu].iter().filter(|place| place.node == node);
                (same.count(), node)
            };
            cpus.sort_by_key(before);
        }
        cpus.truncate(self.threads);
        cpus
    }

    /// The one of this seed.
    pub fn random(seed: u64) -> (Case, Programs) {
        let mut random = Rng::with_seed(seed);
        let (name, machine) = machines::random(&mut random);
        let most = machine.cpus().min(12);
        let threads = random.usize(most.min(2)..=most);
        let case = Case {
            name,
            machine,
            placement: [Placement::Compact, Placement::Spread][random.usize(..2)],
            workload: Workload {
                affinity: true,
                loops: Some(1),
                ..workload()
            },
            threads,
            rules: rules(&mut random),
            seed,
            chance: random.bool(),
        };
        let programs = program::random(&mut random, threads);
        (case, programs)
    }
}

/// All of them, or all but one. The threads come together in any case, so that they meet.
fn rules(random: &mut Rng) -> Rules {
    let any_order = "any-order".to_owned();
    let left_out = Rule::ALL[random.usize(..Rule::ALL.len())].name().to_owned();
    match random.u32(..3) {
        0 => Rules::without(&[left_out, any_order]).expect("rules"),
        _ => Rules::without(&[any_order]).expect("a rule"),
    }
}
