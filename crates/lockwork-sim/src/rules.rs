// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Rules of the model that can be left out, to see what each one buys.

use anyhow::Result;
use lockwork_report::choice;

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
}

impl Rule {
    /// All of them.
    pub const ALL: [Rule; 3] = [Rule::ClusterFill, Rule::CacheOrder, Rule::SmtShare];

    /// What users type.
    pub fn name(self) -> &'static str {
        match self {
            Rule::ClusterFill => "cluster-fill",
            Rule::CacheOrder => "cache-order",
            Rule::SmtShare => "smt-share",
        }
    }

    /// One line.
    pub fn summary(self) -> &'static str {
        match self {
            Rule::ClusterFill => "a cluster fetches a line once for all of its CPUs",
            Rule::CacheOrder => "loads within a cluster are ordered by its cache, not by the line",
            Rule::SmtShare => "threads of a core that compute share its throughput",
        }
    }
}

/// The rules that a simulation keeps: all, unless some are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    left_out: u8,
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
            rules.left_out |= 1 << *rule as u8;
        }
        Ok(rules)
    }

    /// Whether it keeps `rule`.
    pub fn has(self, rule: Rule) -> bool {
        self.left_out >> rule as u8 & 1 == 0
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
