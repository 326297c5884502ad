// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From `[distance.*]` to costs: one for each distance that there is, and none
//! for others.

use toml::Spanned;

use super::fault::Fault;
use super::file::{Class, File, Numa, COSTS};
use super::model::{Costs, Distance};
use super::topology::Shape;

/// Which distances a machine has, by [`Distance`].
pub(super) fn present(shape: &Shape, sockets: &[Distance]) -> [bool; Distance::COUNT] {
    let mut all = [false; Distance::COUNT];
    all[Distance::Own as usize] = true;
    all[Distance::Smt as usize] = shape.threads > 1;
    all[Distance::Cluster as usize] = shape.cores > 1;
    all[Distance::Die as usize] = shape.clusters > 1;
    all[Distance::Socket as usize] = shape.dies > 1;
    for &distance in sockets {
        if distance > Distance::Socket {
            all[distance as usize] = true;
        }
    }
    all
}

/// Does a way of this length stay in one NUMA node?
pub(super) fn in_node(distance: Distance, numa: Numa) -> bool {
    let farthest = match numa {
        Numa::Die => Distance::Die,
        Numa::Socket => Distance::Socket,
    };
    distance <= farthest
}

/// What must be given for a distance, in the order of [`COSTS`]. The node's own
/// memory is given once, under `own`.
fn wanted(distance: Distance, numa: Numa) -> [bool; 5] {
    let own = distance == Distance::Own;
    let memory = own || !in_node(distance, numa);
    [true, !own, true, true, memory]
}

pub(super) fn costs(
    file: &File,
    shape: &Shape,
    sockets: &[Distance],
) -> Result<[Costs; Distance::COUNT], Fault> {
    let present = present(shape, sockets);
    let numa = file.topology.numa;
    let distances = file.distance.get_ref();
    let mut all = [Costs::default(); Distance::COUNT];
    for distance in Distance::ALL {
        let name = distance.name();
        match distances.get(distance) {
            Some(class) if present[distance as usize] => {
                all[distance as usize] = class_costs(class, distance, numa)?;
            }
            Some(class) => {
                return Err(Fault::at(
                    class.span(),
                    format!("no two CPUs of this topology are at distance `{name}`; remove it"),
                ))
            }
            None if present[distance as usize] => {
                return Err(Fault::at(
                    file.distance.span(),
                    format!(
                        "this topology has CPUs at distance `{name}`; \
                         add [distance.{name}] with its costs"
                    ),
                ))
            }
            None => {}
        }
    }
    let [own, ..] = all;
    for distance in Distance::ALL {
        if in_node(distance, numa) {
            all[distance as usize].memory = own.memory;
        }
    }
    Ok(all)
}

fn class_costs(class: &Spanned<Class>, distance: Distance, numa: Numa) -> Result<Costs, Fault> {
    let mut values = [0.0; 5];
    let given = class.get_ref().all();
    for (i, wanted) in wanted(distance, numa).into_iter().enumerate() {
        let (cost, name) = (COSTS[i], distance.name());
        match given[i] {
            Some(figure) if wanted && figure.value > 0.0 => values[i] = figure.value,
            Some(figure) if wanted => {
                let why = format!(
                    "`{cost}` of [distance.{name}] is {} ns, and each access takes time; give \
                     a number above 0",
                    figure.value
                );
                return Err(Fault::at(figure.span.clone(), why));
            }
            Some(figure) => {
                let why = match cost {
                    "memory" => "is in the CPU's own node, whose memory [distance.own] has",
                    _ => "is the same as load there",
                };
                return Err(Fault::at(
                    figure.span.clone(),
                    format!("`{cost}` of [distance.{name}] {why}; remove it"),
                ));
            }
            None if wanted => {
                return Err(Fault::at(
                    class.span(),
                    format!("[distance.{name}] lacks `{cost}`; add it with its source"),
                ))
            }
            None => {}
        }
    }
    let [load, load_shared, store, rmw, memory] = values;
    let own = distance == Distance::Own;
    Ok(Costs {
        load,
        load_shared: if own { load } else { load_shared },
        store,
        rmw,
        memory,
    })
}

/// Says where a nearer line costs more than a farther one.
pub(super) fn out_of_order(costs: &[Costs; Distance::COUNT]) -> Vec<String> {
    let mut warnings = Vec::new();
    let by_cost = |costs: &Costs| {
        [
            costs.load,
            costs.load_shared,
            costs.store,
            costs.rmw,
            costs.memory,
        ]
    };
    for (i, name) in COSTS.iter().enumerate() {
        let known = Distance::ALL.map(|d| (d, by_cost(&costs[d as usize])[i]));
        let mut known = known.iter().filter(|(_, cost)| *cost > 0.0);
        let Some(mut near) = known.next() else {
            continue;
        };
        for far in known {
            if far.1 < near.1 {
                warnings.push(format!(
                    "`{name}` costs {} ns at distance {} and only {} ns farther away ({})",
                    near.1,
                    near.0.name(),
                    far.1,
                    far.0.name()
                ));
            }
            near = far;
        }
    }
    warnings
}
