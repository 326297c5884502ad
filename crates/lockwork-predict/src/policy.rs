// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The policies of `lockwork run`, and which lock of the simulator stands for each.

use anyhow::Result;
use lockwork_profile::demand::Kind;
use lockwork_report::{bail_usage, choice};

/// What a policy makes of each kind of lock.
struct Policy {
    name: &'static str,
    mutex: &'static str,
    rwlock: &'static str,
    spinlock: &'static str,
}

/// glibc's spinlock is a test-and-set lock. Its read/write lock is the default kind, as the
/// profile does not say which it was.
const GLIBC: Policy = Policy {
    name: "glibc",
    mutex: "glibc_mutex",
    rwlock: "glibc_rwlock",
    spinlock: "tas_lock",
};

/// What the others are compared with comes first, then the lines of `preload/policies.def`.
const POLICIES: &[Policy] = &include!(concat!(env!("OUT_DIR"), "/policies.rs"));

/// The policies' names; the first one is what the others are compared with.
pub fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|policy| policy.name)
}

/// What is simulated for one policy, or for several that do the same with this kind of lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The policies' names.
    pub policies: String,
    /// The simulator's lock.
    pub lock: &'static str,
    /// The others are compared with this one.
    pub is_base: bool,
}

/// The models for a kind of lock: glibc's, and those of `chosen`, or of all policies.
///
/// # Errors
/// A name is no policy's.
pub fn models(kind: Kind, chosen: &[String]) -> Result<Vec<Model>> {
    let mut models: Vec<Model> = Vec::new();
    if let Some((name, _)) = chosen.iter().find_map(|one| one.split_once(':')) {
        bail_usage!("a prediction sets no knobs: name the lock alone, as {name}");
    }
    let all: Vec<&Policy> = match chosen {
        [] => POLICIES.iter().collect(),
        _ => choice::several("lock", chosen, &[], POLICIES, |policy| policy.name)?,
    };
    let others = all
        .into_iter()
        .filter(|policy| policy.name != POLICIES[0].name);
    for policy in std::iter::once(&POLICIES[0]).chain(others) {
        let lock = match kind {
            Kind::Mutex => policy.mutex,
            Kind::RwLock => policy.rwlock,
            Kind::Spinlock => policy.spinlock,
        };
        let is_base = policy.name == POLICIES[0].name;
        match models.iter_mut().find(|m| m.lock == lock && !m.is_base) {
            Some(same) if !is_base => same.policies += &format!(", {}", policy.name),
            _ => models.push(Model {
                policies: policy.name.to_owned(),
                lock,
                is_base,
            }),
        }
    }
    Ok(models)
}

/// The simulator's lock for the policy that a profile was made with.
pub fn lock_of(kind: Kind, policy: &str) -> Option<&'static str> {
    let found = models(kind, &[policy.to_owned()]).ok()?;
    let named = found.iter().find(|model| model.policies == policy);
    named.map(|model| model.lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_a_lock_of_the_simulator() {
        let known = lockwork_sim::locks().expect("they load");
        for kind in [Kind::Mutex, Kind::RwLock, Kind::Spinlock] {
            for model in models(kind, &[]).expect("all") {
                let lock = model.lock;
                let found = known.iter().find(|known| known.name == lock).expect(lock);
                assert_eq!(found.is_rw, kind == Kind::RwLock, "{lock}");
            }
        }
    }

    #[test]
    fn policies_that_do_the_same_are_simulated_once() {
        let of = |kind, chosen: &[&str]| -> Vec<String> {
            let chosen: Vec<String> = chosen.iter().map(|&name| name.to_owned()).collect();
            let models = models(kind, &chosen).expect("names");
            models.into_iter().map(|model| model.policies).collect()
        };
        assert_eq!(of(Kind::Mutex, &["mutex"]), ["glibc", "mutex"]);
        assert_eq!(of(Kind::Mutex, &["glibc"]), ["glibc"]);
        assert_eq!(of(Kind::Mutex, &[]).len(), 6);
        assert_eq!(
            of(Kind::RwLock, &["mutex", "qspinlock_tas", "mutex_numa"]),
            ["glibc", "mutex, qspinlock_tas", "mutex_numa"]
        );
        let knob = models(Kind::Mutex, &["mutex:spin_budget=0".to_owned()]).expect_err("a knob");
        let said = "a prediction sets no knobs: name the lock alone, as mutex";
        assert_eq!(knob.to_string(), said);
        let unknown = models(Kind::Mutex, &["futex".to_owned()]).expect_err("no policy");
        assert!(unknown.to_string().contains("qspinlock_fair"), "{unknown}");
    }

    #[test]
    fn a_profile_says_which_lock_it_was_made_with() {
        assert_eq!(lock_of(Kind::Mutex, "glibc"), Some("glibc_mutex"));
        assert_eq!(
            lock_of(Kind::Mutex, "qspinlock_fair"),
            Some("qspinlock_fair")
        );
        assert_eq!(lock_of(Kind::RwLock, "glibc"), Some("glibc_rwlock"));
        assert_eq!(lock_of(Kind::Mutex, "glibc_passthrough"), None);
    }
}
