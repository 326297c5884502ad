// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Knobs are set for one simulation, and clusters are what was asked for.

use super::{machine, outcome, setup, workload};
use crate::engine::Engine;
use crate::{machine as machines, simulate, Clusters, Setting, Setup};

fn value(knob: &str) -> u32 {
    let value = crate::world::with(|world| world.value(knob)).expect("it loads");
    value.expect("a knob")
}

#[test]
fn a_knob_is_set_for_one_simulation() {
    let (machine, workload) = (machine(), workload());
    let setup = setup(&machine, "mutex", &workload);
    let settings = [("osq_lock_depth", 5), ("dynamic_enable", 0)];
    let settings = settings.map(|(knob, value)| Setting { knob, value });
    outcome(&Setup {
        settings: &settings,
        ..setup.clone()
    });
    assert_eq!((value("osq_lock_depth"), value("dynamic_enable")), (5, 0));
    outcome(&setup);
    assert_eq!((value("osq_lock_depth"), value("dynamic_enable")), (3, 1));
}

#[test]
fn what_no_knob_takes_is_refused() {
    let (machine, workload) = (machine(), workload());
    for (knob, value) in [("osq_lock_depth", 1), ("no_such", 1)] {
        let setup = Setup {
            settings: &[Setting { knob, value }],
            ..setup(&machine, "mutex", &workload)
        };
        let error = simulate(&setup).expect_err(knob).to_string();
        assert!(error.contains(knob), "{error}");
    }
}

#[test]
fn clusters_are_caches_or_nodes() {
    let (epyc, workload) = (machines::load("epyc-7551").expect("it"), workload());
    for (clusters, count) in [(Clusters::Llc, 16), (Clusters::Node, 8)] {
        let engine = Engine::new(&Setup {
            clusters,
            ..setup(&epyc, "mutex", &workload)
        });
        assert_eq!(engine.clusters(), count, "{clusters:?}");
        // The first CPU, on which nobody runs yet.
        assert_eq!(engine.cluster(), 0);
    }
}
