// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Rules of the model that can be left out, to see what each one buys.

use crate::machine::{Distance, Machine};
use anyhow::Result;
use lockwork_report::choice;
use std::collections::HashSet;

/// A rule of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A cluster fetches a line once. Loads of its other CPUs find the copy that is there,
    /// or on its way there. (A shared cache holds one request for each line that it misses:
    /// Kroft, ISCA 1981.)
    ClusterFill,
    /// Such loads are served one after another by the cache of their cluster, and neither
    /// wait for the line elsewhere nor keep it.
    CacheOrder,
    /// The threads of a core that compute at the same time share its throughput.
    SmtShare,
    /// A CPU asks for the line of a store before the read-modify-write ahead of it has its
    /// own: it runs ahead of what it waits for, and only its stores become visible in order.
    EarlyStore,
    /// A load that its own cache serves is made beside what the CPU computes before it: an
    /// out-of-order CPU issues it as soon as its address is known.
    EarlyLoad,
    /// The clock of a socket's cores depends on how many of them are active, where its
    /// machine's file says how.
    Boost,
    /// A line that came over a node controller serves the sockets of its island first, until the
    /// controller can have sent the next request: it sends one after the other, each when the one
    /// before it is done.
    IslandFirst,
    /// Fields that the locks read and write by plain C accesses are in lines of memory, as all
    /// else is. Without it they are free.
    PlainAccess,
    /// Threads begin one after the other, in an order by chance, and not all in the same
    /// microsecond. Of threads that begin together the nearest come first, and a queue in FIFO
    /// order keeps that for as long as it is full.
    AnyOrder,
    /// What a thread computes takes a little more or less each time, also where the workload
    /// says how long it takes. Otherwise threads that meet once meet in each round.
    UnevenWork,
}

impl Rule {
    /// All of them.
    pub const ALL: [Rule; 10] = [
        Rule::ClusterFill,
        Rule::CacheOrder,
        Rule::SmtShare,
        Rule::EarlyStore,
        Rule::EarlyLoad,
        Rule::Boost,
        Rule::IslandFirst,
        Rule::PlainAccess,
        Rule::AnyOrder,
        Rule::UnevenWork,
    ];

    /// Whether a simulation of `machine` may come out otherwise without it.
    pub fn concerns(self, machine: &Machine) -> bool {
        match self {
            Rule::ClusterFill
            | Rule::CacheOrder
            | Rule::EarlyStore
            | Rule::EarlyLoad
            | Rule::PlainAccess
            | Rule::AnyOrder
            | Rule::UnevenWork => true,
            Rule::SmtShare => {
                let cores = machine.places.iter().map(|place| place.core);
                let shared = cores.collect::<HashSet<u16>>().len() < machine.places.len();
                shared && machine.slows_siblings()
            }
            Rule::Boost => !machine.slowness.is_empty(),
            Rule::IslandFirst => machine.sockets.contains(&Distance::Controller),
        }
    }

    /// What users type.
    pub fn name(self) -> &'static str {
        match self {
            Rule::ClusterFill => "cluster-fill",
            Rule::CacheOrder => "cache-order",
            Rule::SmtShare => "smt-share",
            Rule::EarlyStore => "early-store",
            Rule::EarlyLoad => "early-load",
            Rule::Boost => "boost",
            Rule::IslandFirst => "island-first",
            Rule::PlainAccess => "plain-access",
            Rule::AnyOrder => "any-order",
            Rule::UnevenWork => "uneven-work",
        }
    }

    /// One line.
    pub fn summary(self) -> &'static str {
        match self {
            Rule::ClusterFill => "a cluster fetches a line once for all of its CPUs",
            Rule::CacheOrder => "loads within a cluster are ordered by its cache, not by the line",
            Rule::SmtShare => "threads of a core that compute share its throughput",
            Rule::EarlyStore => "a store's line is asked for beside that of a read-modify-write",
            Rule::EarlyLoad => "a load that the own cache serves hides behind what is computed",
            Rule::Boost => "the clock depends on how many cores of the socket are active",
            Rule::IslandFirst => {
                "a line that came over a node controller serves its island first, for as long as it took"
            }
            Rule::PlainAccess => "what the locks access by plain C is in lines of memory",
            Rule::AnyOrder => "threads begin one after the other, in an order by chance",
            Rule::UnevenWork => "what a thread computes takes a little more or less each time",
        }
    }
}

/// The rules that a simulation keeps: all, unless some are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    left_out: u16,
}

impl Rules {
    /// All but those of these names.
    ///
    /// # Errors
    /// There is no such rule: says which there are.
    pub fn without(names: &[String]) -> Result<Rules> {
        let mut rules = Rules::default();
        for name in names {
            let rule = choice::one("rule", name, &Rule::ALL, |rule| rule.name())?;
            rules.left_out |= 1 << *rule as u16;
        }
        Ok(rules)
    }

    /// Whether it keeps `rule`.
    pub fn has(self, rule: Rule) -> bool {
        self.left_out >> rule as u16 & 1 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_left_out_by_name() {
        let without = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            Rules::without(&names)
        };
        let all = without(&[]).expect("none");
        assert_eq!(all, Rules::default());
        assert!(Rule::ALL.iter().all(|rule| all.has(*rule)));
        for rule in Rule::ALL {
            let rules = without(&[rule.name(), rule.name()]).expect("a rule");
            for other in Rule::ALL {
                assert_eq!(rules.has(other), other != rule);
            }
        }
        let error = without(&["smt"]).expect_err("none").to_string();
        assert!(
            error.contains("'smt'") && error.contains("smt-share"),
            "{error}"
        );
    }
}
